//! Runs both sides of an experiment, and judges their differences.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde::Serialize;
use tresse_experiment::Diagnostic;
use tresse_experiment::schema::stopping_rule::Asked;
use tresse_lab::{Options, Watch};
use tresse_report::twin::{FILE, SIDES};
use tresse_results::{Folder, Report};
use tresse_testbed::{Scale, SwitchKind, Truth};
use tresse_units::output_file::write_whole;

use super::judging::{self, Predicted, Target, TwinCase};
use super::orders::{self, Order};
use super::quantities::side;
use crate::cases::Cases;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::json::pretty;
use crate::own_code::OwnCode;
use crate::progress::Progress;
use crate::testbed;

/// What to run on both sides.
#[derive(Debug, Clone)]
pub struct Request {
    pub cases: Cases,
    /// The user's own code that is loaded first.
    pub own: OwnCode,
    /// The first seed.
    pub seed: u64,
    /// How many runs of each case on either side.
    pub replications: Asked,
    /// How fast the experiment's time passes on the real hosts; `None`: so that they exchange about 30,000 packets a
    /// second, going by the simulation.
    pub scale: Option<Scale>,
    /// The folder for the results, new or empty; `None`: the next `runs/twin-NAME-N`.
    pub out: Option<PathBuf>,
}

/// Both sides of an experiment; what `twin.json` contains.
#[derive(Debug, Serialize)]
pub struct Twin {
    /// `tresse/twin/1`.
    schema: &'static str,
    pub experiment: String,
    pub profile: String,
    /// The first seed.
    pub seed: u64,
    /// How many seeds each side has.
    pub replications: u32,
    /// How fast the experiment's time passed on the real hosts.
    pub scale: String,
    /// The kernel of the real hosts.
    pub kernel: String,
    /// How faithful the testbed was, run by run.
    pub testbed: Vec<Truth>,
    /// The cases that both sides have.
    pub cases: Vec<TwinCase>,
    /// Which scheme has more than which.
    pub orders: Vec<Order>,
}

/// What the simulator says before real hosts run; what `predictions.json` contains.
#[derive(Debug, Serialize)]
struct Predictions<'a> {
    /// `tresse/predictions/1`.
    schema: &'static str,
    experiment: &'a str,
    profile: &'a str,
    seed: u64,
    /// The digest of the simulation.
    digest: &'a str,
    cases: Vec<Predicted>,
    orders: &'a [Order],
}

/// Hosts like those of a testbed, besides this kernel's `send_segment`: Linux, one packet at a time, without the queueing
/// discipline that paces, and with our controllers, which cut at once after a mark (bpf/controller.bpf.c) whereas the kernel's own go through PRR.
const HOSTS: [&str; 8] = [
    // Linux's segments of Multipath TCP: of 1500 bytes, 24 carry its options.
    "transport.header=76B",
    "transport.mss=1424B",
    "transport.scheduler=linux",
    "transport.reduction=immediate",
    "transport.pacing=off",
    "transport.gro=1pkt",
    "transport.tso=1pkt",
    "transport.profile=linux",
];

/// The longest time that a simulated host takes to answer a packet, if it is drawn evenly from 0 on, ns of the wall clock:
/// about twice the mean of real ones, 29 to 36 us (`turnaround_mean_ns` in `testbed.json`).
const TURNAROUND: u64 = 60_000;

/// What was predicted, in the twin's folder.
const PREDICTIONS: &str = "predictions.json";

/// Packets per second that a small machine carries well.
const WELL: f64 = 30_000.0;

