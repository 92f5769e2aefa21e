//! What a challenge leaves behind: `challenge.json`, an experiment for each failure, and a page for people.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use tresse_controllers::Controller;
use tresse_controllers::included;
use tresse_experiment::read::files::sha256;
use tresse_units::output_file::write_whole;

use crate::failure::Failure;
use crate::json;

/// The schema of `challenge.json`.
pub const SCHEMA: &str = "tresse/challenge/1";

/// The file in a challenge's folder.
pub const FILE: &str = "challenge.json";

/// A challenge and what it found.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// The version of this format.
    pub schema: String,
    pub version: String,
    pub model_version: u32,
    pub controller: Own,
    /// The seed of the search.
    pub seed: u64,
    /// How many conditions were tried: with the same number, the same is found again.
    pub candidates: u64,
    /// Whether it was not interrupted.
    pub complete: bool,
    /// The levels of each quantity that were searched.
    pub bounds: IndexMap<String, Vec<String>>,
    /// The goals that cannot be asked of this controller, and why.
    pub left_out: IndexMap<String, String>,
    /// The worst of each goal and network that the search saw, under its one seed.
    pub worst: Vec<Worst>,
    /// The failures, goal by goal.
    pub failures: Vec<Found>,
}

/// The controller.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Own {
    pub name: String,
    /// Its file in the folder; `None` if it is built in.
    pub file: Option<String>,
    /// SHA-256 of its text.
    pub sha256: String,
}

/// The worst condition that the search saw of a goal in a network.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Worst {
    pub goal: String,
    pub network: String,
    /// Whether packets are lost at random, or ACKs are rare.
    pub hindered: bool,
    pub value: f64,
    /// Which candidate it was, from 1.
    pub candidate: u64,
}

/// A failure.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Found {
    /// Its experiment, in the folder.
    pub file: String,
    pub sha256: String,
    pub goal: String,
    pub network: String,
    /// Whether packets are lost at random, or ACKs are rare: that hinders any controller.
    pub hindered: bool,
    /// What happens, in a sentence.
    pub sentence: String,
    /// Whether other seeds show it; if not, the search was interrupted before.
    pub confirmed: bool,
    /// The goal's number: the median over the seeds.
    pub value: f64,
    pub seeds: Vec<u64>,
    /// By seed.
    pub values: Vec<f64>,
    /// What a plain controller does in its place.
    pub beside: Option<Beside>,
    /// The candidate of the search from which it comes.
    pub candidate: u64,
}

/// A plain controller whose value is at least this share of the failure's does as badly.
const AS_BADLY: f64 = 0.9;

impl Found {
    /// Whether a plain controller does as badly: then the condition is hard for anyone, and the failure is not the
    /// controller's own.
    pub fn is_hard(&self) -> bool {
        self.beside.as_ref().is_some_and(|other| other.value >= AS_BADLY * self.value)
    }
}

/// Another controller in the same condition.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Beside {
    pub controller: String,
    pub value: f64,
}

impl Own {
    /// A controller; its file and the headers that it includes are copied into the folder.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn keep(controller: Controller, folder: &Path) -> Result<Self, Failure> {
        let mut own =
            Self { name: controller.name().to_owned(), file: None, sha256: sha256(controller.text()) };
        let Some(path) = controller.file() else { return Ok(own) };
        let headers = included(path);
        let headers = headers.iter().map(|(path, text)| (path.as_path(), text.as_str()));
        for (path, text) in headers.chain([(path, controller.text())]) {
            let name = path.file_name().unwrap_or_default();
            save(&folder.join(name), text)?;
            own.file = Some(name.to_string_lossy().into_owned());
        }
        Ok(own)
    }
}

