//! A case on real hosts.

use std::sync::atomic::AtomicBool;

use tresse_experiment::Diagnostic;
use tresse_experiment::plan::Case;
use tresse_lab::engine::replication;
use tresse_lab::runner::Measured;
use tresse_results::record::outcome::Outcome;
use tresse_results::record::progress::Progress;

use crate::bed::{Bed, Settings};
use crate::truth::{Truth, Watch};
use crate::world::World;

/// Builds the testbed of `case`, runs the case there under `seed`, and removes the testbed. `told` gets its
/// accuracy.
///
/// # Errors
/// What the machine lacks, a part of the case that no testbed can do, or why it failed; and errors of
/// `measured`.
pub fn run(
    case: &Case,
    seed: u64,
    how: Settings<'_>,
    stop: &AtomicBool,
    progress: &Progress,
    measured: &mut Measured<'_>,
    told: impl FnOnce(Truth),
) -> Result<Outcome, Diagnostic> {
    let wrong = |why: String| Diagnostic::input(format!("{}: {why}", case.label()));
    let bed = Bed::new(case, seed, how).map_err(|error| wrong(error.to_string()))?;
    let watch = Watch::start();
    let (outcome, world) =
        replication::turn(case, seed, World::new(case, bed, stop), stop, progress, measured)?;
    let truth = world.truth(&watch, seed);
    if let Some(why) = world.broken() {
        return Err(wrong(why.to_owned()));
    }
    if let Some(why) = truth.refuse(how.scale) {
        return Err(wrong(why));
    }
    told(truth);
    Ok(outcome)
}
