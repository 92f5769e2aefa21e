//! A replication: one case under one seed, from an empty network to its end.

use std::sync::atomic::AtomicBool;

use tresse_experiment::plan::Case;

use crate::network;
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
    let world = setup::world(case, seed, threads);
    network::turn(case, seed, world, stop, progress, measured).map(|(outcome, _)| outcome)
}
