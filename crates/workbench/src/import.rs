//! Turns files of other simulators into an experiment.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tresse_exchange::import::{self, Imported, Input};
use tresse_units::text_file;

use crate::failure::Failure;

pub use tresse_exchange::import::Format;

/// What to import.
#[derive(Debug, Clone)]
pub struct Request {
    /// The format of the files.
    pub format: Format,
    /// The files, in the format's order; `-` is stdin.
    pub files: Vec<PathBuf>,
    /// The experiment's file to write; others are written next to it.
    pub out: PathBuf,
    /// Whether to replace files that exist.
    pub force: bool,
}

/// What was imported.
#[derive(Debug)]
pub struct Report {
    /// The files, with notes and a summary.
    pub imported: Imported,
    format: Format,
}

/// Imports the files, and writes the experiment.
///
/// # Errors
/// If anything is wrong; then nothing is written.
pub fn import(request: &Request) -> Result<Report, Failure> {
    if request.out == Path::new("-") {
        let message = "an import writes several files: give `-o` a file name, such as x.toml";
        return Err(Failure::Input(message.to_owned()));
    }
    let mut texts = Vec::new();
    for file in &request.files {
        let shown = if file == Path::new("-") { "stdin".to_owned() } else { file.display().to_string() };
        let text = read(file).map_err(|e| Failure::Input(format!("{shown}: cannot be read: {e}")))?;
        texts.push((shown, text));
    }
    let inputs: Vec<_> = texts.iter().map(|(name, text)| Input { name, text }).collect();
    let imported = import::import(request.format, &inputs, &request.out)?;
    imported.write(request.force)?;
    Ok(Report { imported, format: request.format })
}

impl Report {
    /// The written files, the experiment first.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.imported.files.iter().map(|(path, _)| &**path)
    }

    /// Everything as one JSON object.
    pub fn json(&self) -> Value {
        let Imported { notes, summary, .. } = &self.imported;
        let files: Vec<&Path> = self.files().collect();
        json!({
            "schema": "tresse/import/1", "format": self.format.name(), "files": files, "notes": notes,
            "summary": summary,
        })
    }
}

fn read(file: &Path) -> io::Result<String> {
    if file != Path::new("-") {
        return text_file::read_text(file);
    }
    text_file::read_stdin().and_then(text_file::text)
}
