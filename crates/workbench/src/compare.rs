//! A finished run against the published numbers, or two runs against each other.

mod differences;
pub mod two;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tresse_experiment::Diagnostic;
use tresse_experiment::diagnostic::{did_you_mean, plain_json};
use tresse_reproduction::pages::Reproduction;
use tresse_reproduction::paper;
use tresse_results::Finished;
use tresse_results::record::report::Status;
use tresse_sweep::{is_sweep, is_tuning};
use tresse_units::text_file;

use crate::OWNERS;
use crate::failure::Failure;
use crate::paper::{MARKER, folder};
pub use differences::Difference;
pub use two::Pairs;

/// The file that every run has in its folder.
const RUN: &str = "run.json";

/// Two runs, or two runs of a paper, case by case. With `judge`, claims of runs that settings have changed are
/// compared too.
///
/// # Errors
/// If one of them is not a run.
pub fn runs(left: &Path, right: &Path, judge: bool) -> Result<Pairs, Failure> {
    Ok(two::compare(&read(left)?, &read(right)?, judge)?)
}

/// Fails if a claim that is expected to hold does not, or a number is off and no reason is given. Expectations
/// apply to the simulator: results of real hosts may differ.
///
/// # Errors
/// [`Failure::Check`] with what is not as expected.
pub fn check(all: &Reproduction) -> Result<(), Failure> {
    let mut wrong = Vec::new();
    // What an interrupted run has is of the flows that finished first.
    for e in all.experiments.iter().filter(|e| !e.is_real() && e.status == Status::Complete) {
        for claim in e.comparison.claims.iter().filter(|c| c.fails()) {
            wrong.push(format!("{}: the claim {} is expected to hold, and does not", e.experiment, claim.id));
        }
        for n in e.comparison.numbers.iter().filter(|n| n.fails()) {
            let ratio = n.ratio.map(|r| format!("{r:.2} times the published one")).unwrap_or_default();
            wrong.push(format!(
                "{}: {} of {} is {ratio}, and its file does not say why",
                e.experiment, n.metric, n.of
            ));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(Failure::Check(wrong.join("\n"))) }
}

/// The folders of runs that `path` stands for: itself, or those of a run of a paper.
///
/// # Errors
/// If there is no run, with what to give instead.
pub fn folders(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if path.join(RUN).exists() {
        return Ok(vec![path.to_owned()]);
    }
    let Ok(marker) = text_file::read_text(&path.join(MARKER)) else {
        let message = format!("{}: there is no run here\n\nhint: {}", path.display(), where_runs_are(path));
        return Err(Failure::Input(message));
    };
    let marker: Value = serde_json::from_str(&marker).map_err(|e| {
        Failure::Input(format!("{}: cannot be read: {}", path.join(MARKER).display(), plain_json(&e)))
    })?;
    let paper = paper::find(marker["paper"].as_str().unwrap_or_default())?;
    let folders = paper.experiments().into_iter().map(|name| path.join(folder(name)));
    let folders: Vec<PathBuf> = folders.filter(|folder| folder.join(RUN).exists()).collect();
    if folders.is_empty() {
        return Err(Failure::Input(format!("{}: none of its experiments has started", path.display())));
    }
    Ok(folders)
}

/// What to give instead of `path`, which is not a run.
fn where_runs_are(path: &Path) -> String {
    if is_tuning(path) {
        let (best, unchanged) = (path.join("front-1"), path.join("baseline"));
        let shown = path.display();
        return match best.join(RUN).exists() {
            true => format!(
                "it is a search by `tresse tune`: `tresse show {}` prints the run of its best setting, and `tresse \
                 show {}` that of the unchanged experiment; {shown}/trials.parquet has everything that was tried",
                best.display(),
                unchanged.display(),
            ),
            false => format!(
                "it is a search by `tresse tune` that has not ended: `tresse tune PLAN.toml --out {shown}` continues it"
            ),
        };
    }
    if is_sweep(path) {
        return format!("it is a sweep: `tresse show {}` prints it", path.display());
    }
    let runs = |folder: &Path| -> Vec<String> {
        let folders = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_run = |path: &PathBuf| [RUN, MARKER].iter().any(|file| path.join(file).exists());
        let mut runs: Vec<String> = folders.filter(is_run).map(|path| path.display().to_string()).collect();
        runs.sort_unstable();
        runs
    };
    if let Some(run) = runs(path).first() {
        return format!("expected the folder of a single run, such as {run}");
    }
    let near = path.parent().map(runs).unwrap_or_default();
    let near = did_you_mean(&path.display().to_string(), near.iter().map(String::as_str));
    format!("expected the folder of a run, such as runs/xmp-table1-1 or runs/paper-xmp-1{near}")
}

/// Whole runs.
fn read(path: &Path) -> Result<Vec<Finished>, Failure> {
    let runs = folders(path)?;
    Ok(runs.iter().map(|folder| Finished::read(folder, OWNERS)).collect::<Result<_, Diagnostic>>()?)
}
