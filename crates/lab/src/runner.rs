//! Runs an experiment: every case under every seed, on as many threads as asked, into one folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use std::{fs, io};

use serde::Serialize;
use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::keys::stopping_rule::Replications;
use tresse_experiment::plan::{Case, Plan};
use tresse_experiment::read::{Loaded, Profile};

use crate::clock::clock;
use crate::engine::{replication, worker};
use crate::failures;
use crate::metric::summary;
use crate::record::claim::ClaimResult;
use crate::record::outcome::{Outcome, Rows};
use crate::record::progress::Progress;
use crate::record::report::{MODEL_VERSION, Report, Status};
use crate::record::results::CaseResult;
use crate::stopping_rule;
use crate::store::Tables;

/// How an experiment is to be run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The profile; it was applied when the experiment was loaded.
    pub profile: Profile,
    /// The first seed.
    pub seed: u64,
    /// How many seeds: `seed`, `seed + 1`, …
    pub replications: Replications,
    /// How many threads.
    pub parallel: usize,
    /// The folder of results; it must not exist, or be empty.
    pub out: PathBuf,
}

/// `run.json`: the report, and everything that is needed to run it again.
#[derive(Serialize)]
struct RunFile<'a> {
    #[serde(flatten)]
    report: &'a Report,
    resolved: &'a toml::Table,
    host: Host,
}

/// The machine that it ran on.
#[derive(Serialize)]
struct Host {
    os: &'static str,
    architecture: &'static str,
    threads: usize,
}

/// A run that is under way, for whoever shows its progress.
#[derive(Debug)]
pub struct Watch {
    /// One for each replication that there may be, in the order in which they start.
    pub replications: Vec<(String, Progress)>,
    /// How many of them are to run, as far as is known.
    pub planned: AtomicUsize,
    /// Set it to end the run early; what was measured is kept.
    pub stop: AtomicBool,
}

impl Watch {
    /// For the cases of `plan` under as many seeds as there may be.
    ///
    /// # Errors
    /// If there are not that many seeds.
    pub fn new(plan: &Plan, options: &Options) -> Result<Self, Diagnostic> {
        if options.seed.checked_add(options.replications.most().into()).is_none() {
            return Err(Diagnostic::input(format!("seed {}: too large for its replications", options.seed)));
        }
        let replications = replications(plan, options)
            .map(|(case, seed)| (format!("{} seed {seed}", case.label()), Progress::default()))
            .collect();
        let planned = plan.cases.len() * options.replications.least() as usize;
        Ok(Self { replications, planned: planned.into(), stop: AtomicBool::new(false) })
    }
}

/// Every case under the first seed, under the second, and so on to the last that there may be.
fn replications<'a>(plan: &'a Plan, options: &Options) -> impl Iterator<Item = (&'a Case, u64)> {
    let seeds = options.seed..options.seed + u64::from(options.replications.most());
    seeds.flat_map(|seed| plan.cases.iter().map(move |case| (case, seed)))
}

