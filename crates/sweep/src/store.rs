//! A sweep: its points, which of them are computed, and the folder that keeps their results.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tresse_controllers::LoadError;
use tresse_experiment::{Diagnostic, Owners};
use tresse_results::store::folder::{self, Folder};
use tresse_units::output_file::write_whole;
use tresse_units::text_file;

use crate::check::check;
use crate::costs::Costs;
use crate::designs::{self, Cube, Request, Setting};
use crate::journal::{Head, Journal, Kept};
use crate::plan::Plan;
use crate::record::{Cost, Record, Status};
use crate::rows;
use crate::shard::{SHARD, Shard};
use crate::spec::Base;
use crate::table;
use crate::unseen::{Part, Parts, Unseen};

/// A sweep that is in progress, or has ended. Its folder has
///
/// - `plan.toml`, the last plan;
/// - `planned.json`, how many points there will be;
/// - `journal.jsonl`, a line for each point as soon as it is computed, from which a later start continues;
/// - `results.parquet` and `costs.parquet`, written by [`Sweep::finish`].
#[derive(Debug)]
pub struct Sweep {
    pub(crate) base: Base,
    /// The points of the plan, and of the shard, each once.
    points: Vec<Point>,
    folder: Folder,
    state: Mutex<State>,
}

/// One experiment at one setting, or those of its cases that see the same keys.
#[derive(Debug)]
pub(crate) struct Point {
    pub address: String,
    /// The keys of the designs that its cases see.
    pub setting: Setting,
    /// All settings, in the form of `--set`.
    pub settings: Vec<String>,
    /// Which cases; `None`: all.
    pub part: Option<Part>,
}

#[derive(Debug)]
struct State {
    journal: Journal,
    /// The computed points, by address.
    known: BTreeMap<String, Kept>,
    /// The points to compute, the next one last.
    todo: Vec<usize>,
    costs: Costs,
    /// Points computed since the sweep was opened.
    computed: usize,
    /// How many were computed when `todo` was last sorted.
    ordered: usize,
}

/// The progress of a sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// All points of the plan, or of the shard.
    pub points: usize,
    /// Those with a record.
    pub done: usize,
    /// Those whose record says that they failed.
    pub failed: usize,
    /// Those computed since the sweep was opened.
    pub computed: usize,
    /// An estimate for those without a record, seconds of one core; `None` if nothing is known.
    pub left_s: Option<f64>,
}

/// Where a sweep has written its results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    pub folder: PathBuf,
    /// Points in `results.parquet`: those of the plan, and those that the folder had before.
    pub points: usize,
    /// Why points failed, and how many for each reason.
    pub failures: BTreeMap<String, usize>,
    /// What is missing; `None` if nothing is, or that is not known.
    pub unfinished: Option<Unfinished>,
    /// What was left out of the plan.
    pub left_out: LeftOut,
}

/// Points that would have repeated others, because they differ from them only in keys that make no difference.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub points: usize,
    /// Which keys, and to whom.
    pub unseen: Vec<Unseen>,
}

/// A sweep of which points are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// All points that `results.parquet` will have.
    pub of: usize,
    /// The file of the plan, as it was named.
    pub plan: String,
    /// Whether a process computes them now.
    pub in_progress: bool,
}

/// What `planned.json` says, which is written when a sweep is opened.
#[derive(Debug, Serialize, Deserialize)]
struct Planned {
    /// All points: those of the plan, and those that the folder had before.
    points: usize,
    plan: String,
    #[serde(default)]
    left_out: LeftOut,
    /// All points of the plan, of which a shard has a part.
    #[serde(default)]
    whole: usize,
    /// The addresses of points that failed and are not planned any more, such as those of a value with a typing error.
    #[serde(default)]
    over: BTreeSet<String>,
}

impl Planned {
    /// A folder of an earlier version has none.
    fn read(folder: &Path) -> Option<Self> {
        serde_json::from_str(&text_file::read_text(&folder.join(PLANNED)).ok()?).ok()
    }

    fn write(&self, folder: &Path) -> Result<(), Diagnostic> {
        let path = folder.join(PLANNED);
        let text = serde_json::to_string(self).expect("plain data") + "\n";
        write_whole(&path, text).map_err(|e| Diagnostic::io("cannot be written", path, e))
    }
}

