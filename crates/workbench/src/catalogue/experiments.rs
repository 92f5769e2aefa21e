//! The built-in experiments as lists show them.

use serde::Serialize;
use tresse_experiment::read::built_in::{all, rows_of};
use tresse_experiment::schema::Experiment;

use crate::catalogue::Entry;

/// A line of `tresse list experiments`.
#[derive(Debug, Clone, Serialize)]
pub struct PaperEntry {
    /// The fields that every part has.
    #[serde(flatten)]
    pub entry: Entry,
    /// The rows that it covers, such as `xmp/fig9`; empty if it is not a table or figure of the paper.
    pub rows: Vec<String>,
}

/// All experiments, as `tresse list experiments` shows them.
pub fn entries() -> Vec<PaperEntry> {
    let entry = |(name, e): (&'static str, Experiment)| {
        let rows = rows_of(name, &e);
        PaperEntry { entry: Entry { name: name.to_owned(), title: e.title, source: e.source }, rows }
    };
    all().map(entry).collect()
}
