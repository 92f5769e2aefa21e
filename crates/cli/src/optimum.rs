//! `tresse optimum`: the rates that an experiment's flows could reach, without a simulation.

use std::io::{self, Write};
use std::time::Duration;

use indexmap::IndexSet;
use indicatif::{ProgressBar, ProgressStyle};
use tresse_lab::{OptimumCase, OptimumReport};
use tresse_workbench::optimum::{Request, Step, optimum};

use crate::ended::Ended;
use crate::interrupt;
use crate::output::print_json;
use crate::points::text;
use crate::selection::Chosen;
use crate::table::Table;
use crate::user_code::UserCode;
use crate::width::sentence;

/// Compute the optimum of an experiment's flows, without a simulation
///
/// For every case it shows the rates that maximise the utility claimed by its controller, the links that
/// limit them and their prices, and the equilibrium of the controller's fluid model; `~` marks one
/// that did not settle within its step limit. The flows are those that start at time 0, all together;
/// where all arrive later, one by one, there is no optimum.
/// `tresse explain optimum` explains the numbers.
///
/// Examples:
///   tresse optimum xmp/table1
///   tresse optimum xmp/table1 --only scheme=xmp --set fabric.k=4
///   tresse optimum xmp/table1 --only scheme=xmp --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    own: UserCode,
    /// The seed of the flows and their paths
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = tresse_workbench::run::seed)]
    seed: u64,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<(), Ended> {
    interrupt::catch()?;
    // It is drawn on a terminal only, and a large network takes minutes.
    let style = ProgressStyle::with_template("{bar:24} {pos}/{len} cases  {elapsed}");
    let bar = ProgressBar::new(0).with_style(style.expect("the template is constant"));
    bar.enable_steady_tick(Duration::from_millis(500));
    let request = Request { cases: args.chosen.cases(), own: args.own.code(), seed: args.seed };
    let report = optimum(&request, &mut |note| eprintln!("{note}"), &|step| match step {
        Step::Begins(cases) => bar.set_length(cases as u64),
        Step::Case => bar.inc(1),
    })?;
    bar.finish_and_clear();
    if args.json {
        return print_json(&report);
    }
    show(&report)?;
    Ok(())
}

fn show(report: &OptimumReport) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let (without, cases): (Vec<&OptimumCase>, Vec<&OptimumCase>) =
        report.cases.iter().partition(|case| case.flows == 0);
    if !cases.is_empty() {
        writeln!(
            out,
            "{} · seed {} · the flows that start at time 0, all together\n",
            report.experiment, report.seed
        )?;
        table(&cases, &mut out)?;
        cases.iter().try_for_each(|case| details(&mut out, case))?;
    }
    if without.is_empty() {
        return Ok(());
    }
    let why = "no flow starts at time 0, and an optimum needs flows that are active at the same time (`tresse explain optimum`)";
    if cases.is_empty() {
        return writeln!(out, "{}", sentence(&format!("{}: {why}", report.experiment), 2));
    }
    let patterns: IndexSet<String> = without.iter().map(|case| text(&case.case["pattern"])).collect();
    let patterns = patterns.into_iter().collect::<Vec<_>>().join(", ");
    writeln!(out, "\n{}", sentence(&format!("no optimum of {patterns}: {why}"), 2))
}

/// A row for each case, and what the columns mean.
fn table(cases: &[&OptimumCase], out: &mut impl Write) -> io::Result<()> {
    let axes: IndexSet<&str> = cases.iter().flat_map(|c| c.case.keys()).map(String::as_str).collect();
    let since: &[&str] = if cases.iter().any(|c| c.since_s.is_some()) { &["since, s"] } else { &[] };
    let rest = ["claim", "Mbit/s", "p10", "p90", "full links", "KKT", "fluid", "apart %", "utility %"];
    let head: Vec<&str> = axes.iter().chain(since).copied().chain(rest).collect();
    let mut table = Table::new(&head).labels(axes.len() + since.len());
    for case in cases {
        table.row(row(case, &axes, !since.is_empty()));
    }
    write!(out, "{table}")?;
    let lines: &[&str] = if cases.iter().any(|c| c.optimum.is_some() || c.fluid.is_some()) {
        &[
            "",
            "Mbit/s: optimal goodput, mean over the flows",
            "full links: links whose rate limits the optimum; KKT: by how much its conditions are violated, relative",
            "fluid: the same for the fluid model at rest. Its RTTs do not grow with queues, so where minimum windows \
             alone need more than a link carries, it shows more than the link's rate",
            "apart: its mean distance from the optimum, flow by flow",
            "utility: its loss in total utility, as a share of rate; negative if it exceeds a link",
        ]
    } else {
        &[]
    };
    for line in lines {
        writeln!(out, "{}", sentence(line, 2))?;
    }
    if cases.iter().any(|case| is_moving(case)) {
        let line = "~: the fluid model did not settle within its step limit; this is its last value";
        writeln!(out, "{}", sentence(line, 2))?;
    }
    Ok(())
}

/// Whether the fluid model's numbers are not yet at its equilibrium.
fn is_moving(case: &OptimumCase) -> bool {
    case.fluid.as_ref().is_some_and(|f| !f.settled)
}

