//! `tresse import`: turns files of other simulators into an experiment.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tresse_exchange::import::{self, Input};
use tresse_units::text_file;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
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

pub fn run(args: &Args) -> Result<(), Failure> {
    Interrupt::catch()?;
    if args.out == Path::new("-") {
        let message = "an import writes several files: give `-o` a file name, such as x.toml";
        return Err(Failure::Input(message.to_owned()));
    }
    let mut texts = Vec::new();
    for file in &args.files {
        let shown = if file == Path::new("-") { "stdin".to_owned() } else { file.display().to_string() };
        let text = read(file).map_err(|e| Failure::Input(format!("{shown}: cannot be read: {e}")))?;
        texts.push((shown, text));
    }
    let inputs: Vec<_> = texts.iter().map(|(name, text)| Input { name, text }).collect();
    let imported = import::import(args.format.into(), &inputs, &args.out)?;
    imported.write(args.force)?;
    for note in &imported.notes {
        // Standard error may be closed.
        let _ = writeln!(io::stderr(), "note: {note}");
    }
    let _ = writeln!(io::stderr(), "{}", imported.summary);
    let files: Vec<_> = imported.files.iter().map(|(path, _)| path).collect();
    if args.json {
        let notes = &imported.notes;
        return print_json(&serde_json::json!({
            "schema": "tresse/import/1", "format": import::Format::from(args.format).name(), "files": files, "notes": notes,
            "summary": imported.summary,
        }));
    }
    for file in files {
        writeln!(io::stdout(), "{}", file.display())?;
    }
    Ok(())
}

fn read(file: &Path) -> io::Result<String> {
    if file != Path::new("-") {
        return text_file::read_text(file);
    }
    text_file::read_stdin().and_then(text_file::text)
}
