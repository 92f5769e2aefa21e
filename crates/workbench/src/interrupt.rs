//! Ending early. A request with nothing to keep can be ended at once. A run ends early and keeps what was measured;
//! if it does not end in time, its folder is closed with what it has, and its threads are abandoned.

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tresse_lab::Watch;
use tresse_results::Report;

use crate::failure::Failure;

/// How often a run in progress is checked, and the number of checks after it was asked to end before it is abandoned: four
/// times as long as a worker takes to find a hook that does not return, so that this is told on a slow machine too.
const LOOK: Duration = Duration::from_millis(50);
const LOOKS: u32 = 40;

/// Knows what should end when it is asked to.
#[derive(Debug, Default)]
pub struct Interrupt {
    asked: AtomicBool,
    /// Something must be saved before the process ends.
    keeps: AtomicBool,
    running: Mutex<Option<Arc<Watch>>>,
}

impl Interrupt {
    /// Asks for the end, as a signal does. Returns whether it is on its way: not if there is nothing to save, or if it
    /// was asked before; then whoever asks can end the process at once.
    pub fn ask(&self) -> bool {
        if self.asked.swap(true, Ordering::SeqCst) || !self.keeps.load(Ordering::SeqCst) {
            return false;
        }
        if let Some(watch) = &*self.running.lock().expect("no holder of the lock panics") {
            watch.stop.store(true, Ordering::Relaxed);
        }
        true
    }

    /// From now on there is something to save.
    pub fn keep(&self) {
        self.keeps.store(true, Ordering::SeqCst);
    }

    /// From now on this run ends when it is asked to, at once if it already was.
    pub fn ends(&self, watch: &Arc<Watch>) {
        *self.running.lock().expect("no holder of the lock panics") = Some(Arc::clone(watch));
        self.keep();
        if self.asked() {
            watch.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it was asked to end.
    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    /// Does `work`, which is a run or leads to one, on a separate thread. If it does not end in time after it was
    /// asked to, its report is what its folder has.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_nothing_to_keep_is_ended_at_once() {
        let interrupt = Interrupt::default();
        assert!(!interrupt.ask());
        assert!(interrupt.asked());
    }

    #[test]
    fn only_the_first_request_is_waited_for() {
        let interrupt = Interrupt::default();
        interrupt.keep();
        assert!(interrupt.ask());
        assert!(!interrupt.ask());
    }

    #[test]
    fn work_that_does_not_end_is_abandoned() {
        let interrupt = Interrupt::default();
        interrupt.keep();
        interrupt.ask();
        let work = || loop {
            thread::park();
        };
        assert!(matches!(interrupt.run(work), Err(Failure::Interrupted)));
    }
}
