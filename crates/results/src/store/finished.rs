//! Reading a run back from its folder.

use std::fmt;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tresse_experiment::Owners;
use tresse_experiment::diagnostic::{Diagnostic, plain_json};
use tresse_experiment::schema::Experiment;
use tresse_units::text_file;

use crate::record::report::{Report, Status};
use crate::store::folder;
use crate::store::sums::{self, Sums};

/// A run that was read back: `run.json`.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Its name in messages: its file.
    pub name: String,
    /// What it measured.
    pub report: Report,
    /// The experiment as it was run, after the profile and the settings.
    pub experiment: Experiment,
    /// The same, as the tables that it was read from.
    pub resolved: toml::Table,
    pub state: State,
    /// The machine that it ran on.
    pub host: Host,
    /// The figure under whose name it was started, such as `fig8`.
    pub figure: Option<String>,
    /// The sums of its tables.
    pub tables: Sums,
}

/// The machine that a run was on, and when it began; fields that an earlier program did not record are empty.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Host {
    pub os: String,
    pub architecture: String,
    /// How many cases ran at a time.
    pub threads: usize,
    /// When it began: RFC 3339, UTC.
    pub started: String,
}

/// The state of a run, by its folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "RunState")]
pub enum State {
    /// Every flow of every case finished.
    #[default]
    Complete,
    /// A process is working on it.
    UnderWay,
    /// It was interrupted.
    Interrupted,
    /// Some of its cases could not end.
    GaveUp,
    /// Its process is gone, and did not record how it ended.
    Killed,
}

impl State {
    /// From its report, and whether a process [holds](folder::is_held) its folder.
    pub fn of(report: &Report, is_held: bool) -> Self {
        match report.status {
            Status::Complete => Self::Complete,
            Status::Running if is_held => Self::UnderWay,
            Status::Running => Self::Killed,
            Status::Partial if report.errors.is_empty() => Self::Interrupted,
            Status::Partial => Self::GaveUp,
        }
    }
}

impl fmt::Display for State {
    /// The end of a sentence about the run: it "was killed".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Complete => "is complete",
            Self::UnderWay => "is in progress",
            Self::Interrupted => "was interrupted",
            Self::GaveUp => "gave up",
            Self::Killed => "was killed",
        })
    }
}

/// The part of `run.json` that is read.
#[derive(Deserialize)]
struct RunFile {
    #[serde(flatten)]
    report: Report,
    resolved: toml::Table,
    #[serde(default)]
    host: Host,
    #[serde(default)]
    figure: Option<String>,
    #[serde(default)]
    tables: Sums,
}

/// What refuses a run in the file `name` that was written by another version of Tresse.
pub fn of_another_version(name: &str, why: &str) -> Diagnostic {
    Diagnostic::input(format!("not the results of a run of this version of tresse: {why}"))
        .of(name)
        .hint("run the experiment again")
}

impl Finished {
    /// Reads the run in the folder `out`, and checks that its tables are those that it wrote, as far as they are there.
    /// The keys of `owners` are checked too.
    ///
    /// # Errors
    /// If there is no `run.json`, or it is of another version of Tresse; if a table was damaged.
    pub fn read(out: &Path, owners: Owners) -> Result<Self, Diagnostic> {
        let path = out.join("run.json");
        let text =
            text_file::read_text(&path).map_err(|error| Diagnostic::io("cannot be read", &path, error))?;
        let finished = Self::parse(&path.display().to_string(), &text, owners)?;
        sums::check_all(out, &finished.tables)?;
        let state = State::of(&finished.report, folder::is_held(out));
        Ok(Self { state, ..finished })
    }

    /// Reads the text of `run.json` of a run that no process is working on; `name` is its name in messages.
    ///
    /// # Errors
    /// If it is not a run, or of another version of Tresse.
    pub fn parse(name: &str, text: &str, owners: Owners) -> Result<Self, Diagnostic> {
        let wrong = |why: &str| of_another_version(name, why);
        let RunFile { report, resolved, host, figure, tables } =
            serde_json::from_str(text).map_err(|e| wrong(&plain_json(&e)))?;
        if report.schema != Report::SCHEMA {
            return Err(wrong(&format!("its schema is {}, not {}", report.schema, Report::SCHEMA)));
        }
        let experiment = owners.keys_of(&resolved).map_err(|e| wrong(&e.message))?;
        let state = State::of(&report, false);
        let name = name.to_owned();
        Ok(Self { name, report, experiment, resolved, state, host, figure, tables })
    }
}
