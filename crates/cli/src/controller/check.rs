//! `tresse controller check`.

use std::io::{self, Write};

use tresse_controllers::check::{Breach, Invariant, SCRIPTS, Statistics, check_apart};
use tresse_controllers::{ConfiguredController, Controller};
use tresse_lab::{Agreement, Judged, TrialEntry, agreement};

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
/// What the file declares of its law (FOLLOWS) and its utility (MAXIMISES) is compared with its code: the
/// hooks are driven with random losses or marks of packets and of rounds, or with queueing delays, on one
/// path and on two, and the table shows the mean rates beside those of the law under the same signals, and
/// beside the rate that the utility asks for at its price. A law, or a utility that the source claims, that
/// differs by more than its `.tolerance` (20 % if none is declared) ends the check with exit code 1.
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
    // Code that breaks its contract need not return.
    let agrees = match held {
        Ok(_) => Some(agree(controller)?),
        Err(_) => None,
    };
    if args.json {
        print_json(&json(&controller, &held, agrees.as_ref(), &kernel))?;
    }
    for note in notes(&controller) {
        writeln!(io::stderr(), "note: {note}")?;
    }
    match held {
        Ok(statistics) => {
            if !args.json {
                tell(&controller, statistics, kernel)?;
            }
            agrees.map_or(Ok(()), |agrees| judge(&controller, &agrees, args.json))
        }
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

/// Compares the code with the law and the utility that its file declares.
///
/// # Errors
/// If no process can be started for it, or if a hook ended it.
fn agree(controller: Controller) -> Result<Agreement, Failure> {
    agreement(controller)
        .map_err(|error| Failure::Machine(format!("cannot start a process for the controller: {error}")))?
        .map_err(|end| super::ended(end, controller))
}

/// Prints the comparison, and fails if the code does not do what is declared.
fn judge(controller: &Controller, agrees: &Agreement, json: bool) -> Result<(), Failure> {
    if !json {
        write!(io::stdout(), "{}", comparison(agrees))?;
    }
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

/// The rates of the trials, and the largest differences.
fn comparison(agrees: &Agreement) -> String {
    let Agreement { law, utility, trials } = agrees;
    if trials.is_empty() || (law.is_none() && utility.is_none()) {
        return String::new();
    }
    let mut table =
        Table::new(&["signals", "paths", "code, pkt/s", "law", "apart %", "utility", "apart %"]).labels(2);
    for trial in trials {
        let rate = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.1}"));
        let apart =
            |error: Option<f64>| error.map_or_else(|| "-".to_owned(), |e| format!("{:.1}", 100.0 * e));
        table.row(vec![
            trial.signals.to_owned(),
            paths(trial),
            rate(Some(trial.code_pkts_per_s)),
            rate(trial.law_pkts_per_s),
            apart(trial.law_error),
            rate(trial.utility_pkts_per_s),
            apart(trial.utility_error),
        ]);
    }
    let line = |what: &str, judged: &Option<Judged>| match judged {
        None => format!("{what}: not declared for these signals\n"),
        Some(Judged { largest_error, tolerance }) => {
            let allowed =
                tolerance.map_or("not judged".to_owned(), |t| format!("{:.1} % are allowed", 100.0 * t));
            format!("{what}: at most {:.1} % from the code; {allowed}\n", 100.0 * largest_error)
        }
    };
    format!("\n{table}{}{}", line("law", law), line("utility", utility))
}

/// The paths of a trial: RTT with the probability of a signal, or with the delay that queues add.
fn paths(trial: &TrialEntry) -> String {
    let path = |i: usize| {
        let us = f64::from(trial.rtt_ns[i]) / 1e3;
        match trial.signals {
            "delay" => format!("{us} + {} us", f64::from(trial.delay_ns[i]) / 1e3),
            _ => format!("{us} us {}", trial.probability[i]),
        }
    };
    (0..trial.rtt_ns.len()).map(path).collect::<Vec<_>>().join(", ")
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

fn json(
    controller: &Controller,
    held: &Held,
    agrees: Option<&Agreement>,
    kernel: &Kernel,
) -> serde_json::Value {
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
        "agreement": agrees,
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
