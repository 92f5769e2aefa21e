//! `tresse balancer check`.

use std::io::{self, Write};

use tresse_balancers::Balancer;
use tresse_balancers::check::{Breach, Invariant, SCRIPTS, Statistics, check_apart};

use crate::failure::Failure;
use crate::output::print_json;

/// Check a balancer: compile it and test it against its contract
///
/// The contract is balancers/balancer.h. The check plays random scripts of packets and their fates, with
/// 1 to 4096 paths, windows up to 2^20 packets, and both ends of every parameter's range. What must hold:
///
///   returns       no division by 0, no endless loop
///   own_memory    a hook writes its own memory; `alive` writes nothing
///   below_paths   `pick` returns a path that exists
///   only_alive    a path that is not alive gets nothing while another is
///   determinism   no memory elsewhere
///   any_time      only differences between times matter
///
/// and, unless the balancer declares that it works at flow level,
///
///   reaches       every path that is alive is used again when all packets arrive unmarked; if it declares
///                 that it recycles, when there is no feedback instead
///
/// and, if it does,
///
///   flow_level    without feedback the next packet takes the last one's path
///
/// If something breaks, the shortest script found that shows it is printed, and the exit code is 1.
/// The exit code is 2 if the file does not compile.
///
/// A C file is compiled to native code that runs with your rights: run only what you trust.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A C file, or a built-in balancer
    balancer: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let balancer = super::balancer(&args.balancer)?;
    let held = check_apart(balancer, SCRIPTS)
        .map_err(|error| Failure::Machine(format!("cannot start a process for the balancer: {error}")))?;
    if args.json {
        print_json(&json(&balancer, &held))?;
    }
    let name = balancer.name();
    for (field, text) in [(".title", balancer.title()), (".source", balancer.source())] {
        if text.is_empty() {
            writeln!(io::stderr(), "note: {name} has no {field}; lists and pages show it")?;
        }
    }
    match held {
        Ok(_) if args.json => Ok(()),
        Ok(Statistics { settings, scripts, picks }) => {
            let names = held_to(&balancer);
            let parameters = if settings == 1 { "" } else { " of the parameters" };
            let count = names.len();
            writeln!(
                io::stdout(),
                "{count} invariants hold: {}\n{scripts} scripts, {picks} packets, {settings} setting(s){parameters}",
                names.join(", ")
            )?;
            Ok(())
        }
        Err(breach) => {
            if !args.json {
                write!(io::stdout(), "{breach}")?;
            }
            let (invariant, message) = (breach.invariant.name(), breach.message);
            Err(Failure::Check(format!("{name} breaks `{invariant}`: {message}")))
        }
    }
}

/// The invariants that `balancer` must keep.
fn held_to(balancer: &Balancer) -> Vec<&'static str> {
    Invariant::ALL.iter().filter(|i| i.applies_to(balancer)).map(|i| i.name()).collect()
}

fn json(balancer: &Balancer, held: &Result<Statistics, Box<Breach>>) -> serde_json::Value {
    let statistics = held.as_ref().ok();
    serde_json::json!({
        "schema": "tresse/balancer-check/1",
        "balancer": balancer.name(),
        "checked": held_to(balancer),
        "scripts": statistics.map(|s| s.scripts),
        "packets": statistics.map(|s| s.picks),
        "settings": statistics.map(|s| s.settings),
        "broken": held.as_ref().err().map(|breach| breach_json(breach)),
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
        "paths": breach.picks,
    })
}
