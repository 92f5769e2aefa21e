//! From text to an experiment: the file, the profile, its variants, `--set`.

pub mod axes;
pub mod built_in;
pub(crate) mod case_count;
pub mod chakra;
pub mod changes;
pub mod files;
pub mod flow_file;
pub mod graph_file;
mod host_file;
mod loaded;
pub mod owned;
pub mod paper_networks;
pub mod sniff_format;
pub mod variants;

use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use serde::Deserialize;
use toml::de::{DeValue, Deserializer};
use toml::{Spanned, Table, Value};
use tresse_units::input_file::{self, MOST_WRITTEN};
use tresse_units::text_file;

use crate::diagnostic::{Diagnostic, Location, Wrong, did_you_mean};
use crate::read::axes::Axis;
use crate::read::files::Files;
pub use crate::read::loaded::{Loaded, LoadedVariant, Profile, Source, locate};
use crate::read::loaded::{keys_at, place};
use crate::read::owned::Meaning;
use crate::schema::Experiment;

/// Finds an experiment: a built-in name such as `xmp/table1`, one of its rows such as `xmp/fig9`, a TOML file, or
/// `-` for stdin. The source of a row has the name of the experiment that contains it.
///
/// # Errors
/// If there is none.
pub fn find(name: &str) -> Result<Source, Diagnostic> {
    if name == "-" {
        let text = input_file::read_stdin(MOST_WRITTEN)
            .and_then(text_file::text)
            .map_err(|e| Diagnostic::input(e.to_string()).of("stdin"))?;
        return Ok(Source { name: "stdin".to_owned(), text });
    }
    if let Some((own, text)) = built_in::find(name) {
        return Ok(Source { name: own.to_owned(), text: text.to_owned() });
    }
    let path = Path::new(name);
    match text_file::read_written(path) {
        Ok(text) => Ok(Source { name: name.to_owned(), text }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut known = built_in::known();
            known.extend(files_beside(path));
            let hint = did_you_mean(name, known.iter().map(String::as_str));
            let message =
                format!("there is no experiment `{name}`: neither a built-in name nor a file{hint}");
            Err(Diagnostic::input(message).hint("`tresse list experiments` lists the built-in ones"))
        }
        Err(_) if path.join("run.json").is_file() => {
            let message = format!("{name} is the folder of a run, not an experiment");
            Err(Diagnostic::input(message).hint(format!("`tresse show {name}` prints the run")))
        }
        Err(_) if path.is_dir() => {
            let message = format!("{name} is a folder, not an experiment");
            Err(Diagnostic::input(message).hint("name a TOML file in it, or a built-in experiment"))
        }
        Err(error) => {
            let is_large = error.kind() == io::ErrorKind::FileTooLarge;
            let wrong = Diagnostic::io("cannot be read", path, error);
            Err(if is_large { wrong.hint(FLOWS_IN_A_FILE) } else { wrong })
        }
    }
}

/// The TOML files in the folder that `path` would be in, as `path` is written.
fn files_beside(path: &Path) -> Vec<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten().flatten();
    let names = entries.map(|entry| path.with_file_name(entry.file_name()));
    let files = names.filter(|path| path.extension().is_some_and(|own| own == "toml"));
    let mut files: Vec<String> = files.map(|path| path.display().to_string()).collect();
    files.sort_unstable();
    files
}

/// A suggestion for a wrong setting, if there is one: of these tables with the setting, its text, and what is wrong
/// with it.
pub(crate) type Hint<'a> = &'a dyn Fn(&Table, &str, &str) -> Option<String>;

