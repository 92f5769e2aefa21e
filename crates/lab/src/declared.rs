//! Parts that declare their parameters: as lists and pages show them, and their values in experiment files.

use serde::Serialize;
use tresse_units::{MICROSECOND, Parameter, Range, SECOND, Value, Whole};

use crate::error::did_you_mean;
use crate::parts::Entry;
use crate::units::{Bytes, Duration};

/// A part's line of `tresse list --json`.
#[derive(Debug, Clone, Serialize)]
pub struct DeclaredEntry {
    #[serde(flatten)]
    entry: Entry,
    parameters: Vec<ParameterEntry>,
}

#[derive(Debug, Clone, Serialize)]
struct ParameterEntry {
    name: &'static str,
    #[serde(flatten)]
    range: RangeEntry,
    unit: &'static str,
    meaning: &'static str,
}

/// A number, a word, or a list of numbers.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
enum RangeEntry {
    Whole { default: u64, min: u64, max: u64 },
    Choice { default: &'static str, choices: &'static [&'static str] },
    List { default: [u64; 0], longest: usize, min: u64, max: u64 },
}

impl From<Range> for RangeEntry {
    fn from(range: Range) -> Self {
        match range {
            Range::Whole(Whole { default, min, max }) => Self::Whole { default, min, max },
            Range::Choice(choices) => Self::Choice { default: choices[0], choices },
            Range::List { longest, min, max } => Self::List { default: [], longest, min, max },
        }
    }
}

impl DeclaredEntry {
    pub(crate) fn new(entry: Entry, parameters: &[Parameter]) -> Self {
        let parameters = parameters.iter().map(|p| ParameterEntry {
            name: p.name,
            range: p.range.into(),
            unit: p.unit,
            meaning: p.meaning,
        });
        Self { entry, parameters: parameters.collect() }
    }
}

/// What a parameter may be, in short: `1..=64`, `recent | second`.
pub fn range(range: &Range) -> String {
    match range {
        Range::Whole(Whole { min, max, .. }) => format!("{min}..={max}"),
        Range::Choice(choices) => choices.join(" | "),
        Range::List { min, max, .. } => format!("numbers in {min}..={max}"),
    }
}

/// What a part declares, and then its page.
pub(crate) fn explain(entry: &Entry, parameters: &[Parameter], page: &str) -> String {
    let mut text = format!("# {}\n\n{}\n\n- source: {}\n", entry.name, entry.title, entry.source);
    if !parameters.is_empty() {
        text += "\n| parameter | default | range | unit | meaning |\n|---|---|---|---|---|\n";
    }
    for p in parameters {
        let cells = [range(&p.range), p.meaning.to_owned()].map(|text| text.replace('|', "\\|"));
        let default = p.range.default();
        text += &format!("| `{}` | {default} | {} | {} | {} |\n", p.name, cells[0], p.unit, cells[1]);
    }
    format!("{text}\n{page}")
}

/// The value of `owner`'s parameter `name`, in its unit, as it stands in an experiment file.
///
/// # Errors
/// There is no such parameter, or it cannot have that value.
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
