//! An experiment that was read, and the location of errors in its file.

use std::path::Path;
use std::sync::Arc;

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table};

use crate::diagnostic::{Diagnostic, Location, Wrong, did_you_mean};
use crate::read::axes::Axis;
use crate::read::changes::Change;
use crate::read::files::Files;
use crate::read::owned::Meaning;
use crate::schema::Experiment;

/// The size of an experiment to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// As `[profile.quick]` cuts it.
    Quick,
    /// As the file has it.
    Full,
}

impl Profile {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }
}

/// An experiment's text and its name in messages.
#[derive(Debug, Clone)]
pub struct Source {
    /// The built-in name, or the file.
    pub name: String,
    /// The TOML text.
    pub text: String,
}

impl Source {
    /// Its name without a folder and an extension.
    pub(crate) fn stem(&self) -> String {
        let stem = Path::new(&self.name).file_stem().unwrap_or_default();
        stem.to_string_lossy().into_owned()
    }

    /// An error in the table at `keys`, which is laid over the experiment; messages name the table `name`.
    pub(crate) fn error_below(
        &self,
        keys: &[&str],
        name: &str,
        wrong: &Wrong,
        meaning: &Meaning,
    ) -> Diagnostic {
        let below = wrong.keys().iter().map(String::as_str);
        let whole: Vec<&str> = keys.iter().copied().chain(below).collect();
        match Places::of(&self.text, meaning).locate(&whole) {
            Some(offset) => {
                let message = format!("{name}: {}", wrong.message);
                Diagnostic::at_offset(&self.name, &self.text, offset, message)
            }
            None => Diagnostic::input(wrong.message.clone()).of(place(self, meaning, keys, name)),
        }
    }

    /// An error in it, with its location.
    pub(crate) fn error(&self, wrong: Wrong, meaning: &Meaning) -> Diagnostic {
        let offset = match &wrong.at {
            Location::Offset(offset) => *offset,
            Location::Keys(keys) => {
                let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
                Places::of(&self.text, meaning).locate(&keys)
            }
        };
        match offset {
            Some(offset) => Diagnostic::at_offset(&self.name, &self.text, offset, wrong.message),
            None => Diagnostic::input(wrong.message).of(&self.name),
        }
    }
}

/// An experiment as it will run.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Where it came from.
    pub source: Arc<Source>,
    /// After the profile and the settings.
    pub experiment: Experiment,
    /// The same, as the TOML value that it was read from.
    pub resolved: Table,
    /// What the profile changed: path, the file's value, the profile's.
    pub cuts: Vec<(String, String, String)>,
    /// The settings, as they were given: `PATH=VALUE`.
    pub settings: Vec<String>,
    /// What they have changed in what is run, so that what it is judged by no longer applies.
    pub changes: Vec<Change>,
    /// The files that it has read; once it is planned, also those of its workloads.
    pub files: Files,
    /// The axes made by lists; `experiment` is the experiment at the first value of each.
    pub axes: Vec<Axis>,
    /// At a point of such axes: their keys, each with the index of its value in the list.
    pub(super) at: Vec<(Vec<String>, usize)>,
    /// Its variants, in the order of the file.
    pub variants: Vec<LoadedVariant>,
    /// Values that do not come from their place in the file: path, and where they come from.
    pub(crate) overrides: Vec<(String, String)>,
    pub(super) meaning: Meaning,
}

impl Loaded {
    /// Neither the profile nor a setting changed anything.
    pub(crate) fn is_as_written(&self) -> bool {
        self.overrides.is_empty()
    }

    /// An error in the value at `path`, with its location in the file, or with the setting that put it
    /// there.
    pub fn error_at(&self, path: &[&str], message: &str) -> Diagnostic {
        let dotted = path.join(".");
        if let Some(cause) = self.cause(&dotted) {
            return Diagnostic::input(message).of(cause);
        }
        let Source { name, text } = &*self.source;
        // One value of a list makes an axis, and that one is wrong.
        let of_axis = |(keys, _): &&(Vec<String>, usize)| {
            path.iter().zip(keys).all(|(a, b)| a == b) && path.len() >= keys.len()
        };
        let place = self.at.iter().find(of_axis).map(|(keys, place)| (keys.len(), place.to_string()));
        let mut path = path.to_vec();
        if let Some((end, place)) = &place {
            path.insert(*end, place);
        }
        let places = Places::of(text, &self.meaning);
        if let Some(offset) = places.locate(&path) {
            return Diagnostic::at_offset(name, text, offset, message);
        }
        // It is not there: the table that could have it is.
        let message = format!("{dotted}: {message}");
        match (0..path.len()).rev().find_map(|end| places.locate(&path[..end])) {
            Some(offset) => Diagnostic::at_offset(name, text, offset, message),
            None => Diagnostic::input(message).of(name),
        }
    }

    /// The same for an error in its file.
    pub fn error(&self, wrong: Wrong) -> Diagnostic {
        match wrong.at {
            Location::Keys(keys) => {
                self.error_at(&keys.iter().map(String::as_str).collect::<Vec<_>>(), &wrong.message)
            }
            Location::Offset(_) => self.source.error(wrong, &self.meaning),
        }
    }

