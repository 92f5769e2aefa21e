//! The path managers as lists and pages show them: what they declare, and their parts of
//! docs/explain/path-managers.md.

use tresse_path_manager::{Declaration, all, find};

use crate::catalogue::declared::{self, DeclaredEntry};
use crate::catalogue::{Entry, part};

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

/// The text that goes beyond the declaration.
fn page(name: &str) -> &'static str {
    let name = if name.starts_with("opn") { "opn" } else { name };
    // The heading is there for readers of the whole page.
    part(include_str!("../../../../docs/explain/path-managers.md"), name)
        .split_once("\n\n")
        .map_or("", |(_, text)| text)
}
