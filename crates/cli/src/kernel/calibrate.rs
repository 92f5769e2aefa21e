//! `tresse calibrate`: what packets cost the hosts of this machine.

use std::io::{self, Write};
use std::path::PathBuf;

use tresse_units::output_file::write_whole;
use tresse_workbench::Failure;
use tresse_workbench::calibrate::{Calibration, Prediction, calibrate};

use super::testbed::INTERRUPTED_TWICE;
use crate::ended::Ended;
use crate::interrupt;
use crate::output::print_json;
use crate::table::Table;

/// Measure what packets cost the hosts of this machine
///
/// Needs root. Transfers go between two network namespaces, over links with packets and segments of several sizes, as fast
/// as the processors allow. It fits the costs of a segment, a packet and a byte to the transfer times and the processor
/// time, for the core that decides the speed and for the other one, and the time until an idle core begins. It writes them
/// to a file that an experiment names: `host_cpu = "host.toml"` in [fabric]. Then the simulator predicts transfers that
/// were not used for this, and the errors are shown.
///
/// It takes about ten seconds. Nothing else should run on the machine meanwhile.
///
/// Examples:
///   tresse calibrate
///   tresse calibrate --out bed.toml --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The file for the costs; an existing one is replaced
    #[arg(short, long, value_name = "FILE", default_value = "host.toml")]
    out: PathBuf,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<(), Ended> {
    let folder = args.out.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(missing) = folder.filter(|folder| !folder.is_dir()) {
        return Err(Failure::Input(format!("{}: there is no such folder", missing.display())).into());
    }
    let interrupt = interrupt::catch_with(INTERRUPTED_TWICE)?;
    let own = calibrate(&interrupt)?;
    write_whole(&args.out, own.file.as_bytes())
        .map_err(|error| Failure::Machine(format!("{}: {error}", args.out.display())))?;
    match args.json {
        true => print_json(&own),
        false => Ok(show(&own, args)?),
    }
}

fn show(own: &Calibration, args: &Args) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    let mut costs = Table::new(&["cost", "ns", "from", "to", "of"]).labels(1);
    for cost in &own.costs {
        let numbers = [cost.value_ns, cost.low_ns, cost.high_ns].map(|ns| format!("{ns:.3}"));
        let cells = [cost.name.to_owned()].into_iter().chain(numbers).chain([cost.meaning.to_owned()]);
        costs.row(cells.collect());
    }
    writeln!(out, "{costs}")?;
    let limits = own.limits;
    writeln!(
        out,
        "a core can do: {:.0} packets/s of 1500 bytes one by one ({:.2} Gbit/s of payload), {:.2} Gbit/s in segments of 44",
        limits.packets_per_s,
        limits.bytes_per_s * 8e-9,
        limits.merged_bytes_per_s * 8e-9
    )?;
    let mut table = Table::new(&["MTU", "bytes", "measured us", "predicted us", "error %"]);
    for (head, rows) in [("fitted", &own.fitted), ("not fitted", &own.predicted)] {
        table.section(head.to_owned());
        rows.iter().for_each(|row| table.row(cells(row)));
    }
    writeln!(out, "\n{table}")?;
    writeln!(
        out,
        "errors of what was not fitted: median {:.1} %, p90 {:.1} %",
        own.error_median_ratio * 100.0,
        own.error_p90_ratio * 100.0
    )?;
    writeln!(out, "costs: {}", args.out.display())
}

fn cells(own: &Prediction) -> Vec<String> {
    vec![
        own.mtu_bytes.to_string(),
        own.bytes.to_string(),
        format!("{:.1}", own.measured_us),
        format!("{:.1}", own.predicted_us),
        format!("{:+.1}", own.error_ratio * 100.0),
    ]
}