    /// Whether a setting put the value at `dotted` there.
    pub(crate) fn is_set(&self, dotted: &str) -> bool {
        let covers = |path: &str| {
            dotted.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.overrides.iter().any(|(path, cause)| cause.starts_with("--set ") && covers(path))
    }

    /// What put the value at `dotted` there, if the file did not.
    pub(crate) fn cause(&self, dotted: &str) -> Option<&str> {
        let below = |parent: &str| {
            dotted.strip_prefix(parent).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                || parent.strip_prefix(dotted).is_some_and(|rest| rest.starts_with('.'))
        };
        self.overrides.iter().rev().find(|(path, _)| below(path)).map(|(_, cause)| &**cause)
    }
}

/// A variant as it will run.
#[derive(Debug, Clone)]
pub struct LoadedVariant {
    pub name: String,
    /// Which of its cases are run, as `--only` takes them.
    pub only: Vec<String>,
    /// The resulting experiment, which has no variants.
    pub loaded: Loaded,
}

impl Loaded {
    /// The experiment with this variant applied.
    ///
    /// # Errors
    /// If there is none with this name.
    pub fn variant(&self, name: &str) -> Result<&Self, Diagnostic> {
        let names: Vec<&str> = self.variants.iter().map(|v| &*v.name).collect();
        let found = self.variants.iter().find(|v| v.name == name).map(|v| &v.loaded);
        found.ok_or_else(|| {
            let known = match names.is_empty() {
                true => "it has none".to_owned(),
                false => format!("there are: {}", names.join(", ")),
            };
            let hint = did_you_mean(name, names.iter().copied());
            Diagnostic::input(format!("there is no variant `{name}`{hint} ({known})")).of(&self.source.name)
        })
    }
}

/// The tables of a text, in which many places are looked for.
pub(crate) struct Places<'t> {
    text: &'t str,
    /// `None` if it is not TOML.
    tables: Option<Spanned<DeValue<'t>>>,
}

impl<'t> Places<'t> {
    /// Of an experiment.
    pub fn of(text: &'t str, meaning: &Meaning) -> Self {
        Self::new(text, meaning.parse(text).ok())
    }

    fn new(text: &'t str, tables: Option<Spanned<DeTable<'t>>>) -> Self {
        let tables = tables.map(|own| Spanned::new(own.span(), DeValue::Table(own.into_inner())));
        Self { text, tables }
    }

    /// Where the value at `path` begins; see [`locate`].
    fn locate(&self, path: &[&str]) -> Option<usize> {
        let mut value = self.tables.as_ref()?;
        for key in path {
            value = match (value.get_ref(), key.parse::<usize>().ok()) {
                (DeValue::Table(table), _) => table.iter().find(|(own, _)| own.get_ref() == key)?.1,
                (DeValue::Array(values), Some(place)) => values.get(place)?,
                _ => return Some(value.span().start),
            };
        }
        Some(value.span().start)
    }

    /// `file:line: what`, for the value at `path`.
    pub fn place(&self, file: &str, path: &[&str], what: &str) -> String {
        match self.locate(path) {
            Some(offset) => {
                let line = self.text[..offset].matches('\n').count() + 1;
                format!("{file}:{line}: {what}")
            }
            None => format!("{file}: {what}"),
        }
    }
}

/// `file:line: what`, for the value at `path`.
pub(crate) fn place(source: &Source, meaning: &Meaning, path: &[&str], what: &str) -> String {
    Places::of(&source.text, meaning).place(&source.name, path, what)
}

/// The keys that lead to the value at `offset` bytes from the start of the text.
pub(crate) fn keys_at(text: &str, offset: usize) -> Vec<String> {
    fn search(value: &Spanned<DeValue>, offset: usize, keys: &mut Vec<String>) -> bool {
        let mut is_below = |key: String, start: Option<usize>, below: &Spanned<DeValue>| {
            keys.push(key);
            let found = start == Some(offset) || search(below, offset, keys);
            if !found {
                keys.pop();
            }
            found
        };
        let found = match value.get_ref() {
            DeValue::Table(table) => table
                .iter()
                .any(|(key, below)| is_below(key.get_ref().to_string(), Some(key.span().start), below)),
            DeValue::Array(list) => {
                list.iter().enumerate().any(|(place, below)| is_below(place.to_string(), None, below))
            }
            _ => false,
        };
        found || value.span().start == offset
    }
    let Ok(table) = DeTable::parse(text) else { return Vec::new() };
    let mut keys = Vec::new();
    search(&Spanned::new(table.span(), DeValue::Table(table.into_inner())), offset, &mut keys);
    keys
}

/// Where the value at `path` begins in the text, or the nearest one above it that is not a table; a
/// number in the path is an index in a list.
pub fn locate(text: &str, path: &[&str]) -> Option<usize> {
    Places::new(text, DeTable::parse(text).ok()).locate(path)
}