impl Finished {
    fn of<'a>(folder: &Path, kept: impl Iterator<Item = &'a Kept> + Clone) -> Self {
        let (failures, points) = (rows::reasons(kept.clone()), kept.count());
        let planned = Planned::read(folder);
        let left_out = planned.as_ref().map(|planned| planned.left_out.clone()).unwrap_or_default();
        let unfinished = planned.filter(|planned| planned.points > points).map(|planned| Unfinished {
            of: planned.points,
            plan: planned.plan,
            in_progress: folder::is_held(folder),
        });
        Self { folder: folder.to_owned(), points, failures, unfinished, left_out }
    }

    /// Points that failed.
    pub fn failed(&self) -> usize {
        self.failures.values().sum()
    }
}

impl Sweep {
    /// Makes the points of a plan and takes the folder `out`, or the next `sweeps/NAME-N`. Points in its journal
    /// are not computed again. `draw` returns the points of designs that need a sampler; a shard has its own
    /// subfolder of `out`. The experiment may have the keys of `owners`.
    ///
    /// # Errors
    /// If the plan or its experiment is wrong, the folder has another sweep or something else, or a process writes
    /// there; errors of `draw`.
    pub fn open<E: From<Diagnostic> + From<LoadError>>(
        plan: &Plan,
        owners: Owners,
        out: Option<&Path>,
        shard: Option<Shard>,
        draw: &mut dyn FnMut(&Request) -> Result<Cube, E>,
    ) -> Result<Self, E> {
        let base = Base::of::<E>(plan, owners)?;
        let planned = designs::points(plan, draw)?;
        if planned.is_empty() {
            let hint =
                "[[designs]] with keys such as { \"fabric.mark\" = [\"10pkt\", \"20pkt\"] } makes points";
            return Err(Diagnostic::input("the plan has no points").of(&plan.name).hint(hint).into());
        }
        check(plan, &base, &planned)?;
        let (mut points, left_out) = points_of(&base, &planned);
        let whole = points.len();
        let addresses: BTreeSet<String> = points.iter().map(|point| point.address.clone()).collect();
        if let Some(shard) = shard {
            let own = points.into_iter().enumerate().filter(|(place, _)| shard.has(*place));
            points = own.map(|(_, point)| point).collect();
        }
        let folder = match (out, shard) {
            (Some(out), Some(shard)) => Folder::hold(&out.join(shard.name()))?,
            (Some(out), None) => Folder::hold(out)?,
            (None, Some(_)) => {
                let hint = "use the same --out DIR for all shards of a sweep, then `tresse sweep merge DIR`";
                return Err(Diagnostic::input("a shard needs the folder of its sweep")
                    .of("--shard")
                    .hint(hint)
                    .into());
            }
            (None, None) => Folder::next_below(Path::new("sweeps"), &plan.stem())?,
        };
        let (journal, kept) = opened(folder.path(), &base, plan)?;
        let mut costs = Costs::default();
        kept.iter().for_each(|kept| costs.add(&kept.point, kept.cost.seconds));
        let known: BTreeMap<String, Kept> =
            kept.into_iter().map(|kept| (kept.record.address.clone(), kept)).collect();
        let is_new = |place: &usize| !known.contains_key(&points[*place].address);
        let mut todo: Vec<usize> = (0..points.len()).rev().filter(is_new).collect();
        let failed = known.iter().filter(|(_, kept)| kept.record.status == Status::Failed);
        let over = failed.map(|(address, _)| address).filter(|&own| !addresses.contains(own));
        let over: BTreeSet<String> = over.cloned().collect();
        let all = known.len() + todo.len() - over.len();
        Planned { points: all, plan: plan.name.clone(), left_out, whole, over }.write(folder.path())?;
        order(&mut todo, &points, &costs);
        let state = State { journal, known, todo, costs, computed: 0, ordered: 0 };
        Ok(Self { base, points, folder, state: Mutex::new(state) })
    }

