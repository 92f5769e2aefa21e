//! The results of a sweep as tables: a row for each case of each point, in the order of the settings.

use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{Field, Schema};
use indexmap::IndexSet;
use toml::Value;
use tresse_experiment::Diagnostic;
use tresse_experiment::schema::metrics::{METRICS, OPTIMUM_METRICS, find};
use tresse_experiment::schema::slice::without_slice;
use tresse_results::store::parquet::{ParquetError, writer};
use tresse_units::output_file::OutputFile;

use crate::journal::Kept;
use crate::record::CaseRecord;
use crate::rows;

/// A row: a point, and one of its cases, or none for a point that could not be run.
type Row<'a> = (&'a Kept, Option<&'a CaseRecord>);

struct Column {
    name: String,
    values: ArrayRef,
    unit: &'static str,
    meaning: String,
}

impl Column {
    fn new(
        name: impl Into<String>,
        values: ArrayRef,
        unit: &'static str,
        meaning: impl Into<String>,
    ) -> Self {
        Self { name: name.into(), values, unit, meaning: meaning.into() }
    }
}

/// Writes `results.parquet` and `costs.parquet`. The same points give the same bytes of the former, in whatever
/// order and on whatever machines they were computed.
pub(crate) fn write(folder: &Path, known: &[&Kept]) -> Result<(), Diagnostic> {
    let sorted = rows::sorted(known);
    store(folder, "results", results(&rows::keys(known), &sorted))?;
    store(folder, "costs", costs(&sorted))
}

fn results(keys: &[String], sorted: &[&Kept]) -> Vec<Column> {
    let rows: Vec<Row<'_>> = rows::cases(sorted).collect();
    let mut columns = settings(keys, &rows);
    let status = |row: &Row<'_>| match row.1 {
        Some(case) if case.error.is_none() => "complete",
        _ => "failed",
    };
    let status = text(rows.iter().map(|row| Some(status(row).to_owned())));
    columns.push(Column::new("status", status, "", "complete or failed"));
    let error = |row: &Row<'_>| rows::error(row.0, row.1).cloned();
    columns.push(Column::new("error", text(rows.iter().map(error)), "", "why it failed"));
    let seeds: UInt32Array = rows.iter().map(|row| row.1.map(|case| case.seeds)).collect();
    columns.push(Column::new("seeds", Arc::new(seeds), "", "how many seeds the means are over"));
    columns.extend(measured(&rows));
    let digest = text(rows.iter().map(|row| Some(row.1?.digest.clone())));
    columns.push(Column::new("digest", digest, "", "a fingerprint of the case's results"));
    columns.push(Column::new("point", points(rows.iter().map(|row| row.0)), "", POINT));
    columns
}

const POINT: &str = "the content address of the point";

