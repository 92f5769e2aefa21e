//! `tresse testbed`: experiments on real Linux hosts.

use std::path::PathBuf;
use std::process::Command as Process;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tresse_experiment::keys::stopping_rule::Asked;
use tresse_lab::runner::On;
use tresse_lab::{Options, State, Watch};
use tresse_testbed::Truth;

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
    /// Remove what a testbed that was killed has left behind
    Clean,
    /// What runs in a host
    #[command(hide = true)]
    Host,
}

/// Run an experiment on real Linux hosts, as root
///
/// Every host is a network namespace with the kernel's own TCP or Multipath TCP, and the scheme's
/// controller attached as its congestion control. Between them is the simulator's fabric, turned by the
/// wall clock: the same rates, delays, queues, marks and paths. The results are those of any run, with
/// `testbed.json` beside them: how late the fabric delivered packets.
///
/// The fabric carries some 100,000 packets a second on a core of its own; a faster experiment is late,
/// and says so. Not there yet: path managers that decide, datagrams, schemes of several numbers of
/// subflows in one case.
///
/// Examples:
///   tresse testbed run xmp/fig4
///   tresse testbed run mine.toml --only scheme=xmp --set measure.samples=100ms
///   tresse compare runs/xmp-fig4-1 runs/xmp-fig4-2     # simulated and real, case by case
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    chosen: Chosen,
    /// The first seed: of workloads and paths; what hosts do differs from run to run
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many runs of each case: `3`, or `5%` to go on until the intervals are that wide
    #[arg(long, value_name = "N|P%", default_value = "1")]
    replications: Asked,
    /// The folder of results [default: runs/NAME-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Load the controllers of a C file
    #[arg(long, value_name = "FILE.c")]
    controller: Vec<PathBuf>,
    /// Judge the paper's claims although settings have changed what they are of
    #[arg(long)]
    judge: bool,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
    /// How progress is shown on stderr
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
            output::print(if told.is_empty() { "nothing is left of a testbed" } else { &told })
        }
    }
}

/// What runs in a host: this program again.
fn agent() -> Process {
    let own = std::env::current_exe().unwrap_or_default();
    let is_python = own.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"));
    // The command of the Python package is the interpreter's.
    let mut program =
        if is_python { Process::new(python::interpreter()) } else { Process::new("/proc/self/exe") };
    program.args(if is_python { &["-m", "tresse"][..] } else { &[] }).args(["testbed", "host"]);
    program
}

/// A fabric of which 1 % of the packets are later than this, us, is not the one of the experiment.
const LATE: f64 = 200.0;

fn experiment(args: Args) -> Result<(), Failure> {
    tresse_testbed::lacks().map_or(Ok(()), |lack| Err(Failure::Machine(lack)))?;
    let interrupt = Interrupt::catch()?;
    tresse_testbed::clean().map_err(|error| Failure::Machine(error.to_string()))?;
    for file in &args.controller {
        tresse_controllers::load(file)?;
    }
    let (loaded, plan) = args.chosen.load_telling(&mut |note| eprintln!("{note}"))?;
    for case in &plan.cases {
        tresse_testbed::check(case).map_err(|error| Failure::Input(error.to_string()))?;
    }
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
    let program = agent();
    let watch = Arc::new(Watch::new(&plan, &options)?);
    interrupt.ends(&watch);
    let display = progress::start(&watch, args.progress);
    let (loaded, truths) = (Arc::new(loaded), Arc::new(Mutex::new(Vec::new())));
    let report = interrupt.run({
        let (loaded, truths) = (Arc::clone(&loaded), Arc::clone(&truths));
        move || {
            let told = |seed: u64, truth: Truth| {
                truths.lock().unwrap_or_else(PoisonError::into_inner).push((seed, truth));
            };
            let on: &On<'_> = &|case, seed, stop, progress, measured| {
                tresse_testbed::run(case, seed, &program, stop, progress, measured, |truth| told(seed, truth))
            };
            Ok(tresse_reproduction::run_on(&loaded, &plan, &options, &watch, on)?)
        }
    });
    display.finish();
    let report = report?;
    let truths = truths.lock().unwrap_or_else(PoisonError::into_inner);
    let of = |(seed, own): &(u64, Truth)| {
        let [half, most, worst] = own.late_ns;
        json!({
            "seed": seed, "packets": own.packets, "refused": own.refused,
            "late_p50_ns": half, "late_p99_ns": most, "late_max_ns": worst,
        })
    };
    let told = json!({ "schema": "tresse/testbed/1", "runs": truths.iter().map(of).collect::<Vec<_>>() });
    std::fs::write(PathBuf::from(&report.out).join("testbed.json"), format!("{told}\n"))?;
    if args.json {
        print_json(&report)?;
    } else {
        report::show(&report, State::of(&report, false), &loaded.experiment, &mut anstream::stdout().lock())?;
    }
    for (seed, truth) in &*truths {
        let [half, most, worst] = truth.late_ns.map(|late| late as f64 / 1000.0);
        eprintln!(
            "fabric, seed {seed}: {} packets, late by {half:.0} us (half), {most:.0} us (99 %), {worst:.0} us (all)",
            truth.packets
        );
        if most > LATE {
            eprintln!(
                "warning: the fabric was late: what hosts saw was another network\nhint: an experiment with lower rates, \
                 or a machine with a core for the fabric alone"
            );
        }
    }
    Ok(())
}
