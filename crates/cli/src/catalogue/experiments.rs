//! The built-in experiments as lists show them.

use serde::Serialize;
use tresse_experiment::keys::Experiment;
use tresse_experiment::read::built_in::{all, rows_of};

use crate::catalogue::Entry;

/// A line of `tresse list experiments`.
#[derive(Debug, Clone, Serialize)]
pub struct PaperEntry {
    /// What every part has.
    #[serde(flatten)]
    pub entry: Entry,
    /// The rows that it is, such as `xmp/fig9`; none if it is not a table or figure of the paper.
    pub rows: Vec<String>,
}

/// All of them, as `tresse list experiments` has them.
pub fn entries() -> Vec<PaperEntry> {
    let entry = |(name, e): (&'static str, Experiment)| {
        let rows = rows_of(name, &e);
        PaperEntry { entry: Entry { name: name.to_owned(), title: e.title, source: e.source }, rows }
    };
    all().map(entry).collect()
}
