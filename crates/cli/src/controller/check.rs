//! `tresse controller check`.

use std::io::{self, Write};

use tresse_controllers::check::{Breach, Invariant, SCRIPTS, Statistics, check_apart};
use tresse_controllers::{ConfiguredController, Controller};

use crate::ebpf::{self, Program};
use crate::failure::Failure;
use crate::output::print_json;
use crate::table::Table;

/// Check a controller: compile it for simulator and kernel, test it against its contract, and submit its
/// eBPF build to the kernel's verifier
///
/// The contract is controllers/controller.h. The check plays random scripts of ACKs, marks, losses and
/// timeouts, on up to 64 subflows, with windows up to 2^20 packets, RTTs from 1 us to 16 s, and both ends
/// of every parameter's range. What must hold:
///
///   returns                    no division by 0, no endless loop
///   own_subflow, own_fields    a hook writes only the controller's fields of its own subflow
///   never_lowers, growth       `grow` adds at most the packets that were delivered
///   never_raised_by_congestion, floor
///                              a cut is between .min_cwnd and the window
///   determinism, permutation   no state elsewhere; renumbering subflows changes nothing
///
/// For a controller with the hook `report`, which gets random reports, these replace the rules on cuts
/// and growth:
///
///   window, pace               1 to 2^20 packets; no pace above what the host's link carries
///   nothing                    a report of nothing changes nothing
///
/// If declared, not_above_reno and rtt_ratios (.claims) and single (.single) must hold too. Departures
/// are declared in .exceptions.
///
/// If something breaks, the shortest script found that shows it is printed, for `tresse controller
/// trace FILE --script -`, and the exit code is 1. The exit code is 2 if the file does not compile. If
/// the kernel's verifier cannot be run (no root, no clang), a line says so, and the other checks decide.
///
/// A C file is compiled to native code that runs with your rights: run only what you trust.
///
/// Nothing is attached. For the kernel build it prints, for each hook, the number of instructions, how
/// many the verifier walked through (it gives up at a million), and the bytes of machine code.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A C file, or a built-in controller
    controller: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The statistics of the scripts, if everything holds.
pub type Held = Result<Statistics, Box<Breach>>;

/// The programs that the verifier accepts, or why it cannot be run here.
pub type Kernel = Result<Vec<Program>, String>;

pub fn run(args: &Args) -> Result<(), Failure> {
    let controller = super::controller(&args.controller)?;
    let kernel = verify(controller)?;
    let held = hold(controller)?;
    if args.json {
        print_json(&json(&controller, &held, &kernel))?;
    }
    for note in notes(&controller) {
        writeln!(io::stderr(), "note: {note}")?;
    }
    match held {
        Ok(statistics) if !args.json => tell(&controller, statistics, kernel),
        Ok(_) => Ok(()),
        Err(breach) => {
            if !args.json {
                write!(io::stdout(), "{breach}")?;
            }
            Err(broken(&controller, &breach, &args.controller))
        }
    }
}

/// Plays the scripts of the contract.
///
/// # Errors
/// If no process can be started for it.
pub fn hold(controller: Controller) -> Result<Held, Failure> {
    check_apart(controller, SCRIPTS)
        .map_err(|error| Failure::Machine(format!("cannot start a process for the controller: {error}")))
}

/// Submits the eBPF build to the kernel's verifier.
///
/// # Errors
/// If the verifier or the compiler refuses it.
pub fn verify(controller: Controller) -> Result<Kernel, Failure> {
    let scheme = ConfiguredController::new(controller, []).map_err(|e| Failure::Input(e.to_string()))?;
    match ebpf::verify(&scheme) {
        Ok(programs) => Ok(Ok(programs)),
        Err(Failure::Machine(lacks)) => Ok(Err(lacks.lines().next().unwrap_or_default().to_owned())),
        Err(error) => Err(error),
    }
}

/// The message about the invariant that the controller named `asked` breaks; the script is printed above it.
pub fn broken(controller: &Controller, breach: &Breach, asked: &str) -> Failure {
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

/// The summary of what holds, in two lines.
pub fn holds(controller: &Controller, statistics: Statistics) -> String {
    let Statistics { scripts, hooks, settings } = statistics;
    let names = held_to(controller);
    let parameters = if settings == 1 { "" } else { " of the parameters" };
    format!(
        "{} invariants hold: {}\n{scripts} scripts, {hooks} calls of hooks, {settings} setting(s){parameters}",
        names.len(),
        names.join(", ")
    )
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
    if let Some(why) = controller.why_not_attachable() {
        notes.push(format!("{name} cannot be attached: {why}"));
    }
    notes
}

/// The invariants that `controller` must keep.
fn held_to(controller: &Controller) -> Vec<&'static str> {
    Invariant::ALL.iter().filter(|i| i.applies_to(controller)).map(|i| i.name()).collect()
}

fn tell(controller: &Controller, statistics: Statistics, kernel: Kernel) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}\n", holds(controller, statistics))?;
    match kernel {
        Ok(programs) => {
            let mut table = Table::new(&["hook", "instructions", "verified", "machine code"]);
            for p in programs {
                let bytes = format!("{} B", p.machine_code_bytes);
                let (all, walked) = (p.instructions.to_string(), p.verified_instructions.to_string());
                table.row(vec![p.name, all, walked, bytes]);
            }
            write!(out, "{table}")?;
        }
        Err(lacks) => writeln!(io::stderr(), "note: the kernel's verifier was not run: {lacks}")?,
    }
    Ok(())
}

fn json(controller: &Controller, held: &Held, kernel: &Kernel) -> serde_json::Value {
    let statistics = held.as_ref().ok();
    serde_json::json!({
        "schema": "tresse/controller-check/1",
        "controller": controller.name(),
        "invariants": {
            "checked": held_to(controller),
            "scripts": statistics.map(|s| s.scripts),
            "hook_calls": statistics.map(|s| s.hooks),
            "settings": statistics.map(|s| s.settings),
            "broken": held.as_ref().err().map(|breach| breach_json(breach)),
        },
        "programs": kernel.as_ref().ok(),
        "programs_skipped": kernel.as_ref().err(),
    })
}

fn breach_json(breach: &Breach) -> serde_json::Value {
    let parameters: serde_json::Map<_, _> =
        breach.settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    serde_json::json!({
        "invariant": breach.invariant.name(),
        "message": breach.message,
        "parameters": parameters,
        "script": breach.script.to_string(),
        "other_script": breach.other.as_ref().map(ToString::to_string),
    })
}
