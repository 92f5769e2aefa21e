//! A case on real hosts.

use std::process::Command;
use std::sync::atomic::AtomicBool;

use tresse_experiment::Diagnostic;
use tresse_experiment::plan::Case;
use tresse_lab::engine::replication;
use tresse_lab::record::outcome::Outcome;
use tresse_lab::record::progress::Progress;
use tresse_lab::runner::Measured;

use crate::bed::Bed;
use crate::emulator::Lateness;
use crate::world::World;

/// How true the fabric of a run was.
#[derive(Debug, Clone, Copy, Default)]
pub struct Truth {
    /// Packets that it delivered.
    pub packets: u64,
    /// By how much they were late: half of them by less, 99 % by less, and the worst, ns.
    pub late_ns: [u64; 3],
    /// Packets that a host did not take.
    pub refused: u64,
}

impl From<Lateness> for Truth {
    fn from(own: Lateness) -> Self {
        let late = |part| own.histogram.quantile(part, 100).unwrap_or(0);
        Self {
            packets: own.histogram.count(),
            late_ns: [late(50), late(99), late(100)],
            refused: own.refused,
        }
    }
}

/// Builds the testbed of `case`, runs it there under `seed`, and takes it away. `program` is the command that runs
/// [`agent::run`](crate::agent::run). `told` gets how true the fabric was.
///
/// # Errors
/// What the machine lacks, what of the case no testbed can do, or why it broke; what `measured` returns.
pub fn run(
    case: &Case,
    seed: u64,
    program: &Command,
    stop: &AtomicBool,
    progress: &Progress,
    measured: &mut Measured<'_>,
    told: impl FnOnce(Truth),
) -> Result<Outcome, Diagnostic> {
    let wrong = |why: String| Diagnostic::input(format!("{}: {why}", case.label()));
    let bed = Bed::new(case, seed, program).map_err(|error| wrong(error.to_string()))?;
    let (outcome, world) =
        replication::turn(case, seed, World::new(case, bed, stop), stop, progress, measured)?;
    told(world.lateness().into());
    if let Some(why) = world.broken() {
        return Err(wrong(why.to_owned()));
    }
    Ok(outcome)
}