fn row(case: &OptimumCase, axes: &IndexSet<&str>, with_since: bool) -> Vec<String> {
    let dash = || "-".to_owned();
    let axes = axes.iter().map(|&axis| case.case.get(axis).map_or_else(dash, text));
    let mbps = |v: Option<f64>| v.map_or_else(dash, |v| format!("{:.1}", v / 1e6));
    let optimal = |key: &str| case.optimum.as_ref().and_then(|o| o.goodput.get(key).copied());
    let percent = |key: &str| {
        let distance = case.fluid.as_ref().and_then(|f| f.distance.get(key));
        // No "-0.00".
        distance.map_or_else(dash, |d| format!("{:.2}", (1e4 * d).round() / 100.0 + 0.0))
    };
    let moving = |cell: String| if is_moving(case) && cell != "-" { format!("~{cell}") } else { cell };
    let rest = [
        case.claim.as_ref().map_or_else(|| "unknown".to_owned(), |claim| claim.standing.to_owned()),
        mbps(optimal("goodput_mean_bps")),
        mbps(optimal("goodput_p10_bps")),
        mbps(optimal("goodput_p90_bps")),
        case.optimum.as_ref().map_or_else(dash, |o| o.links.iter().filter(|l| l.binding).count().to_string()),
        case.optimum.as_ref().map_or_else(dash, |o| format!("{:.0e}", o.kkt_residual)),
        moving(mbps(case.fluid.as_ref().and_then(|f| f.goodput.get("goodput_mean_bps").copied()))),
        moving(percent("goodput_distance_mean")),
        moving(percent("utility_distance")),
    ];
    let since = with_since.then(|| case.since_s.map_or_else(dash, |s| s.to_string()));
    axes.chain(since).chain(rest).collect()
}

/// The most expensive links of a case, and notes on it.
fn details(out: &mut impl Write, case: &OptimumCase) -> io::Result<()> {
    const SHOWN: usize = 3;
    let subflows = match case.case["subflows"].as_u64() {
        Some(1) => " with 1 subflow".to_owned(),
        Some(n) => format!(" with {n} subflows"),
        None => String::new(),
    };
    let other = |(axis, value): (&String, _)| match &**axis {
        "scheme" | "subflows" => None,
        "pattern" | "variant" => Some(format!(", {}", text(value))),
        axis => Some(format!(", {axis} = {}", text(value))),
    };
    let since = case.since_s.map(|s| format!(", from {s} s on"));
    let others: String = case.case.iter().filter_map(other).chain(since).collect();
    writeln!(out, "\n{}{subflows}{others}:", text(&case.case["scheme"]))?;
    let line = |out: &mut dyn Write, text: String| writeln!(out, "{}", sentence(&format!("  {text}"), 4));
    if !case.left_out.is_empty() {
        let parts = case.left_out.join(", ");
        line(out, format!("left out: all flows of {parts}, because none of them starts at time 0"))?;
    }
    if let Some(claim) = &case.claim {
        let utility = claim.utility.as_deref().unwrap_or("none");
        line(out, format!("utility: {utility} (standing: {}; {})", claim.standing, claim.source))?;
        if case.no_optimum.is_none() && !claim.caveat.is_empty() {
            line(out, claim.caveat.to_owned())?;
        }
    }
    for other in &case.beside {
        let utility = other.claim.as_ref().and_then(|c| c.utility.as_deref()).unwrap_or("none");
        let plural = if other.flows == 1 { "" } else { "s" };
        let standing = other.claim.as_ref().map_or("unknown", |c| c.standing);
        let who = format!("{} ({}, {} flow{plural})", other.scheme, other.controller, other.flows);
        line(out, format!("beside it {who}: utility: {utility} (standing: {standing})"))?;
    }
    if let Some(why) = &case.no_optimum {
        let reference =
            if case.optimum.is_some() { ": the optimum is a reference, not its goal" } else { "" };
        line(out, format!("{why}{reference}"))?;
    }
    if !case.to_declare.is_empty() {
        line(
            out,
            format!(
                "its C file can declare it in CONTROLLER({}, …), with its own utility and law \
                 (docs/controllers.md), for instance:",
                case.controller
            ),
        )?;
        for declared in &case.to_declare {
            writeln!(out, "      {declared}")?;
        }
    }
    if let Some(optimum) = &case.optimum {
        line(out, format!("total utility: {:.9e}", optimum.utility))?;
        let dearest: Vec<String> = optimum
            .links
            .iter()
            .filter(|l| l.binding)
            .take(SHOWN)
            .map(|l| format!("{} to {} ({:.3e})", l.from, l.to, l.price_per_bps))
            .collect();
        if dearest.is_empty() {
            line(out, "no link is full: the flows' maximum rates limit them".to_owned())?;
        } else {
            line(out, format!("most expensive links (price per bit/s): {}", dearest.join(", ")))?;
        }
    }
    match (&case.fluid, &case.no_fluid) {
        (Some(fluid), _) if !fluid.settled => line(
            out,
            format!(
                "fluid: not settled after {:.3} s of model time; its numbers are from that time",
                fluid.model_s
            ),
        ),
        (None, Some(why)) if case.no_optimum.as_ref() != Some(why) => line(out, format!("fluid: {why}")),
        _ => Ok(()),
    }
}
