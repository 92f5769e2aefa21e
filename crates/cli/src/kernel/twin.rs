//! `tresse twin`: an experiment in simulation and on real hosts, side by side.

mod rows;
mod sampled;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use tresse_experiment::Diagnostic;
use tresse_experiment::keys::stopping_rule::Asked;
use tresse_lab::{Folder, Options, Report, Watch};
use tresse_report::twin::{FILE, SIDES};
use tresse_testbed::{Scale, Truth};
use tresse_units::output_file::write_whole;

use super::testbed;
use crate::chosen::Chosen;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::{pretty, print_json};
use crate::progress::{self, Mode};
use crate::table::Table;
use rows::{Target, TwinCase};

/// Run an experiment in simulation and on real hosts, side by side
///
/// Needs root. The simulation uses the profile `linux` without offloads, the testbed Linux itself (`tresse testbed
/// run`). Every rate, share, window, RTT, queue, count of marks and losses, and completion time is shown for both,
/// with its 95 % interval over seeds, and the difference.
///
/// Three of these have targets: rates within 10 %, shares within 5 percentage points, queues within 2 packets. The
/// exit code is 1 if a target is missed.
///
/// The folder has `simulated` and `real`, each a run like any other, and `twin.json`;
/// `tresse report` makes one page of it.
///
/// Examples:
///   tresse twin xmp/fig4 --only scheme=beta-4
///   tresse twin mine.toml --scale 1/4 --replications 5 --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    chosen: Chosen,
    /// The first seed
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = crate::chosen::seed)]
    seed: u64,
    /// How many runs of each case on either side: `3`, or `5%` to continue until the intervals are that narrow
    #[arg(long, value_name = "N|P%", default_value = "3")]
    replications: Asked,
    /// How fast the experiment's time passes on the real hosts [default: so that they exchange about 30,000
    /// packets a second, going by the simulation]
    #[arg(long, value_name = "FRACTION")]
    scale: Option<Scale>,
    /// The folder for the results [default: runs/twin-NAME-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Load the controllers in a C file
    #[arg(long, value_name = "FILE.c")]
    controller: Vec<PathBuf>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
    /// How to show progress on stderr
    #[arg(long, value_enum, default_value = "auto")]
    progress: Mode,
}

/// What `tresse twin --json` prints, and `twin.json` contains.
#[derive(Debug, Serialize)]
struct Twin {
    /// `tresse/twin/1`.
    schema: &'static str,
    experiment: String,
    profile: String,
    seed: u64,
    /// How many seeds each side has.
    replications: u32,
    /// How fast the experiment's time passed on the real hosts.
    scale: String,
    /// The kernel of the real hosts.
    kernel: String,
    /// How faithful the testbed was, run by run.
    testbed: Vec<Truth>,
    cases: Vec<TwinCase>,
}

/// Hosts like those of a testbed: Linux, one packet at a time, without the queueing discipline that paces, and with
/// our controllers, which cut at once after a mark (bpf/controller.bpf.c) whereas the kernel's own go through PRR.
const HOSTS: [&str; 6] = [
    "transport.scheduler=linux",
    "transport.reduction=immediate",
    "transport.pacing=off",
    "transport.gro=1pkt",
    "transport.tso=1pkt",
    "transport.profile=linux",
];

/// Packets per second that a small machine carries well.
const WELL: f64 = 30_000.0;

pub fn run(args: Args) -> Result<(), Failure> {
    testbed::ready()?;
    let interrupt = Interrupt::catch()?;
    for file in &args.controller {
        tresse_controllers::load(file)?;
    }
    let chosen = HOSTS.iter().fold(args.chosen, |chosen, setting| chosen.and_set(setting));
    let (loaded, plan) = chosen.load_telling(&mut |note| eprintln!("{note}"))?;
    testbed::check(&plan)?;
    let folder = match &args.out {
        Some(out) => Folder::hold_empty(out)?,
        None => Folder::next_below(Path::new("runs"), &format!("twin-{}", loaded.source.name))?,
    };
    let options = |side: &str| Options {
        profile: chosen.profile(),
        seed: args.seed,
        replications: args.replications.over(&loaded.experiment.replications),
        parallel: 1,
        threads: 1,
        out: Some(folder.path().join(side)),
        judge: false,
        figure: chosen.figure(),
    };
    let [simulation, real] = SIDES.map(options);
    let loaded = Arc::new(loaded);

    let watch = Arc::new(Watch::new(&plan, &simulation)?);
    interrupt.ends(&watch);
    let display = progress::start(&watch, args.progress);
    let simulated = interrupt.run({
        let (loaded, plan) = (Arc::clone(&loaded), plan.clone());
        move || Ok(tresse_reproduction::run(&loaded, &plan, &simulation, &watch)?)
    });
    display.finish();
    let simulated = simulated?;
    if interrupt.asked() {
        return Err(Failure::Interrupted);
    }
    let scale = args.scale.unwrap_or_else(|| Scale::for_load(load(&simulated), WELL));
    eprintln!("simulated: {:.0} packets a second; real hosts: --scale {scale}", load(&simulated));
    let (real, truths) = testbed::real((loaded, plan), real, scale, args.progress, &interrupt)?;
    if interrupt.asked() {
        return Err(Failure::Interrupted);
    }

    let twin = Twin {
        schema: "tresse/twin/1",
        experiment: simulated.experiment.clone(),
        profile: simulated.profile.clone(),
        seed: args.seed,
        replications: real.replications,
        scale: scale.to_string(),
        kernel: kernel(),
        testbed: truths,
        cases: rows::compare(&simulated, &real)?,
    };
    let path = folder.path().join(FILE);
    write_whole(&path, pretty(&twin) + "\n").map_err(|e| Diagnostic::io("cannot be written", path, e))?;
    if args.json {
        print_json(&twin)?;
    } else {
        twin.show(folder.path())?;
    }
    twin.testbed.iter().for_each(testbed::tell);
    let missed = twin.targets().filter(|target| !target.holds).count();
    match missed {
        0 => Ok(()),
        _ => Err(Failure::Check(format!("{missed} of {} targets were missed", twin.targets().count()))),
    }
}

/// Packets that hosts receive per second in both directions, in the case with the most; every second packet has an
/// ACK.
fn load(simulated: &Report) -> f64 {
    let of = |case: &tresse_lab::CaseResult| {
        let metric = |name: &str| case.metrics.get(name).map_or(0.0, |metric| metric.value());
        metric("delivered_bytes") / 1448.0 * 1.5 / metric("simulated_s").max(1e-9)
    };
    simulated.cases.iter().map(of).fold(0.0, f64::max)
}

fn kernel() -> String {
    let version = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("Linux {}", version.trim())
}

impl Twin {
    fn targets(&self) -> impl Iterator<Item = &Target> {
        self.cases.iter().flat_map(|case| &case.rows).filter_map(|row| row.target.as_ref())
    }

    fn show(&self, folder: &Path) -> Result<(), Failure> {
        let mut table =
            Table::new(&["of", "quantity", "simulated", "±95 %", "real", "±95 %", "difference", "target"]);
        for case in &self.cases {
            table.section(case.label.clone());
            for row in &case.rows {
                table.row(row.cells());
            }
        }
        use std::io::Write as _;
        let mut out = anstream::stdout().lock();
        writeln!(out, "{table}")?;
        let held = self.targets().filter(|target| target.holds).count();
        writeln!(out, "targets: {held} of {} hold", self.targets().count())?;
        writeln!(out, "results: {}", folder.display())?;
        writeln!(out, "page: tresse report {}", folder.display())?;
        Ok(())
    }
}
