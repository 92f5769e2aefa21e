//! `tresse export`: the results of a run in the formats of other tools.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use tresse_exchange::export;
use tresse_experiment::keys::wanted::Wanted;
use tresse_units::output_file::{OutputFile, replaces};

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::own::Own;

/// Write the results of a finished run in another format
///
/// RUN is the folder of a run. `csv` and `arrow` have every column of its flows.parquet, or of
/// another table; column names end in their units (`tresse explain results`), and rows are in the
/// order in which cases and seeds ended. `perfetto` is a trace for ui.perfetto.dev, with flows and
/// jobs as slices, and windows, rates and queues as counters. `qlog` has the windows and RTTs of
/// each flow, `flent` its rates, RTTs and windows; both cover one case and seed of a run with
/// samples. `pcapng` is a capture for Wireshark: what some hosts sent and received in one case
/// and seed of a run with packets. `hpcc-fct` is the fct.txt of the HPCC simulator, for scripts
/// that analyse it: one line per flow, with its time when alone, as that simulator defines it.
///
/// Examples:
///   tresse export runs/xmp-table1-1 --format csv -o flows.csv
///   tresse export runs/xmp-table1-1 --format arrow --table links -o links.arrow
///   tresse export runs/mine-1 --format perfetto -o trace.json
///   tresse export runs/mine-1 --format flent --only scheme=xmp -o xmp.flent.gz
///   tresse export runs/mine-1 --format pcapng --only scheme=xmp -o xmp.pcapng
///   tresse export runs/mine-1 --format qlog --controller mine.c -o mine.qlog
///   tresse export runs/hpcc-1 --format hpcc-fct --only scheme=dctcp -o fct.txt
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The folder of the run
    run: PathBuf,
    /// The format
    #[arg(long, value_enum)]
    format: Format,
    /// The table for csv and arrow: flows, jobs, links, samples, queues, paths, rtts, lengths, convergence or
    /// packets [default: flows]
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// Keep only the rows with these values: scheme, subflows, pattern, variant, seed, group; for packets also host
    #[arg(long, value_name = "KEY=VALUE[,VALUE]")]
    only: Vec<String>,
    #[command(flatten)]
    own: Own,
    /// The output file; `-` is stdout
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Replace the file if it already exists
    #[arg(long)]
    force: bool,
}

/// The formats, as the command line names them.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    Csv,
    Arrow,
    Perfetto,
    Qlog,
    Flent,
    Pcapng,
    HpccFct,
}

impl From<Format> for export::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Csv => Self::Csv,
            Format::Arrow => Self::Arrow,
            Format::Perfetto => Self::Perfetto,
            Format::Qlog => Self::Qlog,
            Format::Flent => Self::Flent,
            Format::Pcapng => Self::Pcapng,
            Format::HpccFct => Self::HpccFct,
        }
    }
}

pub fn run(args: &Args) -> Result<(), Failure> {
    Interrupt::catch()?;
    args.own.load(&mut |note| eprintln!("{note}"))?;
    let only = export::wanted(&args.only)?;
    let notes = if args.out == Path::new("-") {
        if export::Format::from(args.format).is_binary() && io::stdout().is_terminal() {
            let message = "this format is binary, and would garble a terminal";
            return Err(Failure::Input(format!("{message}\n\nhint: name a file with `-o FILE`")));
        }
        // Nothing is printed of what cannot be exported.
        let mut text = Vec::new();
        let notes = to(args, &only, &mut text)?;
        io::stdout().write_all(&text)?;
        notes
    } else {
        to_file(args, &only)?
    };
    for note in notes {
        // Standard error may be closed.
        let _ = writeln!(io::stderr(), "note: {note}");
    }
    Ok(())
}

fn to(args: &Args, only: &Wanted, out: &mut dyn Write) -> Result<Vec<String>, Failure> {
    Ok(export::export(&args.run, args.format.into(), args.table.as_deref(), only, out)?)
}

fn to_file(args: &Args, only: &Wanted) -> Result<Vec<String>, Failure> {
    let path = &args.out;
    let shown = path.display();
    if replaces(path) && !args.force {
        let message = format!("{shown} already exists and was left unchanged");
        return Err(Failure::Input(message + "\n\nhint: choose another name, or replace it with `--force`"));
    }
    let unwritten = |e: io::Error| Failure::Input(format!("{shown}: cannot be written: {e}"));
    let mut file = OutputFile::create(path).map_err(unwritten)?;
    let notes = to(args, only, &mut file)?;
    file.finish().map_err(unwritten)?;
    Ok(notes)
}
