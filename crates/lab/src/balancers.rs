//! The load balancers' settings in experiment files, and their pages.

use std::collections::BTreeMap;

use tresse_fabric::balancers::{Declaration, all, find};
use tresse_units::Values;

use crate::declared::{self, DeclaredEntry};
use crate::parts::Entry;

/// The defaults of a load balancer's parameters, and `settings` of an experiment file in their place.
///
/// # Errors
/// A parameter that it does not have, or a value that the parameter cannot have: its name, and what is
/// wrong.
pub fn values<'a>(
    balancer: &Declaration,
    settings: &'a BTreeMap<String, toml::Value>,
) -> Result<Values, (&'a str, String)> {
    let mut read = Vec::new();
    for (name, value) in settings {
        let value = declared::setting(balancer.name, balancer.parameters.iter(), name, value)
            .map_err(|e| (name.as_str(), e))?;
        read.push((name.as_str(), value));
    }
    Ok(Values::new(balancer.name, balancer.parameters, read).expect("each was looked at"))
}

/// The load balancers with all that they declare.
pub fn entries() -> Vec<DeclaredEntry> {
    all().iter().map(|d| DeclaredEntry::new(entry(d), d.parameters)).collect()
}

pub(crate) fn entry(d: &Declaration) -> Entry {
    Entry { name: d.name.to_owned(), title: d.title.to_owned(), source: d.source.to_owned() }
}

/// Everything that is to be said of the load balancer `name`.
pub(crate) fn explain(name: &str) -> Option<String> {
    let (_, page) = PAGES.iter().find(|(of, _)| *of == name)?;
    find(name).map(|d| declared::explain(&entry(d), d.parameters, page))
}

macro_rules! page {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../docs/explain/", $name, ".md")))
    };
}

/// A page for each load balancer.
const PAGES: &[(&str, &str)] = &[
    page!("two-level"),
    page!("shortest"),
    page!("ecmp"),
    page!("spray"),
    page!("drill"),
    page!("holnet-percentage"),
    page!("holnet-rate"),
    page!("plb"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_load_balancer_has_a_page() {
        assert!(all().iter().all(|d| explain(d.name).is_some()));
    }
}
