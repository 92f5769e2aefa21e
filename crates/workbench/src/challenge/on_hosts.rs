//! Whether what a challenge found is so on real hosts.

use std::cell::RefCell;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use tresse_experiment::read::files::sha256;
use tresse_experiment::schema::stopping_rule::Replications;
use tresse_lab::Options;
use tresse_results::Status;
use tresse_units::text_file;

use super::goal::{self, Goal};
use super::hosts_record::{OnHosts, ReplayedOnHosts, SCHEMA};
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
    let mut replayed = ReplayedOnHosts {
        schema: SCHEMA.to_owned(),
        controller: record.controller.name,
        kernel: twin::kernel(),
        failures: Vec::new(),
    };
    for (place, found) in record.failures.iter().enumerate() {
        tell(format!("{} of {}: {}", place + 1, record.failures.len(), found.file));
        replayed.failures.push(again(folder, found, agent, interrupt)?);
        // It takes minutes: what is measured is kept, whatever becomes of the rest.
        save(&folder.join(FILE), &(json::pretty(&replayed) + "\n"))?;
    }
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
        sha256: sha256(&text),
        goal: found.goal.clone(),
        simulated: found.value,
        real: Vec::new(),
        beside: Vec::new(),
        stays: None,
        scale: None,
        late_p99_us: None,
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
        Ok((Measured { values, scale, late_p99_us, doubt }, plain)) => {
            own.stays = Some(median(&values) >= goal.bad_from);
            own.real = values;
            own.beside = plain.map_or(Vec::new(), |plain| plain.values);
            own.scale = Some(scale);
            own.late_p99_us = late_p99_us;
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

/// Values by seed, how fast time passed, how late packets were, and what was wrong with the network.
struct Measured {
    values: Vec<f64>,
    scale: String,
    late_p99_us: Option<u64>,
    doubt: Option<String>,
}

fn on_hosts(
    experiment: &Experiment,
    goal: &'static Goal,
    agent: fn() -> Command,
    interrupt: &Interrupt,
) -> Result<Measured, Failure> {
    let met = RefCell::new((Scale::WHOLE, Met::default()));
    let mut values = Vec::new();
    for seed in SEEDS {
        let run = |trial: &Trial| {
            let (seen, scale, own) = trial.run_on_hosts(seed, agent, interrupt)?;
            let mut met = met.borrow_mut();
            met.0 = scale;
            met.1.add(own);
            Ok(seen)
        };
        values.push(experiment.measure_by(&[goal], seed, &run)?[0].unwrap_or(0.0));
    }
    let (scale, Met { late_p99_us, doubt }) = met.into_inner();
    Ok(Measured { values, scale: scale.to_string(), late_p99_us, doubt })
}

/// How the network of some runs was.
#[derive(Debug, Default)]
struct Met {
    /// How late one packet in a hundred was, at most.
    late_p99_us: Option<u64>,
    /// What was wrong, if anything.
    doubt: Option<String>,
}

impl Met {
    fn of(truths: &[testbed::Truth]) -> Self {
        let late = truths.iter().filter_map(|truth| truth.late.map(|late| late.p99.div_ceil(1000)));
        Self { late_p99_us: late.max(), doubt: truths.iter().find_map(doubt) }
    }

    fn add(&mut self, other: Self) {
        self.late_p99_us = self.late_p99_us.max(other.late_p99_us);
        self.doubt = other.doubt.or(self.doubt.take());
    }
}

impl Trial {
    /// How many times slower than real time an interval of its samples has several looks at the hosts.
    fn least_slowdown(&self) -> f64 {
        let interval = self.plan.cases[0].setting.samples.unwrap_or(u64::MAX);
        INTERVAL_MS * tresse_units::MILLISECOND as f64 / interval as f64
    }

    /// Runs it on real hosts, as fast as they can follow. Returns how fast that was, and how their network was.
    ///
    /// # Errors
    /// If hosts cannot run it; [`Failure::Interrupted`].
    fn run_on_hosts(
        &self,
        seed: u64,
        agent: fn() -> Command,
        interrupt: &Interrupt,
    ) -> Result<(Seen, Scale, Met), Failure> {
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
        Ok((seen, scale, Met::of(&truths)))
    }
}
