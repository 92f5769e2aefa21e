//! What can go wrong: errors say what is wrong, where, and how to fix it (design rule 8).

mod drawing;
mod plain;
mod wrong;

use std::fmt;
use std::io;
use std::path::Path;

pub use drawing::draw;
pub use plain::plain_json;
pub(crate) use plain::{plain, unknown};
pub use wrong::{Location, Wrong, wrong};

/// Why an experiment could not be read or run. A front end may print it, or use its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whose fault it is.
    pub kind: Kind,
    /// What is wrong, without the location.
    pub message: String,
    /// What the error is about, as named in messages: a file, a folder, a setting such as `--set fabric.k=7`.
    pub source_name: Option<String>,
    /// The location in that file.
    pub place: Option<Box<Place>>,
    /// What to do about it, if the message itself does not say so.
    pub hint: Option<String>,
}

/// Whose fault it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The input is wrong: a file, a value, a setting.
    Input,
    /// A file or folder could not be read or written.
    Io,
}

/// A location in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The line itself.
    pub text: String,
}

impl Diagnostic {
    /// The input is wrong.
    pub fn input(message: impl Into<String>) -> Self {
        Self { kind: Kind::Input, message: message.into(), source_name: None, place: None, hint: None }
    }

    /// A file or folder could not be read or written; `action` says what failed.
    pub fn io(action: &str, path: impl AsRef<Path>, error: io::Error) -> Self {
        let hint = match error.kind() {
            _ if action == "cannot be read" => None,
            io::ErrorKind::StorageFull => Some("free some space, or choose another folder with `--out DIR`"),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Some("choose a folder that you may write to with `--out DIR`")
            }
            _ => None,
        };
        Self {
            kind: Kind::Io,
            hint: hint.map(str::to_owned),
            ..Self::input(format!("{action}: {error}")).of(path.as_ref().display().to_string())
        }
    }

    /// An error in `line` (from 1) of the text of `name`, at `column` (from 1, in characters).
    pub fn at(name: &str, text: &str, line: usize, column: usize, message: impl Into<String>) -> Self {
        let text = text.lines().nth(line - 1).unwrap_or("").to_owned();
        let place = Some(Box::new(Place { line, column, text }));
        Self { place, ..Self::input(message).of(name) }
    }

    /// An error at `offset` bytes from the start of the text of `name`.
    pub fn at_offset(name: &str, text: &str, offset: usize, message: impl Into<String>) -> Self {
        let end = (0..=offset.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        let before = &text[..end];
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        let (line, column) = (before.matches('\n').count() + 1, before[start..].chars().count() + 1);
        Self::at(name, text, line, column, message)
    }

    /// The same, about the file, folder or setting with this name.
    #[must_use]
    pub fn of(self, name: impl Into<String>) -> Self {
        Self { source_name: Some(name.into()), ..self }
    }

    /// The same, with a hint on what to do about it.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

impl std::error::Error for Diagnostic {}

impl fmt::Display for Diagnostic {
    /// `NAME:LINE:COLUMN: MESSAGE`, the line with a caret under the column, and the hint.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.source_name.as_deref().unwrap_or_default();
        match &self.place {
            Some(place) => f.write_str(&draw(name, place, &self.message))?,
            None if name.is_empty() => f.write_str(&self.message)?,
            None => write!(f, "{name}: {}", self.message)?,
        }
        self.hint.iter().try_for_each(|hint| write!(f, "\n\nhint: {hint}"))
    }
}

/// From this length on, a name may be the beginning of what is meant.
const BEGINNING: usize = 3;

/// If a name is the beginning of more known names than this, only the closest one is suggested.
const MOST_BEGUN: usize = 3;

/// The known names closest to `name`, as a question, or nothing: the same one with other capitals, those that begin
/// with it, or one with nearly the same letters.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let lower = name.to_lowercase();
    let mut begun: Vec<&str> = known
        .iter()
        .copied()
        .filter(|k| name.len() >= BEGINNING && k.to_lowercase().starts_with(&lower))
        .collect();
    begun.sort_by_key(|k| k.len());
    begun.dedup();
    let same = known.iter().copied().find(|k| k.to_lowercase() == lower);
    let near = || {
        let distances = known.iter().map(|&k| (strsim::damerau_levenshtein(&lower, &k.to_lowercase()), k));
        // Half of a short name may be wrong, but not its beginning.
        let is_close = |&(distance, k): &(usize, &str)| {
            let begins_alike = k.to_lowercase().chars().next() == lower.chars().next();
            distance <= 1 + k.len() / 4 && distance < k.len() && (2 * distance < k.len() || begins_alike)
        };
        let close = distances.filter(is_close);
        close.min().map(|(_, k)| k)
    };
    let meant = match (same, begun.len()) {
        (Some(same), _) => vec![same],
        (None, 1..=MOST_BEGUN) => begun,
        (None, 0) => near().into_iter().collect(),
        (None, _) => near().or(begun.first().copied()).into_iter().collect(),
    };
    let meant: Vec<String> = meant.iter().map(|k| format!("`{k}`")).collect();
    match &meant[..] {
        [] => String::new(),
        [others @ .., last] if !others.is_empty() => {
            format!("; did you mean {} or {last}?", others.join(", "))
        }
        [only, ..] => format!("; did you mean {only}?"),
    }
}

/// Checks that there is a `kind` with this name.
///
/// # Errors
/// If there is not, with the available names.
pub fn known(kind: &str, name: &str, names: impl IntoIterator<Item = impl AsRef<str>>) -> Result<(), String> {
    let names: Vec<_> = names.into_iter().collect();
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    if names.contains(&name) {
        return Ok(());
    }
    let hint = did_you_mean(name, names.iter().copied());
    Err(format!("there is no {kind} `{name}`{hint} (available: {})", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::did_you_mean;

    #[test]
    fn capitals_and_beginnings_come_before_letters() {
        let known = ["dctcp", "dcm", "ecmp", "goal", "marker", "marking", "websearch-hpcc", "uniform"];
        for (name, expected) in [
            ("DCTCP", "; did you mean `dctcp`?"),
            ("dctpc", "; did you mean `dctcp`?"),
            ("websearch", "; did you mean `websearch-hpcc`?"),
            ("mark", "; did you mean `marker` or `marking`?"),
            ("load", ""),
            ("empc", "; did you mean `ecmp`?"),
            ("unifrom", "; did you mean `uniform`?"),
            ("d", ""),
        ] {
            assert_eq!(did_you_mean(name, known), expected, "{name}");
        }
    }
}
