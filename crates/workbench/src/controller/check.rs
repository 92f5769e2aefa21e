//! Checks a controller against its contract, its declarations, and the kernel's verifier.

use serde_json::{Map, Value, json};
use tresse_controllers::check::{Breach, Invariant, SCRIPTS, Statistics, check_apart};
use tresse_controllers::{ConfiguredController, Controller};
use tresse_lab::{Agreement, Judged, agreement};

use crate::ebpf::{self, Program};
use crate::failure::Failure;

/// The statistics of the scripts, if everything holds.
pub type CheckResult = Result<Statistics, Box<Breach>>;

/// The programs that the verifier accepts, or why it cannot be run here.
pub type Kernel = Result<Vec<Program>, String>;

/// What the checks of a controller found.
#[derive(Debug)]
pub struct Checked {
    pub controller: Controller,
    /// Whether it keeps its contract.
    pub held: CheckResult,
    /// How its code compares with what it declares, if it keeps its contract.
    pub agrees: Option<Agreement>,
    /// What the kernel's verifier says.
    pub kernel: Kernel,
    asked: String,
}

/// Checks a built-in controller, or the one that a C file declares.
///
/// # Errors
/// If there is none, if a compiler or the verifier refuses it, or if the machine cannot run it.
pub fn check(asked: &str) -> Result<Checked, Failure> {
    let controller = super::find(asked)?;
    let kernel = verify(controller)?;
    let held = hold(controller)?;
    // Code that breaks its contract need not return.
    let agrees = match held {
        Ok(_) => Some(agree(controller)?),
        Err(_) => None,
    };
    Ok(Checked { controller, held, agrees, kernel, asked: asked.to_owned() })
}

impl Checked {
    /// Fails if something that was checked does not hold.
    ///
    /// # Errors
    /// [`Failure::Check`], with what to do.
    pub fn verdict(&self) -> Result<(), Failure> {
        match (&self.held, &self.agrees) {
            (Err(breach), _) => Err(broken(&self.controller, breach, &self.asked)),
            (Ok(_), Some(agrees)) => judge(&self.controller, agrees),
            (Ok(_), None) => Ok(()),
        }
    }

    /// Notes on what is not wrong, but good to know.
    pub fn notes(&self) -> Vec<String> {
        notes(&self.controller)
    }

    /// Everything as one JSON object.
    pub fn json(&self) -> Value {
        let statistics = self.held.as_ref().ok();
        json!({
            "schema": "tresse/controller-check/1",
            "controller": self.controller.name(),
            "invariants": {
                "checked": held_to(&self.controller),
                "scripts": statistics.map(|s| s.scripts),
                "hook_calls": statistics.map(|s| s.hooks),
                "settings": statistics.map(|s| s.settings),
                "broken": self.held.as_ref().err().map(|breach| breach_json(breach)),
            },
            "agreement": self.agrees,
            "programs": self.kernel.as_ref().ok(),
            "programs_skipped": self.kernel.as_ref().err(),
        })
    }
}

/// Scripts of a check. Only tests run a debug build, again and again: a quarter finds what they plant.
const PLAYED: usize = if cfg!(debug_assertions) { SCRIPTS / 4 } else { SCRIPTS };

/// Plays the scripts of the contract.
///
/// # Errors
/// If no process can be started for it.
pub(crate) fn hold(controller: Controller) -> Result<CheckResult, Failure> {
    check_apart(controller, PLAYED)
        .map_err(|error| Failure::Machine(format!("cannot start a process for the controller: {error}")))
}

/// Fails if a controller of one's own breaks its contract. The built-in ones are known to keep it.
///
/// # Errors
/// [`Failure::Check`] with the script that shows it; or if no process can be started for it.
pub(crate) fn must_hold(controller: Controller, asked: &str) -> Result<(), Failure> {
    if controller.file().is_none() {
        return Ok(());
    }
    hold(controller)?.map(|_| ()).map_err(|breach| broken_by(&controller, &breach, asked))
}

/// Compares the code with the law and the utility that its file declares.
///
/// # Errors
/// If no process can be started for it, or if a hook ended it.
fn agree(controller: Controller) -> Result<Agreement, Failure> {
    agreement(controller)
        .map_err(|error| Failure::Machine(format!("cannot start a process for the controller: {error}")))?
        .map_err(|end| super::ended(end, controller))
}

/// Fails if the code does not do what is declared.
fn judge(controller: &Controller, agrees: &Agreement) -> Result<(), Failure> {
    let name = controller.name();
    let differs = |judged: Option<Judged>| {
        let judged = judged.filter(|j| !j.holds())?;
        Some((100.0 * judged.largest_error, 100.0 * judged.tolerance?))
    };
    let (what, macro_name, (error, allowed)) = match (differs(agrees.law), differs(agrees.utility)) {
        (Some(judged), _) => ("the law", "FOLLOWS", judged),
        (None, Some(judged)) => ("the utility", "MAXIMISES", judged),
        (None, None) => return Ok(()),
    };
    Err(Failure::Check(format!(
        "{name} differs from {what} that it declares by up to {error:.1} % of the rate; at most {allowed:.1} % are \
         allowed\n\n\
         hint: correct {macro_name}, or the hooks; what an approximation leaves is declared as `.tolerance`, in 1/1000"
    )))
}