/// Reads `source`, applies the profile, the variants if there are any, and then the settings `PATH=VALUE`. It is
/// checked after each of them.
///
/// # Errors
/// The first error, with its location in the file, or the setting that caused it.
pub(crate) fn load(
    source: Source,
    profile: Profile,
    settings: &[String],
    meaning: Meaning,
    hint: Hint,
) -> Result<Loaded, Diagnostic> {
    // Read as it stands first: only the text knows its lines.
    let (experiment, _) = checked(&source.text, &meaning).map_err(|e| source.error(e, &meaning))?;
    let mut resolved = written_out(&source.text, &meaning).map_err(|e| source.error(e, &meaning))?;
    resolved.entry("title").or_insert_with(|| source.stem().into());
    let (mut cuts, mut overrides) = (Vec::new(), Vec::new());
    if profile == Profile::Quick {
        let quick = experiment.profile.quick.clone();
        merge(&mut resolved, &quick, "", &mut cuts);
        overrides.extend(cuts.iter().map(|(path, ..)| {
            let keys: Vec<&str> = ["profile", "quick"].into_iter().chain(path.split('.')).collect();
            (path.clone(), place(&source, &meaning, &keys, "[profile.quick]"))
        }));
        recheck(&resolved, &meaning).map_err(|e| {
            with_keys(source.error_below(&["profile", "quick"], "[profile.quick]", &e, &meaning))
        })?;
    }
    let base = resolved.clone();
    let mut paths = Vec::new();
    for setting in settings {
        // It has been applied by now, or is not wanted. Whole, it may be taken away with the keys that it changes.
        if setting.starts_with("profile.quick.") {
            let message = "the profile is applied before `--set`: set the key that it changes".to_owned();
            return Err(Diagnostic::input(message).of(cause_of(setting)));
        }
        let (path, of_variants) = set_all(&mut resolved, setting)?;
        paths.push(path.clone());
        let cause = cause_of(setting);
        recheck(&resolved, &meaning).map_err(|e| {
            let hint = hint(&resolved, setting, &e.message);
            Diagnostic { hint, ..Diagnostic::input(e.message).of(&cause) }
        })?;
        overrides.extend(of_variants.into_iter().chain([path]).map(|path| (path, cause.clone())));
    }
    let files = Files::default();
    if built_in::find(&source.name).is_none_or(|(_, text)| text != source.text) {
        files.remember(&source.name, &source.text);
    }
    let mut loaded = Loaded::new(source, resolved, overrides, files, meaning)?;
    loaded.cuts = cuts;
    loaded.settings = settings.to_vec();
    if !paths.is_empty() {
        let (before, _) = checked(&base.to_string(), &loaded.meaning)
            .map_err(|e| Diagnostic::input(e.message).of(&loaded.source.name))?;
        let experiments = (&before, &loaded.experiment);
        loaded.changes = changes::of_settings(&base, &loaded.resolved, &paths, experiments, &loaded.meaning);
    }
    let replications = loaded.experiment.replications.check(&loaded.experiment.measure.slices);
    replications.map_err(|e| loaded.error(e.below("replications")))?;
    case_count::check_before_variants(&loaded)?;
    loaded.variants = variants::load(&loaded)?;
    Ok(loaded)
}

/// An experiment at one point of its axes.
pub(crate) struct Point {
    /// For each axis, the index of its value in the list.
    pub places: Vec<usize>,
    /// The experiment at that point, which has no axes.
    pub loaded: Loaded,
}

impl Loaded {
    /// From a table that was checked.
    pub(crate) fn new(
        source: impl Into<Arc<Source>>,
        resolved: Table,
        overrides: Vec<(String, String)>,
        files: Files,
        meaning: Meaning,
    ) -> Result<Self, Diagnostic> {
        let source = source.into();
        let whole = |e: Wrong| Diagnostic::input(e.message).of(&source.name);
        let (experiment, axes) = checked(&resolved.to_string(), &meaning).map_err(whole)?;
        let (cuts, variants, at, settings, changes) = Default::default();
        let mut loaded = Self {
            source,
            experiment,
            resolved,
            cuts,
            settings,
            changes,
            files,
            axes,
            at,
            variants,
            overrides,
            meaning,
        };
        graph_file::read(&mut loaded)?;
        host_file::read(&mut loaded)?;
        Ok(loaded)
    }

    /// The experiment at each point of its axes, made one by one; the last axis varies fastest. An error is that a file
    /// that a value names cannot be read.
    pub(crate) fn points(&self) -> impl Iterator<Item = Result<Point, Diagnostic>> {
        let mut all = vec![Vec::new()];
        for axis in &self.axes {
            let one = |places: Vec<usize>| {
                (0..axis.values.len()).map(move |place| places.iter().copied().chain([place]).collect())
            };
            all = all.into_iter().flat_map(one).collect();
        }
        all.into_iter().map(|places| Ok(Point { loaded: self.at(&places)?, places }))
    }

