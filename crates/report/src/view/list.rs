//! The runs of a folder, as `tresse view` lists them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use indexmap::{IndexMap, IndexSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tresse_experiment::diagnostic::plain_json;
use tresse_results::record::claim::Verdict;
use tresse_results::record::progress::ProgressFile;
use tresse_results::store::finished::Host;
use tresse_results::store::folder::is_held;
use tresse_results::{State, Status};
use tresse_units::text_file;

use super::server::is_file;
use crate::cases::names;
use crate::run::progress;
use crate::twin;

/// The depth to which folders are searched: `runs/paper-xmp-1/xmp-table1` has depth two.
const DEPTH: usize = 4;
/// The maximum number of values of a headline.
const HEADLINE: usize = 8;

/// `api/runs`: the runs of a folder.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunList {
    #[schemars(extend("const" = "tresse/view/1"))]
    schema: &'static str,
    /// The folder.
    dir: String,
    /// The runs, in the order of their names.
    pub runs: Vec<RunSummary>,
}

/// A run of the list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunSummary {
    /// Its folder, relative to the one that is viewed.
    pub id: String,
    experiment: String,
    title: String,
    schemes: Vec<String>,
    profile: String,
    seed: u64,
    replications: u32,
    pub state: State,
    /// RFC 3339: when it began, or when its folder was last written.
    date: String,
    wall_s: f64,
    packet_hops: u64,
    cases: usize,
    claims: ClaimCounts,
    /// The first metric of its table, for each of at most 8 cases.
    headline: Option<Headline>,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<ProgressFile>,
    /// The ids of both sides, the simulated one first, if it is one of a twin.
    #[serde(skip_serializing_if = "Option::is_none")]
    twin: Option<[String; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Why it cannot be read; then everything except id, date and state is empty.
    error: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
struct ClaimCounts {
    hold: usize,
    fail: usize,
    inconclusive: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
struct Headline {
    metric: String,
    values: Vec<HeadlineValue>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
struct HeadlineValue {
    label: String,
    value: f64,
    ci95: Option<f64>,
}

/// The part of `run.json` that is listed. The rest, which is most of it, is skipped.
#[derive(Deserialize)]
struct RunFile {
    experiment: String,
    profile: String,
    seed: u64,
    replications: u32,
    status: Status,
    wall_s: f64,
    packet_hops: u64,
    #[serde(default)]
    errors: Vec<String>,
    cases: Vec<ListedCase>,
    claims: Vec<ListedClaim>,
    resolved: Resolved,
    #[serde(default)]
    host: Host,
}

#[derive(Deserialize)]
struct ListedCase {
    case: IndexMap<String, Value>,
    #[serde(default)]
    arrivals: bool,
    metrics: IndexMap<String, f64>,
    ci95: IndexMap<String, f64>,
}

#[derive(Deserialize)]
struct ListedClaim {
    verdict: Verdict,
}

/// The part of an experiment that is listed.
#[derive(Deserialize)]
struct Resolved {
    #[serde(default)]
    title: String,
    #[serde(default)]
    measure: Measure,
}

#[derive(Default, Deserialize)]
struct Measure {
    table: Option<Vec<String>>,
}

/// The runs of a folder; a run is read again when its `run.json` has changed.
#[derive(Debug)]
pub struct Runs {
    dir: PathBuf,
    known: BTreeMap<PathBuf, (SystemTime, u64, RunSummary)>,
}

impl Runs {
    /// The runs in `dir`, which must be canonical.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir, known: BTreeMap::new() }
    }

    /// The list as it is now.
    pub fn list(&mut self) -> RunList {
        let mut folders = Vec::new();
        find(&self.dir, DEPTH, &mut folders);
        self.known.retain(|folder, _| folders.contains(folder));
        let mut runs: Vec<RunSummary> =
            folders.into_iter().filter_map(|folder| self.summary(folder)).collect();
        runs.sort_by(|a, b| a.id.cmp(&b.id));
        RunList { schema: "tresse/view/1", dir: self.dir.display().to_string(), runs }
    }

    /// `None` if it has disappeared in the meantime.
    fn summary(&mut self, folder: PathBuf) -> Option<RunSummary> {
        let path = folder.join("run.json");
        let metadata = fs::metadata(&path).ok()?;
        let (changed, length) = (metadata.modified().ok()?, metadata.len());
        let known = self.known.get(&folder).filter(|(when, size, _)| (*when, *size) == (changed, length));
        let mut summary = match known {
            Some((_, _, summary)) => summary.clone(),
            None => {
                let id = folder.strip_prefix(&self.dir).ok()?.display().to_string();
                let id = if id.is_empty() { ".".to_owned() } else { id };
                let summary = read(&path, id, changed)?;
                self.known.insert(folder.clone(), (changed, length, summary.clone()));
                summary
            }
        };
        if summary.state == State::Killed {
            // `run.json` says that it is running. The lock on the folder says whether it still is.
            summary.state = if is_held(&folder) { State::UnderWay } else { State::Killed };
            summary.progress = (summary.state == State::UnderWay).then(|| progress(&folder)).flatten();
            // Its results name only the schemes of complete cases.
            if let Some(known) = summary.progress.as_ref().filter(|own| !own.schemes.is_empty()) {
                summary.schemes.clone_from(&known.schemes);
            }
        }
        summary.twin = self.twin(&folder);
        Some(summary)
    }

    /// The ids of both sides of the twin that a run belongs to.
    fn twin(&self, folder: &Path) -> Option<[String; 2]> {
        let above = folder.parent()?.strip_prefix(&self.dir).ok()?;
        twin::sides(&self.dir.join(above))?;
        Some(twin::SIDES.map(|side| above.join(side).display().to_string()))
    }
}

/// Folders with a `run.json`; links are not followed.
fn find(dir: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if is_file(&dir.join("run.json")) {
        found.push(dir.to_owned());
        return;
    }
    let Some(depth) = depth.checked_sub(1) else { return };
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            find(&entry.path(), depth, found);
        }
    }
}

