//! `tresse evaluate`: a score for a controller, and its parts.

use std::io::{self, Write};
use std::path::PathBuf;

use tresse_workbench::evaluate::{self, Evaluation, Request, Splits};

use crate::ended::Ended;
use crate::interrupt;
use crate::output::print_json;
use crate::run::FidelityArg;
use crate::table::Table;
use crate::width::sentence;

/// Score a controller from 0 to 1: its contract, then a suite of experiments
///
/// The contract is tested first, as by `tresse controller check`. Then every experiment of the split runs
/// with the controller in place of the suite's candidate, and gives a part from 0 to 1, where 1 is a
/// ceiling that nothing can exceed. The score is the weighted geometric mean of the parts.
/// docs/evaluate.md describes the parts, how to write a suite, and how to run an evolutionary search.
///
/// `--json` prints {"status", "combined_score", "metrics", "artifacts"}. The status is `ok`, `invalid`
/// (the controller does not compile, breaks its contract, or ends its process), or `error` (anything
/// else went wrong). The score is 0 unless the status is `ok`. With `--json` the exit code is 0 even for
/// an invalid controller, so that a search can continue; without `--json` it is 1 or 2, as with `tresse
/// controller check`.
///
/// A C file is compiled to native code that runs with your rights: run only what you trust, and use a
/// sandbox for code that a program wrote.
///
/// Examples:
///   tresse evaluate xmp
///   tresse evaluate mine.c --suite fabric --json
///   tresse evaluate mine.c --suite fabric --fidelity rounds --json   # screens, a few times as fast
///   tresse evaluate mine.c --suite fabric --split test --out runs/mine
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A C file, or a built-in controller
    #[arg(value_name = "CONTROLLER|FILE.c")]
    controller: String,
    /// The experiments: `smoke` (seconds), `fabric` (about a minute), or a TOML file
    #[arg(long, value_name = "NAME|FILE.toml", default_value = "smoke")]
    suite: String,
    /// Which experiments: those that guide a search, those that judge its result, or both
    #[arg(long, value_enum, default_value = "train")]
    split: Chosen,
    /// How closely networks are simulated: `rounds` for a first look, which the packets have to confirm
    #[arg(
        long,
        value_enum,
        value_name = "packets|rounds",
        hide_possible_values = true,
        default_value = "packets"
    )]
    fidelity: FidelityArg,
    /// How many seeds or cases run at a time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    parallel: Option<u16>,
    /// Keep the results of every run in a subfolder of this folder, which must be new or empty
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

/// The splits to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Chosen {
    Train,
    Test,
    All,
}

impl From<Chosen> for Splits {
    fn from(chosen: Chosen) -> Self {
        match chosen {
            Chosen::Train => Self::Train,
            Chosen::Test => Self::Test,
            Chosen::All => Self::All,
        }
    }
}

pub fn run(args: Args) -> Result<(), Ended> {
    let interrupt = interrupt::catch()?;
    let request = Request {
        controller: args.controller,
        suite: args.suite,
        splits: args.split.into(),
        fidelity: args.fidelity.into(),
        parallel: args.parallel,
        out: args.out,
    };
    let evaluation = evaluate::run(&request, &interrupt, &mut |note| eprintln!("{note}"))?;
    if args.json {
        print_json(&evaluation)?;
        let failure = evaluation.failure.filter(|_| evaluation.status == "error");
        return failure.map_or(Ok(()), |failure| Err(failure.into()));
    }
    if evaluation.failure.is_none() {
        show(&evaluation)?;
    }
    evaluation.failure.map_or(Ok(()), |failure| Err(failure.into()))
}

fn show(evaluation: &Evaluation) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let artifact = |name: &str| evaluation.artifacts.get(name).map_or("", |text| text);
    writeln!(out, "{} · {}\n", artifact("controller"), artifact("suite"))?;
    let mut table = Table::new(&["part", "of 1"]);
    for (name, value) in evaluation.metrics.iter().filter(|(name, _)| name.contains('.')) {
        table.row(vec![name.clone(), value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"))]);
    }
    write!(out, "{table}")?;
    writeln!(out, "\nscore: {:.4}, the weighted geometric mean\n", evaluation.combined_score)?;
    for name in ["fidelity", "check", "verifier", "claims", "worst"] {
        for (i, line) in artifact(name).lines().enumerate() {
            let line = if i == 0 { format!("{name}: {line}") } else { format!("  {line}") };
            writeln!(out, "{}", sentence(&line, 2))?;
        }
    }
    Ok(())
}