    /// The experiment at a point of its axes.
    fn at(&self, places: &[usize]) -> Result<Self, Diagnostic> {
        let resolved = axes::at(&self.resolved, &self.axes, places);
        let mut run = resolved.clone();
        run.retain(|key, _| !self.experiment.owned.contains_key(key));
        let experiment: Experiment = run.try_into().map_err(|e| Diagnostic::input(Wrong::from(e).message))?;
        let experiment = Experiment { owned: self.experiment.owned.clone(), ..experiment };
        let at = self.axes.iter().zip(places).map(|(axis, &place)| (axis.keys.clone(), place)).collect();
        let (axes, variants) = (Vec::new(), Vec::new());
        let mut loaded = Self { experiment, resolved, axes, at, variants, ..self.clone() };
        graph_file::read(&mut loaded)?;
        Ok(loaded)
    }
}

/// The experiment in a text, at the first value of each of its axes.
fn checked(text: &str, meaning: &Meaning) -> Result<(Experiment, Vec<Axis>), Wrong> {
    let tables = meaning.parse(text)?;
    tables.get_ref().values().try_for_each(refuse_values)?;
    axes::read(tables, meaning)
}

/// The same as [`Meaning::parse`], as plain tables.
fn written_out(text: &str, meaning: &Meaning) -> Result<Table, Wrong> {
    Ok(Table::deserialize(Deserializer::from(meaning.parse(text)?))?)
}

/// The most values of a list: what is longer belongs in a file of its own, which takes a hundredth of the memory.
const MOST_VALUES: usize = 100_000;

const FLOWS_IN_A_FILE: &str =
    "more flows are read from a file of their own: pattern = \"flows\", file = \"flows.csv\"";

/// Refuses TOML's dates, which no experiment has: a type that accepts any table would take a date for a table. Also
/// refuses lists that are too long, before anything is made of them.
fn refuse_values(value: &Spanned<DeValue>) -> Result<(), Wrong> {
    let wrong = |message: &str| Err(Wrong::offset(value.span().start, message));
    match value.get_ref() {
        DeValue::Datetime(_) => wrong("found a date, but no key takes one"),
        DeValue::Array(list) if list.len() > MOST_VALUES => {
            let length = list.len();
            wrong(&format!("a list of {length} values: at most {MOST_VALUES} ({FLOWS_IN_A_FILE})"))
        }
        DeValue::Table(table) => table.values().try_for_each(refuse_values),
        DeValue::Array(list) => list.iter().try_for_each(refuse_values),
        _ => Ok(()),
    }
}

/// The hint if a table laid over an experiment is wrong.
pub(crate) const KEYS: &str = "`tresse schema` lists every key";

pub(crate) fn is_unknown_key(message: &str) -> bool {
    message.starts_with("unknown key")
}

/// With the hint where to find all keys, if a key is unknown.
pub(crate) fn with_keys(error: Diagnostic) -> Diagnostic {
    if is_unknown_key(&error.message) { error.hint(KEYS) } else { error }
}

/// Checks an experiment again after it was changed.
///
/// # Errors
/// The first error, with the keys that lead to it.
pub(crate) fn recheck(table: &Table, meaning: &Meaning) -> Result<(), Wrong> {
    let text = table.to_string();
    checked(&text, meaning).map(drop).map_err(|e| match e.at {
        Location::Offset(offset) => Wrong::new(offset.map_or(Vec::new(), |o| keys_at(&text, o)), e.message),
        Location::Keys(_) => e,
    })
}

/// Lays tables over the experiment's; `cuts` gets the changes: path, old value, new value.
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

/// Applies the setting `a.b.c=VALUE` to an experiment's tables like [`load`](crate::load), but without checks.
///
/// # Errors
/// If it is not a setting, or leads through something that is not a table.
pub fn set(table: &mut Table, setting: &str) -> Result<(), Diagnostic> {
    set_all(table, setting).map(drop)
}

/// Applies a setting to the experiment and its variants; returns its path, and those of the variants.
fn set_all(table: &mut Table, setting: &str) -> Result<(String, Vec<String>), Diagnostic> {
    let path = apply(table, setting, Names::Known)?;
    let of_variants = variants::set(table, &path, setting)?;
    Ok((path, of_variants))
}

