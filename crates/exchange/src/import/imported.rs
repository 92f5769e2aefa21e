//! The files that an import writes.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use tresse_experiment::diagnostic::Diagnostic;
use tresse_units::output_file::{OutputFile, replaces};

use super::summary::Summary;

/// The output of an import.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The experiment, and the files next to it that it names.
    pub files: Vec<(PathBuf, String)>,
    /// What was left out, or read differently from how it is written, in one sentence each.
    pub notes: Vec<String>,
    /// What the files have, in numbers.
    pub summary: Summary,
}

impl Imported {
    /// Writes the files, over existing ones only with `replace`. If one cannot be written, none is.
    ///
    /// # Errors
    /// If a file already exists, or cannot be written.
    pub fn write(&self, replace: bool) -> Result<(), Diagnostic> {
        if let Some((path, _)) = self.files.iter().find(|(path, _)| !replace && replaces(path)) {
            let message = format!("{} already exists and was left unchanged", path.display());
            return Err(Diagnostic::input(message).hint("choose another name, or replace it with `--force`"));
        }
        let is_special = |path: &Path| fs::metadata(path).is_ok_and(|own| !own.is_file() && !own.is_dir());
        if let [(path, _), _, ..] = &self.files[..]
            && is_special(path)
        {
            let message = "an import writes several files: name a file, such as x.toml";
            return Err(Diagnostic::input(message).of(path.display().to_string()));
        }
        let mut all = Vec::new();
        for (path, text) in &self.files {
            let file = OutputFile::create(path).and_then(|mut file| {
                file.write_all(text.as_bytes())?;
                Ok(file)
            });
            all.push(file.map_err(|error| Diagnostic::io("cannot be written", path, error))?);
        }
        let first = self.files.first().map_or(Path::new(""), |(path, _)| path);
        OutputFile::finish_all(all).map_err(|error| Diagnostic::io("cannot be written", first, error))
    }
}
