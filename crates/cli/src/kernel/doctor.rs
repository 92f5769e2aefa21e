//! `tresse doctor`.

use std::io::{self, Write};

use tresse_linux::doctor::{State, doctor};
use tresse_workbench::Failure;

use crate::ended::Ended;
use crate::output::print_json;
use crate::table::Table;

/// Check what this machine can do: simulate, load eBPF, MPTCP, ECN, path manager, testbed
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
    let checks = doctor();
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
