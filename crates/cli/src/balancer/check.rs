//! `tresse balancer check`.

use std::io::{self, Write};

use tresse_balancers::check::Statistics;
use tresse_workbench::balancer::check::check;

use crate::ended::Ended;
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

pub fn run(args: &Args) -> Result<(), Ended> {
    let checked = check(&args.balancer)?;
    if args.json {
        print_json(&checked.json())?;
    }
    for note in checked.notes() {
        writeln!(io::stderr(), "note: {note}")?;
    }
    if !args.json {
        let mut out = io::stdout().lock();
        match &checked.held {
            Ok(Statistics { settings, scripts, picks }) => {
                let names = checked.held_to();
                let parameters = if *settings == 1 { "" } else { " of the parameters" };
                let count = names.len();
                writeln!(
                    out,
                    "{count} invariants hold: {}\n{scripts} scripts, {picks} packets, {settings} setting(s){parameters}",
                    names.join(", ")
                )?;
            }
            Err(breach) => write!(out, "{breach}")?,
        }
    }
    Ok(checked.verdict()?)
}
