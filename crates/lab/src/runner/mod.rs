//! Runs an experiment: every case under every seed, on as many threads as asked, into one folder.

mod standing;
mod watch;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use indexmap::IndexMap;
use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::plan::{Case, Plan, differences, unmeasured};
use tresse_experiment::read::Loaded;

use crate::caveats;
use crate::engine::{replication, worker};
use crate::failures;
use crate::judge::{Judge, Jumps, Numbers};
use crate::metric::summary;
use crate::stopping_rule::{self, Verdicts};
pub use standing::Standing;
pub(crate) use standing::share;
use tresse_results::clock::clock;
use tresse_results::record::inputs::Inputs;
use tresse_results::record::outcome::{Outcome, Rows};
use tresse_results::record::progress::Progress;
use tresse_results::record::report::{MODEL_VERSION, Report, Status, Testbed};
use tresse_results::record::results::CaseResult;
use tresse_results::store::Tables;
use tresse_results::store::folder::Folder;
pub use watch::{Options, Planned, Watch};
use watch::{RunFile, replications};

/// Runs `plan` and writes its results to the folder. If claims are to be judged, `judge` is asked for the verdicts
/// when every case is complete; undecided claims may then get more seeds.
///
/// # Errors
/// If the folder cannot be written. What was written until then stays in folders `*.partial`.
pub fn run(
    loaded: &Loaded,
    plan: &Plan,
    options: &Options,
    watch: &Watch,
    judge: &impl Judge,
) -> Result<Report, Diagnostic> {
    let folder = match &options.out {
        Some(out) => Folder::hold_empty(out)?,
        None => Folder::next(&loaded.source.name)?,
    };
    carry_out(loaded, plan, options, watch, judge, Some(folder), None)
}

/// The same on real hosts: `on` replaces the simulator.
///
/// # Errors
/// If the folder cannot be written; what `on` returns.
pub fn run_on(
    loaded: &Loaded,
    plan: &Plan,
    options: &Options,
    watch: &Watch,
    judge: &impl Judge,
    testbed: Testbed,
    on: &On<'_>,
) -> Result<Report, Diagnostic> {
    let folder = match &options.out {
        Some(out) => Folder::hold_empty(out)?,
        None => Folder::next(&loaded.source.name)?,
    };
    carry_out(loaded, plan, options, watch, judge, Some(folder), Some((testbed, on)))
}

/// Runs a case under a seed, for example on real hosts, until it is over or the flag is set. It
/// passes on what was measured, and ends if that fails.
pub type On<'on> =
    dyn Fn(&Case, u64, &AtomicBool, &Progress, &mut Measured<'_>) -> Result<Outcome, Diagnostic> + Sync + 'on;

/// Takes what was measured.
pub type Measured<'a> = dyn FnMut(Rows) -> Result<(), Diagnostic> + 'a;

/// The same without a folder: only the report remains, and its `out` is not a folder.
///
/// # Errors
/// If a case needs a separate process and none can be started.
pub fn measure(
    loaded: &Loaded,
    plan: &Plan,
    options: &Options,
    watch: &Watch,
    judge: &impl Judge,
) -> Result<Report, Diagnostic> {
    carry_out(loaded, plan, options, watch, judge, None, None)
}

/// What is known before a run. What differs between schemes and their hosts, and what they have in common, is about
/// simulated ones.
fn notes(loaded: &Loaded, plan: &Plan, is_real: bool) -> Vec<String> {
    let simulated =
        if is_real { Vec::new() } else { [plan.shared(), differences::notes(loaded, plan)].concat() };
    [loaded.files.notes(), unmeasured::notes(loaded, plan), simulated].concat()
}

/// The report of a run that begins.
fn begun(loaded: &Loaded, notes: Vec<String>, options: &Options) -> Report {
    Report {
        schema: Report::SCHEMA.to_owned(),
        experiment: loaded.source.name.clone(),
        profile: options.profile.name().to_owned(),
        seed: options.seed,
        replications: options.replications.least(),
        too_wide: Vec::new(),
        status: Status::Running,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        model_version: MODEL_VERSION,
        testbed: None,
        out: String::new(),
        wall_s: 0.0,
        packet_hops: 0,
        digest: String::new(),
        inputs: None,
        changed: loaded.changes.clone(),
        judged: options.judge || loaded.changes.is_empty(),
        errors: Vec::new(),
        notes,
        cases: Vec::new(),
        claims: Vec::new(),
    }
}

/// The places of the replications that `more` seeds by case add to `seeds`.
fn next_places(seeds: &[u32], more: &[u32]) -> Vec<usize> {
    let most = more.iter().copied().max().unwrap_or(0) as usize;
    let is_next = |&place: &usize| {
        let (seed, case) = ((place / seeds.len()) as u32, place % seeds.len());
        (seeds[case]..more[case]).contains(&seed)
    };
    (0..seeds.len() * most).filter(is_next).collect()
}

/// What the results of cases are compared with.
struct Compared<'a, J> {
    judge: &'a J,
    jumps: Vec<Jumps>,
    is_judged: bool,
}

