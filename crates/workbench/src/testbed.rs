//! Experiments on real Linux hosts in network namespaces.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tresse_experiment::schema::Experiment;
use tresse_experiment::schema::stopping_rule::Asked;
use tresse_experiment::schema::transport::Transport;
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
    let own = decided_by_linux(&loaded.experiment);
    if !own.is_empty() {
        tell(format!("note: the hosts are Linux, which decides these itself: {}", own.join(", ")));
    }
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

/// The keys of an experiment's transports that real hosts do not obey.
fn decided_by_linux(experiment: &Experiment) -> Vec<String> {
    const OBEYED: [&str; 3] = ["profile", "rto_min", "receive_buffer"];
    let keys = |path: String, transport: &Transport| {
        let keys = serde_json::to_value(transport).expect("it is plain data");
        let set = keys.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        let ignored = set.map(|(key, _)| key).filter(|key| !OBEYED.contains(&key.as_str()));
        ignored.map(|key| format!("{path}transport.{key}")).collect::<Vec<_>>()
    };
    let of_schemes = experiment.schemes.iter().flat_map(|(name, scheme)| {
        scheme.transport.as_ref().map_or(Vec::new(), |own| keys(format!("schemes.{name}."), own))
    });
    keys(String::new(), &experiment.transport).into_iter().chain(of_schemes).collect()
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

#[cfg(test)]
mod tests {
    use super::decided_by_linux;

    #[test]
    fn keys_that_hosts_do_not_obey_are_named() {
        let text = r#"
            title = "t"
            fabric = { topology = "dumbbell", pairs = 1, rate = "1Gbps", delay = "1ms", queue = "9pkt" }
            transport = { profile = "linux", rto_min = "10ms", mss = "8948B" }
            [schemes.reno]
            controller = "reno"
            transport = { receive_buffer = "1MB", recovery = "rack" }
            [workloads.all]
            pattern = "permutation"
        "#;
        let experiment = toml::from_str(text).expect("an experiment");
        assert_eq!(decided_by_linux(&experiment), ["transport.mss", "schemes.reno.transport.recovery"]);
    }
}
