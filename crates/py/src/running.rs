//! A run in progress.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use pyo3::prelude::*;
use tresse_lab::Watch;
use tresse_results::Report;
use tresse_workbench::Failure;

use crate::errors::error;
use crate::requests::{Cases, How};
use crate::told::Told;

/// A run on its own threads.
#[pyclass(frozen)]
pub struct Running {
    watch: Arc<Watch>,
    told: Told<Report>,
    /// The command's output on stderr before it runs.
    #[pyo3(get)]
    notes: Vec<String>,
}

#[pymethods]
impl Running {
    /// Starts the run of these cases.
    #[new]
    fn new(py: Python<'_>, cases: Cases, how: How) -> PyResult<Self> {
        let prepared = py.detach(|| how.request(cases)?.prepare()).map_err(|own| error(py, own))?;
        let (watch, notes) = (Arc::clone(&prepared.watch), prepared.notes.clone());
        Ok(Self { watch, told: Told::start("the run", move || prepared.run()), notes })
    }

    /// Waits this many seconds for the end. Returns the output of `tresse run --json`, and whether it is
    /// complete; `None` if it is still running.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<Option<String>> {
        let report = self.told.wait(py, seconds)?;
        Ok(report.map(|report| serde_json::to_string(&report).expect("plain data")))
    }

    /// Asks it to end; [`Running::wait`] then returns soon, with the measurements so far.
    fn stop(&self) {
        self.watch.stop.store(true, Ordering::Relaxed);
    }

    /// Closes the folder of a run that does not end in time, with the results so far. `None` if no folder is
    /// open.
    fn abandon(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let report =
            py.detach(|| self.watch.abandon().map_err(Failure::from)).map_err(|own| error(py, own))?;
        Ok(report.map(|report| serde_json::to_string(&report).expect("plain data")))
    }

    /// Its folder, once it exists.
    #[getter]
    fn folder(&self) -> Option<PathBuf> {
        self.watch.folder()
    }

    /// Its progress: the completed share (0 to 1), whether this is known, packet-hops, and what is running
    /// now.
    fn standing(&self, py: Python<'_>) -> (f64, bool, u64, Vec<String>) {
        let standing = py.detach(|| self.watch.standing());
        (standing.share, standing.known, standing.hops, standing.running)
    }
}
