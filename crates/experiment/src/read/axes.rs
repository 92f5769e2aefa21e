//! Axes: if a key takes one value, a list makes a case for each of its values (`tresse explain axes`).

use serde::Deserialize;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use toml::{Spanned, Table, Value};

use crate::diagnostic::{Location, Wrong};
use crate::read::owned::Meaning;
use crate::schema::{Experiment, OF_CASES};

/// Whether this is set once per experiment, for all its variants and cases.
pub(super) fn is_said_once(head: &str) -> bool {
    !OF_CASES.contains(&head)
}

/// Whether a key belongs to the whole experiment, so that a list is not an axis.
fn is_common(keys: &[String]) -> bool {
    is_said_once(&keys[0]) || keys.iter().map(String::as_str).eq(["measure", "table"])
}

/// A key with a list of values, each of which is a point of an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The key and those above it, the outermost first.
    pub keys: Vec<String>,
    /// The values, in the order of the file: at least one, without duplicates.
    pub values: Vec<Value>,
}

impl Axis {
    /// `workloads.websearch.load`.
    pub fn path(&self) -> String {
        self.keys.join(".")
    }
}

/// The maximum number of points of all axes of an experiment.
pub const MOST_POINTS: usize = 1000;

/// The end of the message if a list was found where another value was expected: only the type of a key knows what
/// it takes.
const LIST: &str = ", found a list";

/// Reads an experiment at the first value of each of its axes, and checks all others.
///
/// # Errors
/// The first error, with its location in the text of the tables.
pub(crate) fn read(mut file: Spanned<DeTable>, meaning: &Meaning) -> Result<(Experiment, Vec<Axis>), Wrong> {
    let mut lists: Vec<(Vec<String>, DeValue)> = Vec::new();
    let experiment = loop {
        let wrong = match meaning.read(file.clone()) {
            Ok(experiment) => break experiment,
            Err(wrong) => wrong,
        };
        let Location::Offset(Some(start)) = wrong.at else { return Err(wrong) };
        let found = list_at(file.get_ref(), start).filter(|keys| {
            let is_known = lists.iter().any(|(known, _)| known == keys);
            wrong.message.ends_with(LIST) && !is_known && !is_common(keys)
        });
        let Some(keys) = found else { return Err(wrong) };
        let place = value_mut(file.get_mut(), &keys).expect("it was just found");
        let DeValue::Array(list) = place.get_ref() else { unreachable!("it is a list") };
        let Some(first) = list.iter().next().cloned() else {
            return Err(Wrong::offset(start, "the list is empty, so there is no case"));
        };
        let list = std::mem::replace(place, first).into_inner();
        lists.push((keys, list));
    };
    refuse_many(&file, &lists)?;
    let mut axes = Vec::new();
    for (keys, list) in lists {
        let DeValue::Array(list) = list else { unreachable!("it is a list") };
        let mut values: Vec<Value> = Vec::new();
        for value in list.iter() {
            let mut one = file.clone();
            *value_mut(one.get_mut(), &keys).expect("it is there") = value.clone();
            meaning.read(one)?;
            let own = plain(value)?;
            if values.contains(&own) {
                return Err(Wrong::offset(value.span().start, "this value is in the list twice"));
            }
            values.push(own);
        }
        axes.push(Axis { keys, values });
    }
    // In the order of the file, which the order of errors need not be. What is of a scheme changes first: schemes
    // are compared where everything else is the same.
    axes.sort_by_key(|axis| (axis.keys[0] == "schemes", position(file.get_ref(), &axis.keys)));
    Ok((experiment, axes))
}

/// Refuses lists that make too many points, before their values are read.
fn refuse_many(file: &Spanned<DeTable>, lists: &[(Vec<String>, DeValue)]) -> Result<(), Wrong> {
    let length = |list: &DeValue| list.as_array().map_or(0, |list| list.len());
    let points = lists.iter().try_fold(1usize, |all, (_, list)| all.checked_mul(length(list)));
    if points.is_some_and(|points| points <= MOST_POINTS) {
        return Ok(());
    }
    let place = |keys: &[String]| position(file.get_ref(), keys);
    let mut own: Vec<_> =
        lists.iter().map(|(keys, list)| (place(keys), keys.join("."), length(list))).collect();
    own.sort();
    let lengths: Vec<String> = own.iter().map(|(_, path, length)| format!("{length} of {path}")).collect();
    let message = format!(
        "lists of {} values make more than {MOST_POINTS} points: use fewer values, or `tresse sweep`",
        lengths.join(" × ")
    );
    Err(Wrong::offset(own.last().map_or(0, |(place, ..)| *place), message))
}

/// A single value of a list.
fn plain(value: &Spanned<DeValue>) -> Result<Value, Wrong> {
    Ok(Value::deserialize(ValueDeserializer::from(value.clone()))?)
}

/// Where the value at `keys` begins in the text.
fn position(table: &DeTable, keys: &[String]) -> usize {
    let Some((first, below)) = keys.split_first() else { return 0 };
    match table.get(first.as_str()) {
        Some(value) => match value.get_ref() {
            DeValue::Table(table) if !below.is_empty() => position(table, below),
            _ => value.span().start,
        },
        None => 0,
    }
}

/// The keys of the list that begins there; a list inside a list has none.
fn list_at(table: &DeTable, start: usize) -> Option<Vec<String>> {
    table.iter().find_map(|(key, value)| {
        let mut keys = vec![key.get_ref().to_string()];
        match value.get_ref() {
            DeValue::Array(_) if value.span().start == start => Some(keys),
            DeValue::Table(below) => {
                keys.extend(list_at(below, start)?);
                Some(keys)
            }
            _ => None,
        }
    })
}

fn value_mut<'a, 'i>(table: &'a mut DeTable<'i>, keys: &[String]) -> Option<&'a mut Spanned<DeValue<'i>>> {
    let (last, above) = keys.split_last()?;
    let mut at = table;
    for key in above {
        at = match at.get_mut(key.as_str())?.get_mut() {
            DeValue::Table(table) => table,
            _ => return None,
        };
    }
    at.get_mut(last.as_str())
}

/// The tables of an experiment at a point of its axes.
pub(crate) fn at(resolved: &Table, axes: &[Axis], places: &[usize]) -> Table {
    let mut table = resolved.clone();
    for (axis, &place) in axes.iter().zip(places) {
        let (last, above) = axis.keys.split_last().expect("an axis is a key");
        let below = above.iter().try_fold(&mut table, |table, key| table.get_mut(key)?.as_table_mut());
        below.expect("the axis was found there").insert(last.clone(), axis.values[place].clone());
    }
    table
}
