//! One repetition of a benchmark, and what it takes of the process' memory.

use std::fs;
use std::sync::Arc;

use tresse_experiment::Diagnostic;
use tresse_experiment::plan::Plan;
use tresse_fabric::Sites;
use tresse_sim::ceiling::{self, ConstantWindow};
use tresse_sim::{Ahead, World};
use tresse_units::Time;
use tresse_workload::Action;

use crate::bench::cases::Benchmark;
use crate::setup;
use tresse_results::clock::clock;
use tresse_results::record::flow::Begun;

/// The seed of everything random.
const SEED: u64 = 1;

/// What one repetition of a benchmark has shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Repetition {
    /// Hosts of the fabric.
    pub hosts: u32,
    /// Simulated time, ps.
    pub simulated: Time,
    /// The speed of the bare skeleton just before, packet-hops a second of wall time.
    pub ceiling: f64,
    /// Wall time, s.
    pub wall_s: f64,
    /// Packet-hops.
    pub hops: u64,
    /// Payload that has arrived, bytes, each byte once.
    pub bytes: u64,
    /// Flows that have finished.
    pub finished: u64,
    /// The most memory that the process held meanwhile, bytes.
    pub peak_rss: u64,
    /// That beyond what it had held just before, bytes.
    pub own_rss: u64,
}

/// The bare skeleton, and then the simulator as a run uses it, but with nobody who looks on.
///
/// # Errors
/// None that a user could cause: the experiment is built in.
pub(super) fn repetition(benchmark: &Benchmark) -> Result<Repetition, Diagnostic> {
    let (plain, plan) = (benchmark.on_fixed_routes().plan()?, benchmark.plan()?);
    let case = &plan.cases[0];
    let duration = case.duration.expect("each benchmark has one");
    let ceiling = ceiling_speed(&plain, duration);
    reset_peak_rss();
    let rss_before = status_bytes("VmRSS:");
    let start = clock();
    let part = &case.parts[0];
    let (mut world, managers, mut source) =
        (setup::world(case, SEED, benchmark.threads), setup::managers(case), part.source(SEED));
    // All are of one round, so their names are 0, 1, …
    let (mut started, mut finished, mut bytes) = (0, 0, 0);
    loop {
        while let Some(action) = source.poll(world.now()) {
            let Action::Start(start) = action else { continue };
            let (id, member) = (start.name, part.member(&start, &[]));
            let begun = Begun { part: 0, member, start };
            world.start(setup::spec(case, &managers, SEED, id, &begun));
            started += 1;
        }
        let until = source.next().min(duration);
        match world.advance_ahead(until, u64::MAX) {
            Ahead::Ended(id, record) => {
                finished += 1;
                bytes += record.map_or(0, |record| record.bytes);
                source.handle_finished(world.now(), id);
            }
            Ahead::Reached if until == duration => break,
            Ahead::Reached | Ahead::Budget => {}
        }
        bytes += records(&mut world);
    }
    world.settle();
    bytes += records(&mut world);
    let wall_s = start.elapsed().as_secs_f64();
    let peak_rss = status_bytes("VmHWM:");
    for id in 0..started {
        if world.sender(id).is_some() {
            bytes += world.stop(id).bytes;
        }
    }
    Ok(Repetition {
        hosts: plan.fabric().hosts(),
        simulated: duration,
        ceiling,
        wall_s,
        hops: world.hops(),
        bytes,
        finished,
        peak_rss,
        own_rss: peak_rss.saturating_sub(rss_before),
    })
}

/// The bytes of what has ended, as far as its records are there.
fn records(world: &mut World) -> u64 {
    std::iter::from_fn(|| world.take_record()).map(|record| record.bytes).sum()
}

/// The speed of the same fabric and the routes of the flows that start at once, with a constant window of the size that
/// XMP's has in the middle of the run; packet-hops a second of wall time.
fn ceiling_speed(plan: &Plan, duration: Time) -> f64 {
    const WINDOW: u32 = 16;
    let case = &plan.cases[0];
    let sources: Vec<ConstantWindow> = setup::first(case, SEED)
        .iter()
        .flat_map(|flow| setup::paths(case, SEED, flow).fixed().to_vec())
        .map(|path| ConstantWindow { there: path.there, back: path.back, window: WINDOW })
        .collect();
    let start = clock();
    let (ports, longest) = (plan.fabric().ports(SEED), case.bound_schemes[0].routing.longest());
    let sites = Arc::new(Sites::new(plan.fabric(), false));
    let hops = ceiling::run(&ports, sites, longest, &sources, (1500, 40), duration);
    hops as f64 / start.elapsed().as_secs_f64()
}

/// Sets the kernel's high-water mark of this process back to what it holds now.
#[expect(unsafe_code, reason = "the command's allocator is C")]
fn reset_peak_rss() {
    // SAFETY: gives free memory back to the system; has no other effect.
    unsafe {
        libmimalloc_sys::mi_collect(true);
    }
    // If it cannot be written, the peak of the whole process is reported, which is at least as high.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// A line of what the system knows of this process' memory, bytes; 0 where it does not report it.
fn status_bytes(line: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix(line));
    let kib: Option<u64> = line.and_then(|l| l.split_whitespace().next()).and_then(|n| n.parse().ok());
    kib.unwrap_or(0) * 1024
}
