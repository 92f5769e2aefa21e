//! `tresse tune`: finds the best settings in a space of settings. The Python package does the work.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::ended::Ended;
use crate::python;

/// Find the best scheme and settings for a fabric and a workload
///
/// PLAN.toml gives the experiment, the space of settings, what to minimise or maximise, with floors and
/// ceilings, and the budget. The answer comes with its evidence: the Pareto front of settings, run again
/// under seeds that the search has not seen, with 95 % intervals, next to the unchanged experiment;
/// everything that was tried; the command that repeats the best setting; and a page of the runs.
///
/// The search is Optuna's (TPE for one objective, NSGA-II for several). Bad settings are abandoned
/// after a few seeds. With the --out of an earlier search nothing is computed twice. Needs the
/// Python package with its extra `tune`: docs/python.md.
///
/// Examples:
///   tresse tune mine.toml
///   tresse tune mine.toml --out tunings/mine-1 --trials 200      # continues it
///   tresse tune mine.toml --json | jq .front
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The plan of the search
    #[arg(value_name = "PLAN.toml")]
    plan: PathBuf,
    /// The folder; a search in it is continued [default: tunings/NAME-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How many settings to try, overriding the plan
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    trials: Option<u32>,
    /// How many runs execute at a time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    parallel: Option<u32>,
    /// Search by rounds, and run the best third by packets; or packets alone, overriding the plan [default: none]
    #[arg(long, value_name = "rounds|none", value_parser = ["rounds", "none"])]
    screen: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<(), Ended> {
    let mut arguments: Vec<OsString> = Vec::new();
    let mut option = |name: &str, value: Option<OsString>| {
        if let Some(value) = value {
            arguments.extend([OsString::from(name), value]);
        }
    };
    option("--out", args.out.clone().map(PathBuf::into_os_string));
    option("--trials", args.trials.map(|n| n.to_string().into()));
    option("--parallel", args.parallel.map(|n| n.to_string().into()));
    option("--screen", args.screen.clone().map(OsString::from));
    if args.json {
        arguments.push("--json".into());
    }
    // After `--` a name that begins with a dash is not an option.
    arguments.extend(["--".into(), args.plan.clone().into_os_string()]);
    Err(python::hand_over("tresse.tuning", "tune", &arguments).into())
}
