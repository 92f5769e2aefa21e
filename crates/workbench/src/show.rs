//! A run, a sweep or a search again, from its folder.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde_json::value::RawValue;
use tresse_experiment::diagnostic::plain_json;
use tresse_sweep::{is_sweep, is_tuning};
use tresse_units::text_file;

use crate::OWNERS;
use crate::compare;
use crate::failure::Failure;
use crate::json::pretty;

pub use tresse_results::Finished;

/// The folder of a run, of a sweep, or of a search of `tresse tune`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Folder {
    /// Of a run.
    Run(PathBuf),
    /// Of a sweep.
    Sweep(PathBuf),
    /// Of a search that has ended.
    Tuning(PathBuf),
}

/// The files of a search: what it printed, and the same as JSON.
const TUNING: [&str; 2] = ["tuning.txt", "tuning.json"];

/// The folders of runs, sweeps and searches that these stand for: that of a run of a paper has several.
///
/// # Errors
/// If one of them is none of these.
pub fn folders(of: &[PathBuf]) -> Result<Vec<Folder>, Failure> {
    let mut all = Vec::new();
    for folder in of {
        if is_sweep(folder) {
            all.push(Folder::Sweep(folder.clone()));
        } else if is_tuning(folder) && TUNING.iter().all(|file| folder.join(file).is_file()) {
            all.push(Folder::Tuning(folder.clone()));
        } else {
            all.extend(compare::folders(folder)?.into_iter().map(Folder::Run));
        }
    }
    Ok(all)
}

/// What `tresse tune` printed of the search in a folder, or its output as JSON.
///
/// # Errors
/// If it cannot be read.
pub fn tuning(folder: &Path, as_json: bool) -> Result<String, Failure> {
    let path = folder.join(TUNING[usize::from(as_json)]);
    let cannot = |e| Failure::Input(format!("{}: cannot be read: {e}", path.display()));
    text_file::read_text(&path).map_err(cannot)
}

/// The whole run in a folder.
///
/// # Errors
/// If it is no run, or damaged.
pub fn read(run: &Path) -> Result<Finished, Failure> {
    Ok(Finished::read(run, OWNERS)?)
}

/// The report in `run.json`, to the last digit, without what only the file has.
///
/// # Errors
/// If it cannot be read.
pub fn json(run: &Path) -> Result<String, Failure> {
    let path = run.join("run.json");
    let cannot =
        |e: &dyn std::fmt::Display| Failure::Input(format!("{}: cannot be read: {e}", path.display()));
    let text = text_file::read_text(&path).map_err(|e| cannot(&e))?;
    let mut report: IndexMap<&str, &RawValue> =
        serde_json::from_str(&text).map_err(|e| cannot(&plain_json(&e)))?;
    report.retain(|key, _| !["resolved", "host", "figure", "tables"].contains(key));
    Ok(pretty(&report))
}
