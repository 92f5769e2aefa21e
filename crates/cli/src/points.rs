//! The values of a table's cases on the axes of their experiment.

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;
use tresse_results::record::results::scheme;

/// The axes of a case, with its values on them.
pub type Axes = IndexMap<String, Value>;

/// The heads of the columns that identify cases: scheme, pattern, and any other axes.
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

/// The values of a case for these heads; the scheme includes the number of subflows, as in `xmp-2`.
pub fn cells(case: &Axes, heads: &[String]) -> Vec<String> {
    heads
        .iter()
        .map(|axis| match &**axis {
            "scheme" => scheme(case),
            axis => case.get(axis).map_or_else(|| "-".to_owned(), text),
        })
        .collect()
}

/// A value as in files, but without quotes.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}
