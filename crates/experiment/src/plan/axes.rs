//! The cases at every point of the axes made by lists of values.

use std::sync::Arc;

use indexmap::IndexMap;
use toml::Value;

use crate::diagnostic::Diagnostic;
use crate::plan::capacities::Capacities;
use crate::plan::{Case, cases as cases_of};
use crate::read::Loaded;
use crate::read::axes::Axis;

/// The maximum number of cases that lists may make.
const MOST_CASES: usize = 1000;

/// The value of a case on the axis made by a list of values.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisValue {
    /// The name of the axis: its key, or its whole path if another axis has the same key.
    pub name: Arc<str>,
    /// Its path, such as `workloads.websearch.load`.
    pub path: Arc<str>,
    pub value: Value,
}

impl AxisValue {
    /// The value as files have it, without quotes.
    pub fn text(&self) -> String {
        match &self.value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        }
    }
}

/// The axes that every case has: an axis of a list with one of these names is named by its path.
const TAKEN: [&str; 5] = ["scheme", "subflows", "pattern", "variant", "seed"];

/// The names of axes, by path: the same in all variants.
pub(super) struct Names(IndexMap<String, Arc<str>>);

impl Names {
    pub fn of(loaded: &Loaded) -> Self {
        let own = loaded.variants.iter().flat_map(|variant| &variant.loaded.axes);
        let mut keys: IndexMap<String, String> = IndexMap::new();
        for axis in loaded.axes.iter().chain(own) {
            keys.insert(axis.path(), short(&axis.keys));
        }
        let is_alone = |key: &str| keys.values().filter(|other| *other == key).count() == 1;
        let name = |(path, key): (&String, &String)| {
            let is_free = is_alone(key) && !TAKEN.contains(&key.as_str());
            (path.clone(), if is_free { key.as_str().into() } else { path.as_str().into() })
        };
        Self(keys.iter().map(name).collect())
    }
}

/// An axis's own key; with the table that it is in, where the key alone says little: `mark.rack`, `red.max`.
fn short(keys: &[String]) -> String {
    match keys {
        [fabric, table @ .., key] if fabric == "fabric" && !table.is_empty() => {
            format!("{}.{key}", table.join("."))
        }
        _ => keys.last().expect("an axis is a key").clone(),
    }
}

/// All cases of an experiment without variants, or of one variant.
pub(super) fn cases(
    loaded: &Loaded,
    variant: Option<&str>,
    names: &Names,
    capacities: &Capacities,
) -> Result<Vec<Case>, Diagnostic> {
    if loaded.axes.is_empty() {
        return cases_of(loaded, variant, capacities);
    }
    let value = |axis: &Axis, place: usize| {
        let path = axis.path();
        let name = Arc::clone(&names.0[&path]);
        AxisValue { name, path: path.into(), value: axis.values[place].clone() }
    };
    let mut all = Vec::new();
    for point in loaded.points() {
        let point = point?;
        for mut case in cases_of(&point.loaded, variant, capacities)? {
            let on = || loaded.axes.iter().zip(point.places.iter().copied());
            // What is no axis of its own is the same at all of its values: the first stands for them.
            if on().any(|(axis, place)| place > 0 && !matters(axis, &case)) {
                continue;
            }
            case.at = on()
                .filter(|(axis, _)| matters(axis, &case))
                .map(|(axis, place)| value(axis, place))
                .collect();
            all.push(case);
        }
        if all.len() > MOST_CASES {
            let last = loaded.axes.last().map(|axis| axis.keys.clone()).unwrap_or_default();
            let keys: Vec<&str> = last.iter().map(String::as_str).collect();
            return Err(loaded.error_at(&keys, &format!("the lists make more than {MOST_CASES} cases")));
        }
    }
    Ok(all)
}

/// Whether a case depends on an axis. A threshold for marks is one of every case, also of those that it cannot mark: they
/// are what the others are compared with at each of its values.
fn matters(axis: &Axis, case: &Case) -> bool {
    let keys: Vec<&str> = axis.keys.iter().map(String::as_str).collect();
    case.is_of_another(&keys).is_none()
}

/// The name of the axis whose path is `key`; otherwise `key` itself.
pub(super) fn name<'a>(key: &'a str, cases: &'a [Case]) -> &'a str {
    let values = cases.iter().flat_map(|case| &case.at);
    values.into_iter().find(|value| *value.path == *key).map_or(key, |value| &value.name)
}
