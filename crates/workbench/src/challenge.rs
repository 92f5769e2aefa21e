//! Searches for the conditions in which a controller does worst.

mod condition;
mod goal;
mod hosts_record;
mod kept;
mod measure;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod on_hosts;
mod parallel;
mod record;
mod replay;
mod search;
mod shrink;
mod text;
mod trial;

use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use tresse_controllers::{Controller, Signal};
use tresse_experiment::read::files::sha256;
use tresse_results::MODEL_VERSION;
use tresse_results::clock::clock;

use crate::controller::{self, check};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use condition::{ALL, Condition, Space};
pub use condition::{GENES, Gene, Network};
pub use goal::{GOALS, Goal};
pub use hosts_record::{OnHosts, ReplayedOnHosts};
pub use kept::{Fate, Kept, WorstCase, kept};
#[cfg(all(feature = "kernel", target_os = "linux"))]
pub use on_hosts::replay_on_hosts;
pub use record::{Beside, Found, Own, Record, Worst};
pub use replay::{Again, Replayed, replay};
use search::{Cell, Elite, Search};
use shrink::{Challenged, SEARCHED, SEEDS};

/// How many conditions are tried if neither a number nor a time is asked for.
pub const CANDIDATES: u64 = 400;

/// The part of the time that the search takes; the rest is for confirming and simplifying what it found.
const SEARCHING: f64 = 0.6;

/// What to challenge, and how.
#[derive(Debug, Clone)]
pub struct Request {
    /// A C file, or a built-in controller.
    pub controller: String,
    /// The names of the goals; none: all that suit the controller.
    pub goals: Vec<String>,
    /// Bounds, `NAME=VALUE[,VALUE…]` or `NAME=LEAST..MOST`.
    pub bounds: Vec<String>,
    /// How many conditions to try.
    pub candidates: Option<u64>,
    /// How long it may take, roughly.
    pub time: Option<Duration>,
    /// The seed of the search.
    pub seed: u64,
    /// How many runs at a time; `None`: one for each core.
    pub parallel: Option<u16>,
    /// The folder, which must be new or empty; `None`: the next `challenges/NAME-N`.
    pub out: Option<PathBuf>,
}

/// How far a challenge is.
#[derive(Debug)]
pub enum Step<'a> {
    /// Something to know before it begins.
    Note(String),
    /// The worst so far of a goal in a network, which is a failure.
    Worse(&'a Goal, Network, f64),
    /// So many conditions were tried, of so many if their number is known.
    Tried(u64, Option<u64>),
    /// So many failures are to be confirmed and simplified.
    Confirming(usize),
}

/// A challenge that has ended.
#[derive(Debug)]
pub struct Challenge {
    pub record: Record,
    pub folder: PathBuf,
}

/// How many runs go at a time.
pub fn workers(asked: Option<u16>) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    asked.map_or(cores, usize::from)
}

