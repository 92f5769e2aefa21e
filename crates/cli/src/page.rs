//! `tresse report`: the page of a run, as a file.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tresse_report::twin;
use tresse_units::output_file::OutputFile;

use crate::compare::folders;
use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// The name of a page in the folder of its run.
const NAME: &str = "report.html";

/// Write the page of a run: one file that opens from disk
///
/// The page shows the results, the figures of the paper, distributions, time series and the fabric. It
/// opens in any browser and needs no network. RUN is the folder of a run, of a run of a paper, or of a
/// twin. Several runs, or the two of a twin, make one page that shows them on top of each other; a run of
/// a paper makes a page in the folder of each of its experiments.
///
/// Examples:
///   tresse report runs/xmp-table1-1                     # writes runs/xmp-table1-1/report.html
///   tresse report runs/mine-1 runs/mine-2 -o compared.html
///   tresse report runs/paper-xmp-1
///   tresse report runs/twin-mine-1                      # simulated and real in the same figures
///   tresse report runs/mine-1 -o - | ssh desk 'cat > mine.html'
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Folders of runs, such as runs/xmp-table1-1, runs/paper-xmp-1 or runs/twin-mine-1
    #[arg(required = true)]
    run: Vec<PathBuf>,
    /// Where to write the page; `-` is stdout [default: report.html in the folder of the run or twin]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    Interrupt::catch()?;
    let mut all = Vec::new();
    for run in &args.run {
        match twin::sides(run) {
            Some(sides) => all.extend(sides),
            None => all.extend(folders(run)?),
        }
    }
    let pages: Vec<(Vec<PathBuf>, PathBuf)> = match (&args.out, &args.run[..], &all[..]) {
        (Some(out), ..) => vec![(all, out.clone())],
        (None, [run], _) if twin::sides(run).is_some() => vec![(all, run.join(NAME))],
        (None, [_], _) => all.into_iter().map(|run| (vec![run.clone()], run.join(NAME))).collect(),
        (None, ..) => vec![(all, PathBuf::from(NAME))],
    };
    for (runs, out) in &pages {
        if out == Path::new("-") {
            let mut stdout = BufWriter::new(io::stdout().lock());
            tresse_report::page::write(runs, &mut stdout)?;
            stdout.flush()?;
            continue;
        }
        write(runs, out)?;
        println!("{}", out.display());
    }
    Ok(())
}

/// Writes the page of the run in the folder `run` into it, and returns its path.
pub fn of(run: &Path) -> Result<PathBuf, Failure> {
    let out = run.join(NAME);
    write(std::slice::from_ref(&run.to_owned()), &out)?;
    Ok(out)
}

/// Writes a page completely, or not at all.
fn write(runs: &[PathBuf], out: &Path) -> Result<(), Failure> {
    let unwritten =
        |error: io::Error| Failure::Input(format!("{}: cannot be written: {error}", out.display()));
    let mut file = OutputFile::create(out).map_err(unwritten)?;
    tresse_report::page::write(runs, &mut file)?;
    file.finish().map_err(unwritten)
}
