//! `tresse check`: an experiment before it is run.

use std::io::{self, Write};

use tresse_lab::forecast::{Forecast, Work, about, about_hops};
use tresse_units::{Bytes, Rate};
use tresse_workbench::Failure;
use tresse_workbench::check::{Checked, Network, check};

use crate::ended::Ended;
use crate::interrupt;
use crate::output::print_json;
use crate::selection::Chosen;
use crate::user_code::UserCode;
use crate::width::sentence;

/// Check an experiment without running it, and whether it compares what it seems to
///
/// It shows how many cases there are and about how long they take here, thresholds against the bandwidth-delay
/// product, and what else differs between the schemes: hosts, packets, timeouts, ACKs, keys that do not reach a
/// scheme. The exit code is 1 if something does. docs/fair.md says what each has been worth.
///
/// Examples:
///   tresse check mine.toml
///   tresse check mine.toml --set fabric.mark=30kB
///   tresse check today/generations --only scheme=dctcp,xmp --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    own: UserCode,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<(), Ended> {
    interrupt::catch()?;
    let checked = check(&args.chosen.cases(), &args.own.code())?;
    match args.json {
        true => print_json(&checked)?,
        false => show(&checked)?,
    }
    match checked.differences.is_empty() {
        true => Ok(()),
        false => {
            Err(Failure::Check("not only the schemes differ: see the list (docs/fair.md)".to_owned()).into())
        }
    }
}

fn show(checked: &Checked) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let Checked { experiment, cases, .. } = checked;
    writeln!(out, "{experiment}: {cases} {}", if *cases == 1 { "case" } else { "cases" })?;
    writeln!(out, "{}", sentence(&of_work(&checked.work, checked.forecast.as_ref()), 2))?;
    for network in &checked.networks {
        writeln!(out, "{}", sentence(&of_network(network), 2))?;
    }
    for note in checked.notes.iter().chain(&checked.differences) {
        writeln!(out, "{}", sentence(&format!("- {}", note.trim_start_matches("note: ")), 2))?;
    }
    Ok(())
}

/// How much there is to do, and how long it takes.
fn of_work(work: &Work, forecast: Option<&Forecast>) -> String {
    let Work { cases, seeds, most_seeds, flows, simulated_s } = work;
    let is_open = most_seeds > seeds;
    let seeds = match seeds {
        _ if is_open => format!(" under {seeds} to {most_seeds} seeds"),
        1 => String::new(),
        _ => format!(" under {seeds} seeds"),
    };
    let least = if is_open { "at least " } else { "" };
    let time = simulated_s.map_or_else(String::new, |s| format!(", {s} s of simulated time under each seed"));
    let cases = format!("{cases} {}", if *cases == 1 { "case" } else { "cases" });
    let computed = format!("to compute: {cases}{seeds}, about {flows} flows{time}");
    match forecast {
        None => format!("{computed}; how long that takes is not known"),
        Some(Forecast { packet_hops, wall_s, tried_cases, tried_s }) => format!(
            "{computed}, {}: {least}{} here, estimated from {tried_s:.1} s of {tried_cases}; it may be half or twice that",
            about_hops(*packet_hops),
            about(*wall_s)
        ),
    }
}

fn of_network(network: &Network) -> String {
    let Network { variant, hosts, base_rtt_ns, rate_bps, bdp_bytes, .. } = network;
    let Network { mark_bytes, mark_over_bdp_ratio, marked_by, bottleneck_bps, .. } = network;
    let of = variant.as_ref().map_or_else(String::new, |name| format!("{name}: "));
    let both = mark_over_bdp_ratio.iter().zip(mark_bytes.values());
    let marks = both.filter_map(|((layer, ratio), bytes)| {
        let layer = if layer == "all" { String::new() } else { format!(", {layer}") };
        Some(format!("{:.2} BDP ({}{layer})", (*ratio)?, Bytes((*bytes)?)))
    });
    let marks: Vec<String> = marks.collect();
    let marks = match (&marks[..], &marked_by[..]) {
        ([], []) => "switches do not mark".to_owned(),
        ([], others) => format!(
            "marks as {} say",
            others.iter().map(|own| format!("`{own}`")).collect::<Vec<_>>().join(", ")
        ),
        (marks, []) => format!("K = {}", marks.join(", ")),
        (marks, others) => format!("K = {}, and as {} say", marks.join(", "), others.join(", ")),
    };
    let slower = bottleneck_bps.map_or_else(String::new, |rate| {
        format!(
            "; the slowest link has {}: a BDP of {:.1} kB",
            Rate(rate),
            bdp_bytes * rate as f64 / *rate_bps as f64 / 1e3
        )
    });
    format!(
        "{of}{hosts} hosts, base RTT {:.1} us, hosts' links {}: a BDP of {:.1} kB{slower}; {marks}",
        base_rtt_ns / 1e3,
        Rate(*rate_bps),
        bdp_bytes / 1e3
    )
}
