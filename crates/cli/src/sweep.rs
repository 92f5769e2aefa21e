//! `tresse sweep`: one experiment at many settings.

use std::ffi::OsString;
use std::io::{IsTerminal, Write, stderr};
use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use tresse_workbench::sweep::{self, Finished, Opened, Request, Shard, Standing};
use tresse_workbench::{Failure, Interrupt};

use crate::ended::Ended;
use crate::progress::Mode;
use crate::{interrupt, output, python};

/// Run an experiment at many settings, each once
///
/// PLAN.toml names the experiment, the keys and their values:
///
///   experiment = "xmp/table1"
///   only = { scheme = "xmp", subflows = 2, pattern = "permutation" }
///   [[designs]]
///   keys = { "fabric.mark" = ["5pkt", "10pkt", "20pkt"], "schemes.xmp.parameters.beta" = { from = 2, to = 8, steps = 4 } }
///
/// A point is kept as soon as it is computed. To continue a sweep that was killed, or to which points were
/// added, run the same command with its --out; only missing points are computed. A point that fails is
/// recorded as a row with its error, and the exit code is then 1. docs/sweeps.md describes the keys of a plan.
///
/// Examples:
///   tresse sweep plan.toml --out sweeps/mine
///   tresse show sweeps/mine
///   tresse sweep plan.toml --engine ray --address head:6379    # needs the Python package, and Ray
///   tresse sweep plan.toml --out sweeps/mine --shard 3/10      # a Slurm array's task; then
///   tresse sweep merge sweeps/mine
///   duckdb -c "FROM 'sweeps/mine/results.parquet'"
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// The plan of the sweep
    #[arg(value_name = "PLAN.toml", required = true)]
    plan: Option<PathBuf>,
    /// The folder; a sweep in it is continued [default: sweeps/NAME-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How many points run at a time on this machine [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    parallel: Option<u32>,
    /// Where the points are computed
    #[arg(long, value_enum, default_value = "local")]
    engine: Engine,
    /// The Ray cluster, HOST:PORT [default: the one that this machine is part of]
    #[arg(long, value_name = "HOST:PORT")]
    address: Option<String>,
    /// Compute one of N parts, in its own subfolder of DIR
    #[arg(long, value_name = "I/N", requires = "out")]
    shard: Option<Shard>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// How to show progress on stderr
    #[arg(long, value_enum, default_value = "auto")]
    progress: Mode,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Merge the records of a sweep's shards and write its results
    Merge {
        /// The --out of the shards
        dir: PathBuf,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// This machine's cores
    Local,
    /// A Ray cluster
    Ray,
}

pub fn run(args: &Args) -> Result<(), Ended> {
    if let Some(Command::Merge { dir, json }) = &args.command {
        return end(&sweep::merge(dir)?, *json);
    }
    let plan = args.plan.clone().expect("clap asks for it");
    if args.engine == Engine::Ray {
        let asked = json!({
            "plan": plan, "out": args.out, "address": args.address, "shard": args.shard.map(|own| own.to_string()),
            "json": args.json, "progress": args.progress == Mode::Auto,
        });
        return Err(python::hand_over("tresse.sweeps", "ray", &[OsString::from(asked.to_string())]).into());
    }
    let interrupt = interrupt::catch()?;
    let again = format!("tresse sweep {} --out", plan.display());
    let parallel = args.parallel.map(|n| n as usize);
    let sweep = Request { plan, out: args.out.clone(), shard: args.shard, parallel }.open()?;
    for note in sweep.notes() {
        let _ = writeln!(stderr(), "note: {note}"); // it may be closed
    }
    interrupt.keep();
    let finished = compute(&sweep, &interrupt, args.progress)?;
    if interrupt.asked() {
        let again = format!("{again} {}", finished.folder.display());
        let Standing { done, points, .. } = sweep.standing();
        let s = if points == 1 { "" } else { "s" };
        let hint = format!("hint: {done} of {points} point{s} computed and kept; `{again}` continues");
        let _ = writeln!(stderr(), "{hint}"); // it may be closed
        return Err(Failure::Interrupted.into());
    }
    end(&finished, args.json)
}

/// After this many looks, of which there are twenty a second, the bar is redrawn, or a line of JSON written.
const BAR: u32 = 4;
const LINE: u32 = 20;

fn compute(sweep: &Opened, interrupt: &Interrupt, mode: Mode) -> Result<Finished, Failure> {
    let bar = (mode == Mode::Auto && stderr().is_terminal()).then(|| {
        let bar = ProgressBar::new(sweep.standing().points as u64);
        let style = "{bar:24} {pos}/{len} points  {msg}";
        bar.set_style(ProgressStyle::with_template(style).expect("the template is constant"));
        bar
    });
    let mut looks = 0;
    let finished = sweep.compute(interrupt, &mut || {
        looks += 1;
        if let Some(bar) = bar.as_ref().filter(|_| looks % BAR == 0) {
            let now = sweep.standing();
            bar.set_position(now.done as u64);
            let left = now.left_s.map_or("…".to_owned(), |left| format!("{left:.0} s left"));
            let failed = if now.failed > 0 { format!(", {} failed", now.failed) } else { String::new() };
            bar.set_message(format!("{left}{failed}"));
        } else if mode == Mode::Json && looks % LINE == 0 {
            let now = sweep.standing();
            let line = json!({
                "schema": "tresse/sweep-progress/1", "points": now.points, "done": now.done, "failed": now.failed,
                "left_s": now.left_s,
            });
            let _ = writeln!(stderr(), "{line}"); // it may be closed
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    finished
}

/// Prints the result of a sweep, which fails if points failed.
fn end(finished: &Finished, json: bool) -> Result<(), Ended> {
    output::print(&match json {
        true => format!("{}\n", sweep::json(finished)),
        false => sweep::summary(finished),
    })?;
    Ok(sweep::check(finished)?)
}
