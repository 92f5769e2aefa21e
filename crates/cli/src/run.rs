//! `tresse run`: every case of an experiment, as a table or as JSON.

use std::io::{self, Write};
use std::iter;
use std::path::PathBuf;
use std::sync::Arc;

use tresse_experiment::keys::Experiment;
use tresse_experiment::keys::stopping_rule::Asked;
use tresse_lab::{CaseResult, Options, Report, Status, Watch};

use crate::chosen::Chosen;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::print_json;
use crate::progress::{self, Mode};
use crate::table::Table;
use crate::{claims, columns, memory, result_tables};

/// Run every case of an experiment and show its table
///
/// EXPERIMENT is a built-in name (`tresse list experiments`) or a TOML file. The published numbers
/// stand beside ours where there are any. Everything that was measured goes to a folder, by default
/// `runs/NAME-N`; `tresse explain results` says what is in it.
///
/// Examples:
///   tresse run xmp/table1
///   tresse run xmp/table1 --only scheme=xmp,dctcp --replications 3
///   tresse run xmp/table1 --only pattern=random --replications 5%
///   tresse run xmp/table1 --set fabric.mark=20pkt --set schemes.xmp.parameters.beta=6
///   tresse run xmp/table1 --set measure.samples=10ms
///   tresse run xmp/table1 --profile full
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    chosen: Chosen,
    /// Compile and load a controller of your own; its name can then be set as a scheme's controller
    #[arg(long, value_name = "FILE.c")]
    controller: Vec<PathBuf>,
    /// The seed of the first replication
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many seeds to run, SEED, SEED+1, …; or as many as it takes until the 95 % interval of the goodput, or of
    /// what the experiment says, is this narrow: half of it, as a share of the mean [default: as the experiment says]
    #[arg(long, value_name = "N|P%")]
    replications: Option<Asked>,
    /// How many cases run at a time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    parallel: Option<u16>,
    /// The folder for the results; must be new or empty [default: runs/NAME-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
    /// How to show progress on stderr
    #[arg(long, value_enum, default_value = "auto")]
    progress: Mode,
}

pub fn run(args: Args) -> Result<(), Failure> {
    let interrupt = Interrupt::catch()?;
    let mut own = Vec::new();
    for file in &args.controller {
        for controller in tresse_controllers::load(file)? {
            eprintln!("loaded controller {} from {}", controller.name(), file.display());
            own.push(controller.name());
        }
    }
    let (loaded, plan) = args.chosen.load()?;
    for name in own {
        if !plan
            .cases
            .iter()
            .flat_map(|case| &case.bound_schemes)
            .any(|c| c.controllers.controller().name() == name)
        {
            eprintln!(
                "warning: no case uses the controller {name}\nhint: `--set schemes.{name}.controller={name} \
                 --set schemes.{name}.subflows=2` makes a scheme of it"
            );
        }
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let said = &loaded.experiment.replications;
    let options = Options {
        profile: args.chosen.profile(),
        seed: args.seed,
        replications: args.replications.map_or_else(|| said.clone(), |asked| asked.over(said)),
        parallel: args.parallel.map_or(cores, usize::from),
        out: args.out.unwrap_or_else(|| tresse_lab::default_out(&loaded.source.name)),
    };
    for (path, full, quick) in plan.cuts(&loaded) {
        eprintln!("quick profile: {path} = {quick} (full: {full})");
    }

    memory::check(&plan, &options)?;
    let watch = Arc::new(Watch::new(&plan, &options)?);
    interrupt.ends(&watch);
    let display = progress::start(&watch, args.progress);
    let loaded = Arc::new(loaded);
    let report = interrupt.run({
        let loaded = Arc::clone(&loaded);
        move || Ok(tresse_reproduction::run(&loaded, &plan, &options, &watch)?)
    });
    display.finish();
    let report = report?;
    if args.json {
        print_json(&report)?;
    } else {
        show(&report, &loaded.experiment)?;
    }
    if report.status == Status::Complete {
        return Ok(());
    }
    if !report.errors.is_empty() {
        let errors = report.errors.join("\n");
        return Err(Failure::Input(format!("partial, what was measured is in {}: {errors}", report.out)));
    }
    eprintln!("partial: interrupted before every flow had finished; what was measured is in {}", report.out);
    Err(Failure::Interrupted)
}

fn show(report: &Report, experiment: &Experiment) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let flows: f64 =
        report.cases.iter().map(|c| c.metrics["flows"].value()).fold(0.0, |sum, flows| sum + flows);
    if report.status != Status::Complete {
        let end = if report.errors.is_empty() { "was interrupted" } else { "gave up" };
        writeln!(out, "PARTIAL: only the flows that had finished when the run {end}\n")?;
    }
    writeln!(
        out,
        "{} · {} profile · {} · {flows} flows · {:.0} million packet-hops in {:.1} s\n",
        report.experiment,
        report.profile,
        match report.replications {
            1 => format!("seed {}", report.seed),
            n => format!("seeds {} to {}", report.seed, report.seed + u64::from(n) - 1),
        },
        report.packet_hops as f64 / 1e6,
        report.wall_s
    )?;
    let named = experiment.measure.table.as_ref();
    match named {
        Some(metrics) => write!(out, "{}", columns::of(&report.cases, metrics))?,
        None => write!(out, "{}", usual(&report.cases))?,
    }
    for below in
        [result_tables::groups(&report.cases), result_tables::jobs(&report.cases)].into_iter().flatten()
    {
        write!(out, "\n{below}")?;
    }
    let is_shown = |metric: &str| named.is_none_or(|names| names.iter().any(|n| n == metric));
    let shows_group = |c: &CaseResult| c.published_by.contains_key("group");
    if report.cases.iter().any(|c| shows_group(c) || c.published.keys().any(|m| is_shown(m))) {
        writeln!(out, "\npaper: {}", experiment.published.source)?;
    }
    if let Some(case) = report.cases.iter().find(|c| c.ci95.keys().any(|m| is_shown(m))) {
        writeln!(out, "±95 %: half the confidence interval of the mean, over {}", case.ci95_over)?;
    }
    for wide in &report.too_wide {
        writeln!(out, "not enough seeds: {wide}")?;
    }
    if named.is_none() {
        explain_optimum(&report.cases, &mut out)?;
    }
    for line in result_tables::offered(&report.cases) {
        writeln!(out, "{line}")?;
    }
    tell(&mut out, "score of path sharing", report.cases.iter().map(|c| &c.no_sharing_score))?;
    tell(&mut out, "convergence times", report.cases.iter().map(|c| &c.no_convergence))?;
    if !report.claims.is_empty() {
        writeln!(out)?;
        claims::show(&report.claims, &mut out)?;
    }
    writeln!(out, "\nresults: {}  digest: {}", report.out, report.digest)
}