    /// What the files that its experiment names say differently, or more, than is read of them. Files that only some
    /// points name are not among them.
    pub fn notes(&self) -> &[String] {
        &self.base.notes
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Takes the next point for a worker of this process.
    pub(crate) fn take(&self) -> Option<usize> {
        let mut own = self.state();
        // The more is known of costs, the less is learnt by one more.
        if own.computed >= (2 * own.ordered).max(8) {
            own.ordered = own.computed;
            let State { todo, costs, .. } = &mut *own;
            order(todo, &self.points, costs);
        }
        own.todo.pop()
    }

    pub(crate) fn point(&self, place: usize) -> &Point {
        &self.points[place]
    }

    /// What remains to be computed, the expensive points first: the indices of points, and the specifications that
    /// [`run_point`](crate::run_point) takes.
    pub fn todo(&self) -> Vec<(usize, String)> {
        let places = self.state().todo.iter().rev().copied().collect::<Vec<_>>();
        let spec = |place: usize| self.base.spec(&self.points[place]);
        places.into_iter().map(|place| (place, spec(place))).collect()
    }

    /// Records what a worker has computed. It is in the journal when this returns.
    ///
    /// # Errors
    /// If it is the record of another point, or the journal cannot be written.
    pub fn keep(&self, place: usize, record: Record, cost: Cost) -> Result<(), Diagnostic> {
        let point = self.points.get(place).filter(|point| point.address == record.address);
        let Some(point) = point else {
            return Err(Diagnostic::input("the record belongs to another point"));
        };
        let kept = Kept { point: point.setting.clone(), record, cost };
        let mut own = self.state();
        own.journal.add(&kept)?;
        own.costs.add(&kept.point, kept.cost.seconds);
        own.computed += 1;
        own.known.insert(point.address.clone(), kept);
        Ok(())
    }

    /// The progress.
    pub fn standing(&self) -> Standing {
        let own = self.state();
        let records: Vec<&Kept> =
            self.points.iter().filter_map(|point| own.known.get(&point.address)).collect();
        let guess = |point: &Point| own.costs.guess(&point.setting);
        let without = self.points.iter().filter(|point| !own.known.contains_key(&point.address));
        Standing {
            points: self.points.len(),
            done: records.len(),
            failed: records.iter().filter(|kept| kept.record.status == Status::Failed).count(),
            computed: own.computed,
            left_s: without.map(guess).sum(),
        }
    }

    /// Writes `results.parquet` and `costs.parquet` from everything in the folder, even if the sweep was stopped.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn finish(&self) -> Result<Finished, Diagnostic> {
        finish(self.folder.path(), self.state().known.values())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether there is a sweep in `folder`.
pub fn is_sweep(folder: &Path) -> bool {
    Journal::is_in(folder) && !is_tuning(folder)
}

/// Whether there is a search of `tresse tune` in `folder`, which has a journal of the same name.
pub fn is_tuning(folder: &Path) -> bool {
    folder.join("tuning.json").is_file() || Journal::is_of_another_kind(folder)
}

/// The current contents of the sweep in `folder`.
///
/// # Errors
/// If it has none, or its journal cannot be read.
pub fn read(folder: &Path) -> Result<Finished, Diagnostic> {
    let (_, kept) = Journal::read(folder)?;
    Ok(Finished::of(folder, counted(folder, kept.iter()).into_iter()))
}

/// Merges the records of the shards of the sweep in `folder` into it, and writes its results. Shards in progress
/// contribute what they have.
///
/// # Errors
/// If there are no shards, they belong to several sweeps, or something cannot be read or written.
pub fn merge(folder: &Path) -> Result<Finished, Diagnostic> {
    let entries = fs::read_dir(folder).map_err(|e| Diagnostic::io("cannot be read", folder, e))?;
    let is_shard = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| name.starts_with(SHARD)) && Journal::is_in(path)
    };
    let mut shards: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_shard).collect();
    shards.sort();
    let Some(first) = shards.first() else {
        let message = format!("{} has no shards of a sweep", folder.display());
        return Err(Diagnostic::input(message).hint("`tresse sweep PLAN --out DIR --shard 1/10` makes one"));
    };
    let held = Folder::hold(folder)?;
    let (head, _) = Journal::read(first)?;
    let (mut journal, own, kept) = Journal::open(held.path(), &head)?;
    let mut known: BTreeMap<String, Kept> =
        kept.into_iter().map(|kept| (kept.record.address.clone(), kept)).collect();
    for shard in &shards {
        let (head, kept) = Journal::read(shard)?;
        if head != own {
            return Err(
                Diagnostic::input(format!("{} belongs to another sweep", shard.display())).hint(OTHER)
            );
        }
        for kept in kept {
            if !known.contains_key(&kept.record.address) {
                journal.add(&kept)?;
                known.insert(kept.record.address.clone(), kept);
            }
        }
    }
    if let Ok(plan) = text_file::read_bytes(&first.join(PLAN)) {
        let to = held.path().join(PLAN);
        write_whole(&to, plan).map_err(|e| Diagnostic::io("cannot be written", to, e))?;
    }
    let over: BTreeSet<String> =
        shards.iter().filter_map(|shard| Planned::read(shard)).flat_map(|planned| planned.over).collect();
    // What was left out of the plan, all shards know.
    if let Some(planned) = Planned::read(first) {
        let points = known.values().filter(|kept| !is_over(kept, &over)).count().max(planned.whole);
        Planned { points, over, ..planned }.write(held.path())?;
    }
    finish(held.path(), known.values())
}

