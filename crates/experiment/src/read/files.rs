//! The files that an experiment reads, and their contents.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A file, identified by its content when it was read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ReadFile {
    /// The path by which it was opened.
    pub path: String,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
}

/// The files that an experiment and its variants have read.
#[derive(Debug, Clone, Default)]
pub struct Files(Arc<Mutex<BTreeSet<ReadFile>>>);

impl Files {
    /// The text of the file at `path`, which is recorded.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn read(&self, path: &Path) -> io::Result<String> {
        let text = fs::read_to_string(path)?;
        self.remember(&path.display().to_string(), &text);
        Ok(text)
    }

    /// The same for a file that need not be text.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn read_bytes(&self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = fs::read(path)?;
        self.remember(&path.display().to_string(), &bytes);
        Ok(bytes)
    }

    /// Records what was read from `path`.
    pub(crate) fn remember(&self, path: &str, content: impl AsRef<[u8]>) {
        let file = ReadFile { path: path.to_owned(), sha256: sha256(content) };
        self.0.lock().expect("no holder of the lock panics").insert(file);
    }

    /// Every file that was read so far, in the order of their paths.
    pub fn all(&self) -> Vec<ReadFile> {
        self.0.lock().expect("no holder of the lock panics").iter().cloned().collect()
    }
}

/// Why a file cannot be read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> String {
    format!("{} cannot be read: {error}", path.display())
}

/// The SHA-256 of a file's content, in hexadecimal digits.
pub fn sha256(content: impl AsRef<[u8]>) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}
