//! Sweeps.

use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use tresse_controllers::LoadError;
use tresse_experiment::Diagnostic;
use tresse_sweep::local::{self, Stop};
use tresse_sweep::{Cost, Cube, Plan, Record, Request, Shard};
use tresse_workbench::{Failure, OWNERS, sweep};

use crate::errors::{error, wrong};

/// A sweep, in its folder.
#[pyclass(frozen)]
pub struct Sweep {
    own: Arc<tresse_sweep::Sweep>,
    stop: Arc<Stop>,
    /// Set while cores of this machine work on it.
    told: Mutex<Option<Receiver<Result<(), Failure>>>>,
}

/// An error on opening a sweep: here, or in the sampler.
enum Unopened {
    Here(Failure),
    There(PyErr),
}

impl From<Diagnostic> for Unopened {
    fn from(own: Diagnostic) -> Self {
        Self::Here(own.into())
    }
}

impl From<LoadError> for Unopened {
    fn from(own: LoadError) -> Self {
        Self::Here(own.into())
    }
}

#[pymethods]
impl Sweep {
    /// Opens a sweep: the text of its plan, and its name in messages. `draw(kind, points, dimensions, seed)`
    /// gives points in the unit cube.
    #[new]
    #[pyo3(signature = (name, text, draw, out=None, shard=None))]
    fn new(
        py: Python<'_>,
        name: &str,
        text: String,
        draw: Py<PyAny>,
        out: Option<PathBuf>,
        shard: Option<String>,
    ) -> PyResult<Self> {
        let shard: Option<Result<Shard, String>> = shard.map(|shard| shard.parse());
        let shard = shard.transpose().map_err(|why| error(py, Failure::Input(why)))?;
        let opened = py.detach(|| {
            let plan = Plan::parse(name, text)?;
            let mut draw = |asked: &Request| {
                let drawn = Python::attach(|py| {
                    let arguments = (asked.kind, asked.points, asked.dimensions, asked.seed);
                    draw.call1(py, arguments)?.extract::<Cube>(py)
                });
                drawn.map_err(Unopened::There)
            };
            tresse_sweep::Sweep::open(&plan, OWNERS, out.as_deref(), shard, &mut draw)
        });
        let own = opened.map_err(|unopened| match unopened {
            Unopened::Here(failure) => error(py, failure),
            Unopened::There(error) => error,
        })?;
        Ok(Self { own: Arc::new(own), stop: Arc::default(), told: Mutex::default() })
    }

    #[getter]
    fn folder(&self) -> PathBuf {
        self.own.folder().to_owned()
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.own.notes().to_vec()
    }

    /// The points to compute, the most expensive first: their places, and the arguments of `run_point`.
    fn todo(&self, py: Python<'_>) -> Vec<(usize, String)> {
        py.detach(|| self.own.todo())
    }

    /// Stores the record of a point.
    fn keep(
        &self,
        py: Python<'_>,
        place: usize,
        record: &str,
        seconds: f64,
        worker: String,
        attempts: u32,
    ) -> PyResult<()> {
        let record: Record = serde_json::from_str(record)
            .map_err(|why| error(py, Failure::Input(format!("not a record of this version: {why}"))))?;
        let cost = Cost { seconds, worker, attempts };
        py.detach(|| self.own.keep(place, record, cost)).map_err(|own| wrong(py, own))
    }

    /// Starts computing on this machine's cores.
    fn start(&self, parallel: usize) {
        let (tell, told) = mpsc::channel();
        let (own, stop) = (Arc::clone(&self.own), Arc::clone(&self.stop));
        thread::spawn(move || {
            let done = panic::catch_unwind(AssertUnwindSafe(|| local::run(&own, parallel, &stop)));
            let done = done.unwrap_or_else(|_| Err(Diagnostic::input("the sweep panicked: see stderr")));
            let _ = tell.send(done.map_err(Failure::from)); // nobody listens any more
        });
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
    }

    /// Waits this many seconds for the end of the started computation. Returns whether it has ended.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let patience = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let done = py.detach(|| {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(receiver) = &*told else { return Some(Ok(())) };
            match receiver.recv_timeout(patience) {
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => unreachable!("it tells before it ends"),
                Ok(done) => {
                    *told = None;
                    Some(done)
                }
            }
        });
        done.transpose().map(|done| done.is_some()).map_err(|own| error(py, own))
    }

    /// Ends it early: computed points are kept.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.stop.stop());
    }

    /// Points, those with a record, those that failed, those computed since it was opened, and the estimated
    /// time for the others: seconds of one core, if known.
    fn standing(&self, py: Python<'_>) -> (usize, usize, usize, usize, Option<f64>) {
        let now = py.detach(|| self.own.standing());
        (now.points, now.done, now.failed, now.computed, now.left_s)
    }

    /// Writes the results.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.own.finish()).map(drop).map_err(|own| wrong(py, own))
    }
}

/// Computes the point of a specification. Returns its record.
#[pyfunction]
pub fn run_point(py: Python<'_>, spec: &str) -> PyResult<String> {
    py.detach(|| tresse_sweep::run_point::<Failure>(OWNERS, spec)).map_err(|own| error(py, own))
}

/// Merges the shards of the sweep in `folder`, and writes its results.
#[pyfunction]
pub fn merge(py: Python<'_>, folder: PathBuf) -> PyResult<()> {
    py.detach(|| tresse_sweep::merge(&folder)).map(drop).map_err(|own| wrong(py, own))
}

/// Whether there is a sweep in `folder`.
#[pyfunction]
pub fn is_sweep(folder: PathBuf) -> bool {
    sweep::is_sweep(&folder)
}

/// The points of the sweep in `folder`, those that failed, and the command's output about them, as text and
/// as JSON.
#[pyfunction]
pub fn sweep_head(py: Python<'_>, folder: PathBuf) -> PyResult<(usize, usize, String, String)> {
    let own = py.detach(|| tresse_sweep::read(&folder)).map_err(|own| wrong(py, own))?;
    Ok((own.points, own.failed(), sweep::summary(&own), format!("{}\n", sweep::json(&own))))
}

/// The cases of the points of the sweep in `folder`, as JSON: setting, axes, metrics and intervals.
#[pyfunction]
pub fn sweep_rows(py: Python<'_>, folder: PathBuf) -> PyResult<String> {
    let rows = py.detach(|| sweep::rows(&folder)).map_err(|own| wrong(py, own))?;
    Ok(serde_json::json!(rows).to_string())
}
