//! The folder of a run of a paper: `paper.json`, and a folder for each experiment.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tresse_experiment::diagnostic::plain_json;
use tresse_experiment::{Diagnostic, Loaded};
use tresse_reproduction::Tally;
use tresse_reproduction::pages::{Reproduced, runs_alike};
use tresse_results::Status;
use tresse_units::output_file::write_whole;
use tresse_units::text_file;

use crate::failure::Failure;

/// The file that identifies such a folder.
pub const MARKER: &str = "paper.json";

/// The subfolder of an experiment in its paper's run: its name without the paper's.
pub fn folder(name: &str) -> &str {
    name.split_once('/').map_or(name, |(_, file)| file)
}

/// Such a folder, in use.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Keeps other runs out of the folder.
    _held: tresse_results::Folder,
    /// What was requested: paper, profile, seeds, version.
    head: Value,
}

impl Folder {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Begins in the folder, or continues a run with the same `head`.
    ///
    /// # Errors
    /// If the folder contains something else, or a different run.
    pub fn open(held: tresse_results::Folder, head: Value) -> Result<Self, Failure> {
        let path = held.path().to_owned();
        let marker = path.join(MARKER);
        let shown = path.display();
        let hint = "hint: choose another folder with `--out DIR`";
        let folder = Self { path: path.clone(), _held: held, head };
        if let Ok(text) = text_file::read_text(&marker) {
            let old: Value = serde_json::from_str(&text).map_err(|e| {
                Failure::Input(format!("{}: cannot be read: {}\n\n{hint}", marker.display(), plain_json(&e)))
            })?;
            let keys = folder.head.as_object().expect("it is a table");
            if let Some((key, own)) = keys.iter().find(|(key, own)| old.get(key.as_str()) != Some(own)) {
                let theirs = old.get(key).unwrap_or(&Value::Null);
                return Err(Failure::Input(format!(
                    "{shown} contains a run with {key} {theirs}, but this one has {own}: it cannot continue \
                     there\n\n{hint}"
                )));
            }
            return Ok(folder);
        }
        if fs::read_dir(&path).map_err(|e| io("cannot be read", &path, e))?.next().is_some() {
            return Err(Failure::Input(format!(
                "{shown} is not empty, and a run never overwrites anything\n\n{hint}"
            )));
        }
        folder.save(Status::Running, &Tally::default())?;
        Ok(folder)
    }

    /// Whether the experiment, as it is now, was run to its end.
    pub fn is_complete(&self, name: &str, loaded: &Loaded) -> bool {
        let text = text_file::read_text(&self.run(name)).unwrap_or_default();
        let run: Value = serde_json::from_str(&text).unwrap_or_default();
        let resolved = serde_json::to_value(&loaded.resolved).expect("TOML is plain data");
        run["status"] == "complete" && runs_alike(run["resolved"].clone(), resolved)
    }

    /// Removes what an interrupted run of the experiment, or a run of an older version of it, has left, to start
    /// over.
    pub fn clear(&self, name: &str) -> Result<(), Failure> {
        let path = self.path.join(folder(name));
        match path.exists() {
            true => fs::remove_dir_all(&path).map_err(|e| io("cannot be removed", &path, e)),
            false => Ok(()),
        }
    }

    /// Records the progress.
    pub fn save(&self, status: Status, summary: &Tally) -> Result<(), Failure> {
        let path = self.path.join(MARKER);
        let text = serde_json::to_string_pretty(&self.report(status, summary)).expect("plain data");
        // Whole or not at all: an interrupted run is known by it.
        write_whole(&path, text + "\n").map_err(|e| io("cannot be written", &path, e))
    }

    /// What `--json` prints: the reports of the `experiments` that were run, with the kept results of real hosts.
    pub fn full_report(
        &self,
        status: Status,
        summary: &Tally,
        experiments: &[Reproduced],
    ) -> Result<Value, Failure> {
        let mut runs = Vec::new();
        for own in experiments {
            let path = self.run(&own.experiment);
            let text = text_file::read_text(&path).map_err(|e| io("cannot be read", &path, e))?;
            let mut run: Value = serde_json::from_str(&text).expect("it was read before");
            if let Some(run) = run.as_object_mut() {
                run.retain(|key, _| !["resolved", "host", "tables"].contains(&&**key));
            }
            if let Some(real) = own.real() {
                let (numbers, claims) = (&real.comparison.numbers, &real.comparison.claims);
                run["real"] = json!({ "numbers": numbers, "claims": claims, "testbed": real.testbed });
            }
            runs.push(run);
        }
        let mut report = self.report(status, summary);
        report["experiments"] = runs.into();
        Ok(report)
    }

    fn report(&self, status: Status, summary: &Tally) -> Value {
        let mut report = self.head.clone();
        report["status"] = serde_json::to_value(status).expect("plain data");
        report["summary"] = serde_json::to_value(summary).expect("plain data");
        report
    }

    fn run(&self, name: &str) -> PathBuf {
        self.path.join(folder(name)).join("run.json")
    }
}

fn io(action: &'static str, path: &Path, error: std::io::Error) -> Failure {
    Diagnostic::io(action, path, error).into()
}
