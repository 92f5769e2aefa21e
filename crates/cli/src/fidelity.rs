//! `tresse fidelity`: how far rounds are from packets.

use std::io::{self, Write as _};
use std::path::PathBuf;

use tresse_units::output_file::write_whole;
use tresse_workbench::{Failure, fidelity};

use crate::ended::Ended;
use crate::interrupt;
use crate::output::print_json;
use crate::table::Table;

/// Run a set of experiments by packets and by rounds, and show how far they are apart
///
/// `tresse explain rounds` describes the faster of the two. The set has single links, fat trees, leaf-spine networks,
/// permutations, arrivals and incast, and takes about a minute. docs/fidelity.md is its result.
///
/// Examples:
///   tresse fidelity
///   tresse fidelity --only dumbbell
///   tresse fidelity -o fidelity.md
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Only these experiments of the set. May be given more than once
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Write the tables, with each case, to this Markdown file
    #[arg(short, long, value_name = "FILE.md", conflicts_with = "json")]
    output: Option<PathBuf>,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<(), Ended> {
    let interrupt = interrupt::catch()?;
    let all = fidelity::run(&args.only, &interrupt, &mut |what| eprintln!("{what} …"))?;
    if args.json {
        print_json(&all)?;
        return Ok(());
    }
    if let Some(file) = args.output {
        let failed = |e| Failure::Input(format!("{} cannot be written: {e}", file.display()));
        write_whole(&file, all.page()).map_err(failed)?;
        eprintln!("written: {}", file.display());
        return Ok(());
    }
    let mut table =
        Table::new(&["schemes answer", "metric", "cases", "median error", "90 % within", "rounds/packets"]);
    for s in fidelity::summaries(&all) {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let cells = [
            s.kind,
            s.metric,
            s.cases.to_string(),
            percent(s.median),
            percent(s.p90),
            format!("{:.2}", s.bias),
        ];
        table.row(cells.to_vec());
    }
    write!(io::stdout().lock(), "{table}")?;
    Ok(())
}