impl<'a, J: Judge> Compared<'a, J> {
    fn new(judge: &'a J, is_judged: bool) -> Self {
        Self { judge, jumps: judge.jumps(), is_judged }
    }

    fn result(&self, case: &Case, outcomes: &[&Outcome]) -> CaseResult {
        // If the experiment is changed, nothing was published of it.
        let published = if self.is_judged { self.judge.published(case) } else { Numbers::default() };
        summary::case_result(case, outcomes, published, &self.jumps)
    }
}

/// The results of all cases from the replications that have ended.
fn partial_results(
    plan: &Plan,
    done: &[(&Case, u64, &Outcome)],
    compared: &Compared<impl Judge>,
) -> Vec<CaseResult> {
    let result = |case: &Case| {
        let own = done.iter().filter(|(c, _, _)| std::ptr::eq(*c, case));
        let outcomes: Vec<&Outcome> = own.map(|&(_, _, o)| o).collect();
        compared.result(case, &outcomes)
    };
    plan.cases.iter().map(result).collect()
}

/// Adds what is known of all replications that have ended.
fn sum_up(report: &mut Report, loaded: &Loaded, done: &[(&Case, u64, &Outcome)]) {
    report.packet_hops = done.iter().map(|(_, _, o)| o.hops).sum();
    report.errors = failures::told(done);
    report.notes.extend(failures::noted(done));
    report.notes.extend(caveats::noted(done));
    report.notes.extend(caveats::wide(&report.cases, loaded.experiment.measure.table.as_deref()));
    report.digest = summary::digest(done);
}