/// The table of an experiment that names no metrics.
fn usual(cases: &[CaseResult]) -> Table {
    let rest = [
        "Mbit/s",
        "±95 %",
        "paper",
        "ratio",
        "optimum",
        "apart %",
        "utility %",
        "p10",
        "p90",
        "RTOs",
        "resent",
        "flows",
    ];
    let mut table = Table::new(&[&axes(cases)[..], &rest].concat());
    for case in cases {
        table.row(row(case));
    }
    table
}

/// What the usual table's columns of the optimum mean, and why some are empty.
fn explain_optimum(cases: &[CaseResult], out: &mut impl Write) -> io::Result<()> {
    if cases.iter().any(|c| !c.optimum.is_empty()) {
        writeln!(
            out,
            "optimum: mean goodput that the controller claims to reach, while all flows of a round are there\n\
             apart: mean distance of the flows from it; late flows may be above it (`tresse explain optimum`)\n\
             utility: their loss of total utility, as a share of rate"
        )?;
    }
    tell(out, "optimum", cases.iter().map(|c| &c.no_optimum))
}

/// Why cases have no such thing; several have the same reason.
fn tell<'a>(
    out: &mut impl Write,
    what: &str,
    reasons: impl Iterator<Item = &'a Option<String>>,
) -> io::Result<()> {
    let mut reasons: Vec<&String> = reasons.flatten().collect();
    reasons.dedup();
    reasons.into_iter().try_for_each(|why| writeln!(out, "no {what}: {why}"))
}

/// A scheme with its number of subflows, if it has one: `xmp-2`.
fn scheme(case: &CaseResult) -> String {
    let name = case.case["scheme"].as_str().unwrap_or_default();
    match case.case["subflows"].as_u64() {
        Some(n) => format!("{name}-{n}"),
        None => name.to_owned(),
    }
}

/// The heads of the columns that tell cases apart; see [`point`].
pub(crate) fn axes(cases: &[CaseResult]) -> Vec<&'static str> {
    let variant = cases.iter().any(|c| c.case.contains_key("variant")).then_some("variant");
    ["scheme", "pattern"].into_iter().chain(variant).collect()
}

/// Where a case stands: its scheme with its number of subflows, its pattern, and its variant if the experiment has some.
pub(crate) fn point(case: &CaseResult) -> Vec<String> {
    let others =
        ["pattern", "variant"].into_iter().filter_map(|axis| Some(case.case.get(axis)?.as_str()?.to_owned()));
    iter::once(scheme(case)).chain(others).collect()
}

fn row(case: &CaseResult) -> Vec<String> {
    let mbps = |v: Option<f64>| v.map_or_else(|| "-".to_owned(), |v| format!("{:.1}", v / 1e6));
    let metric = |key: &str| case.metrics.get(key).map(|m| m.value());
    let mean = metric("goodput_mean_bps");
    let published = case.published.get("goodput_mean_bps").copied();
    let ratio = mean.zip(published).map_or_else(|| "-".to_owned(), |(m, p)| format!("{:.2}", m / p));
    // What rounds to nothing has no sign.
    let percent = |key: &str| {
        let distance = case.optimum.get(key);
        distance.map_or_else(|| "-".to_owned(), |d| format!("{:.1}", (1e3 * d).round() / 10.0 + 0.0))
    };
    let count = |key: &str| format!("{:.0}", case.metrics[key].value());
    let rest = [
        mbps(mean),
        mbps(case.ci95.get("goodput_mean_bps").copied()),
        mbps(published),
        ratio,
        mbps(case.optimum.get("goodput_mean_bps").copied()),
        percent("goodput_distance_mean"),
        percent("utility_distance_mean"),
        mbps(metric("goodput_p10_bps")),
        mbps(metric("goodput_p90_bps")),
        count("timeouts"),
        count("retransmissions_pkts"),
        count("flows"),
    ];
    point(case).into_iter().chain(rest).collect()
}
