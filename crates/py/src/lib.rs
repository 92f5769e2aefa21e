//! `tresse._native`: the basis of the Python package. It is used only by the package's own modules;
//! `python/tresse/_native.pyi` describes it.
//!
//! Every long call releases the interpreter; nothing here is global.

mod controllers;
mod env;
mod errors;
mod running;
mod sweeps;
mod tables;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::controllers::{Controller, Group, controllers};
    #[pymodule_export]
    use crate::env::{Environment, reset_all, step_all};
    #[pymodule_export]
    use crate::running::Running;
    #[pymodule_export]
    use crate::sweeps::{Sweep, merge, run_point, sweep_head};
    #[pymodule_export]
    use crate::tables::{head, meanings, networks, table, write_page};
    #[pymodule_export]
    use crate::{command, compare, explain, optimum, schema, shown_metrics, versions};
}

use std::path::PathBuf;

/// Runs the command `tresse` with these arguments, the first of which is its name. Returns its exit code.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<String>) -> u8 {
    py.detach(|| tresse::command(arguments))
}

/// The version of the program, and that of the model, which determines a run's results.
#[pyfunction]
fn versions() -> (&'static str, u32) {
    (env!("CARGO_PKG_VERSION"), tresse_results::MODEL_VERSION)
}

/// The JSON Schema of an experiment, as `tresse schema` prints it.
#[pyfunction]
fn schema() -> String {
    tresse::schema()
}

/// The metrics that tables of results show, in their order, each with the kind of cases that it is shown for.
#[pyfunction]
fn shown_metrics() -> Vec<(&'static str, &'static str)> {
    let all = tresse_experiment::keys::metrics::shown();
    all.into_iter().map(|(shown, name)| (name, shown.of.name())).collect()
}

/// The output of `tresse explain NAME`; `None` if nothing has this name.
#[pyfunction]
fn explain(name: &str) -> Option<String> {
    tresse::catalogue::explain(name).or_else(|| tresse::catalogue::explain(&name.to_lowercase()))
}

/// The output of `tresse compare LEFT RIGHT --json`.
#[pyfunction]
fn compare(py: Python<'_>, left: PathBuf, right: PathBuf, judge: bool) -> PyResult<String> {
    py.detach(|| tresse::compare_runs(&left, &right, judge)).map_err(|failure| errors::error(py, failure))
}

/// The output of `tresse optimum --json` with these arguments; `text` is the experiment's text, if it is not
/// a file.
#[pyfunction]
#[pyo3(signature = (arguments, text=None))]
fn optimum(py: Python<'_>, arguments: Vec<String>, text: Option<String>) -> PyResult<String> {
    py.detach(|| tresse::optimum(&arguments, text)).map_err(|failure| errors::error(py, failure))
}
