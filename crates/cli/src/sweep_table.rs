//! The results of a sweep as a table: a row for each case of each point.

use std::path::Path;

use indexmap::IndexSet;
use serde_json::json;
use tresse_experiment::schema::metrics::compared;
use tresse_reproduction::metric_display;
use tresse_sweep::Row;
use tresse_workbench::json::pretty;
use tresse_workbench::{Failure, sweep};

use crate::columns::{real, shown};
use crate::points::{cells, heads};
use crate::table::{Cell, Format, Table};

/// What `tresse show` prints for the sweep in a folder.
pub fn show(folder: &Path, as_json: bool, format: Format) -> Result<String, Failure> {
    let (finished, rows) = (sweep::read(folder)?, sweep::rows(folder)?);
    if as_json {
        let mut told = sweep::json(&finished);
        told["rows"] = json!(rows);
        return Ok(pretty(&told) + "\n");
    }
    if format != Format::Table {
        return Ok(format.write(&[table(&rows)]));
    }
    Ok(format!("{}\n{}", table(&rows), sweep::summary(&finished)))
}

/// The keys, by the shortest names that are unique among keys and axes; the axes of the cases; the default metrics, each
/// with its interval if any point has several seeds.
fn table(rows: &[Row]) -> Table {
    let keys: IndexSet<&String> = rows.iter().flat_map(|row| row.setting.keys()).collect();
    let axes = heads(rows.iter().map(|row| &row.case));
    let metrics: Vec<&str> =
        compared().filter(|name| rows.iter().any(|row| row.metrics.contains_key(*name))).collect();
    let mut head: Vec<String> = keys.iter().map(|key| short(key, &keys, &axes)).collect();
    head.extend(axes.iter().cloned());
    let labels = head.len();
    let has_interval = |name: &str| rows.iter().any(|row| row.ci95.contains_key(name));
    for name in &metrics {
        head.push(metric_display::name(name));
        head.extend(has_interval(name).then(|| "±95 %".to_owned()));
    }
    let mut table = Table::new(&head).labels(labels);
    for row in rows {
        let value = |key: &&String| match row.setting.get(*key) {
            Some(toml::Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => "-".to_owned(),
        };
        let labels = keys.iter().map(value).chain(cells(&row.case, &axes));
        let mut line: Vec<Cell> = labels.map(Cell::from).collect();
        for name in &metrics {
            line.push(row.metrics.get(*name).map_or_else(Cell::none, |&own| shown(name, own)));
            if has_interval(name) {
                line.push(real(name, row.ci95.get(*name).copied()));
            }
        }
        table.row(line);
    }
    table
}

/// The end of a key, from the last dot that keeps it unique.
fn short(key: &str, keys: &IndexSet<&String>, axes: &[String]) -> String {
    let is_taken = |name: &str| {
        axes.iter().any(|axis| axis == name)
            || keys
                .iter()
                .any(|other| *other != key && (*other == name || other.ends_with(&format!(".{name}"))))
    };
    let ends = key.rmatch_indices('.').map(|(dot, _)| &key[dot + 1..]);
    ends.chain([key]).find(|name| !is_taken(name)).unwrap_or(key).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_as_short_as_they_can_be() {
        let keys = ["fabric.mark", "a.load", "b.load", "workloads.x.pattern"].map(str::to_owned);
        let (all, axes) = (keys.iter().collect(), ["scheme".to_owned(), "pattern".to_owned()]);
        let short = keys.iter().map(|key| short(key, &all, &axes)).collect::<Vec<_>>();
        assert_eq!(short, ["mark", "a.load", "b.load", "x.pattern"]);
    }
}
