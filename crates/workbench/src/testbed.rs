//! Experiments on real Linux hosts in network namespaces.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tresse_experiment::schema::stopping_rule::Asked;
use tresse_experiment::{Diagnostic, Loaded, Plan};
use tresse_lab::runner::On;
use tresse_lab::{Options, Watch};
use tresse_results::{Report, Testbed};
use tresse_testbed::Settings;
use tresse_units::output_file::write_whole;

use crate::cases::Cases;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::own_code::OwnCode;
use crate::progress::Progress;

pub use tresse_testbed::{Late, Scale, SwitchKind, Truth};

/// What to run on real hosts.
#[derive(Debug, Clone)]
pub struct Request {
    pub cases: Cases,
    /// The user's own code that is loaded first.
    pub own: OwnCode,
    /// The first seed.
    pub seed: u64,
    /// How many runs of each case.
    pub replications: Asked,
    /// How fast the experiment's time passes.
    pub scale: Scale,
    /// What moves packets between hosts.
    pub switch: SwitchKind,
    /// The folder for the results; `None`: the next `runs/NAME-N`.
    pub out: Option<PathBuf>,
    /// Whether to judge by the paper's claims even if settings have changed the experiment.
    pub judge: bool,
}

/// A run on real hosts.
#[derive(Debug)]
pub struct TestbedRun {
    pub loaded: Arc<Loaded>,
    pub report: Report,
    /// How faithful each run was.
    pub truths: Vec<Truth>,
}

/// Runs the cases; `agent` is the program that runs on a host, and `tell` gets the messages about the experiment. The
/// machine must be [`ready`].
///
/// # Errors
/// An error in the request, or if the machine cannot run it.
pub fn run(
    request: Request,
    agent: Command,
    interrupt: &Interrupt,
    progress: &Progress,
    tell: &mut dyn FnMut(String),
) -> Result<TestbedRun, Failure> {
    request.own.load(&mut |_| ())?;
    let (loaded, plan) = request.cases.load(tell)?;
    check(&plan, request.switch)?;
    let options = Options {
        profile: request.cases.experiment.profile,
        seed: request.seed,
        replications: request.replications.over(&loaded.experiment.replications),
        parallel: 1,
        threads: 1,
        out: request.out,
        judge: request.judge,
        figure: request.cases.experiment.figure(),
    };
    let loaded = Arc::new(loaded);
    let on = (agent, request.scale, request.switch);
    let (report, truths) = real((Arc::clone(&loaded), plan), options, on, interrupt, progress)?;
    Ok(TestbedRun { loaded, report, truths })
}

/// Removes what a killed testbed left behind; returns the names of it.
///
/// # Errors
/// If the machine does not allow it.
pub fn clean() -> Result<Vec<String>, Failure> {
    tresse_testbed::clean().map_err(|error| Failure::Machine(error.to_string()))
}

/// Prepares the machine for a testbed with this switch.
///
/// # Errors
/// What it lacks.
pub fn ready(switch: SwitchKind) -> Result<(), Failure> {
    tresse_testbed::lacks(switch).map_or(Ok(()), |lack| Err(Failure::Machine(lack)))?;
    clean().map(drop)
}

/// Whether all cases of a plan can run on a testbed.
pub(crate) fn check(plan: &Plan, switch: SwitchKind) -> Result<(), Failure> {
    let wrong = |error: tresse_testbed::Error| Failure::Input(error.to_string());
    plan.cases.iter().try_for_each(|case| tresse_testbed::check(case, switch).map_err(wrong))
}

/// Runs a plan on real hosts; records next to the results how faithful each run was.
pub(crate) fn real(
    (loaded, plan): (Arc<Loaded>, Plan),
    options: Options,
    (agent, scale, switch): (Command, Scale, SwitchKind),
    interrupt: &Interrupt,
    progress: &Progress,
) -> Result<(Report, Vec<Truth>), Failure> {
    let watch = Arc::new(Watch::new(&plan, &options)?);
    interrupt.ends(&watch);
    let shown = progress(&watch);
    let truths = Arc::new(Mutex::new(Vec::new()));
    let report = interrupt.run({
        let truths = Arc::clone(&truths);
        move || {
            let told = |truth: Truth| truths.lock().unwrap_or_else(PoisonError::into_inner).push(truth);
            let on: &On<'_> = &|case, seed, stop, progress, measured| {
                let how = Settings { program: &agent, scale, switch };
                tresse_testbed::run(case, seed, how, stop, progress, measured, told)
            };
            let switch = Some(switch).filter(|switch| *switch != SwitchKind::Emulated);
            let testbed =
                Testbed { scale: scale.to_string(), switch: switch.map(|switch| switch.to_string()) };
            Ok(tresse_reproduction::run_on(&loaded, &plan, &options, &watch, testbed, on)?)
        }
    });
    shown();
    let report = report?;
    let truths = std::mem::take(&mut *truths.lock().unwrap_or_else(PoisonError::into_inner));
    let told = json!({ "schema": "tresse/testbed/2", "runs": truths });
    let path = PathBuf::from(&report.out).join("testbed.json");
    write_whole(&path, format!("{told}\n")).map_err(|e| Diagnostic::io("cannot be written", path, e))?;
    Ok((report, truths))
}
