//! `tresse show`: the tables of a run or a sweep again, from its folder.

use std::io::Write;
use std::path::PathBuf;

use tresse_reproduction::Publication;
use tresse_workbench::Failure;
use tresse_workbench::show::{Finished, Folder, folders, json, read};

use crate::ended::Ended;
use crate::report;
use crate::result_tables::By;
use crate::sweep_table;
use crate::table::Format;

/// Print the tables of a run or a sweep again, from its folder
///
/// RUN is the folder of a run, of a run of a paper, or of a sweep. For a run it prints what `tresse run`
/// printed at its end; for a run that is in progress or was interrupted, it prints what is known so far,
/// and the first line says so. For a sweep it prints a row for each case of each point. With --by each
/// case is divided into parts.
///
/// Examples:
///   tresse show runs/xmp-table1-1
///   tresse show runs/mine-1 runs/mine-2
///   tresse show runs/mine-1 --by size           # FCT and slowdown of small and large flows
///   tresse show runs/mine-1 --by layer          # utilisation of links, lengths of queues
///   tresse show runs/mine-1 --by seed           # how far the seeds are apart
///   tresse show runs/mine-1 --format latex      # the tables, for a paper
///   tresse show sweeps/mine --format csv
///   tresse show runs/mine-1 --json | jq '.cases[0].by.size'
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Folders of runs or sweeps, such as runs/xmp-table1-1, runs/paper-xmp-1 or sweeps/mine-1
    #[arg(required = true)]
    run: Vec<PathBuf>,
    /// Show the parts of each case instead
    #[arg(long, value_enum)]
    by: Option<By>,
    /// Write the tables alone in this format, with the numbers of the screen. `tresse export` writes all numbers in full
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Print the report as `tresse run --json` did, one JSON object for each run
    #[arg(long, conflicts_with_all = ["by", "format"])]
    json: bool,
}

pub fn run(args: &Args) -> Result<(), Ended> {
    let folders = folders(&args.run)?;
    if args.format != Format::Table && folders.len() > 1 {
        let message =
            "--format writes the tables of one run or sweep; `tresse compare` has two runs beside each other";
        return Err(Failure::Input(message.to_owned()).into());
    }
    let mut out = anstream::stdout().lock();
    for (i, folder) in folders.iter().enumerate() {
        let run = match folder {
            Folder::Run(run) => run,
            Folder::Sweep(sweep) if args.by.is_some() => {
                let message = format!("{}: --by is for runs, and this is a sweep", sweep.display());
                let hint = "hint: results.parquet in it has every metric";
                return Err(Failure::Input(format!("{message}\n\n{hint}")).into());
            }
            Folder::Sweep(sweep) => {
                write!(out, "{}", sweep_table::show(sweep, args.json, args.format)?)?;
                continue;
            }
        };
        let finished = read(run)?;
        let publication = Publication::of_run(&finished).map_err(Failure::from)?;
        let Finished { report, experiment, state, .. } = finished;
        if args.json {
            writeln!(out, "{}", json(run)?)?;
            continue;
        }
        if i > 0 {
            writeln!(out)?;
        }
        match args.by {
            _ if args.format != Format::Table => {
                report::tell_missing(&report, state, args.by);
                write!(out, "{}", report::formatted(&report, &experiment, args.by, args.format))?;
            }
            Some(by) => report::show_parts(&report, state, &experiment, &publication, by, &mut out)?,
            None => report::show(&report, state, &experiment, &publication, &mut out)?,
        }
        report::tell_notes(&report, &[]);
    }
    Ok(())
}
