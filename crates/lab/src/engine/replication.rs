//! A replication: one case under one seed, from an empty network to its end.

use std::sync::atomic::{AtomicBool, Ordering};

use tresse_experiment::plan::{Case, link_events};

use crate::engine::Engine;
use crate::record::outcome::{Outcome, Rows};
use crate::record::progress::Progress;
use crate::setup;

/// Runs `case` under `seed`, on up to `threads` threads. `measured` gets the flows of each round as it ends, or as many as there are now and
/// then, and the samples of each interval.
///
/// # Errors
/// What `measured` returned.
pub fn run<E>(
    case: &Case,
    seed: u64,
    threads: usize,
    stop: &AtomicBool,
    progress: &Progress,
    measured: impl FnMut(Rows) -> Result<(), E>,
) -> Result<Outcome, E> {
    let empty = link_events::at_start(&case.setting.fabric, &case.setting.changes);
    let mut engine = Engine::new(&empty, case, seed, setup::world(case, seed, threads), progress, measured);
    engine.turn(stop)?;
    let outcome = engine.finish()?;
    progress.done.store(true, Ordering::Relaxed);
    Ok(outcome)
}