/// Submits the eBPF build to the kernel's verifier.
///
/// # Errors
/// If the verifier or the compiler refuses it.
pub(crate) fn verify(controller: Controller) -> Result<Kernel, Failure> {
    let scheme = ConfiguredController::new(controller, []).map_err(|e| Failure::Input(e.to_string()))?;
    match ebpf::verify(&scheme) {
        Ok(programs) => Ok(Ok(programs)),
        Err(Failure::Machine(lacks)) => Ok(Err(lacks.lines().next().unwrap_or_default().to_owned())),
        Err(error) => Err(error),
    }
}

/// As [`broken`], with the script, which is printed nowhere else.
pub(crate) fn broken_by(controller: &Controller, breach: &Breach, asked: &str) -> Failure {
    let script = breach.script.to_string();
    match broken(controller, breach, asked) {
        Failure::Check(message) => Failure::Check(format!("{}\n\n{message}", script.trim_end())),
        other => other,
    }
}

/// The message about the invariant that the controller named `asked` breaks; the script is printed above it.
pub(crate) fn broken(controller: &Controller, breach: &Breach, asked: &str) -> Failure {
    let hint = match breach.invariant {
        // A trace shows the subflow of each event, not one that it must not touch.
        Invariant::OwnSubflow => {
            "the script above leads to that call; a hook may write only to the subflow that it is given"
                .to_owned()
        }
        invariant => format!(
            "{}the script above shows it: tresse controller trace {asked}{} --script -",
            remedy(controller, invariant),
            breach.arguments()
        ),
    };
    Failure::Check(format!(
        "{} breaks `{}`: {}\n\nhint: {hint}",
        controller.name(),
        breach.invariant.name(),
        breach.message,
    ))
}

/// The summary of what holds, in two lines; without statistics, of a built-in controller.
pub fn holds(controller: &Controller, statistics: Option<Statistics>) -> String {
    let names = held_to(controller);
    let played = match statistics {
        Some(Statistics { scripts, hooks, settings }) => {
            let parameters = if settings == 1 { "" } else { " of the parameters" };
            format!("{scripts} scripts, {hooks} calls of hooks, {settings} setting(s){parameters}")
        }
        None => "built in: not checked again".to_owned(),
    };
    format!("{} invariants hold: {}\n{played}", names.len(), names.join(", "))
}

/// What can be done other than fixing a hook: the file may declare too much.
fn remedy(controller: &Controller, broken: Invariant) -> String {
    match broken {
        Invariant::Single => format!(
            "leave `.single` out, unless it is meant to equal {} with one subflow and its defaults; ",
            controller.single().unwrap_or_default()
        ),
        Invariant::NotAboveReno => {
            "leave CLAIM_NOT_ABOVE_RENO out of `.claims`, unless it is meant to hold; ".to_owned()
        }
        Invariant::RttRatios => {
            "leave CLAIM_RTT_RATIOS out of `.claims`, unless it is meant to hold; ".to_owned()
        }
        _ => String::new(),
    }
}

/// Notes on what is not wrong, but good to know.
fn notes(controller: &Controller) -> Vec<String> {
    let name = controller.name();
    let missing = [(".title", controller.title()), (".source", controller.source())];
    let empty = missing.iter().filter(|(_, text)| text.is_empty());
    let mut notes: Vec<_> =
        empty.map(|(field, _)| format!("{name} has no {field}; lists and pages show it")).collect();
    if !controller.reports() {
        let [grows, cuts] = ["grow", "congestion"].map(|hook| controller.has_hook(hook));
        if !grows {
            notes.push(format!("{name} has no .grow; its window never rises"));
        }
        if !cuts {
            notes.push(format!("{name} has no .congestion; neither a loss nor a mark cuts its window"));
        }
    }
    for (declared, line) in [
        (controller.declares_utility(), "what it maximises (MAXIMISES): it has no optimum"),
        (controller.declares_law(), "the law that it follows (FOLLOWS): it has no fluid model"),
    ] {
        if !declared {
            notes.push(format!("{name} does not declare {line}"));
        }
    }
    if let Some(why) = controller.why_not_attachable() {
        notes.push(format!("{name} cannot be attached: {why}"));
    }
    notes
}

/// The invariants that `controller` must keep.
fn held_to(controller: &Controller) -> Vec<&'static str> {
    Invariant::ALL.iter().filter(|i| i.applies_to(controller)).map(|i| i.name()).collect()
}

fn breach_json(breach: &Breach) -> Value {
    let parameters: Map<_, _> =
        breach.settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    json!({
        "invariant": breach.invariant.name(),
        "message": breach.message,
        "parameters": parameters,
        "script": breach.script.to_string(),
        "other_script": breach.other.as_ref().map(ToString::to_string),
    })
}
