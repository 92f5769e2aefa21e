//! The path managers as lists and pages show them: what they declare, and a page of docs/explain for each.

use serde::Serialize;
use tresse_path_manager::{Declaration, Range, all, find};

use crate::parts::Entry;

/// A path manager's line of `tresse list path-managers --json`.
#[derive(Debug, Clone, Serialize)]
pub struct ManagerEntry {
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
            Range::Whole { default, min, max } => Self::Whole { default, min, max },
            Range::Choice(choices) => Self::Choice { default: choices[0], choices },
            Range::List { longest, min, max } => Self::List { default: [], longest, min, max },
        }
    }
}

/// The path managers with all that they declare.
pub fn entries() -> Vec<ManagerEntry> {
    let parameters = |d: &Declaration| {
        let parameters = d.parameters.iter().map(|p| ParameterEntry {
            name: p.name,
            range: p.range.into(),
            unit: p.unit,
            meaning: p.meaning,
        });
        parameters.collect()
    };
    all().iter().map(|d| ManagerEntry { entry: entry(d), parameters: parameters(d) }).collect()
}

pub(crate) fn entry(d: &Declaration) -> Entry {
    Entry { name: d.name.to_owned(), title: d.title.to_owned(), source: d.source.to_owned() }
}

/// What a parameter may be, in short: `1..=64`, `recent | second`.
pub fn range(range: &Range) -> String {
    match range {
        Range::Whole { min, max, .. } => format!("{min}..={max}"),
        Range::Choice(choices) => choices.join(" | "),
        Range::List { min, max, .. } => format!("numbers in {min}..={max}"),
    }
}

/// Everything that is to be said of the path manager `name`.
pub(crate) fn explain(name: &str) -> Option<String> {
    let d = find(name)?;
    let mut text = format!("# {name}\n\n{}\n\n- source: {}\n", d.title, d.source);
    text += "\n| parameter | default | range | unit | meaning |\n|---|---|---|---|---|\n";
    for p in d.parameters {
        let cells = [range(&p.range), p.meaning.to_owned()].map(|text| text.replace('|', "\\|"));
        let default = p.range.default();
        text += &format!("| `{}` | {default} | {} | {} | {} |\n", p.name, cells[0], p.unit, cells[1]);
    }
    Some(format!("{text}\n{}", page(name)))
}

/// What is to be said beyond the declaration.
fn page(name: &str) -> &'static str {
    match name {
        "fixed" => include_str!("../../../docs/explain/fixed.md"),
        "mmptcp" => include_str!("../../../docs/explain/mmptcp.md"),
        "path-sharing" => include_str!("../../../docs/explain/path-sharing.md"),
        _ => include_str!("../../../docs/explain/opn.md"),
    }
}
