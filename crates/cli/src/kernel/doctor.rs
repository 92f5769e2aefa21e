//! `tresse doctor`.

use std::io::{self, Write};

use tresse_linux::doctor::{Check, State, doctor};
use tresse_workbench::{Failure, python};

use crate::ended::Ended;
use crate::output::print_json;
use crate::table::Table;

/// Check what this machine can do: eBPF, MPTCP, ECN, path manager, testbed, Python
///
/// Each line is the result of a trial that changes nothing. If something is missing, a line says how to
/// fix it, and the exit code is 3.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<(), Ended> {
    let mut checks = doctor();
    checks.push(of_python());
    let lacks: Vec<&str> = checks.iter().filter(|c| c.state == State::Lacks).map(|c| c.name).collect();
    if args.json {
        print_json(&serde_json::json!({
            "schema": "tresse/doctor/1", "ok": lacks.is_empty(), "checks": checks,
        }))?;
    } else {
        let mut table = Table::new(&["", "what", "for", "found"]);
        for c in &checks {
            let sign = match c.state {
                State::Ok => "ok",
                State::Lacks => "LACKS",
                State::Note => "note",
            };
            table.row([sign, c.name, c.needed_for, &c.found].map(str::to_owned).to_vec());
        }
        let mut out = io::stdout().lock();
        write!(out, "{table}")?;
        for c in &checks {
            if let Some(remedy) = &c.remedy {
                writeln!(out, "{}: {remedy}", c.name)?;
            }
        }
    }
    if lacks.is_empty() {
        return Ok(());
    }
    Err(Failure::Machine(format!("this machine lacks: {}", lacks.join(", "))).into())
}

/// What `tresse plot`, `tune` and some sweeps need.
fn of_python() -> Check {
    let python::Installed { found, remedy } = python::installed();
    let state = if remedy.is_some() { State::Note } else { State::Ok };
    Check { name: "Python", needed_for: "plot, tune", state, found, remedy }
}
