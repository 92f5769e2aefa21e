//! How a run is requested, watched and stopped, and the folder that it keeps open.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use indexmap::IndexSet;
use serde::Serialize;
use tresse_experiment::diagnostic::Diagnostic;
use tresse_experiment::plan::{Case, Plan};
use tresse_experiment::read::{Loaded, Profile};
use tresse_experiment::schema::stopping_rule::Replications;
use tresse_units::output_file::write_whole;

use crate::stopping_rule::Undecided;
use tresse_results::clock;
use tresse_results::record::progress::{Progress, ProgressFile};
use tresse_results::record::report::{Report, Status};
use tresse_results::record::results::CaseResult;
use tresse_results::store::Tables;
use tresse_results::store::finished::Host;
use tresse_results::store::folder::Folder;
use tresse_results::store::sums::Sums;

/// The most replications of a run, each of which has its progress.
const MOST_REPLICATIONS: usize = 1_000_000;

/// How to run an experiment.
#[derive(Debug, Clone)]
pub struct Options {
    /// The profile; it was applied when the experiment was loaded.
    pub profile: Profile,
    /// The first seed.
    pub seed: u64,
    /// How many seeds: `seed`, `seed + 1`, …
    pub replications: Replications,
    /// How many replications run at a time.
    pub parallel: usize,
    /// How many threads each of them may use. Results do not depend on it.
    pub threads: usize,
    /// The folder of results; it must not exist, or be empty. Default: the first `runs/NAME-N` that does not
    /// exist.
    pub out: Option<PathBuf>,
    /// Whether claims are judged although settings have changed the experiment.
    pub judge: bool,
    /// The figure or table under whose name the experiment is run, if any.
    pub figure: Option<String>,
}

impl Default for Options {
    /// The quick profile, seed 1, one replication of each case, one at a time, in the next folder.
    fn default() -> Self {
        Self {
            profile: Profile::Quick,
            seed: 1,
            replications: Replications::Count(1),
            parallel: 1,
            threads: 1,
            out: None,
            judge: false,
            figure: None,
        }
    }
}

/// `run.json`: the report, and everything that is needed to run it again.
#[derive(Serialize)]
pub(super) struct RunFile {
    #[serde(flatten)]
    report: Report,
    resolved: toml::Table,
    host: Host,
    #[serde(skip_serializing_if = "Option::is_none")]
    figure: Option<String>,
    /// Of its tables, once they are whole.
    #[serde(skip_serializing_if = "Sums::is_empty")]
    tables: Sums,
}

/// A run in progress, for showing its progress.
#[derive(Debug, Default)]
pub struct Watch {
    /// One for each possible replication, in the order in which they start.
    pub replications: Vec<(String, Progress)>,
    /// The schemes of its cases, with their numbers of subflows, each once.
    schemes: Vec<String>,
    /// Which of them are to run, as far as known.
    pub planned: Mutex<Planned>,
    /// Set it to end the run early; what was measured is kept.
    pub stop: AtomicBool,
    /// Present while a run is in progress.
    folder: Mutex<Option<Open>>,
}

/// Replications that are to run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Planned {
    /// Their indices.
    pub places: Vec<usize>,
    /// The claims for which the last of them are run, if the run continues until all are decided.
    pub undecided: Vec<String>,
}

/// What a run in progress writes to.
struct Open {
    /// Where; `None` for a run without a folder.
    place: Option<(Folder, Tables)>,
    start: Instant,
    file: RunFile,
    saved: Saved,
}

/// When `run.json` was written last.
#[derive(Debug, Clone, Copy)]
struct Saved {
    at: Instant,
    /// How long that took.
    took: Duration,
    /// Whether it has all that is known.
    is_current: bool,
}

/// Between two times `run.json` is written while a run goes on, at least this many times as long passes as it took:
/// it has all cases so far, and written after each of thousands it would take longer than these.
const PAUSE: u32 = 9;

impl Open {
    fn path(&self) -> Option<&Path> {
        self.place.as_ref().map(|(folder, _)| folder.path())
    }

    fn save(&mut self) -> Result<(), Diagnostic> {
        let start = clock::clock();
        self.path().map_or(Ok(()), |path| self.file.save(path))?;
        self.saved = Saved { at: clock::clock(), took: start.elapsed(), is_current: true };
        Ok(())
    }
}

impl fmt::Debug for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Open").field("folder", &self.path()).finish_non_exhaustive()
    }
}