/// The folder for a challenge of the controller `name`: the requested one, which must be new or empty, or the next.
///
/// # Errors
/// If it is not empty, or cannot be made.
pub fn folder(asked: Option<&Path>, name: &str) -> Result<PathBuf, Failure> {
    let made = |path: &Path| {
        fs::create_dir_all(path).map_err(|e| Failure::Input(format!("{}: {e}", path.display())))
    };
    if let Some(path) = asked {
        if path.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(Failure::Input(format!(
                "{}: the folder is not empty\n\nhint: choose another folder with `--out DIR`",
                path.display()
            )));
        }
        made(path)?;
        return Ok(path.to_owned());
    }
    made(Path::new("challenges"))?;
    for number in 1.. {
        let path = Path::new("challenges").join(format!("{name}-{number}"));
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Failure::Input(format!("{}: {error}", path.display()))),
        }
    }
    unreachable!("some number is free")
}

/// Writes a file of the folder.
///
/// # Errors
/// If it cannot be written.
pub fn save(path: &Path, text: &str) -> Result<(), Failure> {
    write_whole(path, text).map_err(|e| Failure::Input(format!("{}: {e}", path.display())))
}

impl Record {
    /// The record of the challenge in `folder`.
    ///
    /// # Errors
    /// If there is none, or another version wrote it.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(FILE);
        let wrong = |e: &dyn std::fmt::Display| Failure::Input(format!("{}: {e}", path.display()));
        let text = tresse_units::text_file::read_written(&path).map_err(|e| wrong(&e))?;
        let record: Self = serde_json::from_str(&text).map_err(|e| wrong(&e))?;
        if record.schema != SCHEMA {
            return Err(wrong(&format!("its schema is {}, not {SCHEMA}", record.schema)));
        }
        Ok(record)
    }

    /// Writes `challenge.json` and `README.md`.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        save(&folder.join(FILE), &(json::pretty(self) + "\n"))?;
        save(&folder.join("README.md"), &self.page())
    }

    /// The page for people.
    fn page(&self) -> String {
        let Self { controller, seed, candidates, .. } = self;
        let name = &controller.name;
        let own = controller.file.as_ref().map(|file| format!(" --controller {file}")).unwrap_or_default();
        let mut page = format!(
            "# Where {name} does worst\n\nFound by `tresse challenge {} --seed {seed} --candidates {candidates}`{}, \
             Tresse {}, model {}.\n\nA number goes from 0, nothing is wrong, to 1; it is the median over seeds 2 to 6. \
             `tresse challenge --replay .` in this folder measures all of them again.\n",
            controller.file.as_deref().unwrap_or(name),
            if self.complete { "" } else { ", which was interrupted" },
            self.version,
            self.model_version,
        );
        for found in &self.failures {
            let beside = found.beside.as_ref().map(|other| {
                let hard = if found.is_hard() { ": the condition is hard for anyone" } else { "" };
                format!(" In the same place {} has {:.2}{hard}.", other.controller, other.value)
            });
            let doubt = if found.confirmed { "" } else { " Other seeds were not tried." };
            write!(
                page,
                "\n## {} {:.2}\n\n{}.{}{doubt}\n\n    tresse run {}{own} --seed 2 --report\n",
                found.goal,
                found.value,
                found.sentence,
                beside.unwrap_or_default(),
                found.file,
            )
            .expect("text takes text");
        }
        if self.failures.is_empty() {
            page.push_str("\nIt found none.\n");
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_plain_controller_does_as_badly_is_hard_for_anyone() {
        let found = |beside: Option<f64>| Found {
            file: String::new(),
            sha256: String::new(),
            goal: "waste".to_owned(),
            network: "paths".to_owned(),
            hindered: false,
            sentence: String::new(),
            confirmed: true,
            value: 0.5,
            seeds: Vec::new(),
            values: Vec::new(),
            beside: beside.map(|value| Beside { controller: "reno".to_owned(), value }),
            candidate: 1,
        };
        assert_eq!(
            [None, Some(0.44), Some(0.46), Some(0.9)].map(|own| found(own).is_hard()),
            [false, false, true, true]
        );
    }
}
