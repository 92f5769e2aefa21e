//! `tresse run`: every case of an experiment, as a table or as JSON.

use std::path::PathBuf;

use tresse_experiment::schema::fidelity::Fidelity;
use tresse_experiment::schema::stopping_rule::Asked;
use tresse_reproduction::Publication;
use tresse_results::State;
use tresse_workbench::{Failure, page, run};

use crate::ended::Ended;
use crate::output::print_json;
use crate::progress::{self, Mode};
use crate::selection::Chosen;
use crate::user_code::UserCode;
use crate::{interrupt, pictures, report};

/// Run every case of an experiment and show its table
///
/// EXPERIMENT is a built-in name (`tresse list experiments`) or a TOML file. If there are published
/// numbers, they are shown next to ours. Everything that was measured goes to a folder, by default
/// `runs/NAME-N`; `tresse explain results` describes its contents, and `tresse show` prints its tables
/// again.
///
/// Examples:
///   tresse run xmp/table1
///   tresse run xmp/table1 --only scheme=xmp,dctcp --replications 3
///   tresse run xmp/table1 --only pattern=random --replications 5%
///   tresse run xmp/table1 --set fabric.mark=20pkt --set schemes.xmp.parameters.beta=6
///   tresse run xmp/table1 --set measure.samples=10ms
///   tresse run xmp/table1 --profile full
///   tresse run xmp/table1 --only pattern=permutation --fidelity rounds
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    own: UserCode,
    /// How closely the network is simulated: `packets` is every packet, `rounds` a few batches of each round trip
    /// (`tresse explain rounds`) [default: as the experiment says, or packets]
    #[arg(long, value_enum, value_name = "packets|rounds", hide_possible_values = true)]
    fidelity: Option<FidelityArg>,
    /// The seed of the first replication
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = run::seed)]
    seed: u64,
    /// How many seeds to run (SEED, SEED+1, …); with P%, as many as it takes until half the 95 % interval of the
    /// goodput, or of the experiment's own metric, is at most this share of the mean [default: as the experiment
    /// says]
    #[arg(long, value_name = "N|P%")]
    replications: Option<Asked>,
    /// How many cases run at a time [default: one for each core, or for each `--threads` of them]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    parallel: Option<u16>,
    /// How many threads may work on one case. Its network is cut into this many parts, which share one thread if
    /// that is faster. The results are the same [default: the cores that cases leave, at most 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    threads: Option<u16>,
    /// The folder for the results, which must be new or empty [default: runs/NAME-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Judge by the published numbers and claims even if `--set` has changed the experiment
    #[arg(long)]
    judge: bool,
    /// Draw charts in the terminal: distributions of the flows, and rates over time if there are samples
    #[arg(long, conflicts_with = "json")]
    plot: bool,
    /// Also write the page of the run, report.html, to its folder
    #[arg(long)]
    report: bool,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
    /// How to show progress on stderr
    #[arg(long, value_enum, default_value = "auto")]
    progress: Mode,
}

/// The values of `--fidelity`.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum FidelityArg {
    Packets,
    Rounds,
}

impl From<FidelityArg> for Fidelity {
    fn from(asked: FidelityArg) -> Self {
        match asked {
            FidelityArg::Packets => Self::Packets,
            FidelityArg::Rounds => Self::Rounds,
        }
    }
}

impl FidelityArg {
    fn name(self) -> &'static str {
        match self {
            Self::Packets => "packets",
            Self::Rounds => "rounds",
        }
    }
}

impl Args {
    fn request(self) -> run::Request {
        let mut cases = self.chosen.cases();
        cases.experiment.set.extend(self.fidelity.map(|own| format!("fidelity={}", own.name())));
        run::Request {
            cases,
            own: self.own.code(),
            seed: self.seed,
            replications: self.replications,
            parallel: self.parallel,
            threads: self.threads,
            out: self.out,
            judge: self.judge,
        }
    }
}

pub fn run(args: Args) -> Result<(), Ended> {
    let interrupt = interrupt::catch()?;
    let (json, plots, reports, progress) = (args.json, args.plot, args.report, args.progress);
    let prepared = args.request().prepare()?;
    for note in &prepared.notes {
        eprintln!("{note}");
    }
    let (loaded, told) = (prepared.loaded.clone(), prepared.notes.clone());
    let report = prepared.run_until(&interrupt, &progress::shown(progress))?;
    if json {
        print_json(&report)?;
    } else {
        let publication = Publication::of_loaded(&loaded).map_err(Failure::from)?;
        let state = State::of(&report, false);
        report::show(&report, state, &loaded.experiment, &publication, &mut anstream::stdout().lock())?;
    }
    if let Some(note) = run::of_headroom(&report) {
        eprintln!("{note}");
    }
    if plots {
        pictures::show(&report, report.out.as_ref(), &mut anstream::stdout().lock())?;
    }
    report::tell_notes(&report, &told);
    if reports {
        let page = page::of(report.out.as_ref())?;
        eprintln!("page: {} (open it in a browser)", page.display());
    }
    report::ended(&report, &interrupt)
}
