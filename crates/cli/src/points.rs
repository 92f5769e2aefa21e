//! The values of a table's cases on the axes of their experiment.

use indexmap::IndexSet;
use serde_json::Value;
use tresse_lab::CaseResult;

/// The heads of the columns that tell cases apart: scheme, pattern, and the other axes that there are.
pub fn heads(cases: &[CaseResult]) -> Vec<String> {
    let others = cases.iter().flat_map(|case| case.case.keys()).map(String::as_str);
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
pub fn cells(case: &CaseResult, heads: &[String]) -> Vec<String> {
    heads
        .iter()
        .map(|axis| match &**axis {
            "scheme" => case.scheme(),
            axis => case.case.get(axis).map_or_else(|| "-".to_owned(), text),
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