/// Runs `plan` and leaves its results in the folder. `judge` is asked for the verdicts on the paper's claims when every case
/// is complete.
///
/// # Errors
/// If the folder cannot be written. What was written until then stays in folders `*.partial`.
pub fn run(
    loaded: &Loaded,
    plan: &Plan,
    options: &Options,
    watch: &Watch,
    judge: impl Fn(&Report) -> Vec<ClaimResult>,
) -> Result<Report, Diagnostic> {
    let start = clock();
    prepare(&options.out)?;
    let mut report = Report {
        schema: Report::SCHEMA.to_owned(),
        experiment: loaded.source.name.clone(),
        profile: options.profile.name().to_owned(),
        seed: options.seed,
        replications: options.replications.least(),
        too_wide: Vec::new(),
        status: Status::Running,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        model_version: MODEL_VERSION,
        out: options.out.display().to_string(),
        wall_s: 0.0,
        packet_hops: 0,
        digest: String::new(),
        errors: Vec::new(),
        cases: Vec::new(),
        claims: Vec::new(),
    };
    save(&report, loaded, options)?;
    let tables = Mutex::new(Tables::create(&options.out, &plan.cases)?);

    let replications: Vec<(&Case, u64)> = replications(plan, options).collect();
    let outcomes: Vec<Mutex<Option<Outcome>>> = replications.iter().map(|_| Mutex::new(None)).collect();
    let died: Vec<AtomicBool> = plan.cases.iter().map(|_| AtomicBool::new(false)).collect();
    let mut begun = 0;
    let mut complete;
    loop {
        let end = plan.cases.len() * report.replications as usize;
        watch.planned.store(end, Ordering::Relaxed);
        // While it runs, `run.json` has the cases of which every seed is done.
        let mut cases: BTreeMap<usize, CaseResult> = BTreeMap::new();
        let ended = |place: usize| {
            let hops = outcomes[place].lock().expect("no holder of the lock panics").as_ref().map(|o| o.hops);
            report.packet_hops += hops.unwrap_or(0);
            let case = place % plan.cases.len();
            let own = outcomes[..end].iter().skip(case).step_by(plan.cases.len());
            let own: Option<Vec<Outcome>> =
                own.map(|o| o.lock().expect("no holder of the lock panics").clone()).collect();
            let Some(own) = own.filter(|own| own.iter().all(|o| o.complete)) else { return Ok(()) };
            report.wall_s = start.elapsed().as_secs_f64();
            cases.insert(case, summary::case_result(&plan.cases[case], &own, &loaded.experiment));
            report.cases = cases.values().cloned().collect();
            save(&report, loaded, options)
        };
        let batch = Batch { replications: &replications[..end], outcomes: &outcomes, begun, died: &died };
        simulate(&batch, options.parallel, watch, &tables, ended).inspect_err(|_| {
            report.status = Status::Partial;
            // The folder may be why it failed: the first error is the one to tell.
            let _ = save(&report, loaded, options);
        })?;
        complete = cases.len() == plan.cases.len();
        let more = stopping_rule::after(&options.replications, report.replications, &report.cases)
            .filter(|_| complete);
        let Some(more) = more else { break };
        (begun, report.replications) = (end, more);
    }

    let outcomes: Vec<Option<Outcome>> =
        outcomes.into_iter().map(|o| o.into_inner().expect("no holder of the lock panics")).collect();
    let done: Vec<(&Case, u64, &Outcome)> = replications
        .iter()
        .zip(&outcomes)
        .filter_map(|(&(case, seed), outcome)| outcome.as_ref().map(|o| (case, seed, o)))
        .collect();
    report.status = if complete { Status::Complete } else { Status::Partial };
    report.packet_hops = done.iter().map(|(_, _, o)| o.hops).sum();
    report.errors = failures::told(&done);
    report.digest = summary::digest(&done);
    if complete {
        report.too_wide = stopping_rule::too_wide(&options.replications, &report.cases);
        report.claims = judge(&report);
    } else {
        let result = |case: &Case| {
            let own = done.iter().filter(|(c, _, _)| std::ptr::eq(*c, case));
            let outcomes: Vec<Outcome> = own.map(|(_, _, o)| (*o).clone()).collect();
            summary::case_result(case, &outcomes, &loaded.experiment)
        };
        report.cases = plan.cases.iter().map(result).collect();
    }
    report.wall_s = start.elapsed().as_secs_f64();
    tables.into_inner().expect("no holder of the lock panics").finish()?;
    save(&report, loaded, options)?;
    Ok(report)
}

/// How often what waits for the tables is looked at.
const REFRESH: Duration = Duration::from_secs(1);

/// Replications that are run together.
struct Batch<'a> {
    /// They and all before them.
    replications: &'a [(&'a Case, u64)],
    /// What they leave behind; nothing of those that were never begun.
    outcomes: &'a [Mutex<Option<Outcome>>],
    /// How many were begun before.
    begun: usize,
    /// By case: a controller of it has ended its worker, so that other seeds would tell nothing new.
    died: &'a [AtomicBool],
}

