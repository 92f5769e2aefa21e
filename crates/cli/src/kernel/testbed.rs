//! `tresse testbed`: experiments on real Linux hosts.

use std::path::PathBuf;
use std::process::Command as Process;

use tresse_experiment::schema::stopping_rule::Asked;
use tresse_reproduction::Publication;
use tresse_results::State;
use tresse_workbench::Failure;
use tresse_workbench::own_code::OwnCode;
use tresse_workbench::python;
use tresse_workbench::testbed::{self, Request, Scale, SwitchKind, Truth};

use crate::ended::Ended;
use crate::output::{self, print_json};
use crate::progress::{self, Mode};
use crate::selection::Chosen;
use crate::{interrupt, report};

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
/// says so: `--scale 1/3` runs it at a third of its speed. Nothing else should run on the machine: hosts that
/// wait for a processor send less than the network would let them.
///
/// Examples:
///   tresse testbed run xmp/fig4
///   tresse testbed run holnet/table3.2 --scale 1/10
///   tresse testbed run mine.toml --only scheme=xmp --set measure.samples=100ms
///   tresse testbed run vmcc/fig7 --switch ovs --scale 1/20
///   tresse compare runs/xmp-fig4-1 runs/xmp-fig4-2     # simulated and real, case by case
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    chosen: Chosen,
    /// The first seed, for workloads and paths; the behaviour of hosts still differs from run to run
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = tresse_workbench::run::seed)]
    seed: u64,
    /// How many runs of each case: `3`, or `5%` to continue until the intervals are that narrow
    #[arg(long, value_name = "N|P%", default_value = "1")]
    replications: Asked,
    /// How fast the experiment's time passes: `1/3` runs it at a third of its rates and three times its
    /// delays, and shows its results in its own units. For experiments that are too fast for the machine;
    /// `tresse twin` finds a scale itself
    #[arg(long, value_name = "FRACTION", default_value_t = Scale::WHOLE)]
    scale: Scale,
    /// What moves packets between hosts: `emulated` is the simulator's fabric, `bridge` Linux's bridges, `ovs` Open
    /// vSwitch. The last two are for networks without loops, and have the kernel's own delays
    #[arg(long, value_name = "KIND", default_value_t = SwitchKind::Emulated)]
    switch: SwitchKind,
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

pub fn run(command: Command) -> Result<(), Ended> {
    match command {
        Command::Run(args) => experiment(args),
        Command::Host => Ok(tresse_testbed::agent::run()?),
        Command::Clean => {
            let removed = testbed::clean()?;
            let told = removed.iter().map(|name| format!("removed {name}")).collect::<Vec<_>>().join("\n");
            output::print(if told.is_empty() { "there was nothing to remove" } else { &told })
        }
    }
}

/// The program to run on a host: this program again.
pub fn agent() -> Process {
    let own = std::env::current_exe().unwrap_or_default();
    let is_python = own.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"));
    // The command of the Python package is the interpreter's.
    let mut program =
        if is_python { Process::new(python::interpreter()) } else { Process::new("/proc/self/exe") };
    program.args(if is_python { &["-m", "tresse"][..] } else { &[] }).args(["testbed", "host"]);
    program
}

/// What is said if a second signal leaves no time to remove hosts and controllers.
pub const INTERRUPTED_TWICE: &str = "error: interrupted\n\nhint: `tresse testbed clean` removes what is left of the \
                                     testbed, and so does the next one";

fn experiment(args: Args) -> Result<(), Ended> {
    testbed::ready(args.switch)?;
    let interrupt = interrupt::catch_with(INTERRUPTED_TWICE)?;
    let request = Request {
        cases: args.chosen.cases(),
        own: OwnCode { controllers: args.controller, ..OwnCode::default() },
        seed: args.seed,
        replications: args.replications,
        scale: args.scale,
        switch: args.switch,
        out: args.out,
        judge: args.judge,
    };
    let progress = progress::shown(args.progress);
    let done = testbed::run(request, agent(), &interrupt, &progress, &mut |note| eprintln!("{note}"))?;
    let report = &done.report;
    if args.json {
        print_json(report)?;
    } else {
        let out = &mut anstream::stdout().lock();
        let publication = Publication::of_loaded(&done.loaded).map_err(Failure::from)?;
        report::show(report, State::of(report, false), &done.loaded.experiment, &publication, out)?;
    }
    done.truths.iter().for_each(tell);
    report::ended(report, &interrupt)
}

/// Reports how faithful a run was.
pub fn tell(truth: &Truth) {
    let us = |ns: f64| ns / 1000.0;
    let Truth { case, seed, packets, switch, .. } = truth;
    let late = truth.late.map(|late| {
        format!(
            ", late by {:.0} us (mean), {:.0} us (99 %), {:.0} us (all), hosts answer after {:.0} us (mean)",
            us(late.mean),
            us(late.p99 as f64),
            us(late.max as f64),
            us(late.turnaround)
        )
    });
    let what = if late.is_some() { "fabric" } else { switch };
    let idle = truth.cpu_idle.map(|idle| format!(", processors {:.0} % idle", 100.0 * idle));
    eprintln!(
        "{what}, {case}, seed {seed}: {packets} packets, {:.0} a second{}{}",
        truth.packets_per_s,
        late.unwrap_or_default(),
        idle.unwrap_or_default()
    );
    if let Some(why) = truth.flag() {
        eprintln!("warning: {why}: hosts did not see exactly this network");
    }
    if let Some(scale) = truth.slower() {
        eprintln!("hint: end what else runs here, or --scale {scale}");
    }
}
