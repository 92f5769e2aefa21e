//! Ctrl-C and SIGTERM. A command with nothing to keep ends at once. A run ends early and keeps what was measured;
//! if it does not end in time, its folder is closed with what it has, and its threads are abandoned. A second
//! signal ends the process at once.

use std::io::{self, Write};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tresse_lab::{Report, Watch};
use tresse_units::output_file;

use crate::failure::Failure;

/// How often a run in progress is checked, and the number of checks after the signal before it is abandoned.
const LOOK: Duration = Duration::from_millis(50);
const LOOKS: u32 = 12;

/// Knows what the signal should end.
#[derive(Debug, Default)]
pub struct Interrupt {
    asked: AtomicBool,
    /// Something must be saved before the process ends.
    keeps: AtomicBool,
    running: Mutex<Option<Arc<Watch>>>,
}

impl Interrupt {
    /// Installs the handler, once per process. From then on a signal ends the process at once.
    ///
    /// # Errors
    /// If the system does not allow it.
    pub fn catch() -> Result<Arc<Self>, Failure> {
        let interrupt = Arc::new(Self::default());
        let handler = Arc::clone(&interrupt);
        ctrlc::set_handler(move || {
            if handler.asked.swap(true, Ordering::SeqCst) || !handler.keeps.load(Ordering::SeqCst) {
                // Standard error may be closed.
                let _ = writeln!(io::stderr(), "error: interrupted");
                output_file::remove_unfinished();
                std::process::exit(130);
            }
            if let Some(watch) = &*handler.running.lock().expect("no holder of the lock panics") {
                watch.stop.store(true, Ordering::Relaxed);
            }
        })
        .map_err(|e| Failure::Machine(format!("the interrupt signal: {e}")))?;
        Ok(interrupt)
    }

    /// From now on the first signal only requests the end.
    pub fn keep(&self) {
        self.keeps.store(true, Ordering::SeqCst);
    }

    /// From now on the signal ends this run, at once if it has already come.
    pub fn ends(&self, watch: &Arc<Watch>) {
        *self.running.lock().expect("no holder of the lock panics") = Some(Arc::clone(watch));
        self.keep();
        if self.asked() {
            watch.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Whether the signal came.
    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// Does `work`, which is a run or leads to one, on a separate thread. If it does not end in time after the
    /// signal, its report is what its folder has.
    ///
    /// # Errors
    /// Those of `work`; [`Failure::Interrupted`] if there is no folder yet.
    pub fn run<F>(&self, work: F) -> Result<Report, Failure>
    where
        F: FnOnce() -> Result<Report, Failure> + Send + 'static,
    {
        let (tell, told) = mpsc::channel();
        let thread = thread::spawn(move || {
            let _ = tell.send(work()); // nobody listens any more if it was abandoned
        });
        let mut looks = 0;
        loop {
            match told.recv_timeout(LOOK) {
                Ok(report) => return report,
                Err(RecvTimeoutError::Disconnected) => match thread.join() {
                    Err(panicked) => panic::resume_unwind(panicked),
                    Ok(()) => unreachable!("it tells before it ends"),
                },
                Err(RecvTimeoutError::Timeout) if !self.asked() => {}
                Err(RecvTimeoutError::Timeout) => {
                    looks += 1;
                    if looks >= LOOKS
                        && let Some(report) = self.abandon()?
                    {
                        return Ok(report);
                    }
                    // Without a folder it was not begun, or has just been closed.
                    if looks > LOOKS {
                        return Err(Failure::Interrupted);
                    }
                }
            }
        }
    }

    fn abandon(&self) -> Result<Option<Report>, Failure> {
        let running = self.running.lock().expect("no holder of the lock panics").clone();
        Ok(running.map_or(Ok(None), |watch| watch.abandon())?)
    }
}
