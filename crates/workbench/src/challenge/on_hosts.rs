//! Whether what a challenge found is so on real hosts.

use std::cell::RefCell;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde::Serialize;
use tresse_experiment::schema::stopping_rule::Replications;
use tresse_lab::Options;
use tresse_results::Status;
use tresse_units::text_file;

use super::goal::{self, Goal};
use super::measure::Experiment;
use super::record::{Found, Record, save};
use super::replay::controller_of;
use super::shrink::median;
use super::trial::{Seen, Trial};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::testbed::{self, Scale, SwitchKind};
use crate::{json, progress, twin};

/// The seeds of the runs on hosts. They choose paths; what hosts do differs from run to run anyway.
const SEEDS: [u64; 3] = [2, 3, 4];

/// How long an interval must last on hosts, ms: their sockets are looked at every 5 ms, and in a shorter one a steady
/// rate would seem to jump.
const INTERVAL_MS: f64 = 50.0;

/// The share of the cores' time that must be idle: a fabric and its hosts alone leave a third of two cores
/// (docs/testbed.md).
const LEAST_IDLE: f64 = 0.1;

/// The file in the folder of the challenge.
const FILE: &str = "on-hosts.json";

/// What a failure measures on real hosts.
#[derive(Debug, Serialize)]
pub struct OnHosts {
    pub file: String,
    pub goal: String,
    /// The median in the simulator, when it was found.
    pub simulated: f64,
    /// On hosts, by seed; empty if they cannot run it.
    pub real: Vec<f64>,
    /// The same with the plain controller that the challenge ran in its place, if it did.
    pub beside: Vec<f64>,
    /// Whether the median on hosts is a failure too; `None` if they cannot run it.
    pub stays: Option<bool>,
    /// How fast the experiment's time passed.
    pub scale: Option<String>,
    /// Why hosts cannot run it, or in what the network that they saw was another one.
    pub why: Option<String>,
}

/// What all failures of a folder measure on real hosts.
#[derive(Debug, Serialize)]
pub struct ReplayedOnHosts {
    pub schema: &'static str,
    pub controller: String,
    pub kernel: String,
    pub failures: Vec<OnHosts>,
}

/// Measures all failures of `folder` on real hosts, one run after the other, and writes `on-hosts.json`; `agent` makes the
/// program that runs on a host, and `tell` gets a line for each failure. The machine must be ready for a testbed.
///
/// # Errors
/// If there is no challenge in the folder, or it cannot be written; [`Failure::Interrupted`].
pub fn replay_on_hosts(
    folder: &Path,
    agent: fn() -> Command,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(String),
) -> Result<ReplayedOnHosts, Failure> {
    let record = Record::read(folder)?;
    controller_of(folder, &record, tell)?;
    let mut failures = Vec::new();
    for (place, found) in record.failures.iter().enumerate() {
        tell(format!("{} of {}: {}", place + 1, record.failures.len(), found.file));
        failures.push(again(folder, found, agent, interrupt)?);
    }
    let replayed = ReplayedOnHosts {
        schema: "tresse/challenge-on-hosts/1",
        controller: record.controller.name,
        kernel: twin::kernel(),
        failures,
    };
    save(&folder.join(FILE), &(json::pretty(&replayed) + "\n"))?;
    Ok(replayed)
}

fn again(
    folder: &Path,
    found: &Found,
    agent: fn() -> Command,
    interrupt: &Interrupt,
) -> Result<OnHosts, Failure> {
    let goal = goal::find(&found.goal).map_err(Failure::Input)?;
    let path = folder.join(&found.file);
    let text =
        text_file::read_written(&path).map_err(|e| Failure::Input(format!("{}: {e}", path.display())))?;
    let mut own = OnHosts {
        file: found.file.clone(),
        goal: found.goal.clone(),
        simulated: found.value,
        real: Vec::new(),
        beside: Vec::new(),
        stays: None,
        scale: None,
        why: None,
    };
    let experiment = Experiment { name: path.display().to_string(), text };
    if let Some(why) = cannot(&experiment)? {
        own.why = Some(why);
        return Ok(own);
    }
    let measured = on_hosts(&experiment, goal, agent, interrupt).and_then(|measured| {
        let plain = found.beside.as_ref().map(|other| experiment.instead(&other.controller)).transpose()?;
        let plain = plain.map(|plain| on_hosts(&plain, goal, agent, interrupt)).transpose()?;
        Ok((measured, plain))
    });
    match measured {
        Ok((Measured { values, scale, doubt }, plain)) => {
            own.stays = Some(median(&values) >= goal.bad_from);
            own.real = values;
            own.beside = plain.map_or(Vec::new(), |plain| plain.values);
            own.scale = Some(scale);
            own.why = doubt;
        }
        Err(Failure::Interrupted) => return Err(Failure::Interrupted),
        Err(failure) => own.why = Some(failure.to_string()),
    }
    Ok(own)
}

