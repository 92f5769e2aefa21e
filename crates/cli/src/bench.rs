//! `tresse bench`.

use std::io::{self, Write};
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use tresse_lab::bench::{self, BenchCase, Compared, Comparison, Earlier, Verdict};

use crate::ended::Ended;
use crate::output::print_json;
use crate::table::Table;

/// Measure the simulator's speed against its ceiling, in one run
///
/// A packet-hop is one packet, data or ACK, entering one port. The ceiling is Permutation on the same
/// fabric with fixed routes, a constant window and no transport, measured just before; "ratio" is the
/// speed divided by it. "of fixed" is the speed divided by that of XMP with fixed routes and plain ports
/// on the same fabric. "Mbit/s" is the goodput of a host, "kflows/s" is how many thousand flows finish
/// per second of wall time, and "kB/host" is the memory of the network and its flows. Cases use one
/// thread, those named "2-threads" two.
///
/// Machines are noisy, so trust the ratios more than the speeds. --compare uses the ratios: it calls a
/// case slower or faster if the medians of its ratio differ by more than 5 % and the middle halves of
/// the repetitions do not overlap. The noisier the machine, the more repetitions this takes. It says
/// "unclear", and why, if there are fewer than three repetitions or the packet-hops differ from before.
///
/// Examples:
///   tresse bench
///   tresse bench --only sack,arrivals
///   tresse bench --repetitions 15 --json > before.json
///   tresse bench --repetitions 15 --compare before.json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Only the cases whose name contains this text, such as k8-lia2 or arrivals
    #[arg(long, value_name = "TEXT[,TEXT]", value_delimiter = ',')]
    only: Vec<String>,
    /// How often each case is repeated, alternating with the others; the median is reported
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repetitions: u32,
    /// Show what has changed since an earlier `tresse bench --json`; measure both on the same machine
    #[arg(long, value_name = "OLD.json")]
    compare: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<(), Ended> {
    let earlier = args.compare.as_deref().map(Earlier::read).transpose()?;
    // It is shown only on a terminal, and draws nothing on its own while a case runs.
    let bar = ProgressBar::no_length();
    bar.set_style(ProgressStyle::with_template("{msg}").expect("the template is constant"));
    let bench = bench::run(args.repetitions, &args.only, earlier.as_ref(), |number, name| {
        bar.set_message(format!("repetition {number} of {}: {name}", args.repetitions));
    });
    bar.finish_and_clear();
    let bench = bench?;
    if args.json {
        return print_json(&bench);
    }
    let mut out = io::stdout().lock();
    write!(out, "{}", speeds(&bench.cases))?;
    if let Some(comparison) = &bench.comparison {
        if !comparison.compared.is_empty() {
            write!(out, "\n{}", changes(comparison))?;
        }
        for (names, when) in [(&comparison.only_before, "before"), (&comparison.only_now, "now")] {
            if !names.is_empty() {
                writeln!(out, "only {when}: {}", names.join(", "))?;
            }
        }
    }
    Ok(())
}

fn speeds(cases: &[BenchCase]) -> Table {
    let mut table = Table::new(&[
        "case", "hosts", "M hops/s", "ceiling", "ratio", "of fixed", "Mbit/s", "kflows/s", "peak MB",
        "kB/host",
    ]);
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    for c in cases {
        table.row(vec![
            c.name.clone(),
            c.hosts.to_string(),
            format!("{:.1}", c.packet_hops_per_s / 1e6),
            format!("{:.1}", c.ceiling_packet_hops_per_s / 1e6),
            format!("{:.2}", c.ratio_to_ceiling),
            or_dash(c.ratio_to_fixed_routes.map(|ratio| format!("{ratio:.2}"))),
            format!("{:.0}", c.goodput_bps / 1e6),
            or_dash(c.flows_per_s.map(|flows| format!("{:.0}", flows / 1e3))),
            format!("{:.1}", c.peak_rss_bytes as f64 / 1e6),
            format!("{:.1}", c.bytes_a_host as f64 / 1e3),
        ]);
    }
    table
}

fn changes(comparison: &Comparison) -> Table {
    let head = ["case", "ratio before", "now", "change, %", "M hops/s before", "now", "change, %", "verdict"];
    let mut table = Table::new(&head);
    let percent = |share: f64| format!("{:+.1}", share * 100.0);
    for c in &comparison.compared {
        table.row(vec![
            c.name.clone(),
            format!("{:.2}", c.ratio_to_ceiling_before),
            format!("{:.2}", c.ratio_to_ceiling),
            percent(c.change),
            format!("{:.1}", c.packet_hops_per_s_before / 1e6),
            format!("{:.1}", c.packet_hops_per_s / 1e6),
            percent(c.speed_change),
            verdict(c),
        ]);
    }
    table
}

fn verdict(compared: &Compared) -> String {
    let verdict = match compared.verdict {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::Same => "same",
        Verdict::Unclear => "unclear",
    };
    match &compared.why {
        Some(why) => format!("{verdict}: {why}"),
        None => verdict.to_owned(),
    }
}
