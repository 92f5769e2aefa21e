//! The load balancers as lists and pages show them: what they declare, and their parts of docs/explain/routing.md.

use tresse_fabric::balancers::{Declaration, all, find};

use crate::catalogue::declared::{self, DeclaredEntry};
use crate::catalogue::{Entry, part};

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

/// The text that goes beyond the declaration.
fn page(name: &str) -> &'static str {
    match name {
        "spray" => part(include_str!("../../../../docs/explain/spray.md"), name),
        // The heading is there for readers of the whole page.
        _ => part(include_str!("../../../../docs/explain/routing.md"), name)
            .split_once("\n\n")
            .map_or("", |(_, text)| text),
    }
}
