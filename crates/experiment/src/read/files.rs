//! The files that an experiment reads, and their contents.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tresse_units::text_file;

/// A file, identified by its content when it was read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ReadFile {
    /// The path by which it was opened.
    pub path: String,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
}

/// The files that an experiment and its variants have read, and notes about what is in them.
#[derive(Debug, Clone, Default)]
pub struct Files(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    files: BTreeSet<ReadFile>,
    notes: BTreeSet<String>,
}

impl Files {
    /// The text of the file at `path`, which is recorded.
    ///
    /// # Errors
    /// If it cannot be read, or is not text.
    pub(crate) fn read(&self, path: &Path) -> io::Result<String> {
        text_file::text(self.read_bytes(path)?)
    }

    /// The same for a file that need not be text.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn read_bytes(&self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = text_file::read_bytes(path)?;
        self.remember(&path.display().to_string(), &bytes);
        Ok(bytes)
    }

    /// Records what was read from `path`.
    pub(crate) fn remember(&self, path: &str, content: impl AsRef<[u8]>) {
        let file = ReadFile { path: path.to_owned(), sha256: sha256(content) };
        self.known().files.insert(file);
    }

    /// Records what in the file at `path` is read differently from how it is written, or not read.
    pub(crate) fn note(&self, path: &Path, note: &str) {
        self.known().notes.insert(format!("{}: {note}", path.display()));
    }

    /// The notes about files that were read so far, each once.
    pub fn notes(&self) -> Vec<String> {
        self.known().notes.iter().cloned().collect()
    }

    /// Every file that was read so far, in the order of their paths.
    pub fn all(&self) -> Vec<ReadFile> {
        self.known().files.iter().cloned().collect()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().expect("no holder of the lock panics")
    }
}

/// The file that the experiment `own` names: beside it, or in the folder that we are in if the experiment is no file.
pub(crate) fn beside(own: &str, file: &str) -> PathBuf {
    let own = Path::new(own);
    if own.is_file() { own.with_file_name(file) } else { file.into() }
}

/// Why a file cannot be read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> String {
    format!("{} cannot be read: {error}", path.display())
}

/// The SHA-256 of a file's content, in hexadecimal digits.
pub fn sha256(content: impl AsRef<[u8]>) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}
