//! A run in progress.

use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use tresse_lab::Watch;
use tresse_results::Report;
use tresse_workbench::Failure;

use crate::errors::error;
use crate::requests::{Cases, How};

/// A run on its own threads.
#[pyclass(frozen)]
pub struct Running {
    watch: Arc<Watch>,
    /// `None` once it has reported.
    told: Mutex<Option<Receiver<Result<Report, Failure>>>>,
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
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            // The panic message is on stderr.
            let report = panic::catch_unwind(AssertUnwindSafe(|| prepared.run()));
            let report =
                report.unwrap_or_else(|_| Err(Failure::Input("the run panicked: see stderr".to_owned())));
            let _ = tell.send(report); // nobody listens any more if it was abandoned
        });
        Ok(Self { watch, told: Mutex::new(Some(told)), notes })
    }

    /// Waits this many seconds for the end. Returns the output of `tresse run --json`, and whether it is
    /// complete; `None` if it is still running.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<Option<String>> {
        let patience = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let report = py.detach(|| {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(receiver) = &*told else { return Some(Err(Failure::Interrupted)) };
            match receiver.recv_timeout(patience) {
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => unreachable!("it tells before it ends"),
                Ok(report) => {
                    *told = None;
                    Some(report)
                }
            }
        });
        let report = report.transpose().map_err(|own| error(py, own))?;
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
