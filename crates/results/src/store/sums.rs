//! The SHA-256 of each table of a run: `run.json` keeps it, and whoever reads the run checks it, so that a damaged
//! table is never taken for results.

use std::io::{self, ErrorKind, Write};
use std::path::Path;

use indexmap::IndexMap;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tresse_experiment::diagnostic::{Diagnostic, plain_json};
use tresse_units::input_file::{self, MOST_DATA};
use tresse_units::output_file::OutputFile;

/// The SHA-256 of the tables of a run, in hexadecimal digits, by their names; empty for a run of an earlier program,
/// and for one that has not ended.
pub type Sums = IndexMap<String, String>;

/// A file that is written whole, and the SHA-256 of what it gets.
pub(super) struct SummedFile {
    file: OutputFile,
    sum: Sha256,
}

impl SummedFile {
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: OutputFile::create(path)?, sum: Sha256::new() })
    }

    /// Puts it in its place, and returns its sum.
    pub fn finish(self) -> io::Result<String> {
        self.file.finish()?;
        Ok(digits(self.sum))
    }
}

impl Write for SummedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Checks the table `name` of the run in `folder`, if there is a `run.json` and it has a sum of it. The folder of a
/// sweep has none: its tables are made from its journal.
///
/// # Errors
/// If the table is not the one that the run wrote; if `run.json` cannot be read.
pub fn check_table(folder: &Path, name: &str) -> Result<(), Diagnostic> {
    #[derive(Deserialize)]
    struct RunFile {
        #[serde(default)]
        tables: Sums,
    }
    let path = folder.join("run.json");
    let text = match input_file::read(&path, MOST_DATA) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Diagnostic::io("cannot be read", &path, error)),
    };
    let run: RunFile = serde_json::from_slice(&text).map_err(|e| {
        Diagnostic::input(format!("cannot be read: {}", plain_json(&e))).of(path.display().to_string())
    })?;
    run.tables.get(name).map_or(Ok(()), |sum| check(folder, name, sum))
}

/// Checks all tables of the run in `folder` that are still there.
///
/// # Errors
/// If one is not the table that the run wrote.
pub(super) fn check_all(folder: &Path, sums: &Sums) -> Result<(), Diagnostic> {
    sums.iter().try_for_each(|(name, sum)| check(folder, name, sum))
}

fn check(folder: &Path, name: &str, sum: &str) -> Result<(), Diagnostic> {
    let path = folder.join(format!("{name}.parquet"));
    let wrong = |message: &str| {
        Diagnostic::input(message)
            .of(path.display().to_string())
            .hint("take the run's folder from where it was copied, or run the experiment again")
    };
    match of_file(&path) {
        Ok(own) if own == sum => Ok(()),
        Ok(_) => Err(wrong("not the table that the run wrote: its SHA-256 is not the one in run.json")),
        // `run.json` alone is what some keep of a run.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Diagnostic::io("cannot be read", path, error)),
    }
}

fn of_file(path: &Path) -> io::Result<String> {
    let mut sum = Sha256::new();
    io::copy(&mut input_file::open(path)?, &mut HashWriter(&mut sum))?;
    Ok(digits(sum))
}

/// What is written to it goes into the sum.
struct HashWriter<'a>(&'a mut Sha256);

impl Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn digits(sum: Sha256) -> String {
    sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