fn carry_out(
    loaded: &Loaded,
    plan: &Plan,
    options: &Options,
    watch: &Watch,
    judge: &impl Judge,
    folder: Option<Folder>,
    real: Option<(Testbed, &On<'_>)>,
) -> Result<Report, Diagnostic> {
    let start = clock();
    let (testbed, on) = real.unzip();
    let inputs = |replications| Some(Inputs::new(loaded, plan, options.seed, replications));
    let out = folder.as_ref().map(|folder| folder.path().display().to_string());
    let notes = notes(loaded, plan, testbed.is_some());
    let mut report = Report {
        testbed,
        out: out.unwrap_or_default(),
        inputs: inputs(options.replications.least()),
        ..begun(loaded, notes, options)
    };
    let file = RunFile::new(&report, loaded, options);
    let compared = Compared::new(judge, report.judged);
    let held = |folder: Folder| -> Result<_, Diagnostic> {
        file.save(folder.path())?;
        let tables = Tables::create(folder.path(), &plan.cases)?;
        Ok((folder, tables))
    };
    let place = folder.map(held).transpose()?;
    watch.open(place, start, file);

    let replications: Vec<(&Case, u64)> = replications(plan, options).collect();
    let outcomes: Vec<OnceLock<Outcome>> = replications.iter().map(|_| OnceLock::new()).collect();
    let died: Vec<AtomicBool> = plan.cases.iter().map(|_| AtomicBool::new(false)).collect();
    // Places of replications: case by case under the first seed, then under the second, and so on.
    let mut seeds = vec![report.replications; plan.cases.len()];
    let mut places: Vec<usize> = (0..plan.cases.len() * report.replications as usize).collect();
    // How many of each case have ended.
    let mut ended_of = vec![0; plan.cases.len()];
    // While it runs, the report has the cases of which every seed is done; these are their places in the plan.
    let mut cases: Vec<usize> = Vec::new();
    let complete = loop {
        let ended = |place: usize| {
            report.packet_hops += outcomes[place].get().map_or(0, |outcome| outcome.hops);
            let case = place % plan.cases.len();
            ended_of[case] += 1;
            let own = outcomes.iter().skip(case).step_by(plan.cases.len()).take(seeds[case] as usize);
            let own: Option<Vec<&Outcome>> = own.map(|o| o.get().filter(|o| o.complete)).collect();
            let Some(own) = own.filter(|_| ended_of[case] == seeds[case]) else { return };
            report.wall_s = start.elapsed().as_secs_f64();
            let at = cases.partition_point(|&other| other < case);
            cases.insert(at, case);
            report.cases.insert(at, compared.result(&plan.cases[case], &own));
            watch.add(&report, at);
        };
        let groups = groups(&places, plan, on.is_some());
        watch.plan(groups.iter().map(|group| group[0]));
        let batch = Batch { replications: &replications, outcomes: &outcomes, groups: &groups, died: &died };
        simulate(&batch, options, watch, on, ended).inspect_err(|_| {
            report.status = Status::Partial;
            // The folder may be why it failed: the first error is the one to tell.
            let _ = watch.save(&report);
        })?;
        if cases.len() < plan.cases.len() {
            break false;
        }
        let judged = if compared.is_judged { judge.verdicts(&report) } else { Verdicts::default() };
        let more = stopping_rule::after(&options.replications, &seeds, &report.cases, &judged.undecided);
        if more == seeds {
            report.claims = judged.claims;
            break true;
        }
        let mut is_done = cases.iter().map(|&case| more[case] == seeds[case]);
        report.cases.retain(|_| is_done.next() == Some(true));
        cases.retain(|&case| more[case] == seeds[case]);
        report.replications = more.iter().copied().max().unwrap_or(report.replications);
        report.inputs = inputs(report.replications);
        watch.save(&report)?;
        places = next_places(&seeds, &more);
        seeds = more;
        watch.ask(&judged.undecided);
    };

    let done = replications.iter().zip(&outcomes);
    let done = done.filter_map(|(&(case, seed), outcome)| outcome.get().map(|o| (case, seed, o)));
    let done: Vec<(&Case, u64, &Outcome)> = done.collect();
    report.status = if complete { Status::Complete } else { Status::Partial };
    if complete {
        report.too_wide = stopping_rule::too_wide(&options.replications, &report.cases);
    } else {
        report.cases = partial_results(plan, &done, &compared);
    }
    sum_up(&mut report, loaded, &done);
    report.wall_s = start.elapsed().as_secs_f64();
    watch.close(|own| *own = report.clone())?;
    Ok(report)
}

/// Replications with the same results: the first of a group is computed, and the others have what it has. Two runs on
/// real hosts are never the same.
fn groups(places: &[usize], plan: &Plan, is_real: bool) -> Vec<Vec<usize>> {
    let same = if is_real { (0..plan.cases.len()).collect() } else { plan.same() };
    let mut groups: IndexMap<[usize; 2], Vec<usize>> = IndexMap::new();
    for &place in places {
        let (seed, case) = (place / same.len(), place % same.len());
        groups.entry([seed, same[case]]).or_default().push(place);
    }
    groups.into_values().collect()
}

/// How often rows that wait for the tables are checked.
const REFRESH: Duration = Duration::from_secs(1);

/// Replications that are run together.
struct Batch<'a> {
    /// All possible replications.
    replications: &'a [(&'a Case, u64)],
    /// Their outcomes, once they have ended.
    outcomes: &'a [OnceLock<Outcome>],
    /// The indices of those that are run now: see [`groups`].
    groups: &'a [Vec<usize>],
    /// By case: whether a controller has ended its worker, so that other seeds would show nothing new.
    died: &'a [AtomicBool],
}

