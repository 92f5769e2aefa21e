//! `tresse show`: the tables of a run, a sweep or a search again, from its folder.

use std::io::Write;
use std::path::{Path, PathBuf};

use tresse_reproduction::Publication;
use tresse_workbench::Failure;
use tresse_workbench::show::{Finished, Folder, folders, json, read, tuning};

use crate::ended::Ended;
use crate::report;
use crate::result_tables::By;
use crate::sweep_table;
use crate::table::Format;
use crate::table_name::TableName;

/// Print the tables of a run, a sweep or a search again, from its folder
///
/// RUN is the folder of a run, of a run of a paper, of a sweep, or of a search by `tresse tune`. For a run
/// it prints what `tresse run` printed at its end; for a run that is in progress or was interrupted, it
/// prints what is known so far, and the first line says so. For a sweep it prints a row for each case of
/// each point, for a search its answer. With --by each case is divided into parts.
///
/// Examples:
///   tresse show runs/xmp-table1-1
///   tresse show runs/mine-1 runs/mine-2
///   tresse show runs/mine-1 --by size           # FCT and slowdown of small and large flows
///   tresse show runs/mine-1 --by layer          # utilisation of links, lengths of queues
///   tresse show runs/mine-1 --by seed           # how far the seeds are apart
///   tresse show runs/mine-1 --table groups      # this table alone
///   tresse show runs/mine-1 --table cases,jobs --format latex > tables.tex    # two, for a paper
///   tresse show sweeps/mine --format csv
///   tresse show tunings/mine-1
///   tresse show runs/mine-1 --json | jq '.cases[0].by.size'
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// Folders, such as runs/xmp-table1-1, runs/paper-xmp-1, sweeps/mine-1 or tunings/mine-1
    #[arg(required = true)]
    run: Vec<PathBuf>,
    /// Show the parts of each case instead
    #[arg(long, value_enum)]
    by: Option<By>,
    /// Show these tables of a run alone, in this order; without it, all that the run has
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAME[,NAME]", conflicts_with = "by")]
    table: Vec<TableName>,
    /// Write the tables alone in this format. A mean with an interval has two digits of the interval, other numbers those
    /// of the screen; --json has all digits
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Print the report as `tresse run --json` did, one JSON object for each run
    #[arg(long, conflicts_with_all = ["by", "table", "format"])]
    json: bool,
}

impl Args {
    /// A given option that only runs have.
    fn only_for_runs(&self) -> Option<&'static str> {
        if self.by.is_some() { Some("--by") } else { (!self.table.is_empty()).then_some("--table") }
    }
}

/// Refuses an option that is not for this folder.
fn refuse(folder: &Path, what: &str, option: Option<&str>, instead: &str) -> Result<(), Failure> {
    option.map_or(Ok(()), |option| {
        let message = format!("{}: {option} is not for {what}", folder.display());
        Err(Failure::Input(format!("{message}\n\nhint: {instead}")))
    })
}

pub fn run(args: &Args) -> Result<(), Ended> {
    let folders = folders(&args.run)?;
    let is_alone = args.format != Format::Table || !args.table.is_empty();
    if is_alone && folders.len() > 1 {
        let message = "--format and --table are for the tables of one run or sweep; `tresse compare` has two runs beside \
                       each other";
        return Err(Failure::Input(message.to_owned()).into());
    }
    let mut out = anstream::stdout().lock();
    for (i, folder) in folders.iter().enumerate() {
        let run = match folder {
            Folder::Run(run) => run,
            Folder::Sweep(sweep) => {
                refuse(sweep, "a sweep", args.only_for_runs(), "results.parquet in it has every metric")?;
                write!(out, "{}", sweep_table::show(sweep, args.json, args.format)?)?;
                continue;
            }
            Folder::Tuning(search) => {
                let option = args.only_for_runs().or((args.format != Format::Table).then_some("--format"));
                refuse(search, "a search", option, "--json prints its numbers")?;
                write!(out, "{}", tuning(search, args.json)?)?;
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
            _ if is_alone => {
                report::tell_missing(&report, state, args.by);
                let tables = report::formatted(&report, &experiment, args.by, &args.table, args.format)?;
                write!(out, "{tables}")?;
            }
            Some(by) => report::show_parts(&report, state, &experiment, &publication, by, &mut out)?,
            None => report::show(&report, state, &experiment, &publication, &mut out)?,
        }
        report::tell_notes(&report, &[]);
    }
    Ok(())
}
