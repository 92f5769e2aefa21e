//! A run that is read back from its folder.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::keys::Experiment;

use crate::record::report::Report;

/// A run that is read back: `run.json`.
#[derive(Debug, Clone)]
pub struct Finished {
    /// What it measured.
    pub report: Report,
    /// The experiment as it was run, after the profile and the settings.
    pub experiment: Experiment,
}

/// What of `run.json` is read.
#[derive(Deserialize)]
struct RunFile {
    #[serde(flatten)]
    report: Report,
    resolved: toml::Table,
}

impl Finished {
    /// Reads the run in the folder `out`.
    ///
    /// # Errors
    /// If there is no `run.json`, or it is of another version of Tresse.
    pub fn read(out: &Path) -> Result<Self, Diagnostic> {
        let path = out.join("run.json");
        let text =
            fs::read_to_string(&path).map_err(|error| Diagnostic::io("cannot be read", &path, error))?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Reads the text of `run.json`; messages call it `name`.
    ///
    /// # Errors
    /// If it is none, or of another version of Tresse.
    pub fn parse(name: &str, text: &str) -> Result<Self, Diagnostic> {
        let wrong = |why: &dyn std::fmt::Display| {
            Diagnostic::input(format!("no results of a run of this version of tresse: {why}"))
                .of(name)
                .hint("run the experiment again")
        };
        let RunFile { report, resolved } = serde_json::from_str(text).map_err(|e| wrong(&e))?;
        if report.schema != Report::SCHEMA {
            return Err(wrong(&format!("its schema is {}, not {}", report.schema, Report::SCHEMA)));
        }
        let experiment = tresse_experiment::plan::keys_of(resolved).map_err(|e| wrong(&e.message))?;
        Ok(Self { report, experiment })
    }
}
