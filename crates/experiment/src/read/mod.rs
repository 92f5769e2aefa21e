//! From text to an experiment: the file, the profile, its variants, `--set`; and where in the file an error lies.

pub mod built_in;
pub mod flow_file;
mod for_each;
pub mod graph_file;
pub mod sniff_format;
pub mod variants;

use std::path::Path;
use std::{fs, io};

use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use crate::diagnostic::{At, Diagnostic, Wrong, did_you_mean};
use crate::keys::Experiment;
use crate::read::variants::LoadedVariant;

/// Which size of an experiment is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// As `[profile.quick]` cuts it.
    Quick,
    /// As the file says.
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

/// An experiment's text and the name that messages call it by.
#[derive(Debug, Clone)]
pub struct Source {
    /// The built-in name, or the file.
    pub name: String,
    /// The TOML text.
    pub text: String,
}

impl Source {
    /// What is wrong in it, with its place.
    pub(crate) fn error(&self, wrong: Wrong) -> Diagnostic {
        let offset = match &wrong.at {
            At::Offset(offset) => *offset,
            At::Keys(keys) => locate(&self.text, &keys.iter().map(String::as_str).collect::<Vec<_>>()),
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
    pub source: Source,
    /// After the profile and the settings.
    pub experiment: Experiment,
    /// The same, as the TOML value that it was read from.
    pub resolved: Table,
    /// What the profile changed: path, the file's value, the profile's.
    pub cuts: Vec<(String, String, String)>,
    /// Its variants, in the order of the file.
    pub variants: Vec<LoadedVariant>,
    /// What does not stand where it belongs in the file: path, and where it comes from.
    pub(crate) overrides: Vec<(String, String)>,
    check: Check,
}

/// Checks what only those know who know what an experiment means, in the tables of a text.
pub(crate) type Check = fn(DeTable) -> Result<(), Wrong>;

impl Loaded {
    /// Neither the profile nor a setting changed anything.
    pub(crate) fn is_as_written(&self) -> bool {
        self.overrides.is_empty()
    }

    /// An error about what stands at `path`, with its place in the file, or the setting that put it
    /// there.
    pub fn error_at(&self, path: &[&str], message: &str) -> Diagnostic {
        let dotted = path.join(".");
        if let Some(cause) = self.cause(&dotted) {
            return Diagnostic::input(message).of(cause);
        }
        let Source { name, text } = &self.source;
        match locate(text, path) {
            Some(offset) => Diagnostic::at_offset(name, text, offset, message),
            None => Diagnostic::input(format!("{dotted}: {message}")).of(name),
        }
    }

    /// The same of what is wrong in its file.
    pub fn error(&self, wrong: Wrong) -> Diagnostic {
        match wrong.at {
            At::Keys(keys) => {
                self.error_at(&keys.iter().map(String::as_str).collect::<Vec<_>>(), &wrong.message)
            }
            At::Offset(_) => self.source.error(wrong),
        }
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

/// Finds an experiment: a built-in name such as `xmp/table1`, one of its rows such as `xmp/fig9`, a TOML file, or `-`
/// for stdin. The source of a row has the name of the experiment that it is part of.
///
/// # Errors
/// If there is neither.
pub fn find(name: &str) -> Result<Source, Diagnostic> {
    if name == "-" {
        let text =
            io::read_to_string(io::stdin()).map_err(|e| Diagnostic::input(e.to_string()).of("stdin"))?;
        return Ok(Source { name: "stdin".to_owned(), text });
    }
    if let Some((own, text)) = built_in::find(name) {
        return Ok(Source { name: own.to_owned(), text: text.to_owned() });
    }
    let path = Path::new(name);
    match fs::read_to_string(path) {
        Ok(text) => Ok(Source { name: name.to_owned(), text }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let known = built_in::known();
            let hint = did_you_mean(name, known.iter().map(String::as_str));
            let message =
                format!("there is no experiment `{name}`: neither a built-in name nor a file{hint}");
            Err(Diagnostic::input(message).hint(format!("built in are {}", built_in::names().join(", "))))
        }
        Err(error) => Err(Diagnostic::io("cannot be read", path, error)),
    }
}

/// Reads `source`, applies the profile, the variants if there are any, and then the settings `PATH=VALUE`; after
/// each of them `check` has a look.
///
/// # Errors
/// The first thing that is wrong, with its place in the file, or the setting that made it wrong.
pub(crate) fn load(
    source: Source,
    profile: Profile,
    settings: &[String],
    check: Check,
) -> Result<Loaded, Diagnostic> {
    // Read as it stands first: only the text knows its lines.
    let experiment: Experiment = for_each::read(&source.text).map_err(|e| source.error(e))?;
    let tables = for_each::parse(&source.text).map_err(|e| source.error(e))?;
    check(tables.into_inner()).map_err(|e| source.error(e))?;
    let mut resolved: Table = for_each::read(&source.text).map_err(|e| source.error(e))?;
    let (mut cuts, mut overrides) = (Vec::new(), Vec::new());
    if profile == Profile::Quick {
        let quick = experiment.profile.quick.clone();
        merge(&mut resolved, &quick, "", &mut cuts);
        overrides.extend(cuts.iter().map(|(path, ..)| {
            let keys: Vec<&str> = ["profile", "quick"].into_iter().chain(path.split('.')).collect();
            (path.clone(), place(&source, &keys, "[profile.quick]"))
        }));
        recheck(&resolved, check, &place(&source, &["profile", "quick"], "[profile.quick]"))?;
    }
    for setting in settings {
        let path = apply(&mut resolved, setting)?;
        let cause = format!("--set {setting}");
        let of_variants = variants::set(&mut resolved, &path, setting)?;
        recheck(&resolved, check, &cause)?;
        overrides.extend(of_variants.into_iter().chain([path]).map(|path| (path, cause.clone())));
    }
    let mut loaded = Loaded::new(source, resolved, overrides, check)?;
    loaded.cuts = cuts;
    let replications = loaded.experiment.replications.check();
    replications.map_err(|e| loaded.error(e.below("replications")))?;
    loaded.variants = variants::load(&loaded)?;
    Ok(loaded)
}

impl Loaded {
    /// Of a table that was checked.
    pub(crate) fn new(
        source: Source,
        resolved: Table,
        overrides: Vec<(String, String)>,
        check: Check,
    ) -> Result<Self, Diagnostic> {
        let experiment =
            Experiment::deserialize_table(&resolved).map_err(|e| Diagnostic::input(e.to_string()))?;
        let (cuts, variants) = (Vec::new(), Vec::new());
        let mut loaded = Self { source, experiment, resolved, cuts, variants, overrides, check };
        graph_file::read(&mut loaded)?;
        Ok(loaded)
    }
}

impl Experiment {
    fn deserialize_table(table: &Table) -> Result<Self, toml::de::Error> {
        table.clone().try_into()
    }
}

/// Checks an experiment again that `cause` changed.
pub(crate) fn recheck(table: &Table, check: Check, cause: &str) -> Result<(), Diagnostic> {
    let read = Experiment::deserialize_table(table).map(drop).map_err(Wrong::from);
    read.and_then(|()| check(DeTable::parse(&table.to_string())?.into_inner()))
        .map_err(|e| Diagnostic::input(e.message).of(cause).hint("`tresse schema` has every key"))
}

/// Puts tables over the experiment's; `cuts` gets what changes: path, old value, new value.
pub(crate) fn merge(base: &mut Table, over: &Table, path: &str, cuts: &mut Vec<(String, String, String)>) {
    for (key, value) in over {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match (base.get_mut(key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => merge(below, above, &path, cuts),
            (below, _) => {
                let old = below.map_or_else(|| "(none)".to_owned(), |v| v.to_string());
                cuts.push((path, old, value.to_string()));
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Applies `a.b.c=VALUE` and returns the path; a value that is not TOML is a string, so that units
/// need no quotes.
pub(crate) fn apply(table: &mut Table, setting: &str) -> Result<String, Diagnostic> {
    let bad = |message: String| Diagnostic::input(message).of(format!("--set {setting}"));
    let (path, text) = setting
        .split_once('=')
        .ok_or_else(|| bad("expected PATH=VALUE, such as fabric.k=16 or transport.rto_min=10ms".into()))?;
    let text = text.trim();
    let value = toml::from_str::<Table>(&format!("v = {text}"))
        .ok()
        .and_then(|mut t| t.remove("v"))
        .unwrap_or_else(|| Value::String(text.to_owned()));
    let mut keys: Vec<&str> = path.trim().split('.').collect();
    let last = keys.pop().filter(|k| !k.is_empty()).ok_or_else(|| bad("the path is empty".into()))?;
    let mut at = table;
    for key in keys {
        // A table that the file leaves out begins empty; one that may not be there is refused when
        // the experiment is read again.
        at = match at.entry(key).or_insert_with(|| Value::Table(Table::new())) {
            Value::Table(t) => t,
            _ => return Err(bad(format!("`{key}` is not a table"))),
        };
    }
    at.insert(last.to_owned(), value);
    Ok(path.trim().to_owned())
}

/// `file:line: what`, for what stands at `path`.
pub(crate) fn place(source: &Source, path: &[&str], what: &str) -> String {
    match locate(&source.text, path) {
        Some(offset) => {
            let line = source.text[..offset].matches('\n').count() + 1;
            format!("{}:{line}: {what}", source.name)
        }
        None => format!("{}: {what}", source.name),
    }
}

/// Where the value at `path` begins in the text, or the nearest one above it that is no table; a number in the
/// path is a place in a list.
fn locate(text: &str, path: &[&str]) -> Option<usize> {
    let table = for_each::parse(text).ok()?;
    let mut value = Spanned::new(table.span(), DeValue::Table(table.into_inner()));
    for key in path {
        let start = value.span().start;
        let place = key.parse::<usize>().ok();
        value = match (value.into_inner(), place) {
            (DeValue::Table(table), _) => table.into_iter().find(|(k, _)| k.get_ref() == key)?.1,
            (DeValue::Array(values), Some(place)) => values.into_iter().nth(place)?,
            _ => return Some(start),
        };
    }
    Some(value.span().start)
}
