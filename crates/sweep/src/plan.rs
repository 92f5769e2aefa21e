//! The file of a sweep: an experiment, the settings of every point, and the designs that make the points.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::{Table, Value};
use tresse_experiment::diagnostic::{Location, Wrong};
use tresse_experiment::read::{self, built_in};
use tresse_experiment::schema::stopping_rule::Asked;
use tresse_experiment::{Diagnostic, Profile, Source};
use tresse_units::text_file;

/// A plan, as in its file.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The name of the file in messages.
    pub name: String,
    pub text: String,
    /// The folder of the files that it names.
    folder: PathBuf,
    keys: Keys,
}

/// The keys of the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    #[serde(default)]
    title: String,
    experiment: Value,
    #[serde(default)]
    profile: ProfileKey,
    #[serde(default = "one")]
    seed: u64,
    replications: Option<Value>,
    #[serde(default)]
    controllers: Vec<PathBuf>,
    #[serde(default)]
    only: Table,
    #[serde(default)]
    set: Table,
    #[serde(default)]
    designs: Vec<Design>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ProfileKey {
    #[default]
    Quick,
    Full,
}

fn one() -> u64 {
    1
}

/// A table of `[[designs]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Design {
    /// The kind of design.
    #[serde(default)]
    pub kind: Kind,
    /// The keys, with their values.
    #[serde(default)]
    pub keys: Table,
    /// The points themselves, or how many.
    pub points: Option<Value>,
    /// The seed of a design that draws.
    pub seed: Option<u64>,
}

/// A kind of design.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// Every value of a key with every value of the others.
    #[default]
    Grid,
    /// The listed points.
    Points,
    /// Sobol's sequence, scrambled.
    Sobol,
    /// One point in each row and column.
    LatinHypercube,
    /// Independent.
    Random,
}

impl Kind {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Points => "points",
            Self::Sobol => "sobol",
            Self::LatinHypercube => "latin-hypercube",
            Self::Random => "random",
        }
    }
}

impl Plan {
    /// Reads the file of a plan.
    ///
    /// # Errors
    /// If it cannot be read, or is not a plan.
    pub fn read(path: &Path) -> Result<Self, Diagnostic> {
        let text = text_file::read_written(path).map_err(|e| Diagnostic::io("cannot be read", path, e))?;
        Self::parse(&path.display().to_string(), text)
    }

    /// Takes the text of a plan; `name` is its name in messages, and the files that it names are relative to it.
    ///
    /// # Errors
    /// If it is not a plan.
    pub fn parse(name: &str, text: String) -> Result<Self, Diagnostic> {
        let folder = Path::new(name).parent().unwrap_or(Path::new("")).to_owned();
        let keys = toml::from_str(&text).map_err(|e| told(name, &text, Wrong::from(e)))?;
        Ok(Self { name: name.to_owned(), text, folder, keys })
    }

    /// An error in the value at `keys`.
    pub(crate) fn error(&self, wrong: Wrong) -> Diagnostic {
        told(&self.name, &self.text, wrong)
    }

    /// An error in a setting or a selection of cases, which the plan has at `keys`.
    pub(crate) fn caused(&self, keys: &[&str], error: Diagnostic) -> Diagnostic {
        let hint = error.hint.clone();
        let cause = error.source_name.as_deref().filter(|_| error.place.is_none());
        let wrong = match cause {
            Some(cause) if cause.starts_with("--") => Wrong::new(keys, error.message),
            _ => return error,
        };
        Diagnostic { hint, ..self.error(wrong) }
    }

