//! `tresse run`: every case of an experiment, as a table or as JSON.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use tresse_experiment::keys::fabric::Layered;
use tresse_experiment::keys::stopping_rule::Asked;
use tresse_experiment::read::built_in;
use tresse_experiment::{Loaded, Plan};
use tresse_lab::{Options, Report, State, Undivided, Watch};
use tresse_units::Queue;

use crate::chosen::Chosen;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::print_json;
use crate::own::Own;
use crate::progress::{self, Mode};
use crate::{memory, page, parsed, plot, report};

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
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    own: Own,
    /// The seed of the first replication
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = crate::chosen::seed)]
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
    /// that is faster. This pays off in large networks with long flows; the results are the same
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    threads: u16,
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

/// A run that is ready to begin.
#[derive(Debug)]
pub struct Prepared {
    /// The experiment.
    pub loaded: Arc<Loaded>,
    /// Its cases.
    pub plan: Plan,
    /// How to run them.
    pub options: Options,
    /// Its progress.
    pub watch: Arc<Watch>,
    /// Notes to print before it begins, one or two lines each.
    pub notes: Vec<String>,
}

impl Args {
    /// Does everything that precedes the run itself; `text` is the experiment's text, if it is not a file.
    fn prepare(self, text: Option<String>) -> Result<Prepared, Failure> {
        let mut notes = Vec::new();
        let chosen = self.chosen.of_text(text);
        let own = self.own.load(&mut |note| notes.push(note))?;
        let (loaded, plan) = chosen.load_telling(&mut |note| notes.push(note))?;
        let used = |name: &str| {
            let mut schemes = plan.cases.iter().flat_map(|case| &case.bound_schemes);
            schemes.any(|scheme| scheme.controllers.controller().name() == name)
        };
        notes.extend(own.controllers.into_iter().filter(|name| !used(name)).map(|name| {
            format!(
                "warning: no case uses the controller {name}\nhint: `--set schemes.{name}.controller={name} \
                 --set schemes.{name}.subflows=2` makes a scheme with it"
            )
        }));
        let balances = |name: &str| {
            let schemes = plan.cases.iter().flat_map(|case| &case.bound_schemes);
            schemes.filter_map(|own| own.sprayed.as_ref()).any(|own| own.balancer.balancer().name() == name)
        };
        notes.extend(own.balancers.into_iter().filter(|name| !balances(name)).map(|name| {
            format!(
                "warning: no case uses the balancer {name}\nhint: `--set schemes.SCHEME.balancer={name}` \
                 gives it to a scheme with a sprayed transport"
            )
        }));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let said = &loaded.experiment.replications;
        let replications = self.replications.map_or_else(|| said.clone(), |asked| asked.over(said));
        let threads = usize::from(self.threads);
        notes.extend(undivided(&plan, threads));
        let options = Options {
            profile: chosen.profile(),
            seed: self.seed,
            replications,
            parallel: self.parallel.map_or((cores / threads).max(1), usize::from),
            threads,
            out: self.out,
            judge: self.judge,
            figure: chosen.figure(),
        };
        let cuts = plan.cuts(&loaded);
        notes.extend(
            cuts.map(|(path, full, quick)| format!("quick profile: {path} = {quick} (full: {full})")),
        );
        notes.extend(of_patterns(&plan));
        notes.extend(of_own_queues(&loaded));
        notes.extend(memory::check(&plan, &options)?);
        let watch = Arc::new(Watch::new(&plan, &options)?);
        Ok(Prepared { loaded: Arc::new(loaded), plan, options, watch, notes })
    }
}

/// What `tresse run` would do with these arguments, ready to begin; `text` is the experiment's text, if it is not a
/// file.
///
/// # Errors
/// The error that the command would end with.
pub fn prepare(arguments: &[String], text: Option<String>) -> Result<Prepared, Failure> {
    let arguments = [&["run".to_owned()], arguments].concat();
    parsed::<Args>(&arguments)?.prepare(text)
}

pub fn run(args: Args) -> Result<(), Failure> {
    let interrupt = Interrupt::catch()?;
    let (json, plots, reports, progress) = (args.json, args.plot, args.report, args.progress);
    let Prepared { loaded, plan, options, watch, notes } = args.prepare(None)?;
    for note in notes {
        eprintln!("{note}");
    }
    interrupt.ends(&watch);
    let display = progress::start(&watch, progress);
    let report = interrupt.run({
        let loaded = Arc::clone(&loaded);
        move || Ok(tresse_reproduction::run(&loaded, &plan, &options, &watch)?)
    });
    display.finish();
    let report = report?;
    if json {
        print_json(&report)?;
    } else {
        report::show(&report, State::of(&report, false), &loaded.experiment, &mut anstream::stdout().lock())?;
    }
    if let Some(note) = of_headroom(&report) {
        eprintln!("{note}");
    }
    if plots {
        plot::show(&report, report.out.as_ref(), &mut anstream::stdout().lock())?;
    }
    report::tell_notes(&report, &loaded.files.notes());
    if reports {
        let page = page::of(report.out.as_ref())?;
        eprintln!("page: {} (open it in a browser)", page.display());
    }
    report::ended(&report, &interrupt)
}

/// The notes of the traffic patterns, each once.
fn of_patterns(plan: &Plan) -> BTreeSet<String> {
    let parts = plan.cases.iter().flat_map(|case| &case.parts);
    parts.flat_map(|part| &part.pattern.notes).map(|note| format!("note: {note}")).collect()
}

/// What beginners overlook: windows that wait for marks overflow their own host's NIC if it does not mark. The
/// papers' experiments are deliberate about this.
fn of_own_queues(loaded: &Loaded) -> Option<String> {
    let fabric = &loaded.experiment.fabric;
    let is_own = built_in::find(&loaded.source.name).is_none();
    let marks_elsewhere =
        fabric.mark != Layered::All(Queue::Unlimited) && fabric.host_mark == Queue::Unlimited;
    let note =
        "note: switches mark (`mark`), but hosts' own NICs only drop: set `host_mark` to make them mark too";
    (is_own && marks_elsewhere && fabric.host_queue != Queue::Unlimited).then(|| note.to_owned())
}

/// A note if flow control has lost packets, which it should prevent.
fn of_headroom(report: &Report) -> Option<String> {
    let drops = report.cases.iter().filter_map(|case| case.metrics.get("headroom_drops_pkts"));
    let drops: f64 = drops.map(|metric| metric.value()).sum();
    (drops > 0.0).then(|| {
        format!(
            "note: {drops} packets were dropped because `headroom` of `pfc` is too small for the packets on their way: \
             leave it out to derive it from each link (`tresse explain pfc`)"
        )
    })
}

/// Which cases run on one thread although they could use more, and why.
fn undivided(plan: &Plan, threads: usize) -> Option<String> {
    let reasons: Vec<Undivided> =
        plan.cases.iter().filter_map(|case| tresse_lab::undivided(case, threads)).collect();
    let why = reasons.first().filter(|_| threads > 1)?;
    let (alike, all) = (reasons.iter().filter(|other| *other == why).count(), plan.cases.len());
    Some(if alike == all {
        format!("note: one thread per case: {why}")
    } else {
        format!("note: one thread for {alike} of {all} cases: {why}")
    })
}