/// The keys of the designs, and the axes of the cases.
fn settings(keys: &[String], rows: &[Row<'_>]) -> Vec<Column> {
    let mut columns = Vec::new();
    for key in keys {
        let values = column(rows.iter().map(|row| row.0.point.get(key).cloned()));
        columns.push(Column::new(
            key,
            values,
            "",
            "the value set by the sweep; null if the design sets none, or it makes no difference to the case",
        ));
    }
    let axes: IndexSet<&String> =
        rows.iter().filter_map(|row| row.1).flat_map(|case| case.case.keys()).collect();
    for axis in axes.into_iter().filter(|axis| !keys.contains(axis)) {
        let values = column(rows.iter().map(|row| row.1?.case.get(axis).and_then(of_json)));
        columns.push(Column::new(axis, values, "", "an axis of the cases"));
    }
    columns
}

/// The metrics with their intervals, and the optimum.
fn measured(rows: &[Row<'_>]) -> Vec<Column> {
    let cases = || rows.iter().filter_map(|row| row.1);
    let mut columns = Vec::new();
    let measured: IndexSet<&str> = cases().flat_map(|case| case.metrics.keys().map(String::as_str)).collect();
    let of_slices = measured.iter().copied().filter(|name| name.contains('.'));
    for name in METRICS.iter().map(|row| row.name).filter(|name| measured.contains(name)).chain(of_slices) {
        let Some(row) = find(METRICS, without_slice(name)) else { continue };
        let values: Float64Array = rows.iter().map(|row| Some(row.1?.metrics.get(name)?.value())).collect();
        columns.push(Column::new(name, Arc::new(values), row.unit, row.meaning));
        if cases().any(|case| case.ci95.contains_key(name)) {
            let values: Float64Array = rows.iter().map(|row| row.1?.ci95.get(name).copied()).collect();
            let meaning = "half the width of the 95 % confidence interval";
            columns.push(Column::new(format!("{name}_ci95"), Arc::new(values), row.unit, meaning));
        }
    }
    for key in OPTIMUM_METRICS {
        let values: Float64Array = rows.iter().map(|row| row.1?.optimum.get(key.name).copied()).collect();
        if cases().any(|case| case.optimum.contains_key(key.name)) {
            columns.push(Column::new(
                format!("optimum.{}", key.name),
                Arc::new(values),
                key.unit,
                key.meaning,
            ));
        }
    }
    columns
}

fn costs(sorted: &[&Kept]) -> Vec<Column> {
    let seconds: Float64Array = sorted.iter().map(|kept| Some(kept.cost.seconds)).collect();
    let attempts: UInt32Array = sorted.iter().map(|kept| Some(kept.cost.attempts)).collect();
    let workers = text(sorted.iter().map(|kept| Some(kept.cost.worker.clone())));
    vec![
        Column::new("point", points(sorted.iter().copied()), "", POINT),
        Column::new("seconds", Arc::new(seconds), "s", "wall time in its worker"),
        Column::new("worker", workers, "", "which worker"),
        Column::new("attempts", Arc::new(attempts), "", "how often it was started"),
    ]
}

fn points<'a>(of: impl Iterator<Item = &'a Kept>) -> ArrayRef {
    text(of.map(|kept| Some(kept.record.address.clone())))
}

/// Values of a key: as numbers if all are numbers, otherwise as texts.
fn column(values: impl Iterator<Item = Option<Value>>) -> ArrayRef {
    let values: Vec<Option<Value>> = values.collect();
    let all = |is: fn(&Value) -> bool| values.iter().flatten().all(is);
    let number = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
    if values.iter().all(Option::is_none) {
        text(values.iter().map(|_| None))
    } else if all(Value::is_integer) {
        Arc::new(values.iter().map(|value| value.as_ref()?.as_integer()).collect::<Int64Array>())
    } else if all(|value| value.is_integer() || value.is_float()) {
        Arc::new(values.iter().map(|value| number(value.as_ref()?)).collect::<Float64Array>())
    } else if all(Value::is_bool) {
        Arc::new(values.iter().map(|value| value.as_ref()?.as_bool()).collect::<BooleanArray>())
    } else {
        text(values.into_iter().map(|value| match value? {
            Value::String(text) => Some(text),
            value => Some(value.to_string()),
        }))
    }
}

fn text(values: impl Iterator<Item = Option<String>>) -> ArrayRef {
    Arc::new(values.collect::<StringArray>())
}

fn of_json(value: &serde_json::Value) -> Option<Value> {
    match value {
        serde_json::Value::Null => None,
        value => Value::try_from(value).ok(),
    }
}

/// Writes a table, completely or not at all.
fn store(folder: &Path, name: &str, columns: Vec<Column>) -> Result<(), Diagnostic> {
    let field = |column: &Column| {
        let said = [("unit", column.unit), ("meaning", &column.meaning)];
        let said = said.into_iter().filter(|(_, text)| !text.is_empty());
        let metadata = said.map(|(key, text)| (key.to_owned(), text.to_owned())).collect();
        Field::new(&column.name, column.values.data_type().clone(), true).with_metadata(metadata)
    };
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<Field>>()));
    let values = columns.into_iter().map(|column| column.values).collect();
    let batch = RecordBatch::try_new(schema, values).expect("every column is as long as the first");
    let path = folder.join(format!("{name}.parquet"));
    let written = || -> Result<(), ParquetError> {
        let mut writer = writer(OutputFile::create(&path)?, &batch.schema())?;
        writer.write(&batch)?;
        Ok(writer.into_inner()?.finish()?)
    };
    written().map_err(|error| Diagnostic::io("cannot be written", &path, io::Error::other(error)))
}