    /// A name for its folder.
    pub fn stem(&self) -> String {
        let stem = Path::new(&self.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        stem.unwrap_or_else(|| "sweep".to_owned())
    }

    /// Its title; by default the experiment's name.
    pub fn title(&self) -> String {
        let experiment = self.keys.experiment.as_str().unwrap_or("an experiment");
        if self.keys.title.is_empty() { experiment.to_owned() } else { self.keys.title.clone() }
    }

    pub(crate) fn seed(&self) -> u64 {
        self.keys.seed
    }

    pub(crate) fn designs(&self) -> &[Design] {
        &self.keys.designs
    }

    pub(crate) fn profile(&self) -> Profile {
        match self.keys.profile {
            ProfileKey::Quick => Profile::Quick,
            ProfileKey::Full => Profile::Full,
        }
    }

    /// The experiment: a built-in name, a file next to the plan, or its tables.
    pub(crate) fn source(&self) -> Result<Source, Diagnostic> {
        let wrong = |message: &str| self.error(Wrong::key("experiment", message));
        match &self.keys.experiment {
            Value::String(name) if built_in::find(name).is_some() => tresse_experiment::find(name),
            Value::String(name) => {
                let file = self.folder.join(name);
                tresse_experiment::find(&file.display().to_string()).map_err(|error| {
                    if error.kind == tresse_experiment::diagnostic::Kind::Io {
                        return error;
                    }
                    // The file is looked for beside the plan: the message has the name as the plan writes it.
                    let known = tresse_experiment::did_you_mean(name, built_in::names().iter().copied());
                    let message =
                        format!("there is no experiment `{name}`: neither a built-in name nor a file{known}");
                    Diagnostic { hint: error.hint, ..wrong(&message) }
                })
            }
            Value::Table(tables) => {
                let text = toml::to_string(tables).map_err(|e| wrong(&e.to_string()))?;
                let name = self.folder.join("experiment").display().to_string();
                Ok(Source { name, text })
            }
            _ => Err(wrong("expected a built-in name, a file, or an experiment's tables")),
        }
    }

    /// `replications`, if given: a number of seeds, or a width.
    pub(crate) fn replications(&self) -> Result<Option<Asked>, Diagnostic> {
        let wrong = |message: String| self.error(Wrong::key("replications", message));
        match &self.keys.replications {
            None => Ok(None),
            Some(Value::Integer(count)) => count.to_string().parse().map(Some).map_err(wrong),
            Some(Value::String(text)) => text.parse().map(Some).map_err(wrong),
            Some(_) => Err(wrong("a number of seeds such as 3, or a width such as \"5%\"".to_owned())),
        }
    }

    /// The files of users' own controllers.
    pub(crate) fn controllers(&self) -> Vec<PathBuf> {
        self.keys.controllers.iter().map(|file| self.folder.join(file)).collect()
    }

    /// Which cases are run, as `--only` takes them.
    pub(crate) fn only(&self) -> Result<Vec<String>, Diagnostic> {
        let one = |(axis, value): (&String, &Value)| {
            let word = |value: &Value| match value {
                Value::String(text) => Some(text.clone()),
                Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => Some(value.to_string()),
                _ => None,
            };
            let words = match value {
                Value::Array(values) => values.iter().map(word).collect::<Option<Vec<_>>>(),
                value => word(value).map(|word| vec![word]),
            };
            match words {
                Some(words) if !words.is_empty() => Ok(format!("{axis}={}", words.join(","))),
                _ => Err(self
                    .error(Wrong::new(["only", axis], "expected a value of this axis, or a list of values"))),
            }
        };
        self.keys.only.iter().map(one).collect()
    }

    /// The settings of every point, each key with its location in the file.
    pub(crate) fn set(&self) -> Vec<(String, Value)> {
        flat(&self.keys.set)
    }
}

fn told(name: &str, text: &str, wrong: Wrong) -> Diagnostic {
    let offset = match &wrong.at {
        Location::Offset(offset) => *offset,
        Location::Keys(keys) => read::locate(text, &keys.iter().map(String::as_str).collect::<Vec<_>>()),
    };
    let name = if name.is_empty() { "the plan" } else { name };
    match offset {
        Some(offset) => Diagnostic::at_offset(name, text, offset, wrong.message),
        None => Diagnostic::input(wrong.message).of(name),
    }
}

/// The keys of tables in tables, `fabric = { k = 4 }` as `fabric.k`.
pub(crate) fn flat(tables: &Table) -> Vec<(String, Value)> {
    let below = |(key, value): (&String, &Value)| match value {
        Value::Table(table) if !table.is_empty() => {
            flat(table).into_iter().map(|(own, value)| (format!("{key}.{own}"), value)).collect()
        }
        value => vec![(key.clone(), value.clone())],
    };
    tables.iter().flat_map(below).collect()
}

/// A value as in `--set PATH=VALUE`, where texts need no quotes.
pub(crate) fn setting((path, value): (&str, &Value)) -> String {
    match value {
        Value::String(text) => format!("{path}={text}"),
        value => format!("{path}={value}"),
    }
}
