//! `tresse report`: the page of a run, as a file.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tresse_workbench::page::pages;

use crate::ended::Ended;
use crate::interrupt;

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

pub fn run(args: &Args) -> Result<(), Ended> {
    interrupt::catch()?;
    for page in pages(&args.run, args.out.as_deref())? {
        if page.out == Path::new("-") {
            let mut stdout = BufWriter::new(io::stdout().lock());
            page.write_to(&mut stdout)?;
            stdout.flush()?;
            continue;
        }
        page.write()?;
        println!("{}", page.out.display());
    }
    Ok(())
}
