//! `tresse._native`: the basis of the Python package. It is used only by the package's own modules;
//! `python/tresse/_native.pyi` describes it.
//!
//! Every long call releases the interpreter; nothing here is global.

mod controllers;
mod env;
mod errors;
mod optimum;
mod requests;
mod running;
mod sweeps;
mod tables;
mod told;

use std::path::PathBuf;

use pyo3::prelude::*;
use tresse_experiment::diagnostic::known;
use tresse_workbench::catalogue::{self, Kind};
use tresse_workbench::own_code::OwnCode;
use tresse_workbench::topology::Network;
use tresse_workbench::{Failure, json};

/// As the command's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::controllers::{Controller, Group, controllers};
    #[pymodule_export]
    use crate::env::{Environment, reset_all, step_all};
    #[pymodule_export]
    use crate::optimum::Optimum;
    #[pymodule_export]
    use crate::running::Running;
    #[pymodule_export]
    use crate::sweeps::{Sweep, is_sweep, merge, run_point, sweep_head, sweep_rows};
    #[pymodule_export]
    use crate::tables::{figures, head, meanings, networks, table, write_page};
    #[pymodule_export]
    use crate::{
        beyond_rounds, check, command, compare, explain, ignored, names, parts, schema, shown_metrics,
        topology, versions,
    };
}

/// Runs the command `tresse` with these arguments, the first of which is its name. Returns its exit code. It is the
/// console script: nothing else here needs the command.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<String>) -> u8 {
    py.detach(|| tresse::command(arguments))
}

/// The version of the program, and that of the model, which determines a run's results.
#[pyfunction]
fn versions() -> (&'static str, u32) {
    (env!("CARGO_PKG_VERSION"), tresse_results::MODEL_VERSION)
}

/// The JSON Schema of an experiment.
#[pyfunction]
fn schema() -> String {
    tresse_workbench::schema()
}

/// The metrics that tables of results show, in their order, each with the kind of cases that it is shown for.
#[pyfunction]
fn shown_metrics() -> Vec<(&'static str, &'static str)> {
    let all = tresse_experiment::schema::metrics::shown();
    all.into_iter().map(|(shown, name)| (name, shown.of.name())).collect()
}

/// The full text about a part or a topic, or what is said of another word; `None` if nothing is.
#[pyfunction]
fn explain(name: &str) -> Option<String> {
    tresse_workbench::catalogue::explained(name).ok()
}

/// Every name that `explain` knows.
#[pyfunction]
fn names() -> Vec<String> {
    tresse_workbench::catalogue::names()
}

/// The kinds of parts, or the parts of a kind, as JSON.
#[pyfunction]
#[pyo3(signature = (kind=None))]
fn parts(py: Python<'_>, kind: Option<&str>) -> PyResult<String> {
    let Some(name) = kind else { return Ok(catalogue::kinds_json().to_string()) };
    known("kind", name, Kind::LISTED.map(Kind::name))
        .map_err(|wrong| errors::error(py, Failure::Input(wrong)))?;
    let kind = Kind::LISTED.into_iter().find(|kind| kind.name() == name).expect("it is known");
    Ok(catalogue::list_json(kind).to_string())
}

/// An experiment before it is run, as JSON. `controllers` are files of the user's own.
#[pyfunction]
fn check(py: Python<'_>, cases: requests::Cases, controllers: Vec<PathBuf>) -> PyResult<String> {
    let own = OwnCode { controllers, balancers: Vec::new() };
    let checked = py.detach(|| tresse_workbench::check::check(&cases.cases()?, &own));
    checked.map(|own| json::pretty(&own)).map_err(|own| errors::error(py, own))
}

/// An experiment's network, as JSON; with the names of two hosts also the paths from the first to the second.
#[pyfunction]
#[pyo3(signature = (cases, variant=None, between=None))]
fn topology(
    py: Python<'_>,
    cases: requests::Cases,
    variant: Option<String>,
    between: Option<[String; 2]>,
) -> PyResult<String> {
    let report = py.detach(|| {
        let network = Network::load(&cases.cases()?.experiment, variant, &mut |_| ())?;
        network.report(between.as_ref().map(|pair| [&*pair[0], &*pair[1]]))
    });
    report.map(|own| json::pretty(&own)).map_err(|own| errors::error(py, own))
}

/// Two runs, case by case, as JSON.
#[pyfunction]
fn compare(py: Python<'_>, left: PathBuf, right: PathBuf, judge: bool) -> PyResult<String> {
    let pairs = py.detach(|| tresse_workbench::compare::runs(&left, &right, judge));
    pairs.map(|own| serde_json::to_string(&own).expect("plain data")).map_err(|own| errors::error(py, own))
}

/// Those of `keys`, which the settings change, that make no difference to these cases. `controllers` are files of the user's
/// own.
#[pyfunction]
fn ignored(
    py: Python<'_>,
    cases: requests::Cases,
    controllers: Vec<PathBuf>,
    keys: Vec<String>,
) -> PyResult<Vec<String>> {
    let own = OwnCode { controllers, balancers: Vec::new() };
    let ignored = py.detach(|| {
        own.load(&mut |_| ())?;
        Ok(tresse_workbench::cases::ignored(&cases.cases()?, keys))
    });
    ignored.map_err(|own| errors::error(py, own))
}

/// Why these cases cannot run by rounds before they run by packets; `None` if they can. `controllers` are files of the
/// user's own.
#[pyfunction]
fn beyond_rounds(
    py: Python<'_>,
    cases: requests::Cases,
    controllers: Vec<PathBuf>,
) -> PyResult<Option<String>> {
    let own = OwnCode { controllers, balancers: Vec::new() };
    let beyond = py.detach(|| {
        own.load(&mut |_| ())?;
        let (_, plan) = cases.cases()?.load(&mut |_| ())?;
        Ok(tresse_workbench::cases::beyond_rounds(&plan))
    });
    beyond.map_err(|own| errors::error(py, own))
}