/// Runs both sides, and stores what they have in common; `agent` is the program that runs on a real host, and `tell`
/// gets the messages. Returns it with its folder. The machine must be ready for a testbed ([`testbed::ready`]).
///
/// # Errors
/// An error in the request, or if a side cannot be run; [`Failure::Interrupted`].
pub fn run(
    request: Request,
    agent: Command,
    interrupt: &Interrupt,
    progress: &Progress,
    tell: &mut dyn FnMut(String),
) -> Result<(Twin, PathBuf), Failure> {
    request.own.load(&mut |_| ())?;
    let mut cases = request.cases;
    let segment = tresse_testbed::send_segment().ok().flatten();
    let segment = segment.map(|bytes| format!("transport.send_segment={bytes}B"));
    let turnaround = request.scale.unwrap_or(Scale::WHOLE).scaled(TURNAROUND) / 1000;
    let turnaround = format!("fabric.host_processing={turnaround}ns");
    for setting in segment.into_iter().chain([turnaround]).chain(HOSTS.map(str::to_owned)) {
        cases.experiment.set.insert(0, setting);
    }
    let (loaded, plan) = cases.load(tell)?;
    testbed::check(&plan, SwitchKind::Emulated)?;
    let folder = match &request.out {
        Some(out) => Folder::hold_empty(out)?,
        None => Folder::next_below(Path::new("runs"), &format!("twin-{}", loaded.source.name))?,
    };
    let options = |side: &str| Options {
        profile: cases.experiment.profile,
        seed: request.seed,
        replications: request.replications.over(&loaded.experiment.replications),
        parallel: 1,
        threads: 1,
        out: Some(folder.path().join(side)),
        judge: false,
        figure: cases.experiment.figure(),
    };
    let [simulation, real] = SIDES.map(options);
    let loaded = Arc::new(loaded);

    let watch = Arc::new(Watch::new(&plan, &simulation)?);
    interrupt.ends(&watch);
    let shown = progress(&watch);
    let simulated = interrupt.run({
        let (loaded, plan) = (Arc::clone(&loaded), plan.clone());
        move || Ok(tresse_reproduction::run(&loaded, &plan, &simulation, &watch)?)
    });
    shown();
    let simulated = simulated?;
    if interrupt.asked() {
        return Err(Failure::Interrupted);
    }
    let predicted = side(&simulated)?;
    let mut orders = orders::orders(&predicted);
    let predictions = Predictions {
        schema: "tresse/predictions/1",
        experiment: &simulated.experiment,
        profile: &simulated.profile,
        seed: request.seed,
        digest: &simulated.digest,
        cases: judging::predictions(&predicted),
        orders: &orders,
    };
    write(folder.path().join(PREDICTIONS), &predictions)?;
    let scale = request.scale.unwrap_or_else(|| Scale::for_load(slowdown(&simulated), 1.0));
    tell(format!("simulated: {:.0} packets a second; real hosts: --scale {scale}", load(&simulated)));
    let (real, truths) =
        testbed::real((loaded, plan), real, (agent, scale, SwitchKind::Emulated), interrupt, progress)?;
    if interrupt.asked() {
        return Err(Failure::Interrupted);
    }

    let measured = side(&real)?;
    orders::judge(&mut orders, &measured);
    let twin = Twin {
        schema: "tresse/twin/1",
        experiment: simulated.experiment.clone(),
        profile: simulated.profile.clone(),
        seed: request.seed,
        replications: real.replications,
        scale: scale.to_string(),
        kernel: kernel(),
        testbed: truths,
        cases: judging::judge(&predicted, &measured),
        orders,
    };
    write(folder.path().join(FILE), &twin)?;
    Ok((twin, folder.path().to_owned()))
}

/// Writes a file of the twin's folder.
fn write(path: PathBuf, value: &impl Serialize) -> Result<(), Failure> {
    write_whole(&path, pretty(value) + "\n").map_err(|e| Diagnostic::io("cannot be written", path, e))?;
    Ok(())
}

/// How many times slower than real time a small machine carries well what was simulated.
pub(crate) fn slowdown(simulated: &Report) -> f64 {
    load(simulated) / WELL
}

/// Packets that hosts receive per second in both directions, in the case with the most; every second packet has an
/// ACK.
fn load(simulated: &Report) -> f64 {
    let of = |case: &tresse_results::CaseResult| {
        let metric = |name: &str| case.metrics.get(name).map_or(0.0, |metric| metric.value());
        metric("delivered_bytes") / 1448.0 * 1.5 / metric("simulated_s").max(1e-9)
    };
    simulated.cases.iter().map(of).fold(0.0, f64::max)
}

/// The kernel of this machine.
pub(crate) fn kernel() -> String {
    let version = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("Linux {}", version.trim())
}

impl Twin {
    /// The allowed differences, and whether they are kept.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.cases.iter().flat_map(|case| &case.rows).filter_map(|row| row.target.as_ref())
    }

    /// Fails if a target was missed, or an order was the other way round.
    ///
    /// # Errors
    /// [`Failure::Check`].
    pub fn check(&self) -> Result<(), Failure> {
        let missed = self.targets().filter(|target| target.holds == Some(false)).count();
        let reversed = self.orders.iter().filter(|order| order.holds == Some(false)).count();
        if missed + reversed == 0 {
            return Ok(());
        }
        let (targets, orders) = (self.targets().count(), self.orders.len());
        Err(Failure::Check(format!(
            "{missed} of {targets} targets were missed, {reversed} of {orders} orders are the other way round"
        )))
    }
}
