//! The values of declared parameters in an experiment file.

use std::collections::BTreeMap;

use tresse_units::{Bytes, Duration, MICROSECOND, Parameter, Range, SECOND, Value, Values};

use crate::diagnostic::did_you_mean;

/// The defaults of the parameters of `owner`, overridden by the `settings` of an experiment file.
///
/// # Errors
/// An unknown parameter, or a value that the parameter cannot have: its name, and what is wrong.
pub fn values<'a>(
    owner: &'static str,
    parameters: &'static [Parameter],
    settings: &'a BTreeMap<String, toml::Value>,
) -> Result<Values, (&'a str, String)> {
    let mut read = Vec::new();
    for (name, value) in settings {
        let value = setting(owner, parameters.iter(), name, value).map_err(|e| (name.as_str(), e))?;
        read.push((name.as_str(), value));
    }
    Ok(Values::new(owner, parameters, read).expect("each was looked at"))
}

/// The value of `owner`'s parameter `name`, in its unit, as given in an experiment file.
///
/// # Errors
/// If there is no such parameter, or it cannot have that value.
pub(crate) fn setting<'a>(
    owner: &str,
    parameters: impl Iterator<Item = &'a Parameter> + Clone,
    name: &str,
    value: &toml::Value,
) -> Result<Value, String> {
    let Some(p) = parameters.clone().find(|p| p.name == name) else {
        let known: Vec<&str> = parameters.map(|p| p.name).collect();
        let hint = did_you_mean(name, known.iter().copied());
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(format!("{owner} has no parameter `{name}`{hint} (it has: {known})"));
    };
    let read = match (p.range, value) {
        (Range::Whole(_), _) => whole(p, value)?.map(Value::Whole),
        (Range::Choice(_), toml::Value::String(word)) => Some(Value::Choice(word.clone())),
        (Range::List { .. }, toml::Value::Array(all)) => {
            all.iter().map(natural).collect::<Option<_>>().map(Value::List)
        }
        _ => None,
    };
    let read = read.filter(|v| p.range.contains(v));
    read.ok_or_else(|| format!("{name} = {value} is not {}{}", p.range, in_unit(p.unit)))
}

/// A number in the parameter's unit; times and sizes are strings with a unit (design rule 7).
fn whole(p: &Parameter, value: &toml::Value) -> Result<Option<u64>, String> {
    let (example, unit, finest) = match p.unit {
        "us" => ("200us", MICROSECOND, "one microsecond"),
        "s" => ("60s", SECOND, "one second"),
        "B" => ("100kB", 1, ""),
        _ => return Ok(natural(value)),
    };
    match value {
        toml::Value::String(text) if p.unit == "B" => text.parse::<Bytes>().map(|b| Some(b.0)),
        toml::Value::String(text) => match text.parse::<Duration>()?.0 {
            time if time.is_multiple_of(unit) => Ok(Some(time / unit)),
            _ => Err(format!("\"{text}\" is finer than {finest}")),
        },
        _ => Err(format!(
            "{} = {value} has no unit; write a string with a unit, such as \"{example}\"",
            p.name
        )),
    }
}

fn natural(value: &toml::Value) -> Option<u64> {
    value.as_integer().and_then(|n| u64::try_from(n).ok())
}

fn in_unit(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" {unit}") }
}
