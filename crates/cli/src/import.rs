//! `tresse import`: turns files of other simulators into an experiment.

use std::io::{self, Write};
use std::path::PathBuf;

use tresse_workbench::import::{self, Request};

use crate::ended::Ended;
use crate::interrupt;
use crate::output::print_json;

/// Make an experiment from another simulator's files
///
/// Writes EXPERIMENT.toml and, next to it, the files that it names: the flows (EXPERIMENT.flows.csv), and
/// the network (EXPERIMENT.topology.json) unless it is exactly a fat tree or a leaf-spine. Comments in
/// it say where every value comes from. Values that a format does not have, such as the transport, are
/// ours and marked so; anything that cannot be kept is reported on stderr, and then what was imported, to
/// check it: hosts, switches, links by speed, flows, bytes, time and load. Nothing is written if anything
/// is wrong. `tresse explain import` says how each format is translated.
///
/// FORMAT and its files, in this order:
///   htsim-topo  FILE.topo                a Clos network of htsim
///   htsim-cm    FILE.cm [FILE.topo]      a connection matrix of htsim; on its usual fat tree
///                                        if the topology is not named
///   hpcc        topology.txt [flow.txt]  network and flows of the HPCC simulator
///   hpcc-cdf    DISTRIBUTION.txt         flow sizes of its traffic_gen.py
///
/// Examples:
///   tresse import htsim-cm perm.cm fat_tree_1024.topo -o perm.toml
///   tresse import hpcc mix/fat.txt mix/flow.txt -o hpcc.toml
///   tresse run hpcc.toml
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The format of the files
    #[arg(value_enum)]
    format: Format,
    /// The files; `-` is stdin
    #[arg(required = true, value_name = "FILE", num_args = 1..=2)]
    files: Vec<PathBuf>,
    /// The experiment file to write
    #[arg(short, long, value_name = "EXPERIMENT.toml")]
    out: PathBuf,
    /// Replace files that already exist
    #[arg(long)]
    force: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The formats, as the command line names them.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    HtsimTopo,
    HtsimCm,
    Hpcc,
    HpccCdf,
}

impl From<Format> for import::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::HtsimTopo => Self::HtsimTopo,
            Format::HtsimCm => Self::HtsimCm,
            Format::Hpcc => Self::Hpcc,
            Format::HpccCdf => Self::HpccCdf,
        }
    }
}

pub fn run(args: Args) -> Result<(), Ended> {
    interrupt::catch()?;
    let Args { format, files, out, force, json } = args;
    let report = import::import(&Request { format: format.into(), files, out, force })?;
    for note in &report.imported.notes {
        // Standard error may be closed.
        let _ = writeln!(io::stderr(), "note: {note}");
    }
    let _ = writeln!(io::stderr(), "{}", report.imported.summary);
    if json {
        return print_json(&report.json());
    }
    for file in report.files() {
        writeln!(io::stdout(), "{}", file.display())?;
    }
    Ok(())
}
