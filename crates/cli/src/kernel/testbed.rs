//! `tresse testbed`: experiments on real Linux hosts.

use std::path::PathBuf;
use std::process::Command as Process;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tresse_experiment::keys::stopping_rule::Asked;
use tresse_experiment::{Diagnostic, Loaded, Plan};
use tresse_lab::runner::On;
use tresse_lab::{Options, Report, State, Testbed, Watch};
use tresse_testbed::{How, Scale, Truth};
use tresse_units::output_file::write_whole;

use crate::chosen::Chosen;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::{self, print_json};
use crate::progress::{self, Mode};
use crate::{python, report};

/// Run experiments on real Linux hosts in network namespaces
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    Run(Args),
    /// Remove what a killed testbed left behind
    Clean,
    /// What runs on a host
    #[command(hide = true)]
    Host,
}

/// Run an experiment on real Linux hosts, as root
///
/// Every host is a network namespace with the kernel's own TCP or Multipath TCP, and the scheme's
/// controller attached as its congestion control. Between them is the simulator's fabric, driven by the
/// wall clock, with the same rates, delays, queues, marks and paths. The results are like those of any run,
/// plus `testbed.json`, which records how late the fabric delivered packets.
///
/// The fabric carries about 100,000 packets a second on a dedicated core. A faster experiment is late, and
/// says so: `--scale 1/3` runs it at a third of its speed.
///
/// Examples:
///   tresse testbed run xmp/fig4
///   tresse testbed run holnet/table3.2 --scale 1/10
///   tresse testbed run mine.toml --only scheme=xmp --set measure.samples=100ms
///   tresse compare runs/xmp-fig4-1 runs/xmp-fig4-2     # simulated and real, case by case
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    chosen: Chosen,
    /// The first seed, for workloads and paths; the behaviour of hosts still differs from run to run
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = crate::chosen::seed)]
    seed: u64,
    /// How many runs of each case: `3`, or `5%` to continue until the intervals are that narrow
    #[arg(long, value_name = "N|P%", default_value = "1")]
    replications: Asked,
    /// How fast the experiment's time passes: `1/3` runs it at a third of its rates and three times its
    /// delays, and shows its results in its own units. For experiments that are too fast for the machine
    #[arg(long, value_name = "FRACTION", default_value_t = Scale::WHOLE)]
    scale: Scale,
    /// The folder for the results [default: runs/NAME-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Load the controllers in a C file
    #[arg(long, value_name = "FILE.c")]
    controller: Vec<PathBuf>,
    /// Judge by the paper's claims even if settings have changed the experiment
    #[arg(long)]
    judge: bool,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
    /// How to show progress on stderr
    #[arg(long, value_enum, default_value = "auto")]
    progress: Mode,
}

pub fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Run(args) => experiment(args),
        Command::Host => Ok(tresse_testbed::agent::run()?),
        Command::Clean => {
            let removed = tresse_testbed::clean().map_err(|error| Failure::Machine(error.to_string()))?;
            let told = removed.iter().map(|name| format!("removed {name}")).collect::<Vec<_>>().join("\n");
            output::print(if told.is_empty() { "there was nothing to remove" } else { &told })
        }
    }
}

/// The program to run on a host: this program again.
fn agent() -> Process {
    let own = std::env::current_exe().unwrap_or_default();
    let is_python = own.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"));
    // The command of the Python package is the interpreter's.
    let mut program =
        if is_python { Process::new(python::interpreter()) } else { Process::new("/proc/self/exe") };
    program.args(if is_python { &["-m", "tresse"][..] } else { &[] }).args(["testbed", "host"]);
    program
}

/// Prepares the machine for a testbed.
pub fn ready() -> Result<(), Failure> {
    tresse_testbed::lacks().map_or(Ok(()), |lack| Err(Failure::Machine(lack)))?;
    tresse_testbed::clean().map(drop).map_err(|error| Failure::Machine(error.to_string()))
}

/// Whether all cases of a plan can run on a testbed.
pub fn check(plan: &Plan) -> Result<(), Failure> {
    let wrong = |error: tresse_testbed::Error| Failure::Input(error.to_string());
    plan.cases.iter().try_for_each(|case| tresse_testbed::check(case).map_err(wrong))
}

/// Runs a plan on real hosts; records next to the results how faithful each run was.
pub fn real(
    (loaded, plan): (Arc<Loaded>, Plan),
    options: Options,
    scale: Scale,
    mode: Mode,
    interrupt: &Interrupt,
) -> Result<(Report, Vec<Truth>), Failure> {
    let watch = Arc::new(Watch::new(&plan, &options)?);
    interrupt.ends(&watch);
    let display = progress::start(&watch, mode);
    let truths = Arc::new(Mutex::new(Vec::new()));
    let report = interrupt.run({
        let (program, truths) = (agent(), Arc::clone(&truths));
        move || {
            let told = |truth: Truth| truths.lock().unwrap_or_else(PoisonError::into_inner).push(truth);
            let on: &On<'_> = &|case, seed, stop, progress, measured| {
                let how = How { program: &program, scale };
                tresse_testbed::run(case, seed, how, stop, progress, measured, told)
            };
            let testbed = Testbed { scale: scale.to_string() };
            Ok(tresse_reproduction::run_on(&loaded, &plan, &options, &watch, testbed, on)?)
        }
    });
    display.finish();
    let report = report?;
    let truths = std::mem::take(&mut *truths.lock().unwrap_or_else(PoisonError::into_inner));
    let told = json!({ "schema": "tresse/testbed/2", "runs": truths });
    let path = PathBuf::from(&report.out).join("testbed.json");
    write_whole(&path, format!("{told}\n")).map_err(|e| Diagnostic::io("cannot be written", path, e))?;
    Ok((report, truths))
}

fn experiment(args: Args) -> Result<(), Failure> {
    ready()?;
    let interrupt = Interrupt::catch()?;
    for file in &args.controller {
        tresse_controllers::load(file)?;
    }
    let (loaded, plan) = args.chosen.load_telling(&mut |note| eprintln!("{note}"))?;
    check(&plan)?;
    let options = Options {
        profile: args.chosen.profile(),
        seed: args.seed,
        replications: args.replications.over(&loaded.experiment.replications),
        parallel: 1,
        threads: 1,
        out: args.out,
        judge: args.judge,
        figure: args.chosen.figure(),
    };
    let loaded = Arc::new(loaded);
    let (report, truths) = real((Arc::clone(&loaded), plan), options, args.scale, args.progress, &interrupt)?;
    if args.json {
        print_json(&report)?;
    } else {
        report::show(&report, State::of(&report, false), &loaded.experiment, &mut anstream::stdout().lock())?;
    }
    truths.iter().for_each(tell);
    report::ended(&report, &interrupt)
}

/// Reports how faithful a run was.
pub fn tell(truth: &Truth) {
    let us = |ns: f64| ns / 1000.0;
    let Truth { case, seed, packets, .. } = truth;
    eprintln!(
        "fabric, {case}, seed {seed}: {packets} packets, {:.0} a second, late by {:.0} us (mean), {:.0} us (99 %), \
         {:.0} us (all)",
        truth.packets_per_s,
        us(truth.late_mean_ns),
        us(truth.late_p99_ns as f64),
        us(truth.late_max_ns as f64)
    );
    if let Some(why) = truth.flag() {
        eprintln!("warning: {why}: hosts did not see exactly this network");
    }
    if let Some(scale) = truth.slower() {
        eprintln!("hint: --scale {scale}");
    }
}
