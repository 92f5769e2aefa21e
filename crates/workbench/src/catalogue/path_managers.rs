//! The path managers as lists and pages show them: what they declare, and a page of docs/explain for each.

use tresse_path_manager::{Declaration, all, find};

use crate::catalogue::Entry;
use crate::catalogue::declared::{self, DeclaredEntry};

/// The path managers with all that they declare.
pub fn entries() -> Vec<DeclaredEntry> {
    all().iter().map(|d| DeclaredEntry::new(entry(d), d.parameters)).collect()
}

pub(crate) fn entry(d: &Declaration) -> Entry {
    Entry { name: d.name.to_owned(), title: d.title.to_owned(), source: d.source.to_owned() }
}

/// The full text about the path manager `name`.
pub(crate) fn explain(name: &str) -> Option<String> {
    find(name).map(|d| declared::explain(&entry(d), d.parameters, page(name)))
}

/// The page that goes beyond the declaration.
fn page(name: &str) -> &'static str {
    match name {
        "fixed" => include_str!("../../../../docs/explain/fixed.md"),
        "mmptcp" => include_str!("../../../../docs/explain/mmptcp.md"),
        "path-sharing" => include_str!("../../../../docs/explain/path-sharing.md"),
        _ => include_str!("../../../../docs/explain/opn.md"),
    }
}
