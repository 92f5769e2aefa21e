//! The differences between two experiments, key by key, and what `--set` has changed in one.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};
use tresse_units::{Bytes, Duration, Packets, Rate};

use crate::read::owned::Meaning;
use crate::schema::{Experiment, FOR_PEOPLE};

/// A key that differs between two experiments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Its path, such as `fabric.k`.
    pub key: String,
    /// The value in the first; `None` if it has no such key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Value>,
    /// The value in the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Value>,
}

impl Change {
    /// `fabric.k = 4`: the value in the second.
    pub fn setting(&self) -> String {
        format!("{} = {}", self.key, shown(self.to.as_ref()))
    }
}

/// A readable value: a text without quotes, `(none)` for a missing value.
pub fn shown(value: Option<&Value>) -> String {
    match value {
        None => "(none)".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

/// The keys that differ between two experiments. Neither the order of keys nor the unit of a value matters.
pub fn differences(one: &Table, other: &Table) -> Vec<Change> {
    let mut changes = Vec::new();
    of_tables(one, other, "", &mut changes);
    changes
}

fn of_tables(one: &Table, other: &Table, path: &str, changes: &mut Vec<Change>) {
    let added = other.keys().filter(|key| !one.contains_key(*key));
    for key in one.keys().chain(added) {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        of_values(one.get(key), other.get(key), path, changes);
    }
}

fn of_values(one: Option<&Value>, other: Option<&Value>, path: String, changes: &mut Vec<Change>) {
    let none = Table::new();
    match (one, other) {
        (Some(one), Some(other)) if is_same(one, other) => {}
        (Some(Value::Table(one)), Some(Value::Table(other))) => of_tables(one, other, &path, changes),
        // A table that only one of them has differs in each of its keys.
        (None, Some(Value::Table(other))) if !other.is_empty() => of_tables(&none, other, &path, changes),
        (Some(Value::Table(one)), None) if !one.is_empty() => of_tables(one, &none, &path, changes),
        (Some(Value::Array(one)), Some(Value::Array(other)))
            if one.iter().chain(other).all(Value::is_table) =>
        {
            for place in 0..one.len().max(other.len()) {
                of_values(one.get(place), other.get(place), format!("{path}.{place}"), changes);
            }
        }
        (from, to) => changes.push(Change { key: path, from: from.cloned(), to: to.cloned() }),
    }
}

/// Whether two values mean the same: 1 and 1.0 do, and "1Gbps" and "1000Mbps".
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Integer(whole), Value::Float(number)) | (Value::Float(number), Value::Integer(whole)) => {
            *whole as f64 == *number
        }
        (Value::String(one), Value::String(other)) => {
            one == other
                || is_same_quantity::<Rate>(one, other)
                || is_same_quantity::<Duration>(one, other)
                || is_same_quantity::<Bytes>(one, other)
                || is_same_quantity::<Packets>(one, other)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (one, other) => one == other,
    }
}

fn is_same_quantity<T: FromStr + PartialEq>(one: &str, other: &str) -> bool {
    one.parse::<T>().is_ok_and(|one| other.parse::<T>().is_ok_and(|other| one == other))
}

/// What settings have changed in what results are judged by: `base` is the file with its profile, `resolved` the same after
/// the settings, whose keys are `paths`.
pub(crate) fn of_settings(
    base: &Table,
    resolved: &Table,
    paths: &[String],
    (before, after): (&Experiment, &Experiment),
    meaning: &Meaning,
) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for mut change in differences(base, resolved) {
        // A setting holds in every variant.
        if let Some(common) = paths.iter().find_map(|path| in_variant(&change.key, path)) {
            change.key = common;
        }
        let default = |experiment: &Experiment| default(experiment, meaning, &change.key);
        let (from, to) =
            (change.from.clone().or_else(|| default(before)), change.to.clone().or_else(|| default(after)));
        let is_default = from.as_ref().zip(to.as_ref()).is_some_and(|(from, to)| is_same(from, to));
        let is_known = changes.iter().any(|known| known.key == change.key);
        if !is_default && !is_known && counts(&change, base, after, meaning) {
            changes.push(Change { from, ..change });
        }
    }
    changes
}

/// The key for all variants that corresponds to `key` of one variant, if it is below the setting `path`.
fn in_variant(key: &str, path: &str) -> Option<String> {
    let own = key.strip_prefix("variants.")?.split_once('.')?.1;
    let rest = own.strip_prefix(path)?;
    (rest.is_empty() || rest.starts_with('.')).then(|| own.to_owned())
}

/// The meaning of a key that the file leaves out, as far as it is known here.
fn default(experiment: &Experiment, meaning: &Meaning, key: &str) -> Option<Value> {
    let mut keys = key.split('.');
    let mut value = match keys.next()? {
        "transport" => Value::Table(experiment.transport.values()),
        head => {
            let mut all = Table::try_from(experiment).ok()?;
            all.extend(meaning.with_defaults(experiment));
            all.remove(head)?
        }
    };
    for key in keys {
        value = value.get(key)?.clone();
    }
    Some(value)
}

/// Whether a change affects what results are judged by, and not only what is described, shown, or
/// additionally measured.
fn counts(change: &Change, base: &Table, after: &Experiment, meaning: &Meaning) -> bool {
    let keys: Vec<&str> = change.key.split('.').collect();
    let is_new = |path: &[&str]| {
        let mut at = Some(base);
        let (last, above) = path.split_last().expect("a path has a key");
        for key in above {
            at = at.and_then(|table| table.get(*key)?.as_table());
        }
        at.is_none_or(|table| !table.contains_key(*last))
    };
    match keys[..] {
        [head, ..] if FOR_PEOPLE.contains(&head) || meaning.is_for_people(head) => false,
        ["profile" | "replications", ..] => false,
        ["measure", "table", ..] => false,
        ["measure", key, ..] => !is_new(&["measure", key]),
        // Cases of its own, unless its segments are what the ports' buffers are counted in, or results of every scheme are
        // judged.
        ["schemes", name, ..] if is_new(&["schemes", name]) => {
            after.schemes.get(name).is_some_and(|scheme| scheme.transport.is_some())
                || meaning.is_of_every_scheme(after)
        }
        _ => true,
    }
}