/// What was wrong with a run, if anything: hosts that wait for a core lose time that no port takes from them.
fn doubt(truth: &testbed::Truth) -> Option<String> {
    let is_busy = truth.cpu_idle.is_some_and(|idle| idle < LEAST_IDLE);
    truth.flag().or_else(|| is_busy.then(|| "the cores were busy: hosts may have waited for one".to_owned()))
}

/// What of an experiment hosts would do in their own way.
fn cannot(experiment: &Experiment) -> Result<Option<String>, Failure> {
    let trial = Trial::new(&experiment.name, experiment.text.clone())?;
    let is_set = trial.loaded.experiment.transport.ack_every.is_some();
    Ok(is_set.then(|| "a host decides itself which packets it ACKs".to_owned()))
}

/// Values by seed, how fast time passed, and what was wrong with the network.
struct Measured {
    values: Vec<f64>,
    scale: String,
    doubt: Option<String>,
}

fn on_hosts(
    experiment: &Experiment,
    goal: &'static Goal,
    agent: fn() -> Command,
    interrupt: &Interrupt,
) -> Result<Measured, Failure> {
    let (scale, doubt) = (RefCell::new(Scale::WHOLE), RefCell::new(None));
    let mut values = Vec::new();
    for seed in SEEDS {
        let run = |trial: &Trial| {
            let (seen, own, flag) = trial.run_on_hosts(seed, agent, interrupt)?;
            *scale.borrow_mut() = own;
            if let Some(flag) = flag {
                *doubt.borrow_mut() = Some(flag);
            }
            Ok(seen)
        };
        values.push(experiment.measure_by(&[goal], seed, &run)?[0].unwrap_or(0.0));
    }
    Ok(Measured { values, scale: scale.into_inner().to_string(), doubt: doubt.into_inner() })
}

impl Trial {
    /// How many times slower than real time an interval of its samples has several looks at the hosts.
    fn least_slowdown(&self) -> f64 {
        let interval = self.plan.cases[0].setting.samples.unwrap_or(u64::MAX);
        INTERVAL_MS * tresse_units::MILLISECOND as f64 / interval as f64
    }

    /// Runs it on real hosts, as fast as they can follow. Returns how fast that was, and what was wrong with their
    /// network, if anything.
    ///
    /// # Errors
    /// If hosts cannot run it; [`Failure::Interrupted`].
    fn run_on_hosts(
        &self,
        seed: u64,
        agent: fn() -> Command,
        interrupt: &Interrupt,
    ) -> Result<(Seen, Scale, Option<String>), Failure> {
        testbed::check(&self.plan, SwitchKind::Emulated)?;
        let folder = tempfile::tempdir().map_err(|e| Failure::Machine(format!("a temporary folder: {e}")))?;
        let simulated = self.simulate(seed, &folder.path().join("simulated"), interrupt)?;
        let scale = Scale::for_load(twin::slowdown(&simulated).max(self.least_slowdown()), 1.0);
        let out = folder.path().join("real");
        let options = Options {
            seed,
            replications: Replications::Count(1),
            out: Some(out.clone()),
            parallel: 1,
            threads: 1,
            ..Options::default()
        };
        let both = (Arc::new(self.loaded.clone()), self.plan.clone());
        let (report, truths) = testbed::real(
            both,
            options,
            (agent(), scale, SwitchKind::Emulated),
            interrupt,
            &progress::none(),
        )?;
        if interrupt.asked() {
            return Err(Failure::Interrupted);
        }
        if report.status != Status::Complete {
            return Err(Failure::Machine(report.errors.join("\n")));
        }
        let seen = self.seen(&out).map_err(|why| Failure::Machine(format!("a run: {why}")))?;
        Ok((seen, scale, truths.iter().find_map(doubt)))
    }
}
