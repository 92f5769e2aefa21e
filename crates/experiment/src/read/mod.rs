//! From text to an experiment: the file, the profile, its variants, `--set`.

pub mod axes;
pub mod built_in;
pub mod flow_file;
mod for_each;
pub mod graph_file;
mod loaded;
pub mod sniff_format;
pub mod variants;

use std::path::Path;
use std::{fs, io};

use toml::de::DeTable;
use toml::{Table, Value};

use crate::diagnostic::{Diagnostic, Wrong, did_you_mean};
use crate::keys::Experiment;
use crate::read::axes::Check;
use crate::read::loaded::place;
pub use crate::read::loaded::{Loaded, LoadedVariant, Profile, Source};

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
    let tables = for_each::parse(&source.text).map_err(|e| source.error(e))?;
    let (experiment, _) = axes::read(tables, check).map_err(|e| source.error(e))?;
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

/// An experiment at one point of its axes.
pub(crate) struct Point {
    /// By axis, the place of its value in the list.
    pub places: Vec<usize>,
    /// What the experiment is there: one without axes.
    pub loaded: Loaded,
}

impl Loaded {
    /// Of a table that was checked.
    pub(crate) fn new(
        source: Source,
        resolved: Table,
        overrides: Vec<(String, String)>,
        check: Check,
    ) -> Result<Self, Diagnostic> {
        let whole = |e: Wrong| Diagnostic::input(e.message).of(&source.name);
        let text = resolved.to_string();
        let tables = DeTable::parse(&text).map_err(Wrong::from).map_err(whole)?;
        let (_, axes) = axes::read(tables, check).map_err(whole)?;
        let first = axes::at(&resolved, &axes, &vec![0; axes.len()]);
        let experiment = Experiment::deserialize_table(&first).map_err(Wrong::from).map_err(whole)?;
        let (cuts, variants, at) = (Vec::new(), Vec::new(), Vec::new());
        let mut loaded = Self { source, experiment, resolved, cuts, axes, at, variants, overrides, check };
        graph_file::read(&mut loaded)?;
        Ok(loaded)
    }

    /// What it is at each point of its axes, the last of which changes first.
    ///
    /// # Errors
    /// If a file that a value names cannot be read.
    pub(crate) fn points(&self) -> Result<Vec<Point>, Diagnostic> {
        let mut all = vec![Vec::new()];
        for axis in &self.axes {
            let one = |places: Vec<usize>| {
                (0..axis.values.len()).map(move |place| places.iter().copied().chain([place]).collect())
            };
            all = all.into_iter().flat_map(one).collect();
        }
        all.into_iter().map(|places| Ok(Point { loaded: self.at(&places)?, places })).collect()
    }

    /// What it is at a point of its axes.
    fn at(&self, places: &[usize]) -> Result<Self, Diagnostic> {
        let resolved = axes::at(&self.resolved, &self.axes, places);
        let experiment =
            Experiment::deserialize_table(&resolved).map_err(|e| Diagnostic::input(e.to_string()))?;
        let at = self.axes.iter().zip(places).map(|(axis, &place)| (axis.keys.clone(), place)).collect();
        let (axes, variants) = (Vec::new(), Vec::new());
        let mut loaded = Self { experiment, resolved, axes, at, variants, ..self.clone() };
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
    let read = |text: &str| axes::read(DeTable::parse(text)?, check).map(drop);
    read(&table.to_string())
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
    let value = value(text.trim());
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

/// What a setting says: TOML, a list of what may need quotes, or a string.
fn value(text: &str) -> Value {
    let toml = toml::from_str::<Table>(&format!("v = {text}")).ok().and_then(|mut t| t.remove("v"));
    let list = || text.strip_prefix('[')?.strip_suffix(']');
    match (toml, list()) {
        (Some(value), _) => value,
        (None, Some(values)) => Value::Array(values.split(',').map(|text| value(text.trim())).collect()),
        (None, None) => Value::String(text.to_owned()),
    }
}
