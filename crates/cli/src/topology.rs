//! `tresse topology show`: an experiment's network, without a run.

use std::io::{self, Write};

use clap::ValueEnum;
use tresse_lab::{PathsEntry, TopologyReport};
use tresse_units::{Duration, Rate};
use tresse_workbench::Failure;
use tresse_workbench::topology::{GraphFormat, Network};

use crate::ended::Ended;
use crate::interrupt;
use crate::output::print_json;
use crate::selection::Experiment;
use crate::table::Table;

/// Look at the network of an experiment
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    Show(ShowArgs),
}

/// Show an experiment's network: its layers, tiers, bisection bandwidth, base RTTs, and paths
///
/// With two hosts, by name or number, it also shows the shortest paths between them. `tresse explain tiers`
/// explains the numbers.
///
/// Examples:
///   tresse topology show xmp/table1
///   tresse topology show xmp/table1 'host 0' 'host 127'
///   tresse topology show xmp/table1 --set fabric.k=4 --format dot | dot -Tsvg -o net.svg
///   tresse topology show mine.toml --format json > net.json     # for topology = "file"
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ShowArgs {
    #[command(flatten)]
    experiment: Experiment,
    /// Show the network of this variant [default: the file's network without a variant]
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// The host that sends
    #[arg(requires = "to")]
    from: Option<String>,
    /// The host that receives
    to: Option<String>,
    /// What to print: facts, or the network as node-link JSON (networkx), GraphML or Graphviz
    #[arg(long, value_enum, default_value = "text")]
    format: FormatArg,
    /// Print the facts as one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormatArg {
    Text,
    Json,
    Graphml,
    Dot,
}

pub fn run(command: Command) -> Result<(), Ended> {
    let Command::Show(args) = command;
    interrupt::catch()?;
    let experiment = args.experiment.request();
    let network = Network::load(&experiment, args.variant, &mut |note| eprintln!("{note}"))?;
    let format = match args.format {
        FormatArg::Text => None,
        FormatArg::Json => Some(GraphFormat::Json),
        FormatArg::Graphml => Some(GraphFormat::Graphml),
        FormatArg::Dot => Some(GraphFormat::Dot),
    };
    if let Some(format) = format {
        if args.json || args.from.is_some() {
            let message = "--format writes the whole network: leave out --json (the facts) and the two hosts";
            return Err(Failure::Input(message.to_owned()).into());
        }
        write!(io::stdout(), "{}", network.graph(format)?)?;
        return Ok(());
    }
    let pair = args.from.as_deref().zip(args.to.as_deref()).map(|(from, to)| [from, to]);
    let report = network.report(pair)?;
    if args.json {
        return print_json(&report);
    }
    show(&report)?;
    Ok(())
}

fn show(r: &TopologyReport) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{} · {} · {} · {} · {} · {}\n",
        r.experiment,
        r.topology,
        several(r.hosts, "host", "hosts"),
        several(r.switches, "switch", "switches"),
        several(r.racks, "rack", "racks"),
        several(r.pods, "pod", "pods"),
    )?;
    let mut table = Table::new(&["layer", "links", "rate", "delay"]);
    for layer in &r.layers {
        let rate = span(layer.rate_bps.map(Rate));
        let delay = span(layer.delay_ps.map(Duration));
        table.row(vec![layer.layer.clone(), layer.links.to_string(), rate, delay]);
    }
    writeln!(out, "{table}")?;
    let head = ["tier", "", "ports", "capacity", "crossings", "throughput", "oversubscription"];
    let mut table = Table::new(&head).labels(2);
    for (place, tier) in r.tiers.iter().enumerate() {
        let narrowest = if place == r.narrowest_tier { "  narrowest" } else { "" };
        table.row(vec![
            tier.layer.clone(),
            tier.direction.to_owned(),
            tier.ports.to_string(),
            gbps(tier.capacity_bps as f64),
            format!("{:.3}", tier.crossings),
            gbps(tier.throughput_bps),
            format!("{:.2}:1{narrowest}", tier.oversubscription),
        ]);
    }
    writeln!(out, "{table}")?;
    writeln!(
        out,
        "bisection bandwidth, first half of the hosts to the second: {}",
        gbps(r.bisection_bps as f64)
    )?;
    writeln!(out, "\nbase RTT for packets of {} B and ACKs of {} B:", r.data_bytes, r.ack_bytes)?;
    for rtt in &r.base_rtts {
        writeln!(out, "  {}: {}", rtt.locality, span([rtt.min_ps, rtt.max_ps].map(us)))?;
    }
    r.paths.as_ref().map_or(Ok(()), |paths| show_paths(&mut out, paths))
}

fn show_paths(out: &mut impl Write, p: &PathsEntry) -> io::Result<()> {
    let shown = p.shown.len() as u32;
    let rest = if shown < p.count { format!(", the first {shown}") } else { String::new() };
    writeln!(out, "\nfrom {} to {}: {}{rest}", p.from, p.to, several(p.count, "path", "paths"))?;
    for path in &p.shown {
        writeln!(out, "  {}  ({})", path.nodes.join(" - "), us(path.base_rtt_ps))?;
    }
    Ok(())
}

fn several(count: u32, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The minimum and the maximum, or the single value.
fn span<T: ToString>(values: [T; 2]) -> String {
    let [least, most] = values.map(|v| v.to_string());
    if least == most { least } else { format!("{least} to {most}") }
}

fn us(ps: u64) -> String {
    format!("{:.2} us", ps as f64 / 1e6)
}

fn gbps(bps: f64) -> String {
    format!("{} Gbit/s", (bps / 1e6).round() / 1e3)
}
