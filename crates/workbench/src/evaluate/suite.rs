//! Suites: the experiments by which a controller is scored.

use std::collections::BTreeSet;
use std::path::Path;
use std::{io, iter};

use serde::Deserialize;
use toml::{Spanned, Table, Value};
use tresse_experiment::read::files::sha256;
use tresse_experiment::{Diagnostic, did_you_mean};
use tresse_units::text_file::read_written;

use super::measure::Measure;
use crate::OWNERS;

/// The built-in suites: name and text.
const BUILT_IN: [(&str, &str); 2] = [
    ("smoke", include_str!("../../../../suites/smoke.toml")),
    ("fabric", include_str!("../../../../suites/fabric.toml")),
];

#[derive(Debug)]
pub struct Suite {
    /// Its name, as given by the user.
    pub name: String,
    /// The SHA-256 of its text.
    pub sha256: String,
    /// Its experiments, in the order of the file.
    pub entries: Vec<Entry>,
}

/// An experiment of a suite, with its weight.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name, which is unique in each split.
    pub name: String,
    /// The split to which it belongs.
    pub split: Split,
    /// The weight of its part in the score.
    pub weight: f64,
    /// How its part is measured.
    pub measure: Measure,
    /// Its first seed.
    pub seed: u64,
    /// How many seeds it has.
    pub replications: u32,
    /// The scheme whose controller the candidate replaces.
    pub scheme: String,
    /// Its name in messages; files that it names are relative to it.
    pub source: String,
    /// The tables of the experiment.
    pub tables: Table,
    /// As `--set` of `tresse run`.
    pub set: Vec<String>,
    /// As `--only` of `tresse run`, in addition to the scheme.
    pub only: Vec<String>,
}

/// What an experiment is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// It guides a search.
    #[default]
    Train,
    /// It judges the result when the search is over.
    Test,
}

impl Split {
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
        }
    }
}

/// A suite as its file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// For people.
    #[serde(rename = "title")]
    _title: String,
    experiments: Vec<Spanned<Keys>>,
}

/// An experiment as the file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    name: String,
    split: Option<Split>,
    measure: Option<Measure>,
    weight: Option<f64>,
    seed: Option<u64>,
    replications: Option<u32>,
    scheme: Option<String>,
    /// A built-in experiment, or a file next to the suite.
    experiment: Option<String>,
    /// The tables of an experiment defined in the suite.
    define: Option<Table>,
    /// An earlier experiment of the suite, of which this one is a copy with other settings.
    like: Option<String>,
    #[serde(default)]
    set: Vec<String>,
    only: Option<Vec<String>>,
}

/// The maximum number of seeds of an experiment.
const MOST_REPLICATIONS: u32 = 1000;

impl Suite {
    /// The suite with this name, or in this file.
    ///
    /// # Errors
    /// If there is none, or with the location if something is wrong in it.
    pub fn find(name: &str) -> Result<Self, Diagnostic> {
        let text = match BUILT_IN.iter().find(|(own, _)| *own == name) {
            Some((_, text)) => (*text).to_owned(),
            None => read_written(Path::new(name)).map_err(|error| unread(name, error))?,
        };
        let file: File = toml::from_str(&text).map_err(|error: toml::de::Error| match error.span() {
            Some(span) => Diagnostic::at_offset(name, &text, span.start, error.message()),
            None => Diagnostic::input(error.message()).of(name),
        })?;
        let (mut entries, mut names) = (Vec::new(), BTreeSet::new());
        for keys in file.experiments {
            let offset = keys.span().start;
            let keys = keys.into_inner();
            let told = format!("experiment `{}`", keys.name);
            let entry = keys.read(name, &entries).and_then(|entry| match names.insert(entry.label()) {
                true => Ok(entry),
                false => Err(format!("the split `{}` already has one of that name", entry.split.name())),
            });
            let wrong = |why| Diagnostic::at_offset(name, &text, offset, format!("{told}: {why}"));
            entries.push(entry.map_err(wrong)?);
        }
        Ok(Self { name: name.to_owned(), sha256: sha256(&text), entries })
    }
}

/// The error if there is no such suite, or its file cannot be read.
fn unread(name: &str, error: io::Error) -> Diagnostic {
    if error.kind() != io::ErrorKind::NotFound {
        return Diagnostic::io("cannot be read", Path::new(name), error);
    }
    let names = BUILT_IN.map(|(name, _)| name);
    let guess = did_you_mean(name, names);
    Diagnostic::input(format!("there is no suite `{name}`: neither a built-in name nor a file{guess}"))
        .hint(format!("built in: {}", names.join(", ")))
}

