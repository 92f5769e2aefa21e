//! `tresse export`: the results of a run in the formats of other tools.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use tresse_workbench::Failure;
use tresse_workbench::export::{self, Request};

use crate::ended::Ended;
use crate::interrupt;
use crate::user_code::UserCode;

/// Write the results of a finished run in another format
///
/// RUN is the folder of a run. `csv` and `arrow` have every column of its flows.parquet, or of
/// another table; column names end in their units (`tresse explain columns`), and rows are in the
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
    own: UserCode,
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

pub fn run(args: Args) -> Result<(), Ended> {
    interrupt::catch()?;
    args.own.code().load(&mut |note| eprintln!("{note}"))?;
    let format = export::Format::from(args.format);
    let export = Request { run: args.run, format, table: args.table, only: args.only }.read()?;
    let notes = if args.out == Path::new("-") {
        if format.is_binary() && io::stdout().is_terminal() {
            let message = "this format is binary, and would garble a terminal";
            return Err(Failure::Input(format!("{message}\n\nhint: name a file with `-o FILE`")).into());
        }
        // Nothing is printed of what cannot be exported.
        let mut text = Vec::new();
        let notes = export.to(&mut text)?;
        io::stdout().write_all(&text)?;
        notes
    } else {
        export.to_file(&args.out, args.force)?
    };
    for note in notes {
        // Standard error may be closed.
        let _ = writeln!(io::stderr(), "note: {note}");
    }
    Ok(())
}