const PLAN: &str = "plan.toml";
const PLANNED: &str = "planned.json";
const OTHER: &str = "a sweep can only be continued with the same experiment, seeds, cases and version; its designs may change";

/// The points of a plan, each once.
fn points_of(base: &Base, planned: &[designs::Planned]) -> (Vec<Point>, LeftOut) {
    let parts = Parts::new(base, planned);
    let (mut whole, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let (mut points, mut repeated) = (Vec::new(), 0);
    for planned in planned {
        // What is in two designs counts once.
        if !whole.insert(base.settings(&planned.setting)) {
            continue;
        }
        for (part, setting) in parts.of(planned) {
            let settings = base.settings(&setting);
            let address = match &part {
                None => base.address_of(&settings),
                Some(part) => base.address_of_part(&settings, part),
            };
            if seen.insert(address.clone()) {
                points.push(Point { address, setting, settings, part });
            } else {
                repeated += usize::from(part.is_some());
            }
        }
    }
    let unseen = if repeated > 0 { parts.unseen() } else { Vec::new() };
    (points, LeftOut { points: repeated, unseen })
}

/// The journal of a folder, for a sweep with this base, and its plan.
fn opened(folder: &Path, base: &Base, plan: &Plan) -> Result<(Journal, Vec<Kept>), Diagnostic> {
    if !Journal::is_in(folder) {
        let mut entries = fs::read_dir(folder).map_err(|e| Diagnostic::io("cannot be read", folder, e))?;
        if entries.next().is_some() {
            let message = format!("{} is not empty and has no sweep", folder.display());
            return Err(Diagnostic::input(message).hint("choose another folder with `--out DIR`"));
        }
    }
    let head = Head::new(plan.title(), base.address.clone());
    let (journal, known, kept) = Journal::open(folder, &head)?;
    if known.base != head.base || known.model_version != head.model_version {
        return Err(Diagnostic::input(format!("{} has another sweep", folder.display())).hint(OTHER));
    }
    let path = folder.join(PLAN);
    write_whole(&path, &plan.text).map_err(|e| Diagnostic::io("cannot be written", path, e))?;
    Ok((journal, kept))
}

/// Sorts the expensive ones last, where they are taken from; among equal ones, the first of the plan comes last.
fn order(todo: &mut [usize], points: &[Point], costs: &Costs) {
    let mut guessed: Vec<(f64, usize)> =
        todo.iter().map(|&place| (costs.guess(&points[place].setting).unwrap_or(0.0), place)).collect();
    guessed.sort_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
    todo.iter_mut().zip(guessed).for_each(|(place, (_, own))| *place = own);
}

/// Without those that failed and are not planned any more.
pub(crate) fn counted<'a>(folder: &Path, known: impl Iterator<Item = &'a Kept>) -> Vec<&'a Kept> {
    let over = Planned::read(folder).map(|planned| planned.over).unwrap_or_default();
    known.filter(|kept| !is_over(kept, &over)).collect()
}

/// Whether a point has failed and is not planned any more; `over` has such points of the folder.
fn is_over(kept: &Kept, over: &BTreeSet<String>) -> bool {
    kept.record.status == Status::Failed && over.contains(&kept.record.address)
}

fn finish<'a>(folder: &Path, known: impl Iterator<Item = &'a Kept>) -> Result<Finished, Diagnostic> {
    let known = counted(folder, known);
    table::write(folder, &known)?;
    Ok(Finished::of(folder, known.into_iter()))
}
