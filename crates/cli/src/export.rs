//! `tresse export`: the flows of a run in the formats of others.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tresse_exchange::export;
use tresse_experiment::keys::wanted::Wanted;

use crate::failure::Failure;

/// Write the flows of a finished run in another format
///
/// RUN is the folder of a run. `csv` has every column of its flows.parquet, whose names end in their
/// units (`tresse explain results`). `hpcc-fct` is the fct.txt of the HPCC simulator, for scripts
/// that analyse it: one line a flow, with the time that it takes alone as that simulator defines it.
///
/// Examples:
///   tresse export runs/xmp-table1-1 --format csv -o flows.csv
///   tresse export runs/hpcc-1 --format hpcc-fct --only scheme=dctcp -o fct.txt
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The folder of the run
    run: PathBuf,
    /// The format
    #[arg(long, value_enum)]
    format: Format,
    /// Keep only the flows with these values of: scheme, subflows, pattern, variant, seed, group
    #[arg(long, value_name = "KEY=VALUE[,VALUE]")]
    only: Vec<String>,
    /// The file; `-` is stdout
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    /// Replace the file if it is there already
    #[arg(long)]
    force: bool,
}

/// The formats, as the command line names them.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    Csv,
    HpccFct,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let format = match args.format {
        Format::Csv => export::Format::Csv,
        Format::HpccFct => export::Format::HpccFct,
    };
    let only = export::wanted(&args.only)?;
    let notes = if args.out == Path::new("-") {
        // Nothing is printed of what cannot be exported.
        let mut text = Vec::new();
        let notes = export::export(&args.run, format, &only, &mut text)?;
        io::stdout().write_all(&text)?;
        notes
    } else {
        to_file(args, format, &only)?
    };
    for note in notes {
        // Standard error may be closed.
        let _ = writeln!(io::stderr(), "note: {note}");
    }
    Ok(())
}

fn to_file(args: &Args, format: export::Format, only: &Wanted) -> Result<Vec<String>, Failure> {
    let path = &args.out;
    let shown = path.display();
    if path.exists() && !args.force {
        let message = format!("{shown} is there already, and stays as it is");
        return Err(Failure::Input(message + "\n\nhint: choose another name, or replace it with `--force`"));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let partial = path.with_file_name(format!("{name}.partial"));
    let unwritten = |e: io::Error| Failure::Input(format!("{shown}: cannot be written: {e}"));
    let mut file = BufWriter::new(File::create(&partial).map_err(unwritten)?);
    let result = export::export(&args.run, format, only, &mut file).map_err(Failure::from);
    let result = result.and_then(|notes| {
        file.flush().map_err(unwritten)?;
        fs::rename(&partial, path).map_err(unwritten)?;
        Ok(notes)
    });
    if result.is_err() {
        // Half an export would look like a whole one.
        let _ = fs::remove_file(&partial);
    }
    result
}