/// Applies `a.b.c=VALUE` and returns the path; a value that is not TOML is a string, so that units
/// need no quotes.
pub(crate) fn apply(table: &mut Table, setting: &str, names: Names) -> Result<String, Diagnostic> {
    let bad = |message: String| Diagnostic::input(message).of(cause_of(setting));
    let (path, text) = setting
        .split_once('=')
        .ok_or_else(|| bad("expected PATH=VALUE, such as fabric.k=16 or transport.rto_min=10ms".into()))?;
    let mut keys: Vec<&str> = path.trim().split('.').collect();
    let too_deep = || bad(format!("nested too deeply: at most {DEPTH} levels"));
    if keys.len() > DEPTH {
        return Err(too_deep());
    }
    let value = value(text.trim(), DEPTH).ok_or_else(too_deep)?;
    if let Value::String(text) = &value
        && let Some(open) = text.chars().next().filter(|first| "[{".contains(*first))
    {
        let close = if open == '[' { ']' } else { '}' };
        return Err(bad(format!(
            "the value begins with `{open}` and is no TOML: is `{close}` missing, or a quote?"
        ))
        .hint("in a shell: --set 'fabric.mark=[\"10pkt\", \"20pkt\"]'"));
    }
    let last = keys.pop().filter(|k| !k.is_empty()).ok_or_else(|| bad("the path is empty".into()))?;
    let mut at = table;
    let mut parent = "";
    for (depth, &key) in keys.iter().enumerate() {
        if names == Names::Known && !at.contains_key(key) {
            check_new(at, parent, key, keys.get(depth + 1).unwrap_or(&last))
                .map_err(|e| e.of(cause_of(setting)))?;
        }
        parent = key;
        // A table that the file leaves out begins empty; one that may not be there is refused when
        // the experiment is read again.
        at = match at.entry(key).or_insert_with(|| Value::Table(Table::new())) {
            Value::Table(t) => t,
            Value::Array(_) => {
                let message = format!("`{key}` is a list, whose entries cannot be set one by one");
                let hint = format!("a variant may have another list: `[[variants.NAME.{key}]]` in the file");
                return Err(bad(message).hint(hint));
            }
            _ => {
                let whole = keys[..=depth].join(".");
                let hint = format!("values by name are a table: `--set '{whole}={{ {last} = …, … }}'`");
                return Err(bad(format!("`{key}` is not a table")).hint(hint));
            }
        };
    }
    at.insert(last.to_owned(), value);
    Ok(path.trim().to_owned())
}

/// What is known of the names in a table that a setting changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// It has those that the experiment has.
    Known,
    /// It is a variant's, which has only those that it changes.
    Unknown,
}

/// Checks a name that `at`, the table `parent`, does not have; `next` is the key below it. A new one may be meant, but not
/// one that nearly is another, nor a scheme without what makes one.
fn check_new(at: &Table, parent: &str, name: &str, next: &str) -> Result<(), Diagnostic> {
    let what = match parent {
        "schemes" => "scheme",
        "workloads" => "part of the workload",
        "variants" => "variant",
        _ => return Ok(()),
    };
    let near = did_you_mean(name, at.keys().map(String::as_str));
    if !near.is_empty() {
        return Err(Diagnostic::input(format!("there is no {what} `{name}`{near}")));
    }
    if what == "scheme" && !["controller", "preset"].contains(&next) {
        let names: Vec<&str> = at.keys().map(String::as_str).collect();
        let message = format!("there is no scheme `{name}` (available: {})", names.join(", "));
        let hint = format!("a new one begins with `--set schemes.{name}.controller=NAME`");
        return Err(Diagnostic::input(message).hint(hint));
    }
    Ok(())
}

/// How deep the keys and the value of a setting may be nested; a file's may be a little deeper.
const DEPTH: usize = 64;

/// The value of a setting: TOML, a list whose items may need quotes, or a string; `None` if lists are nested deeper
/// than `depth`.
fn value(text: &str, depth: usize) -> Option<Value> {
    let toml = toml::from_str::<Table>(&format!("v = {text}")).ok().and_then(|mut t| t.remove("v"));
    let list = || text.strip_prefix('[')?.strip_suffix(']');
    match (toml, list()) {
        (Some(value), _) => Some(value),
        (None, Some(values)) => {
            let depth = depth.checked_sub(1)?;
            let values = values.split(',').map(|text| value(text.trim(), depth));
            values.collect::<Option<_>>().map(Value::Array)
        }
        (None, None) => Some(Value::String(text.to_owned())),
    }
}

/// How much of a setting messages show.
const SHOWN: usize = 200;

/// A setting as messages name it: `--set fabric.k=7`.
fn cause_of(setting: &str) -> String {
    match setting.char_indices().nth(SHOWN) {
        None => format!("--set {setting}"),
        Some((end, _)) => format!("--set {}…", &setting[..end]),
    }
}