impl Keys {
    /// The entry in the suite `suite`, after the earlier ones.
    fn read(self, suite: &str, above: &[Entry]) -> Result<Entry, String> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if self.name.is_empty() || !self.name.chars().all(is_word) {
            return Err("a name has letters, digits, `-` and `_`".to_owned());
        }
        let base = match &self.like {
            Some(name) => Some(
                above
                    .iter()
                    .find(|other| other.name == *name)
                    .ok_or_else(|| format!("like = \"{name}\": no experiment above it has that name"))?,
            ),
            None => None,
        };
        let measure = self.measure.or(base.map(|base| base.measure)).ok_or("`measure` is missing")?;
        let (source, tables) = match (base, self.experiment, self.define) {
            (Some(base), None, None) => (base.source.clone(), base.tables.clone()),
            (None, Some(name), None) => found(&name, suite, measure)?,
            (None, None, Some(tables)) => (format!("{suite} ({})", self.name), tables),
            _ => return Err("expected exactly one of `experiment`, `define` and `like`".to_owned()),
        };
        let weight = self.weight.or(base.map(|base| base.weight)).unwrap_or(1.0);
        if !(weight >= 0.0 && weight.is_finite()) {
            return Err(format!("weight = {weight}: must be at least 0"));
        }
        let replications = self.replications.or(base.map(|base| base.replications)).unwrap_or(1);
        if replications == 0 || replications > MOST_REPLICATIONS {
            return Err(format!("replications = {replications}: from 1 to {MOST_REPLICATIONS}"));
        }
        let scheme =
            self.scheme.or(base.map(|base| base.scheme.clone())).unwrap_or_else(|| "candidate".to_owned());
        if tables
            .get("schemes")
            .and_then(|schemes| schemes.get(&scheme))
            .is_none_or(|scheme| !scheme.is_table())
        {
            return Err(format!(
                "{source} has no scheme `{scheme}` to put the candidate into (`scheme` names it)"
            ));
        }
        let mut set = base.map(|base| base.set.clone()).unwrap_or_default();
        set.extend(self.set);
        Ok(Entry {
            name: self.name,
            split: self.split.or(base.map(|base| base.split)).unwrap_or_default(),
            weight,
            measure,
            seed: self.seed.or(base.map(|base| base.seed)).unwrap_or(1),
            replications,
            scheme,
            source,
            tables,
            set,
            only: self.only.or(base.map(|base| base.only.clone())).unwrap_or_default(),
        })
    }
}

/// A built-in experiment, or one in a file next to the suite.
fn found(name: &str, suite: &str, measure: Measure) -> Result<(String, Table), String> {
    let beside = Path::new(suite).with_file_name(name).display().to_string();
    let name = if name.ends_with(".toml") { &beside } else { name };
    let source = tresse_experiment::find(name).map_err(|error| error.to_string())?;
    let mut tables: Table = toml::from_str(&source.text).map_err(|error| format!("{name}: {error}"))?;
    if measure != Measure::Claims {
        // They are about the file's own schemes, not the candidate.
        let owned = OWNERS.names();
        tables.retain(|key, _| key != "rows" && !owned.iter().any(|own| own == key));
    }
    Ok((source.name, tables))
}

impl Entry {
    /// Its name, with the name of its split.
    pub fn label(&self) -> String {
        format!("{}.{}", self.split.name(), self.name)
    }

    /// The arguments of `--only` that select its cases.
    pub fn chosen(&self) -> Vec<String> {
        iter::once(format!("scheme={}", self.scheme)).chain(self.only.iter().cloned()).collect()
    }

    /// The text of its experiment with this controller in the candidate's scheme.
    pub fn with_candidate(&self, controller: &str) -> String {
        self.with(controller, |scheme| scheme == self.scheme)
    }

    /// The text of its experiment with this controller in all schemes.
    pub fn with_all(&self, controller: &str) -> String {
        self.with(controller, |_| true)
    }

    fn with(&self, controller: &str, replaces: impl Fn(&str) -> bool) -> String {
        let mut tables = self.tables.clone();
        let schemes = tables.get_mut("schemes").and_then(Value::as_table_mut).into_iter().flatten();
        for (_, scheme) in schemes.filter(|(name, _)| replaces(name)) {
            let Some(scheme) = scheme.as_table_mut() else { continue };
            // What the other controller was given: a new one may have no such parameters, or hear of no marks.
            for own in ["parameters", "echo"] {
                scheme.remove(own);
            }
            scheme.insert("controller".to_owned(), controller.into());
        }
        tables.to_string()
    }
}
