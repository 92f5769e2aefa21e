//! A run that makes no more progress is ended: otherwise one hook that never returns would hold up whoever waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use tresse_lab::Watch;

/// How often a run is checked.
const LOOK: Duration = Duration::from_millis(200);

/// The number of checks without progress after which a run is ended: half a minute in which a hook has not
/// returned.
const LOOKS: u32 = 150;

/// Ends a run that makes no more progress.
#[derive(Debug)]
pub(crate) struct Guard {
    dismiss: mpsc::Sender<()>,
    stalled: Arc<AtomicBool>,
}

impl Guard {
    /// Watches a run from now on.
    pub(crate) fn of(watch: &Arc<Watch>) -> Self {
        let (dismiss, dismissed) = mpsc::channel();
        let stalled = Arc::new(AtomicBool::new(false));
        let (watch, found) = (Arc::clone(watch), Arc::clone(&stalled));
        thread::spawn(move || {
            let (mut idle, mut before) = (0, None);
            while dismissed.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                let progress = watch.replications.iter().map(|(_, own)| own);
                let now: Vec<(u64, bool)> = progress
                    .map(|own| (own.hops.load(Ordering::Relaxed), own.done.load(Ordering::Relaxed)))
                    .collect();
                // Once all replications are done, only files are written: no controller can hang then.
                let waits = now.iter().any(|(_, done)| !done) && before.as_ref() == Some(&now);
                idle = if waits { idle + 1 } else { 0 };
                before = Some(now);
                if idle == LOOKS {
                    found.store(true, Ordering::Relaxed);
                    watch.stop.store(true, Ordering::Relaxed);
                }
            }
        });
        Self { dismiss, stalled }
    }

    /// Call when the run is over; returns whether it had to be ended.
    pub(crate) fn dismiss(self) -> bool {
        drop(self.dismiss);
        self.stalled.load(Ordering::Relaxed)
    }
}