/// Runs the replications of a batch, as many at a time as the options say. `ended` is called after each.
fn simulate(
    batch: &Batch,
    options: &Options,
    watch: &Watch,
    on: Option<&On<'_>>,
    mut ended: impl FnMut(usize),
) -> Result<(), Diagnostic> {
    let &Batch { replications, outcomes, groups, died } = batch;
    let next = AtomicUsize::new(0);
    // The first error is the cause. Later ones may be about a file that it left half written.
    let failure: Mutex<Option<Diagnostic>> = Mutex::new(None);
    let fail = |error: Diagnostic| -> Failed {
        failure.lock().expect("no holder of the lock panics").get_or_insert(error);
        Failed
    };
    let write = |rows: &mut dyn FnMut(&mut Tables) -> Result<(), Diagnostic>| -> Result<(), Failed> {
        let written = watch.with_tables(|tables| {
            let is_failed = failure.lock().expect("no holder of the lock panics").is_some();
            if is_failed { Err(Failed) } else { tables.map_or(Ok(()), |own| rows(own).map_err(fail)) }
        });
        written.unwrap_or(Err(Failed)) // the run was abandoned
    };
    let work = |tell: &mpsc::Sender<usize>| -> Result<(), Failed> {
        loop {
            let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) else { return Ok(()) };
            if watch.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let first = group[0];
            let progress = &watch.replications[first].1;
            let died_of = |place: usize| &died[place % died.len()];
            if died_of(first).load(Ordering::Relaxed) {
                progress.done.store(true, Ordering::Relaxed);
                continue;
            }
            let each = || group.iter().map(|&place| replications[place]);
            let measured = |rows: Rows| {
                write(&mut |tables| each().try_for_each(|(case, seed)| tables.add(case, seed, rows)))
            };
            let (case, seed) = replications[first];
            let threads = options.threads;
            let outcome = if let Some(on) = on {
                let ended = || Diagnostic::input("what was measured cannot be written");
                let mut measured = |rows: Rows<'_>| measured(rows).map_err(|Failed| ended());
                on(case, seed, &watch.stop, progress, &mut measured).map_err(fail)
            } else {
                simulated(case, seed, threads, &watch.stop, progress, measured)
                    .map_err(|e| fail(no_worker(&e)))?
            }?;
            write(&mut |tables| each().try_for_each(|(case, seed)| tables.end(case, seed, &outcome)))?;
            let keep = |place: usize, outcome: Outcome| {
                died_of(place).fetch_or(outcome.died.is_some(), Ordering::Relaxed);
                let _ = outcomes[place].set(outcome); // each is run once
                let _ = tell.send(place); // nobody listens any more if something could not be written
            };
            let (last, others) = group.split_last().expect("a group has a first");
            others.iter().for_each(|&place| keep(place, outcome.clone()));
            keep(*last, outcome);
        }
    };
    let (tell, told) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..options.parallel.clamp(1, groups.len().max(1)) {
            let (tell, work) = (tell.clone(), &work);
            scope.spawn(move || {
                if work(&tell).is_err() {
                    watch.stop.store(true, Ordering::Relaxed); // the others have nowhere to write
                }
            });
        }
        drop(tell);
        let mut save = || -> Result<(), Failed> {
            watch.save_added().map_err(fail)?;
            write(&mut Tables::refresh)
        };
        let kept = keep_readable(&told, watch, &mut ended, &mut save);
        if kept.is_err() {
            watch.stop.store(true, Ordering::Relaxed);
        }
    });
    failure.into_inner().expect("no holder of the lock panics").map_or(Ok(()), Err)
}

/// Until all threads are done, tells what has `ended`, and lets `save` write what is known.
fn keep_readable(
    told: &mpsc::Receiver<usize>,
    watch: &Watch,
    ended: &mut dyn FnMut(usize),
    save: &mut dyn FnMut() -> Result<(), Failed>,
) -> Result<(), Failed> {
    let mut told_at = clock();
    loop {
        match told.recv_timeout(REFRESH) {
            Ok(place) => ended(place),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        save()?;
        if told_at.elapsed() >= REFRESH {
            told_at = clock();
            watch.tell();
        }
    }
}

/// Runs a case under a seed: here, or in a separate process if it has a user's code.
///
/// # Errors
/// If no process can be started; errors of `measured`.
pub(crate) fn simulated<E>(
    case: &Case,
    seed: u64,
    threads: usize,
    stop: &AtomicBool,
    progress: &Progress,
    measured: impl FnMut(Rows) -> Result<(), E>,
) -> io::Result<Result<Outcome, E>> {
    match worker::users_code(case).is_empty() {
        true => Ok(replication::run(case, seed, threads, stop, progress, measured)),
        false => worker::run(case, seed, stop, progress, measured),
    }
}

/// The error if the system does not start a process for a user's controller.
fn no_worker(error: &io::Error) -> Diagnostic {
    Diagnostic::input(format!("cannot start a process for a controller from a file: {error}"))
        .hint("`--parallel 1` needs only one at a time")
}

/// Records that something could not be written; the first such error is kept.
struct Failed;