/// Searches, and writes what it found into the folder. After an interrupt it writes what it has found by then.
///
/// # Errors
/// If something in the request is wrong, if the controller breaks its contract, or if a run does not end.
pub fn run(
    request: &Request,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(Step<'_>),
) -> Result<Challenge, Failure> {
    let controller = controller::find(&request.controller)?;
    let space = space(controller, &request.bounds)?;
    let (goals, left_out) = goals(controller, &space, &request.goals)?;
    for (goal, why) in &left_out {
        tell(Step::Note(format!("left out: {goal}: {why}")));
    }
    check::must_hold(controller, &request.controller)?;
    let folder = record::folder(request.out.as_deref(), controller.name())?;
    let mut record = Record {
        schema: record::SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        model_version: MODEL_VERSION,
        controller: Own::keep(controller, &folder)?,
        seed: request.seed,
        candidates: 0,
        complete: false,
        bounds: ALL.iter().map(|&of| (GENES[of as usize].name.to_owned(), owned(&space.names(of)))).collect(),
        left_out,
        worst: Vec::new(),
        failures: Vec::new(),
    };
    record.write(&folder)?;
    interrupt.keep();
    let challenged = Challenged { controller, space: &space, interrupt };
    let mut search = Search::new(controller, space.clone(), &goals, request.seed);
    let searched = seek(&mut search, &challenged, request, tell);
    record.candidates = search.candidates;
    let worst = |(cell, elite): &(Cell, Elite)| Worst {
        goal: cell.goal.name.to_owned(),
        network: cell.network.name().to_owned(),
        hindered: cell.is_hindered,
        value: elite.value,
        candidate: elite.candidate,
    };
    record.worst = search.elites().iter().map(worst).collect();
    let bad: Vec<(Cell, Elite)> =
        search.elites().into_iter().filter(|(cell, elite)| elite.value >= cell.goal.bad_from).collect();
    record.write(&folder)?;
    tell(Step::Confirming(bad.len()));
    let results = parallel::each(&bad, workers(request.parallel), interrupt, |(cell, elite)| {
        confirmed(&challenged, *cell, elite)
    });
    let mut failed = searched.err();
    for (result, (cell, elite)) in results.into_iter().zip(&bad) {
        let kept = result.unwrap_or_else(|failure| {
            failed.get_or_insert(failure);
            Some(unconfirmed(&challenged, *cell, elite))
        });
        let Some((found, text)) = kept else { continue };
        // Without its hindrance it is the failure of the cell before.
        let is_known = |other: &Found| other.goal == found.goal && other.network == found.network;
        if cell.is_hindered && !found.hindered && record.failures.iter().any(is_known) {
            continue;
        }
        record::save(&folder.join(&found.file), &text)?;
        record.failures.push(found);
    }
    record.complete = failed.is_none();
    record.write(&folder)?;
    match failed {
        Some(failure) if !matches!(failure, Failure::Interrupted) => Err(failure),
        _ => Ok(Challenge { record, folder }),
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The levels to search.
fn space(controller: Controller, bounds: &[String]) -> Result<Space, Failure> {
    let name = controller.name();
    if controller.reports() {
        let why = "has the hook `report`: a challenge runs controllers of TCP";
        return Err(Failure::Input(format!("{name} {why}")));
    }
    if controller.signals().contains(&Signal::NextHop) {
        let why = "needs the congestion of the next hop, which the networks of a challenge do not tell";
        return Err(Failure::Input(format!("{name} {why}")));
    }
    let mut space = Space::whole(if controller.coupled() { 4 } else { 1 });
    bounds.iter().try_for_each(|text| space.bound(text)).map_err(Failure::Input)?;
    space.check().map_err(Failure::Input)?;
    Ok(space)
}

/// The goals of a challenge, and why the others are left out.
type Chosen = (Vec<&'static Goal>, IndexMap<String, String>);

/// The goals that are asked for, all of which must suit; or all that suit.
fn goals(controller: Controller, space: &Space, asked: &[String]) -> Result<Chosen, Failure> {
    if asked.is_empty() {
        let (mut goals, mut left_out) = (Vec::new(), IndexMap::new());
        for goal in GOALS {
            match goal.suits(&controller, space) {
                Ok(()) => goals.push(goal),
                Err(why) => _ = left_out.insert(goal.name.to_owned(), why),
            }
        }
        return Ok((goals, left_out));
    }
    let chosen: Vec<&Goal> =
        asked.iter().map(|name| goal::find(name)).collect::<Result<_, _>>().map_err(Failure::Input)?;
    for goal in &chosen {
        let suits = goal.suits(&controller, space);
        suits.map_err(|why| Failure::Input(format!("the goal {} cannot be measured: {why}", goal.name)))?;
    }
    // In the order of all goals, each once.
    Ok((GOALS.iter().filter(|goal| chosen.contains(goal)).collect(), IndexMap::new()))
}

/// Searches until the candidates or the time are used up.
fn seek(
    search: &mut Search,
    challenged: &Challenged<'_>,
    request: &Request,
    tell: &mut dyn FnMut(Step<'_>),
) -> Result<(), Failure> {
    let begin = clock();
    let most = request.candidates.or(request.time.is_none().then_some(CANDIDATES));
    let late = || request.time.is_some_and(|time| begin.elapsed() >= time.mul_f64(SEARCHING));
    while most.is_none_or(|most| search.candidates < most) && !late() {
        let batch = search.batch(most.map_or(u64::MAX, |most| most - search.candidates));
        let workers = workers(request.parallel);
        let values = parallel::each(&batch, workers, challenged.interrupt, |(condition, goals)| {
            if goals.is_empty() {
                return Ok(Vec::new());
            }
            let experiment = challenged.experiment(condition, "a condition of the challenge");
            let measured = experiment.measure(goals, SEARCHED, challenged.interrupt);
            measured.map_err(|failure| match failure {
                Failure::Interrupted => failure,
                other => Failure::Input(format!("{other}\n\nthe condition: {condition}")),
            })
        });
        // A batch counts as a whole, so that its number of candidates repeats the search.
        let values: Vec<_> = values.into_iter().collect::<Result<_, _>>()?;
        for (cell, elite) in search.learn(&batch, &values) {
            if elite.value >= cell.goal.bad_from {
                tell(Step::Worse(cell.goal, cell.network, elite.value));
            }
        }
        tell(Step::Tried(search.candidates, most));
    }
    Ok(())
}

/// A failure, confirmed and simplified, with its file; `None` if other seeds do not show it.
fn confirmed(
    challenged: &Challenged<'_>,
    cell: Cell,
    elite: &Elite,
) -> Result<Option<(Found, String)>, Failure> {
    let goal = cell.goal;
    let Some(confirmed) = challenged.shrink(goal, elite)? else { return Ok(None) };
    let of = "the median of seeds 2 to 6";
    let (mut found, text) = found(challenged, cell, &confirmed.condition, confirmed.median(), of);
    // A plain controller in its place tells a failure of its own from one of any controller.
    let plain = if challenged.controller.needs_ecn() { "dctcp" } else { "reno" };
    if challenged.controller.name() != plain {
        let other = challenged.experiment(&confirmed.condition, "beside").instead(plain)?;
        let of = |&seed: &u64| Ok(other.measure(&[goal], seed, challenged.interrupt)?[0].unwrap_or(0.0));
        let values: Vec<f64> = SEEDS.iter().map(of).collect::<Result<_, Failure>>()?;
        found.beside = Some(Beside { controller: plain.to_owned(), value: shrink::median(&values) });
    }
    found.confirmed = true;
    found.seeds = SEEDS.to_vec();
    found.values = confirmed.values;
    found.candidate = elite.candidate;
    Ok(Some((found, text)))
}

/// What the search saw but nobody has confirmed.
fn unconfirmed(challenged: &Challenged<'_>, cell: Cell, elite: &Elite) -> (Found, String) {
    let of = "of seed 1, not confirmed";
    let (mut found, text) = found(challenged, cell, &elite.condition, elite.value, of);
    found.file.insert_str(0, "unconfirmed-");
    found.candidate = elite.candidate;
    (found, text)
}

/// A failure under the search's seed, and its file.
fn found(
    challenged: &Challenged<'_>,
    cell: Cell,
    condition: &Condition,
    value: f64,
    of: &str,
) -> (Found, String) {
    let Cell { goal, network, .. } = cell;
    let words = text::words(condition, challenged.controller.name());
    let sentence = format!("{}: {words}", goal.sentence(value));
    let head = format!(
        "# {} {value:.3}, {of}: {}\n# measured again by `tresse challenge --replay .`\n",
        goal.name, goal.meaning
    );
    let text = head + &text::toml(condition, challenged.controller, &sentence);
    let hindered = condition.is_hindered();
    let found = Found {
        file: format!("{}-{}{}.toml", goal.name, network.name(), if hindered { "-hindered" } else { "" }),
        sha256: sha256(&text),
        goal: goal.name.to_owned(),
        network: network.name().to_owned(),
        hindered,
        sentence,
        confirmed: false,
        value,
        seeds: vec![SEARCHED],
        values: vec![value],
        beside: None,
        candidate: 0,
    };
    (found, text)
}
