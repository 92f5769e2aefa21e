//! The values of a table's cases on the axes of their experiment.

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;
use tresse_lab::record::results::scheme;

/// The axes of a case, with its values on them.
pub type Axes = IndexMap<String, Value>;

/// The heads of the columns that tell cases apart: scheme, pattern, and the other axes that there are.
pub fn heads<'a>(cases: impl Iterator<Item = &'a Axes>) -> Vec<String> {
    let others = cases.flat_map(IndexMap::keys).map(String::as_str);
    let others = others.filter(|axis| *axis != "subflows");
    ["scheme", "pattern"]
        .into_iter()
        .chain(others)
        .map(str::to_owned)
        .collect::<IndexSet<_>>()
        .into_iter()
        .collect()
}

/// The values of a case below these heads: its scheme has the number of subflows with it, as `xmp-2`.
pub fn cells(case: &Axes, heads: &[String]) -> Vec<String> {
    heads
        .iter()
        .map(|axis| match &**axis {
            "scheme" => scheme(case),
            axis => case.get(axis).map_or_else(|| "-".to_owned(), text),
        })
        .collect()
}

/// A value as files have it, without quotes.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}
