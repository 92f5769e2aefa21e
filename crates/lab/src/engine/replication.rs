//! A replication: one case under one seed, from an empty network to its end.

use std::sync::atomic::{AtomicBool, Ordering};

use tresse_experiment::plan::packets::Packets;
use tresse_experiment::plan::{Case, link_events};
use tresse_experiment::schema::fidelity::Fidelity;
use tresse_sim::Recording;

use crate::engine::Engine;
use crate::network::Network;
use crate::setup;
use tresse_results::record::outcome::{Outcome, Rows};
use tresse_results::record::progress::Progress;

/// Runs `case` under `seed`, on up to `threads` threads. `measured` gets the flows of each round as it ends, or
/// from time to time those that have ended since, and the samples of each interval.
///
/// # Errors
/// The error that `measured` returned.
pub fn run<E>(
    case: &Case,
    seed: u64,
    threads: usize,
    stop: &AtomicBool,
    progress: &Progress,
    measured: impl FnMut(Rows) -> Result<(), E>,
) -> Result<Outcome, E> {
    if case.setting.fidelity == Fidelity::Rounds {
        let rounds = setup::rounds(case, seed);
        return turn(case, seed, rounds, stop, progress, measured).map(|(outcome, _)| outcome);
    }
    let mut world = setup::world(case, seed, threads);
    if let Some(Packets { hosts, from, to, limit }) = case.setting.packets.clone() {
        world.record(Recording { hosts, from, to, limit });
    }
    turn(case, seed, world, stop, progress, measured).map(|(outcome, _)| outcome)
}

/// Runs `case` under `seed` on an empty network and returns the network; `measured` gets the measurements.
///
/// # Errors
/// The error that `measured` returned.
pub fn turn<N: Network, E>(
    case: &Case,
    seed: u64,
    network: N,
    stop: &AtomicBool,
    progress: &Progress,
    measured: impl FnMut(Rows) -> Result<(), E>,
) -> Result<(Outcome, N), E> {
    let empty = link_events::at_start(&case.setting.fabric, &case.setting.changes);
    let mut engine = Engine::new(&empty, case, seed, network, progress, measured);
    engine.turn(stop)?;
    let done = engine.finish()?;
    progress.done.store(true, Ordering::Relaxed);
    Ok(done)
}
