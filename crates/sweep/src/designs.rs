//! From the designs of a plan to points.

use std::collections::BTreeMap;

use serde::Serialize;
use toml::Value;
use tresse_experiment::Diagnostic;
use tresse_experiment::diagnostic::Wrong;

use crate::plan::{Design, Kind, Plan, flat};
use crate::values::Values;

/// The keys of a point with their values.
pub type Setting = BTreeMap<String, Value>;

/// Points of the unit cube: each has numbers from 0 to below 1.
pub type Cube = Vec<Vec<f64>>;

/// Points of the unit cube that a design needs; `python -m tresse.designs` draws them.
#[derive(Debug, Clone, Serialize)]
pub struct Request {
    /// `sobol`, `latin-hypercube` or `random`.
    pub kind: &'static str,
    /// How many points.
    pub points: usize,
    /// How many numbers each has.
    pub dimensions: usize,
    pub seed: u64,
}

/// A point in a plan: its location, for messages, and what it sets.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    /// The keys down to the table that has its keys, outermost first.
    pub place: Vec<String>,
    pub setting: Setting,
}

/// The maximum number of points of a plan, all of which are known from the start.
const MOST: usize = 1_000_000;

fn too_many(what: &str) -> String {
    format!("{what} more than {MOST} points: use fewer values, or several plans")
}

/// The points of all designs of a plan, in its order; `draw` returns points of the unit cube.
///
/// # Errors
/// The first error in a design, with its location; errors of `draw`.
pub(crate) fn points<E: From<Diagnostic>>(
    plan: &Plan,
    draw: &mut dyn FnMut(&Request) -> Result<Cube, E>,
) -> Result<Vec<Planned>, E> {
    let mut all = Vec::new();
    for (place, design) in plan.designs().iter().enumerate() {
        let wrong = |wrong: Wrong| plan.error(wrong.below(place).below("designs"));
        let path = |key: &str| vec!["designs".to_owned(), place.to_string(), key.to_owned()];
        let settings = match design.kind {
            Kind::Points => {
                let listed = listed(design).map_err(wrong)?.into_iter().enumerate();
                let at = |n: usize| path("points").into_iter().chain([n.to_string()]).collect();
                all.extend(listed.map(|(n, setting)| Planned { place: at(n), setting }));
                continue;
            }
            Kind::Grid => grid(design).map_err(wrong)?,
            _ => drawn(design, draw, &wrong)?,
        };
        if all.len() + settings.len() > MOST {
            return Err(wrong(Wrong::whole(too_many("the designs make"))).into());
        }
        all.extend(settings.into_iter().map(|setting| Planned { place: path("keys"), setting }));
    }
    Ok(all)
}

/// The points that a design lists.
fn listed(design: &Design) -> Result<Vec<Setting>, Wrong> {
    let expected = "a list of tables, such as [{ \"fabric.mark\" = \"5pkt\" }]";
    refuse(design, &[("keys", !design.keys.is_empty()), ("seed", design.seed.is_some())])?;
    let Some(Value::Array(points)) = &design.points else {
        return Err(match design.points {
            Some(_) => Wrong::key("points", expected),
            None => Wrong::whole(format!("a design of points needs `points`, {expected}")),
        });
    };
    let one = |(n, point): (usize, &Value)| match point {
        Value::Table(table) => Ok(flat(table).into_iter().collect()),
        _ => Err(Wrong::new(["points".to_owned(), n.to_string()], expected)),
    };
    points.iter().enumerate().map(one).collect()
}

/// The values of each key of a design.
fn keys(design: &Design) -> Result<Vec<(String, Values)>, Wrong> {
    fn below(path: &str, table: &toml::Table, all: &mut Vec<(String, Values)>) -> Result<(), Wrong> {
        for (key, value) in table {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            match value {
                // A table that is no range has the keys of `fabric.mark` without quotes.
                Value::Table(table) if !table.contains_key("from") && !table.contains_key("to") => {
                    below(&path, table, all)
                }
                value => Values::read(value).map(|values| all.push((path, values))),
            }
            .map_err(|wrong| wrong.below(key))?;
        }
        Ok(())
    }
    let mut all = Vec::new();
    below("", &design.keys, &mut all).map_err(|wrong| wrong.below("keys"))?;
    if all.is_empty() {
        return Err(Wrong::whole(format!("a design of kind \"{}\" needs `keys`", design.kind.name())));
    }
    Ok(all)
}

/// Every value of a key with every value of the others; the last key varies fastest.
fn grid(design: &Design) -> Result<Vec<Setting>, Wrong> {
    refuse(design, &[("points", design.points.is_some()), ("seed", design.seed.is_some())])?;
    let mut all = vec![Setting::new()];
    for (key, values) in keys(design)? {
        let values = values.all().map_err(|wrong| wrong.below(&key).below("keys"))?;
        if values.len().saturating_mul(all.len()) > MOST {
            return Err(Wrong::new(["keys", &key], too_many("this makes")));
        }
        let with = |setting: Setting| {
            let key = key.clone();
            values.iter().map(move |value| {
                let mut setting = setting.clone();
                setting.insert(key.clone(), value.clone());
                setting
            })
        };
        all = all.into_iter().flat_map(with).collect();
    }
    Ok(all)
}

/// Points of the unit cube, as values of the keys.
fn drawn<E: From<Diagnostic>>(
    design: &Design,
    draw: &mut dyn FnMut(&Request) -> Result<Cube, E>,
    wrong: &dyn Fn(Wrong) -> Diagnostic,
) -> Result<Vec<Setting>, E> {
    let keys = keys(design).map_err(wrong)?;
    let points = match &design.points {
        Some(Value::Integer(points)) if (1..=MOST as i64).contains(points) => *points as usize,
        Some(_) => return Err(wrong(Wrong::key("points", format!("a number of points, 1 to {MOST}"))).into()),
        None => {
            return Err(wrong(Wrong::whole("the number of points is missing, such as `points = 64`")).into());
        }
    };
    let request =
        Request { kind: design.kind.name(), points, dimensions: keys.len(), seed: design.seed.unwrap_or(1) };
    let cube = draw(&request)?;
    let one = |shares: &Vec<f64>| {
        keys.iter().zip(shares).map(|((key, values), &share)| (key.clone(), values.at(share))).collect()
    };
    Ok(cube.iter().map(one).collect())
}

/// Refuses keys without a meaning in a design of this kind.
fn refuse(design: &Design, said: &[(&str, bool)]) -> Result<(), Wrong> {
    match said.iter().find(|(_, said)| *said) {
        Some((key, _)) => {
            Err(Wrong::key(key, format!("a design of kind \"{}\" has no `{key}`", design.kind.name())))
        }
        None => Ok(()),
    }
}
