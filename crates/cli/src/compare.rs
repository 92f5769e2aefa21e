//! `tresse compare`: a finished run against the published numbers, or two runs against each other.

pub mod published;
mod two;

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::Value;
use tresse_reproduction::pages::{Reproduced, Reproduction};
use tresse_workbench::OWNERS;
use tresse_workbench::compare::{check, folders, runs};
use tresse_workbench::json::compact;

use crate::ended::Ended;
use crate::table::{Format, Table};

/// Compare a finished run with the published numbers, or two runs with each other
///
/// RUN is the folder of a run, or of a run of a paper. A single run is compared with the published numbers.
/// With two runs, every case is compared with the same case of the other run: their ratio, and whether their
/// 95 % intervals are apart.
///
/// The output starts with the differences in what was run: settings, keys, seeds, files, controllers.
///
/// Kept results of real hosts (`tresse testbed`) are shown next to the simulator's, if there are any.
///
/// The exit code is 1 if a claim that is expected to hold does not, if a published number is more than 20 % off and
/// the experiment's file does not say why, or, with two runs, if a claim that held in the first does not hold in the
/// second.
///
/// Examples:
///   tresse compare runs/xmp-table1-1
///   tresse compare runs/xmp-table1-1 runs/xmp-table1-2
///   tresse compare runs/xmp-table1-1 --format latex > numbers.tex
///   tresse compare runs/paper-xmp-1 --markdown
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The folder of a run, such as runs/xmp-table1-1 or runs/paper-xmp-1
    run: PathBuf,
    /// The folder of another run, to compare it with the first
    other: Option<PathBuf>,
    /// Judge runs that `--set` has changed by the published numbers and claims anyway
    #[arg(long)]
    judge: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Print a section for a page
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Write the tables alone in this format, a mean with two digits of its interval
    #[arg(long, value_enum, default_value_t, conflicts_with_all = ["json", "markdown"])]
    format: Format,
}

pub fn run(args: &Args) -> Result<(), Ended> {
    if let Some(other) = &args.other {
        let pairs = runs(&args.run, other, args.judge)?;
        let mut out = anstream::stdout().lock();
        match (args.json, args.markdown, args.format) {
            (true, ..) => print_compact(&serde_json::to_value(&pairs).expect("plain data"))?,
            (_, true, _) => write!(out, "{}", two::markdown(&pairs))?,
            (.., Format::Table) => write!(out, "{}", two::Text(&pairs))?,
            (.., format) => {
                two::tell(&pairs);
                write!(out, "{}", format.write(&two::tables(&pairs)))?;
            }
        }
        return Ok(pairs.check()?);
    }
    let runs = folders(&args.run)?;
    let mut out = anstream::stdout().lock();
    let mut experiments = Vec::new();
    for run in &runs {
        let (experiment, own) = Reproduced::read(run, OWNERS, args.judge)?;
        if args.markdown {
            writeln!(out, "{}", published::markdown(&experiment, &own))?;
        } else if args.format == Format::Table && !args.json {
            published::show(&experiment, &own, &mut out)?;
            writeln!(out)?;
        }
        experiments.push(own);
    }
    let all = Reproduction::of(experiments);
    if args.json {
        print_compact(&serde_json::to_value(&all).expect("plain data"))?;
    } else if args.format != Format::Table {
        published::tell(&all);
        let tables: Vec<Table> = all.experiments.iter().map(published::table).collect();
        write!(out, "{}", args.format.write(&tables))?;
    } else if runs.len() > 1 {
        write!(out, "{}", published::Total(&all))?;
    }
    Ok(check(&all)?)
}

/// One JSON object on stdout, in which values that fit into one line take one.
fn print_compact(value: &Value) -> Result<(), Ended> {
    writeln!(io::stdout(), "{}", compact(value))?;
    Ok(())
}