/// Runs the replications of a batch on `parallel` threads. `ended` is called after each.
fn simulate(
    batch: &Batch,
    parallel: usize,
    watch: &Watch,
    tables: &Mutex<Tables>,
    mut ended: impl FnMut(usize) -> Result<(), Diagnostic>,
) -> Result<(), Diagnostic> {
    let &Batch { replications, outcomes, begun, died } = batch;
    let next = AtomicUsize::new(begun);
    // The first error is the cause; one in a file that it left half written would tell nothing.
    let failure: Mutex<Option<Diagnostic>> = Mutex::new(None);
    let fail = |error: Diagnostic| -> Failed {
        failure.lock().expect("no holder of the lock panics").get_or_insert(error);
        Failed
    };
    let write = |rows: &mut dyn FnMut(&mut Tables) -> Result<(), Diagnostic>| -> Result<(), Failed> {
        let mut tables = tables.lock().expect("no holder of the lock panics");
        if failure.lock().expect("no holder of the lock panics").is_some() {
            return Err(Failed);
        }
        rows(&mut tables).map_err(fail)
    };
    let work = |tell: &mpsc::Sender<usize>| -> Result<(), Failed> {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(case, seed)) = replications.get(i) else { return Ok(()) };
            if watch.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let progress = &watch.replications[i].1;
            let died = &died[i % died.len()];
            if died.load(Ordering::Relaxed) {
                progress.done.store(true, Ordering::Relaxed);
                continue;
            }
            let measured = |rows: Rows| match rows {
                Rows::Flows(flows, optimum) => write(&mut |t| t.flows(case, seed, flows, optimum)),
                Rows::Jobs(jobs) => write(&mut |t| t.jobs(case, seed, jobs)),
                Rows::Samples(interval) => write(&mut |t| t.samples(case, seed, interval)),
                Rows::Converged(rows) => write(&mut |t| t.converged(case, seed, rows)),
            };
            let outcome = if worker::users_controllers(case).is_empty() {
                replication::run(case, seed, &watch.stop, progress, measured)
            } else {
                worker::run(case, seed, &watch.stop, progress, measured).map_err(|e| fail(no_worker(&e)))?
            }?;
            died.fetch_or(outcome.died.is_some(), Ordering::Relaxed);
            write(&mut |t| t.links(case, seed, outcome.simulated, &outcome.links))?;
            *outcomes[i].lock().expect("no holder of the lock panics") = Some(outcome);
            let _ = tell.send(i); // nobody listens any more if something could not be written
        }
    };
    let (tell, told) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..parallel.clamp(1, (replications.len() - begun).max(1)) {
            let (tell, work) = (tell.clone(), &work);
            scope.spawn(move || {
                if work(&tell).is_err() {
                    watch.stop.store(true, Ordering::Relaxed); // the others have nowhere to write
                }
            });
        }
        drop(tell);
        let mut keep_readable = || -> Result<(), Failed> {
            loop {
                match told.recv_timeout(REFRESH) {
                    Ok(place) => ended(place).map_err(fail)?,
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                }
                write(&mut Tables::refresh)?;
            }
        };
        if keep_readable().is_err() {
            watch.stop.store(true, Ordering::Relaxed);
        }
    });
    match failure.into_inner().expect("no holder of the lock panics") {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// The system gives no process for a user's controller.
fn no_worker(error: &io::Error) -> Diagnostic {
    Diagnostic::input(format!("a process for a controller of a file: {error}"))
        .hint("`--parallel 1` needs one at a time only")
}

/// Something could not be written; the first such error is kept.
struct Failed;

/// Makes the folder, and refuses one that holds something.
fn prepare(out: &Path) -> Result<(), Diagnostic> {
    let io = |action| move |error| Diagnostic::io(action, out, error);
    fs::create_dir_all(out).map_err(io("cannot be created"))?;
    if fs::read_dir(out).map_err(io("cannot be read"))?.next().is_some() {
        let message = format!("{} is not empty, and a run overwrites nothing", out.display());
        return Err(Diagnostic::input(message).hint("choose another folder with `--out DIR`"));
    }
    Ok(())
}

/// The first free folder `runs/NAME-N`.
pub fn default_out(experiment: &str) -> PathBuf {
    let stem = Path::new(experiment).with_extension("");
    let name: String =
        stem.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let name = name.trim_matches('-').to_owned();
    (1..)
        .map(|n| Path::new("runs").join(format!("{name}-{n}")))
        .find(|p| !p.exists())
        .expect("there are fewer than 2^31 runs")
}

/// Writes `run.json`, whole or not at all.
fn save(report: &Report, loaded: &Loaded, options: &Options) -> Result<(), Diagnostic> {
    let host =
        Host { os: std::env::consts::OS, architecture: std::env::consts::ARCH, threads: options.parallel };
    let file = RunFile { report, resolved: &loaded.resolved, host };
    let text = serde_json::to_string_pretty(&file).expect("a report is plain data");
    let (partial, path) = (options.out.join("run.json.partial"), options.out.join("run.json"));
    let io = |path: &Path| {
        let path = path.to_owned();
        move |error| Diagnostic::io("cannot be written", path, error)
    };
    fs::write(&partial, text + "\n").map_err(io(&partial))?;
    fs::rename(&partial, &path).map_err(io(&path))
}
