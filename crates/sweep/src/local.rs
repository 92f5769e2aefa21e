//! Computes the points of a sweep on this machine's cores, one on each.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use tresse_experiment::Diagnostic;
use tresse_lab::Watch;

use crate::record::Cost;
use crate::store::Sweep;

/// Ends a sweep early. Points in progress are abandoned; those already computed are kept.
#[derive(Debug, Default)]
pub struct Stop {
    asked: AtomicBool,
    /// By worker, the run in progress.
    running: Mutex<Vec<Option<Arc<Watch>>>>,
}

impl Stop {
    /// Ends the sweep.
    pub fn stop(&self) {
        self.asked.store(true, Ordering::SeqCst);
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.iter().flatten().for_each(|watch| watch.stop.store(true, Ordering::Relaxed));
    }

    /// Whether the end was requested.
    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst)
    }

    fn begins(&self, worker: usize, watch: &Arc<Watch>) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.len() <= worker {
            running.resize(worker + 1, None);
        }
        running[worker] = Some(Arc::clone(watch));
        if self.asked() {
            watch.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// Computes all points that have no record, `parallel` at a time.
///
/// # Errors
/// If what was computed cannot be kept.
pub fn run(sweep: &Sweep, parallel: usize, stop: &Stop) -> Result<(), Diagnostic> {
    let worker = |worker: usize| {
        while let Some(place) = (!stop.asked()).then(|| sweep.take()).flatten() {
            let point = sweep.point(place);
            let start = clock();
            let begins = |watch: &Arc<Watch>| stop.begins(worker, watch);
            let what = (&point.settings[..], point.part.as_ref());
            let Some(record) = sweep.base.common.measure(sweep.base.owners, &point.address, what, &begins)
            else {
                break;
            };
            let cost = Cost {
                seconds: start.elapsed().as_secs_f64(),
                worker: format!("local:{worker}"),
                attempts: 1,
            };
            sweep.keep(place, record, cost).inspect_err(|_| stop.stop())?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..parallel.max(1)).map(|own| scope.spawn(move || worker(own))).collect();
        workers.into_iter().try_for_each(|own| own.join().expect("what a point panics with is its error"))
    })
}

#[expect(clippy::disallowed_methods, reason = "the cost of a point is not part of its results")]
fn clock() -> Instant {
    Instant::now()
}
