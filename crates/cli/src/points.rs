//! The values of a table's cases on the axes of their experiment.

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;
use tresse_results::record::results::scheme;

/// The axes of a case, with its values on them.
pub type Axes = IndexMap<String, Value>;

/// The heads of the columns that identify cases: scheme, pattern, and any other axes.
pub fn heads<'a>(cases: impl Iterator<Item = &'a Axes>) -> Vec<String> {
    let others = cases.flatten().filter(|(axis, _)| *axis != "subflows").flat_map(|(axis, value)| {
        match table_of(value) {
            Some(table) => table.keys().map(|key| format!("{axis}.{key}")).collect(),
            None => vec![axis.clone()],
        }
    });
    ["scheme", "pattern"]
        .map(str::to_owned)
        .into_iter()
        .chain(others)
        .collect::<IndexSet<_>>()
        .into_iter()
        .collect()
}

/// A value that is a table, such as `{ rack = "10pkt", spine = "40pkt" }`: each of its keys has a column.
fn table_of(value: &Value) -> Option<toml::Table> {
    let text = value.as_str().filter(|text| text.starts_with('{'))?;
    let mut whole: toml::Table = toml::from_str(&format!("value = {text}")).ok()?;
    whole.remove("value")?.try_into().ok()
}

/// The value of a case in the column `mark.rack`: of the key `rack` in its value on the axis `mark`.
fn part_of(case: &Axes, head: &str) -> Option<String> {
    let own = case.iter().find_map(|(axis, value)| {
        let key = head.strip_prefix(axis.as_str())?.strip_prefix('.')?;
        table_of(value)?.remove(key)
    })?;
    Some(own.as_str().map_or_else(|| own.to_string(), str::to_owned))
}

/// The values of a case for these heads; the scheme includes the number of subflows, as in `xmp-2`.
pub fn cells(case: &Axes, heads: &[String]) -> Vec<String> {
    heads
        .iter()
        .map(|axis| match &**axis {
            "scheme" => scheme(case),
            axis => {
                let value = case.get(axis).filter(|value| table_of(value).is_none()).map(text);
                value.or_else(|| part_of(case, axis)).unwrap_or_else(|| "-".to_owned())
            }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_for_each_layer_has_a_column_for_each() {
        let case = |mark: &str| -> Axes {
            serde_json::from_value(json!({ "scheme": "xmp", "subflows": 2, "pattern": "all", "mark": mark }))
                .expect("axes")
        };
        let cases = [case("{ rack = \"10pkt\", spine = \"40pkt\" }"), case("20pkt")];
        let heads = heads(cases.iter());
        assert_eq!(heads, ["scheme", "pattern", "mark.rack", "mark.spine", "mark"]);
        assert_eq!(cells(&cases[0], &heads), ["xmp-2", "all", "10pkt", "40pkt", "-"]);
        assert_eq!(cells(&cases[1], &heads), ["xmp-2", "all", "-", "-", "20pkt"]);
    }
}
