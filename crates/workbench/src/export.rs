//! The results of a run in the formats of other tools.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tresse_exchange::export;
use tresse_experiment::schema::wanted::Wanted;
use tresse_units::output_file::{OutputFile, replaces};

use crate::failure::Failure;

pub use tresse_exchange::export::Format;

/// What to export.
#[derive(Debug, Clone)]
pub struct Request {
    /// The folder of the run.
    pub run: PathBuf,
    pub format: Format,
    /// The table, for formats of tables; `None`: the flows.
    pub table: Option<String>,
    /// The rows to keep, `KEY=VALUE[,VALUE]`.
    pub only: Vec<String>,
}

/// A request whose selection has been read.
#[derive(Debug)]
pub struct Export {
    request: Request,
    only: Wanted,
}

impl Request {
    /// Reads the selection.
    ///
    /// # Errors
    /// An error in it.
    pub fn read(self) -> Result<Export, Failure> {
        let only = export::wanted(&self.only)?;
        Ok(Export { request: self, only })
    }
}

impl Export {
    /// Writes the results. Returns notes on what the format cannot keep.
    ///
    /// # Errors
    /// If the run does not have them, or `out` cannot be written.
    pub fn to(&self, out: &mut dyn Write) -> Result<Vec<String>, Failure> {
        let Request { run, format, table, .. } = &self.request;
        Ok(export::export(run, *format, table.as_deref(), &self.only, out)?)
    }

    /// Writes the results to a file, completely or not at all; `force` replaces it if it exists.
    ///
    /// # Errors
    /// As [`Export::to`], and if there is such a file.
    pub fn to_file(&self, path: &Path, force: bool) -> Result<Vec<String>, Failure> {
        let shown = path.display();
        if replaces(path) && !force {
            let message = format!("{shown} already exists and was left unchanged");
            return Err(Failure::Input(
                message + "\n\nhint: choose another name, or replace it with `--force`",
            ));
        }
        let unwritten = |e: io::Error| Failure::Input(format!("{shown}: cannot be written: {e}"));
        let mut file = OutputFile::create(path).map_err(unwritten)?;
        let notes = self.to(&mut file)?;
        file.finish().map_err(unwritten)?;
        Ok(notes)
    }
}