impl Watch {
    /// For the cases of `plan` under the maximum number of seeds.
    ///
    /// # Errors
    /// If there are not enough seeds.
    pub fn new(plan: &Plan, options: &Options) -> Result<Self, Diagnostic> {
        if options.seed.checked_add(options.replications.most().into()).is_none() {
            return Err(Diagnostic::input(format!(
                "seed {}: too large for the number of replications",
                options.seed
            )));
        }
        let (cases, seeds) = (plan.cases.len(), options.replications.most() as usize);
        if cases.saturating_mul(seeds) > MOST_REPLICATIONS {
            return Err(Diagnostic::input(format!(
                "{cases} cases under {seeds} seeds: at most {MOST_REPLICATIONS} together"
            ))
            .hint("select cases with `--only`, or run fewer seeds with `--replications`"));
        }
        let replications = replications(plan, options)
            .map(|(case, seed)| (format!("{} seed {seed}", case.label()), Progress::default()))
            .collect();
        let schemes: IndexSet<String> = plan.cases.iter().map(Case::scheme_label).collect();
        Ok(Self {
            replications,
            schemes: schemes.into_iter().collect(),
            planned: Mutex::default(),
            stop: AtomicBool::new(false),
            folder: Mutex::default(),
        })
    }

    /// Adds replications to compute.
    pub(super) fn plan(&self, places: impl Iterator<Item = usize>) {
        self.planned.lock().expect("no holder of the lock panics").places.extend(places);
    }

    /// From now on the run continues for these claims.
    pub(super) fn ask(&self, undecided: &[Undecided]) {
        let mut planned = self.planned.lock().expect("no holder of the lock panics");
        planned.undecided = undecided.iter().map(|own| own.claim.clone()).collect();
        planned.undecided.dedup();
    }

    /// From now on the run writes to this folder, if any.
    pub(super) fn open(&self, place: Option<(Folder, Tables)>, start: Instant, file: RunFile) {
        let saved = Saved { at: start, took: Duration::ZERO, is_current: true };
        *self.lock() = Some(Open { place, start, file, saved });
    }

    /// The folder that the run writes to; none before it is open, and after it was closed.
    pub fn folder(&self) -> Option<PathBuf> {
        self.lock().as_ref().and_then(Open::path).map(Path::to_owned)
    }

    /// Closes the folder of a run that does not react to `stop` in time, with what was written until now:
    /// the run writes nothing more, and its threads may be left alone. What is known of it; nothing if no
    /// folder is open.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn abandon(&self) -> Result<Option<Report>, Diagnostic> {
        self.close(|report| report.status = Status::Partial)
    }

    /// Completes the folder, with the report as changed by `last`; does nothing if no folder is open.
    pub(super) fn close(&self, last: impl FnOnce(&mut Report)) -> Result<Option<Report>, Diagnostic> {
        // Held until the files are whole: who finds nothing to close may end the process.
        let mut own = self.lock();
        let Some(mut open) = own.take() else { return Ok(None) };
        let folder = match open.place.take() {
            Some((folder, tables)) => {
                open.file.tables = tables.finish()?;
                // A short run has never written it.
                let _ = fs::remove_file(folder.path().join(ProgressFile::NAME));
                Some(folder)
            }
            None => None,
        };
        open.file.report.wall_s = open.start.elapsed().as_secs_f64();
        last(&mut open.file.report);
        folder.map_or(Ok(()), |folder| open.file.save(folder.path()))?;
        Ok(Some(open.file.report))
    }

    /// Does `work` with the tables, if the run has any; does nothing if it was closed.
    pub(super) fn with_tables<T>(&self, work: impl FnOnce(Option<&mut Tables>) -> T) -> Option<T> {
        self.lock().as_mut().map(|open| work(open.place.as_mut().map(|(_, tables)| tables)))
    }

    /// Rewrites `run.json` with this report; does nothing if the folder was closed.
    pub(super) fn save(&self, report: &Report) -> Result<(), Diagnostic> {
        let mut open = self.lock();
        let Some(open) = open.as_mut() else { return Ok(()) };
        open.file.report = report.clone();
        open.save()
    }

    /// Records that case `at` of this report is new; does nothing if the folder was closed.
    pub(super) fn add(&self, report: &Report, at: usize) {
        let mut open = self.lock();
        let Some(open) = open.as_mut() else { return };
        let own = &mut open.file.report;
        (own.packet_hops, own.wall_s) = (report.packet_hops, report.wall_s);
        own.cases.insert(at, report.cases[at].clone());
        open.saved.is_current = false;
    }

    /// Rewrites `run.json` with the cases that were added, if the last time is long enough ago; does nothing if the
    /// folder was closed.
    pub(super) fn save_added(&self) -> Result<(), Diagnostic> {
        let mut open = self.lock();
        let waiting = open.as_mut().filter(|open| !open.saved.is_current);
        let due = waiting.filter(|open| open.saved.at.elapsed() >= PAUSE * open.saved.took);
        due.map_or(Ok(()), Open::save)
    }

    /// The cases that are complete, under all their seeds, in the order of the plan; `None` if they are `shown` many.
    pub fn complete(&self, shown: usize) -> Option<Vec<CaseResult>> {
        let open = self.lock();
        let cases = &open.as_ref()?.file.report.cases;
        (cases.len() != shown).then(|| cases.clone())
    }

    /// Records the progress; does nothing if the folder was closed. A failure does not end the run.
    pub(super) fn tell(&self) {
        let standing = self.standing();
        let open = self.lock();
        let Some(open) = open.as_ref() else { return };
        let Some(folder) = open.path() else { return };
        let file = standing.file(open.start.elapsed().as_secs_f64(), &self.schemes);
        let text = serde_json::to_string(&file).expect("plain data");
        let _ = write_whole(&folder.join(ProgressFile::NAME), text);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        self.folder.lock().expect("no holder of the lock panics")
    }
}

