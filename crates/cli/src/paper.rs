//! `tresse paper`: all experiments of a paper, one after the other, compared with the published results.

use std::io::{self, Write};
use std::path::PathBuf;

use tresse_experiment::schema::stopping_rule::Asked;
use tresse_workbench::paper::{self, Event, Request};
use tresse_workbench::{Failure, compare};

use crate::compare::published;
use crate::ended::Ended;
use crate::interrupt;
use crate::output::print_json;
use crate::progress::{self, Mode};
use crate::selection::ProfileArg;

/// Run all experiments of a paper and report which published numbers and claims hold
///
/// PAPER is xmp, opn, dcm, holnet or vmcc. The experiments run one after the other, each into its own folder
/// in `runs/paper-PAPER-N`; as soon as one is done its results are shown next to the published ones. `--out DIR`
/// continues an interrupted run and keeps what is complete there. `tresse compare DIR` shows everything again.
/// Kept results of real hosts (`tresse testbed`) are shown too.
///
/// The exit code is 1 if a claim that is expected to hold does not, or if a published number is more than 20 % off and
/// the experiment's file does not say why.
///
/// Examples:
///   tresse paper xmp
///   tresse paper xmp --only table1,fig4
///   tresse paper holnet --profile full --out runs/holnet
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The paper: xmp, opn, dcm, holnet or vmcc
    paper: String,
    /// The size of the experiments: `full` is the paper's own, `quick` has fewer flows, rounds or seconds
    #[arg(long, value_enum, default_value = "quick")]
    profile: ProfileArg,
    /// Only these experiments, named by their files or by the paper's figures and tables
    #[arg(long, value_name = "EXPERIMENT[,EXPERIMENT]", value_delimiter = ',')]
    only: Vec<String>,
    /// The seed of the first replication
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = tresse_workbench::run::seed)]
    seed: u64,
    /// How many seeds to run (SEED, SEED+1, …); with P%, as many as it takes until half the 95 % interval is at
    /// most this share of the mean in every case [default: as each experiment says]
    #[arg(long, value_name = "N|P%")]
    replications: Option<Asked>,
    /// How many cases run at a time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    parallel: Option<u16>,
    /// The folder for the results: new, empty, or of an interrupted run to continue [default:
    /// runs/paper-PAPER-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object at the end
    #[arg(long)]
    json: bool,
    /// Print the sections for a page
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// How to show progress on stderr
    #[arg(long, value_enum, default_value = "auto")]
    progress: Mode,
}

pub fn run(args: &Args) -> Result<(), Ended> {
    let interrupt = interrupt::catch()?;
    let request = Request {
        paper: args.paper.clone(),
        profile: args.profile.profile(),
        only: args.only.clone(),
        seed: args.seed,
        replications: args.replications,
        parallel: args.parallel,
        out: args.out.clone(),
    };
    let done =
        paper::run(&request, &interrupt, &progress::shown(args.progress), &mut |event| tell(args, &event))?;
    if args.json {
        print_json(&done.report()?)?;
    } else if !args.markdown {
        let out = done.out.display();
        writeln!(io::stdout(), "\n{}\n{}results: {out}", done.paper.title(), published::Total(&done.all))?;
    }
    if !done.errors.is_empty() {
        return Err(Failure::Input(done.errors.join("\n")).into());
    }
    if interrupt.asked() && done.left > 0 {
        let shown = done.out.display();
        eprintln!("partial: experiments left: {}; what was measured is in {shown}", done.left);
        eprintln!("hint: the same command with `--out {shown}` continues it");
        return Err(Failure::Interrupted.into());
    }
    Ok(compare::check(&done.all)?)
}

/// Shows an experiment that begins on stderr, and its results on stdout.
fn tell(args: &Args, event: &Event<'_>) -> Result<(), Ended> {
    match event {
        Event::Kept { number, of, name } => eprintln!("[{number}/{of}] {name}: already complete"),
        Event::Begins { number, of, name, left_s } => {
            let about = left_s.map(about).unwrap_or_default();
            eprintln!("[{number}/{of}] {name}{about}");
        }
        Event::Compared(experiment, own) => {
            let mut stdout = io::stdout().lock();
            if args.markdown {
                writeln!(stdout, "{}", published::markdown(experiment, own))?;
            } else if !args.json {
                published::show(experiment, own, &mut stdout)?;
                writeln!(stdout)?;
            }
            stdout.flush()?;
        }
    }
    Ok(())
}

/// How long an experiment will take, and it with the rest.
fn about(left_s: [f64; 2]) -> String {
    let [own, left] = left_s.map(|seconds| match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s => format!("{:.0} min", s / 60.0),
    });
    format!(" (about {own}; {left} with the rest)")
}

#[cfg(test)]
mod tests {
    use super::about;

    #[test]
    fn long_times_are_minutes() {
        assert_eq!(about([10.0, 310.0]), " (about 10 s; 5 min with the rest)");
        assert_eq!(about([40.0, 600.0]), " (about 40 s; 10 min with the rest)");
    }
}
