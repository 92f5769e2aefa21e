//! `tresse twin`: an experiment in simulation and on real hosts, side by side.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tresse_experiment::schema::stopping_rule::Asked;
use tresse_testbed::{Scale, SwitchKind};
use tresse_workbench::own_code::OwnCode;
use tresse_workbench::twin::{self, Number, Request, Row, Twin, Verdicts};

use super::testbed;
use crate::ended::Ended;
use crate::interrupt;
use crate::output::print_json;
use crate::progress::{self, Mode};
use crate::selection::Chosen;
use crate::table::Table;

/// Run an experiment in simulation and on real hosts, side by side
///
/// Needs root. The simulation uses the profile `linux` without offloads, the testbed Linux itself (`tresse testbed
/// run`). Every rate, share, window, RTT, queue, count of marks and losses, and completion time is shown for both,
/// with its 95 % interval over seeds, and the difference.
///
/// Targets: rates, medians of completion times and job completion times within 10 %, their 99th percentiles and CE marks
/// within 20 %, shares within 5 percentage points, queues within 2 packets or 10 %. A target holds if all of the
/// difference's 95 % interval is within it, is missed if none of it is, and is undecided otherwise: more
/// `--replications` decide it. Two schemes that are 10 % apart in the simulation are an order, which holds if real
/// hosts have it too. The exit code is 1 if a target is missed or an order is the other way round.
///
/// The simulator commits itself first: `predictions.json` is written before a real host starts. The folder also has
/// `simulated` and `real`, each a run like any other, and `twin.json`; `tresse report` makes one page of it.
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
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = tresse_workbench::run::seed)]
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

pub fn run(args: Args) -> Result<(), Ended> {
    tresse_workbench::testbed::ready(SwitchKind::Emulated)?;
    let interrupt = interrupt::catch_with(testbed::INTERRUPTED_TWICE)?;
    let request = Request {
        cases: args.chosen.cases(),
        own: OwnCode { controllers: args.controller, ..OwnCode::default() },
        seed: args.seed,
        replications: args.replications,
        scale: args.scale,
        out: args.out,
    };
    let progress = progress::shown(args.progress);
    let tell = &mut |note| eprintln!("{note}");
    let (twin, folder) = twin::run(request, testbed::agent(), &interrupt, &progress, tell)?;
    if args.json {
        print_json(&twin)?;
    } else {
        show(&twin, &folder)?;
    }
    twin.testbed.iter().for_each(testbed::tell);
    Ok(twin.check()?)
}

fn show(twin: &Twin, folder: &Path) -> io::Result<()> {
    let mut table =
        Table::new(&["of", "quantity", "simulated", "±95 %", "real", "±95 %", "difference", "target"]);
    for case in &twin.cases {
        table.section(case.label.clone());
        for row in &case.rows {
            table.row(cells(row));
        }
    }
    let mut out = anstream::stdout().lock();
    writeln!(out, "{table}")?;
    let targets: Verdicts = twin.targets().map(|target| target.holds).collect();
    writeln!(
        out,
        "targets: {} hold, {} missed, {} undecided",
        targets.held, targets.missed, targets.undecided
    )?;
    let orders: Verdicts = twin.orders.iter().map(|order| order.holds).collect();
    writeln!(
        out,
        "orders of schemes: {} hold, {} the other way round, {} undecided",
        orders.held, orders.missed, orders.undecided
    )?;
    for order in twin.orders.iter().filter(|order| order.holds == Some(false)) {
        writeln!(out, "  {} of {}: not above that of {}", order.quantity, order.more, order.less)?;
    }
    writeln!(out, "results: {}", folder.display())?;
    writeln!(out, "page: tresse report {}", folder.display())
}

/// A row of the table.
fn cells(row: &Row) -> Vec<String> {
    let unit = if row.unit.is_empty() { String::new() } else { format!(" ({})", row.unit) };
    let half = |number: Number| number.ci95.map_or("-".to_owned(), figure);
    let difference = match row.relative {
        _ if row.absolute => format!("{:+.1}", row.difference),
        Some(part) => format!("{:+.1} %", part * 100.0),
        None => "-".to_owned(),
    };
    let target = row.target.as_ref().map_or(String::new(), |target| {
        let verdict = match target.holds {
            Some(true) => "holds",
            Some(false) => "missed",
            None => "undecided",
        };
        format!("{} {verdict}", target.within)
    });
    vec![
        row.of.clone(),
        format!("{}{unit}", row.quantity),
        figure(row.simulated.mean),
        half(row.simulated),
        figure(row.real.mean),
        half(row.real),
        difference,
        target,
    ]
}

fn figure(value: f64) -> String {
    match value.abs() {
        own if own >= 1000.0 => format!("{value:.0}"),
        own if own >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