impl RunFile {
    pub fn new(report: &Report, loaded: &Loaded, options: &Options) -> Self {
        let host = Host {
            os: std::env::consts::OS.to_owned(),
            architecture: std::env::consts::ARCH.to_owned(),
            threads: options.parallel,
            started: humantime::format_rfc3339_seconds(clock::date()).to_string(),
        };
        Self {
            report: report.clone(),
            resolved: loaded.resolved.clone(),
            host,
            figure: options.figure.clone(),
            tables: Sums::default(),
        }
    }

    /// Writes `run.json`, completely or not at all.
    pub fn save(&self, out: &Path) -> Result<(), Diagnostic> {
        let text = serde_json::to_string_pretty(self).expect("a report is plain data");
        let path = out.join("run.json");
        write_whole(&path, text + "\n").map_err(|error| Diagnostic::io("cannot be written", path, error))
    }
}

/// Every case under the first seed, then under the second, and so on to the last possible one.
pub(super) fn replications<'a>(plan: &'a Plan, options: &Options) -> impl Iterator<Item = (&'a Case, u64)> {
    let seeds = options.seed..options.seed + u64::from(options.replications.most());
    seeds.flat_map(|seed| plan.cases.iter().map(move |case| (case, seed)))
}

#[cfg(test)]
mod tests {
    use tresse_experiment::{find, load, resolve};

    use super::*;
    use crate::judge::Numbers;
    use crate::metric::summary;
    use crate::runner::begun;

    /// How many cases `run.json` has.
    fn written(folder: &Path) -> usize {
        let text = fs::read_to_string(folder.join("run.json")).expect("it was written");
        let run: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        run["cases"].as_array().expect("a list").len()
    }

    /// That of many cases would otherwise be written again for each.
    #[test]
    fn the_report_is_rewritten_when_that_took_a_small_part_of_the_time() {
        let loaded = load(find("xmp/table1").expect("built in"), Profile::Quick, &[]).expect("valid");
        let plan = resolve(&loaded, &[]).expect("valid");
        let options = Options::default();
        let dir = tempfile::tempdir().expect("a folder");
        let folder = Folder::hold_empty(&dir.path().join("out")).expect("it is new");
        let out = folder.path().to_owned();
        let tables = Tables::create(&out, &plan.cases).expect("it can be written");
        let mut report = begun(&loaded, Vec::new(), &options);
        let watch = Watch::new(&plan, &options).expect("few");
        watch.open(Some((folder, tables)), clock::clock(), RunFile::new(&report, &loaded, &options));
        let mut add = |took: Duration| {
            let at = report.cases.len();
            report.cases.push(summary::case_result(&plan.cases[at], &[], Numbers::default(), &[]));
            watch.add(&report, at);
            watch.lock().as_mut().expect("open").saved.took = took;
            watch.save_added().expect("it can be written");
            written(&out)
        };
        watch.save(&begun(&loaded, Vec::new(), &options)).expect("it can be written");
        assert_eq!(add(Duration::ZERO), 1, "nothing to save");
        let hour = Duration::from_secs(3600);
        assert_eq!([add(hour), add(hour)], [1, 1], "written far too soon");
        assert_eq!(add(Duration::ZERO), 4, "those that waited");
        assert_eq!(add(hour), 4);
        let left = watch.abandon().expect("it can be written").expect("it was open");
        assert_eq!((left.cases.len(), written(&out)), (5, 5), "the last ones are lost");
    }
}
