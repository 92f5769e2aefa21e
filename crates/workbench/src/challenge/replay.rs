//! Measures again what a challenge found.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tresse_experiment::read::files::sha256;
use tresse_results::MODEL_VERSION;

use super::goal;
use super::measure::Experiment;
use super::parallel;
use super::record::{Found, Record};
use crate::controller;
use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// What a failure measures now.
#[derive(Debug, Serialize)]
pub struct Again {
    pub file: String,
    pub goal: String,
    /// By seed.
    pub then: Vec<f64>,
    pub now: Vec<f64>,
    /// Whether all are the same to the bit.
    pub same: bool,
    /// Whether the experiment's file is as it was.
    pub untouched: bool,
}

/// What all failures of a folder measure now.
#[derive(Debug, Serialize)]
pub struct Replayed {
    pub schema: &'static str,
    pub controller: String,
    pub failures: Vec<Again>,
}

/// Measures all failures of `folder` again, `workers` at a time; `tell` gets notes.
///
/// # Errors
/// If there is no challenge in it, or a run does not end.
pub fn replay(
    folder: &Path,
    workers: usize,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(String),
) -> Result<Replayed, Failure> {
    let record = Record::read(folder)?;
    if record.model_version != MODEL_VERSION {
        let then = record.model_version;
        tell(format!("note: model {then} found them, and this is model {MODEL_VERSION}: numbers may differ"));
    }
    controller_of(folder, &record, tell)?;
    let failures =
        parallel::each(&record.failures, workers, interrupt, |found| again(folder, found, interrupt));
    let failures = failures.into_iter().collect::<Result<_, _>>()?;
    Ok(Replayed { schema: "tresse/challenge-replay/1", controller: record.controller.name, failures })
}

/// Loads the controller of a challenge; `tell` gets a note if it is another one by now.
///
/// # Errors
/// If it is not there.
pub(super) fn controller_of(
    folder: &Path,
    record: &Record,
    tell: &mut dyn FnMut(String),
) -> Result<(), Failure> {
    let own = record.controller.file.as_ref().map(|file| folder.join(file).display().to_string());
    let controller = controller::find(own.as_deref().unwrap_or(&record.controller.name))?;
    if sha256(controller.text()) != record.controller.sha256 {
        tell(format!("note: {} has changed since: numbers may differ", record.controller.name));
    }
    Ok(())
}

fn again(folder: &Path, found: &Found, interrupt: &Interrupt) -> Result<Again, Failure> {
    let goal = goal::find(&found.goal).map_err(Failure::Input)?;
    let path: PathBuf = folder.join(&found.file);
    let text = tresse_units::text_file::read_written(&path)
        .map_err(|e| Failure::Input(format!("{}: {e}", path.display())))?;
    let untouched = sha256(&text) == found.sha256;
    let experiment = Experiment { name: path.display().to_string(), text };
    let value = |&seed: &u64| Ok(experiment.measure(&[goal], seed, interrupt)?[0].unwrap_or(0.0));
    let now: Vec<f64> = found.seeds.iter().map(value).collect::<Result<_, Failure>>()?;
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let same = bits(&now) == bits(&found.values);
    Ok(Again {
        file: found.file.clone(),
        goal: found.goal.clone(),
        then: found.values.clone(),
        now,
        same,
        untouched,
    })
}

impl Replayed {
    /// Whether every number is the same to the bit.
    pub fn is_same(&self) -> bool {
        self.failures.iter().all(|again| again.same)
    }
}
