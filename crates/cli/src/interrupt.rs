//! Ctrl-C: the first one ends what is running and keeps what was measured, the second does not wait for the files.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tresse_lab::Watch;

use crate::failure::Failure;

/// Knows which run the signal is to end.
#[derive(Debug, Default)]
pub struct Interrupt {
    asked: AtomicBool,
    running: Mutex<Option<Arc<Watch>>>,
}

impl Interrupt {
    /// Takes the signal over; once in a process.
    ///
    /// # Errors
    /// If the system does not allow it.
    pub fn catch() -> Result<Arc<Self>, Failure> {
        let interrupt = Arc::new(Self::default());
        let handler = Arc::clone(&interrupt);
        ctrlc::set_handler(move || {
            if handler.asked.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
            if let Some(watch) = &*handler.running.lock().expect("no holder of the lock panics") {
                watch.stop.store(true, Ordering::Relaxed);
            }
        })
        .map_err(|e| Failure::Machine(format!("the interrupt signal: {e}")))?;
        Ok(interrupt)
    }

    /// From now on the signal ends this run; at once, if it has come already.
    pub fn ends(&self, watch: &Arc<Watch>) {
        *self.running.lock().expect("no holder of the lock panics") = Some(Arc::clone(watch));
        if self.asked() {
            watch.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it came.
    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}
