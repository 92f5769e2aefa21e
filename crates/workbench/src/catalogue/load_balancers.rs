//! The load balancers as lists and pages show them: what they declare, and a page of docs/explain for each.

use tresse_fabric::balancers::{Declaration, all, find};

use crate::catalogue::Entry;
use crate::catalogue::declared::{self, DeclaredEntry};

/// The load balancers with all that they declare.
pub fn entries() -> Vec<DeclaredEntry> {
    all().iter().map(|d| DeclaredEntry::new(entry(d), d.parameters)).collect()
}

pub(crate) fn entry(d: &Declaration) -> Entry {
    Entry { name: d.name.to_owned(), title: d.title.to_owned(), source: d.source.to_owned() }
}

/// The full text about the load balancer `name`.
pub(crate) fn explain(name: &str) -> Option<String> {
    find(name).map(|d| declared::explain(&entry(d), d.parameters, page(d.name)))
}

/// The page that goes beyond the declaration.
fn page(name: &str) -> &'static str {
    match name {
        "two-level" => include_str!("../../../../docs/explain/two-level.md"),
        "shortest" => include_str!("../../../../docs/explain/shortest.md"),
        "ecmp" => include_str!("../../../../docs/explain/ecmp.md"),
        "spray" => include_str!("../../../../docs/explain/spray.md"),
        "drill" => include_str!("../../../../docs/explain/drill.md"),
        "holnet-percentage" => include_str!("../../../../docs/explain/holnet-percentage.md"),
        "holnet-rate" => include_str!("../../../../docs/explain/holnet-rate.md"),
        _ => include_str!("../../../../docs/explain/plb.md"),
    }
}
