//! The journal of a sweep: a line for each point, written as soon as it is computed.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tresse_experiment::Diagnostic;
use tresse_experiment::diagnostic::plain_json;
use tresse_results::MODEL_VERSION;
use tresse_units::input_file::MOST_DATA;

use crate::designs::Setting;
use crate::record::{Cost, Record};

/// The first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Head {
    schema: String,
    /// What the sweep is about.
    pub title: String,
    /// The address of everything that its points have in common.
    pub base: String,
    /// The model that computed them.
    pub model_version: u32,
}

/// Any other line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub point: Setting,
    pub record: Record,
    pub cost: Cost,
}

#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
    /// Of its complete lines, bytes.
    length: u64,
}

const NAME: &str = "journal.jsonl";

impl Head {
    const SCHEMA: &str = "tresse/sweep/1";

    pub fn new(title: String, base: String) -> Self {
        Self { schema: Self::SCHEMA.to_owned(), title, base, model_version: MODEL_VERSION }
    }
}

impl Journal {
    /// Whether there is a journal in this folder.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(NAME).is_file()
    }

    /// Whether there is a journal of something else in this folder: its first line is no head.
    pub fn is_of_another_kind(folder: &Path) -> bool {
        let first = Lines::open(&folder.join(NAME)).ok().flatten().and_then(|mut lines| lines.next()?.ok());
        let first = first.and_then(|line| serde_json::from_slice::<Value>(&line).ok());
        first.is_some_and(|first| first.get("schema").is_none() && first.get("address").is_some())
    }

    /// Opens the journal of a folder to continue it; returns its contents. A new journal, or one whose process was
    /// killed before its first line was complete, gets this head.
    pub fn open(folder: &Path, head: &Head) -> Result<(Self, Head, Vec<Kept>), Diagnostic> {
        let path = folder.join(NAME);
        let failed = |action| {
            let path = path.clone();
            move |error: io::Error| Diagnostic::io(action, path, error)
        };
        let file = OpenOptions::new().create(true).append(true).read(true).open(&path);
        let file = file.map_err(failed("cannot be opened"))?;
        let (known, kept, length) = read(&path)?;
        // The last line of a process that was killed is torn.
        file.set_len(length).map_err(failed("cannot be written"))?;
        let mut journal = Self { file, path, length };
        match known {
            Some(known) => Ok((journal, known, kept)),
            None => {
                journal.line(head)?;
                Ok((journal, head.clone(), kept))
            }
        }
    }

    /// The journal of a folder, as far as it is complete.
    pub fn read(folder: &Path) -> Result<(Head, Vec<Kept>), Diagnostic> {
        let (head, kept, _) = read(&folder.join(NAME))?;
        let head = head.ok_or_else(|| {
            Diagnostic::input("not a sweep: it has no journal.jsonl").of(folder.display().to_string())
        })?;
        Ok((head, kept))
    }

    /// Adds a point. When this returns, the system has it, and it survives the end of the process.
    pub fn add(&mut self, kept: &Kept) -> Result<(), Diagnostic> {
        self.line(kept)
    }

    fn line(&mut self, line: &impl Serialize) -> Result<(), Diagnostic> {
        let mut text = serde_json::to_string(line).expect("plain data");
        text.push('\n');
        let written = self.file.write_all(text.as_bytes());
        if written.is_ok() {
            self.length += text.len() as u64;
        } else {
            // A part of it may be there, which the next line would continue.
            let _ = self.file.set_len(self.length);
        }
        written.map_err(|error| Diagnostic::io("cannot be written", &self.path, error))
    }
}

/// The complete lines of a journal. The last one of a process that was killed may be torn, within a character too.
struct Lines {
    file: BufReader<File>,
    /// Of the lines so far, bytes.
    length: u64,
}

impl Lines {
    /// `None` if there is no such file.
    fn open(path: &Path) -> io::Result<Option<Self>> {
        match File::open(path) {
            Ok(file) => Ok(Some(Self { file: BufReader::new(file), length: 0 })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Iterator for Lines {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut line = Vec::new();
        if let Err(error) = self.file.by_ref().take(MOST_DATA).read_until(b'\n', &mut line) {
            return Some(Err(error));
        }
        if line.last() != Some(&b'\n') {
            let is_cut = line.len() as u64 == MOST_DATA;
            return is_cut.then(|| Err(io::Error::other(format!("a line is longer than {MOST_DATA} bytes"))));
        }
        self.length += line.len() as u64;
        line.pop();
        Some(Ok(line))
    }
}

/// The head, the other lines, and the length of the complete part.
fn read(path: &Path) -> Result<(Option<Head>, Vec<Kept>, u64), Diagnostic> {
    let failed = |error: io::Error| Diagnostic::io("cannot be read", path, error);
    let Some(mut lines) = Lines::open(path).map_err(failed)? else { return Ok((None, Vec::new(), 0)) };
    let wrong = |line: usize, error: serde_json::Error| {
        let name = path.display().to_string();
        let message = format!("not a journal of a sweep of this version of tresse: {}", plain_json(&error));
        Diagnostic::at(&name, "", line, 1, message)
    };
    let Some(first) = lines.next() else { return Ok((None, Vec::new(), 0)) };
    let head: Head = serde_json::from_slice(&first.map_err(failed)?).map_err(|e| wrong(1, e))?;
    if head.schema != Head::SCHEMA {
        let message = format!("its schema is {}, not {}", head.schema, Head::SCHEMA);
        return Err(Diagnostic::input(message).of(path.display().to_string()));
    }
    let mut kept = Vec::new();
    for (line, number) in lines.by_ref().zip(2..) {
        kept.push(serde_json::from_slice(&line.map_err(failed)?).map_err(|e| wrong(number, e))?);
    }
    Ok((Some(head), kept, lines.length))
}
