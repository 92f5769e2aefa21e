//! `tresse controller check`.

use std::io::{self, Write};

use tresse_lab::{Agreement, Judged, TrialEntry};
use tresse_workbench::controller::check::{Checked, check, holds};
use tresse_workbench::controller::prove::{Proof, prove};

use crate::ended::Ended;
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
/// --prove plays no scripts: Frama-C goes through all inputs at once, with every parameter in its range and 64
/// subflows, in every order of calls. A line per property says `proved`, or where it is not: that is not
/// wrong, only not proved, and what the scripts are for.
///
///   division, shift, memory    none by 0, none too wide, none outside of an object
///   overflow                   no value leaves its type
///   growth                     `grow` adds at most the packets that were delivered
///   window, cut                a cut is at least .min_cwnd, `report` sets 1 to 2^20; no cut is above the window
///
/// A proof of one holds if what is not proved of the others holds too.
///
/// Nothing is attached. For the kernel build it prints, for each hook, the number of instructions, how
/// many the verifier walked through (it gives up at a million), and the bytes of machine code.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A C file, or a built-in controller
    controller: String,
    /// Prove what can be proved, in place of the checks
    #[arg(long)]
    prove: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<(), Ended> {
    if args.prove {
        let proof = prove(&args.controller)?;
        if args.json {
            return print_json(&proof.json());
        }
        return Ok(tell_proof(&proof)?);
    }
    let checked = check(&args.controller)?;
    if args.json {
        print_json(&checked.json())?;
    }
    for note in checked.notes() {
        writeln!(io::stderr(), "note: {note}")?;
    }
    if !args.json {
        tell(&checked)?;
    }
    Ok(checked.verdict()?)
}

/// A line for each property, and below it what is not proved.
fn tell_proof(proof: &Proof) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for (property, open) in &proof.properties {
        writeln!(out, "{:<10}{}", property.name(), if open.is_empty() { "proved" } else { "not proved" })?;
        for open in open {
            writeln!(out, "  {}: {}", open.place(), open.condition)?;
        }
    }
    Ok(())
}

/// Prints what holds, or the script that shows what does not.
fn tell(checked: &Checked) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let statistics = match &checked.held {
        Ok(statistics) => *statistics,
        Err(breach) => return write!(out, "{breach}"),
    };
    writeln!(out, "{}\n", holds(&checked.controller, Some(statistics)))?;
    match &checked.kernel {
        Ok(programs) => {
            let mut table = Table::new(&["hook", "instructions", "verified", "machine code"]);
            for p in programs {
                let bytes = format!("{} B", p.machine_code_bytes);
                let (all, walked) = (p.instructions.to_string(), p.verified_instructions.to_string());
                table.row(vec![p.name.clone(), all, walked, bytes]);
            }
            write!(out, "{table}")?;
        }
        Err(lacks) => writeln!(io::stderr(), "note: the kernel's verifier was not run: {lacks}")?,
    }
    checked.agrees.as_ref().map_or(Ok(()), |agrees| write!(out, "{}", comparison(agrees)))
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
