//! The result of work on a thread of its own, which is waited for in short steps: so Python handles its signals, and can
//! show how far it is.

use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use tresse_workbench::Failure;

use crate::errors::error;

/// The result of work on a thread of its own; `None` once it was returned.
pub struct Told<T>(Mutex<Option<Receiver<Result<T, Failure>>>>);

impl<T: Send + 'static> Told<T> {
    /// Starts the work, which is named by `what` if it panics.
    pub fn start(what: &'static str, work: impl FnOnce() -> Result<T, Failure> + Send + 'static) -> Self {
        let (tell, told) = mpsc::channel();
        thread::spawn(move || {
            // The panic message is on stderr.
            let done = panic::catch_unwind(AssertUnwindSafe(work));
            let done = done.unwrap_or_else(|_| Err(Failure::Input(format!("{what} panicked: see stderr"))));
            let _ = tell.send(done); // nobody listens any more if it was abandoned
        });
        Self(Mutex::new(Some(told)))
    }

    /// Waits this many seconds for the end. Returns the result; `None` if it goes on.
    pub fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<Option<T>> {
        let patience = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let done = py.detach(|| {
            let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(receiver) = &*told else { return Some(Err(Failure::Interrupted)) };
            match receiver.recv_timeout(patience) {
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => unreachable!("it tells before it ends"),
                Ok(done) => {
                    *told = None;
                    Some(done)
                }
            }
        });
        done.transpose().map_err(|own| error(py, own))
    }
}
