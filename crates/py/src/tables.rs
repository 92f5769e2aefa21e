//! A run's folder, read back.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Field;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use tresse_results::Finished;
use tresse_results::store::sums::check_table;
use tresse_workbench::{Failure, OWNERS, page};

use crate::errors::{error, wrong};

/// `run.json` of the run in `folder`, its status, and the names of its tables.
#[pyfunction]
pub fn head(py: Python<'_>, folder: PathBuf) -> PyResult<(String, String, Vec<String>)> {
    let read = py.detach(|| {
        let finished = Finished::read(&folder, OWNERS)?;
        let text = serde_json::json!({ "report": finished.report, "experiment": finished.resolved });
        let state = serde_json::to_value(finished.state).expect("plain data");
        Ok((text.to_string(), state.as_str().unwrap_or_default().to_owned()))
    });
    let (text, state) = read.map_err(|diagnostic| wrong(py, diagnostic))?;
    Ok((text, state, tresse_results::store::read::names(&folder)))
}

/// The figures that the experiment of the run in `folder` declares, and the published values, as JSON.
#[pyfunction]
pub fn figures(py: Python<'_>, folder: PathBuf) -> PyResult<String> {
    let declared =
        py.detach(|| tresse_workbench::plot::declared(&folder)).map_err(|failure| error(py, failure))?;
    Ok(serde_json::to_string(&declared).expect("plain data"))
}

/// The table `name` of the run in `folder`; `None` if it has none, or no rows.
#[pyfunction]
pub fn table(py: Python<'_>, folder: PathBuf, name: &str) -> PyResult<Option<PyTable>> {
    // It may have been damaged since the run was opened.
    py.detach(|| check_table(&folder, name)).map_err(|diagnostic| wrong(py, diagnostic))?;
    let read = py.detach(|| tresse_results::store::read::read(&folder, name));
    let failure = |why| error(py, Failure::Input(format!("{}: {why}", folder.display())));
    let Some(table) = read.map_err(failure)? else { return Ok(None) };
    of(table.rows).map(Some)
}

/// A batch as a table for Python.
pub fn of(rows: RecordBatch) -> PyResult<PyTable> {
    let schema = rows.schema();
    PyTable::try_new(vec![rows], schema).map_err(|own| PyRuntimeError::new_err(own.to_string()))
}

/// The columns of a table, each with its meaning.
#[pyfunction]
pub fn meanings(table: PyRef<'_, PyTable>) -> Vec<(String, String)> {
    let schema = table.batches().first().map(RecordBatch::schema);
    let fields = schema.iter().flat_map(|schema| schema.fields().iter());
    let meaning = |field: &Arc<Field>| field.metadata().get("meaning").cloned().unwrap_or_default();
    fields.map(|field| (field.name().clone(), meaning(field))).collect()
}

/// The networks of the run in `folder`, each as on the page: its description, nodes and ports.
#[pyfunction]
pub fn networks(py: Python<'_>, folder: PathBuf) -> PyResult<Vec<(String, String)>> {
    let networks = py
        .detach(|| tresse_report::run::networks(&Finished::read(&folder, OWNERS)?))
        .map_err(|own| wrong(py, own))?;
    Ok(networks.into_iter().map(|n| (serde_json::to_string(&n.head).expect("plain data"), n.text)).collect())
}

/// Writes the page of the run in `folder` there. Returns its path.
#[pyfunction]
pub fn write_page(py: Python<'_>, folder: PathBuf) -> PyResult<PathBuf> {
    py.detach(|| page::of(&folder)).map_err(|failure| error(py, failure))
}
