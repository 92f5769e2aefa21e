//! Parts that declare their parameters, as lists and pages show them.

use serde::Serialize;
use tresse_units::{Parameter, Range, Whole};

use crate::catalogue::Entry;

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

/// The allowed values of a parameter, in short: `1 to 64`, `recent | second`.
pub fn range(range: &Range) -> String {
    match range {
        Range::Whole(Whole { min, max, .. }) => format!("{min} to {max}"),
        Range::Choice(choices) => choices.join(" | "),
        Range::List { min, max, .. } => format!("numbers from {min} to {max}"),
    }
}

/// A part's declarations, followed by its page.
pub(crate) fn explain(entry: &Entry, parameters: &[Parameter], page: &str) -> String {
    let text = format!("# {}\n\n{}\n\n- source: {}\n", entry.name, entry.title, entry.source);
    format!("{text}{}\n{page}", table(parameters))
}

/// Parameters as a Markdown table, after an empty line; empty if there are none.
pub(crate) fn table(parameters: &[Parameter]) -> String {
    let mut text = String::new();
    if !parameters.is_empty() {
        text += "\n| parameter | default | range | unit | meaning |\n|---|---|---|---|---|\n";
    }
    for p in parameters {
        let cells = [range(&p.range), p.meaning.to_owned()].map(|text| text.replace('|', "\\|"));
        let default = p.range.default();
        text += &format!("| `{}` | {default} | {} | {} | {} |\n", p.name, cells[0], p.unit, cells[1]);
    }
    text
}