/// `None` if it has disappeared in the meantime. Whatever else is wrong with a run is said in its place in the list:
/// one bad run never hides the others.
fn read(path: &Path, id: String, changed: SystemTime) -> Option<RunSummary> {
    let date = date(changed);
    let text = match text_file::read_text(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        text => text.map_err(|error| error.to_string()),
    };
    let file = text.and_then(|text| serde_json::from_str::<RunFile>(&text).map_err(|e| plain_json(&e)));
    Some(match file {
        Ok(file) => summary(file, id, date),
        Err(error) => RunSummary {
            id,
            experiment: String::new(),
            title: String::new(),
            schemes: Vec::new(),
            profile: String::new(),
            seed: 0,
            replications: 0,
            state: State::GaveUp,
            date,
            wall_s: 0.0,
            packet_hops: 0,
            cases: 0,
            claims: ClaimCounts::default(),
            headline: None,
            progress: None,
            twin: None,
            error: Some(format!("run.json cannot be read: {error}")),
        },
    })
}

/// In RFC 3339, which has the years 1970 to 9999 here; a file system may have any.
fn date(time: SystemTime) -> String {
    let last = Duration::from_secs(253_402_300_799);
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) if since <= last => humantime::format_rfc3339_seconds(time).to_string(),
        _ => String::new(),
    }
}

fn summary(file: RunFile, id: String, date: String) -> RunSummary {
    let names: Vec<(String, String)> = file.cases.iter().map(|own| names(&own.case)).collect();
    let schemes: IndexSet<&str> = names.iter().map(|(_, scheme)| &**scheme).collect();
    let counted = |verdict: Verdict| file.claims.iter().filter(|claim| claim.verdict == verdict).count();
    let claims = ClaimCounts {
        hold: counted(Verdict::Holds),
        fail: counted(Verdict::DoesNotHold),
        inconclusive: counted(Verdict::Inconclusive),
    };
    let arrivals = file.cases.first().is_some_and(|case| case.arrivals);
    let usual = if arrivals { "fct_mean_s" } else { "goodput_mean_bps" };
    let metric = file.resolved.measure.table.as_ref().and_then(|table| table.first());
    let metric = metric.map_or(usual, String::as_str).to_owned();
    let value = |(case, (label, _)): (&ListedCase, &(String, String))| {
        let value = *case.metrics.get(&metric)?;
        Some(HeadlineValue { label: label.clone(), value, ci95: case.ci95.get(&metric).copied() })
    };
    let values: Vec<HeadlineValue> = file.cases.iter().zip(&names).filter_map(value).take(HEADLINE).collect();
    RunSummary {
        id,
        schemes: schemes.into_iter().map(str::to_owned).collect(),
        state: match file.status {
            Status::Complete => State::Complete,
            Status::Running => State::Killed, // until its lock is asked
            Status::Partial if file.errors.is_empty() => State::Interrupted,
            Status::Partial => State::GaveUp,
        },
        date: if file.host.started.is_empty() { date } else { file.host.started },
        cases: file.cases.len(),
        claims,
        headline: (!values.is_empty()).then_some(Headline { metric, values }),
        progress: None,
        twin: None,
        error: None,
        title: file.resolved.title,
        experiment: file.experiment,
        profile: file.profile,
        seed: file.seed,
        replications: file.replications,
        wall_s: file.wall_s,
        packet_hops: file.packet_hops,
    }
}
