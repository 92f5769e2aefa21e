//! `tresse bench`.

use std::io::{self, Write};

use crate::failure::Failure;
use crate::output::print_json;
use crate::table::Table;

/// Measure the simulator's speed beside its ceiling, in one run
///
/// A packet-hop is one packet, data or ACK, that enters one port. The ceiling is the same fabric,
/// routes and packets with a constant window and no transport, measured just before. "of fixed" is
/// the speed over that of fixed routes and plain ports on the same fabric. One thread. Machines are
/// noisy: trust the ratios more than the speeds.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How often each case is repeated; the median is told
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repetitions: u32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let bench = tresse_lab::bench::run(args.repetitions)?;
    if args.json {
        return print_json(&bench);
    }
    let mut table = Table::new(&["case", "hosts", "M hops/s", "ceiling", "ratio", "of fixed", "peak MB"]);
    for c in &bench.cases {
        table.row(vec![
            c.name.clone(),
            c.hosts.to_string(),
            format!("{:.1}", c.packet_hops_per_s / 1e6),
            format!("{:.1}", c.ceiling_packet_hops_per_s / 1e6),
            format!("{:.2}", c.ratio_to_ceiling),
            format!("{:.2}", c.ratio_to_fixed_routes),
            format!("{:.1}", c.peak_rss_bytes as f64 / 1e6),
        ]);
    }
    write!(io::stdout(), "{table}")?;
    Ok(())
}
