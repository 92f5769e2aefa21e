//! The optimum of the rounds that were simulated.

use indexmap::IndexMap;
use tresse_experiment::plan::Case;
use tresse_optimum::distance::Distance;
use tresse_optimum::solve::solve;
use tresse_units::Time;

use super::round::{Round, shortest_paths};
use super::{schemes, words};
use tresse_results::record::flow::{Begun, Flow};
use tresse_results::record::metric::percentile;
use tresse_results::record::optima::{Optima, RoundOptimum};
use tresse_results::record::packed_flows::PackedFlows;

/// The number of rounds of a case and seed that are compared. In an experiment with thousands of small rounds the
/// optima would cost more than the simulation.
pub(super) const MOST_ROUNDS: usize = 16;

/// The number of paths of the largest round that is compared, over all flows. A solution cannot be interrupted:
/// some thousands of paths take half a minute if the solver is compiled without optimisation.
pub(super) const MOST_PATHS: usize = 1024;

/// Why flows that have not started together have no optimum.
pub(crate) const COME_AND_GO: &str = "flows come and go, and an optimum needs flows that are active together";

/// The most that flows that come and go may carry, as a share of all bytes, for those that stay to have an optimum.
/// By that much the links left to these are narrower than in their problem.
const NOISE: f64 = 0.01;

/// Adds a round in which every flow of `flows` has finished, or was there until the end. Returns its optimal
/// goodputs in the order of the flows, bit/s; none after the first 16 rounds, or if there is no optimum.
pub fn add<'a>(optima: &'a mut Optima, case: &Case, seed: u64, flows: &[Flow]) -> Option<&'a [f64]> {
    if optima.why_none.is_some() || optima.rounds.len() >= MOST_ROUNDS {
        return None;
    }
    match beside(case, seed, &flows.iter().collect::<Vec<_>>()) {
        Ok(beside) => {
            optima.rounds.push(beside);
            optima.rounds.last().map(|b| &b.goodput[..])
        }
        Err(why) => {
            optima.why_none = Some(why);
            None
        }
    }
}

/// Adds those of the case's `flows` that were there from its start to its end, `duration` ps later, if the flows
/// that came and went carried next to nothing: at most 1 % of all bytes.
pub fn add_lasting(optima: &mut Optima, case: &Case, seed: u64, flows: &PackedFlows, duration: Time) {
    if optima.why_none() != Some(COME_AND_GO) || !optima.rounds.is_empty() {
        return;
    }
    let lasting: Vec<Flow> = flows
        .iter()
        .filter(|f| f.record.start == 0 && f.record.end == duration && !f.record.complete)
        .collect();
    let all: u64 = flows.iter().map(|f| f.record.bytes).sum();
    let theirs: u64 = lasting.iter().map(|f| f.record.bytes).sum();
    if lasting.is_empty() || (all - theirs) as f64 > NOISE * all as f64 {
        return;
    }
    let beside = beside(case, seed, &lasting.iter().collect::<Vec<_>>());
    optima.why_none = beside.as_ref().err().cloned();
    optima.rounds.extend(beside);
}

fn beside(case: &Case, seed: u64, flows: &[&Flow]) -> Result<RoundOptimum, String> {
    let begun: Vec<Begun> = flows.iter().map(|f| f.begun).collect();
    if let Some(why) = schemes::no_paths(case, &begun).or_else(|| words::no_lasting_links(case)) {
        return Err(why);
    }
    let too_many = |paths: usize| {
        let why = "its optimum takes too long for a run (`tresse optimum` computes it)";
        (paths > MOST_PATHS).then(|| format!("a round has {paths} paths; with more than {MOST_PATHS} {why}"))
    };
    if let Some(why) = too_many(shortest_paths(case, &begun) as usize) {
        return Err(why);
    }
    let round = Round::new(case, seed, &begun);
    if let Some(why) = why_none(&round).or_else(|| too_many(round.paths())) {
        return Err(why);
    }
    let problem = round.problem().ok_or("no utility of such subflows is known")?;
    let optimum = solve(&problem).map_err(|e| words::no_optimum(&round, &e))?;
    let goodputs = flows.iter().map(|f| f.record.goodput() as f64);
    let rates: Vec<f64> =
        goodputs.zip(round.payloads()).map(|(goodput, payload)| goodput / payload).collect();
    Ok(RoundOptimum {
        goodput: round.goodputs(optimum.totals.iter().copied()),
        distance: Distance::of_totals(&problem, &optimum, &rates),
    })
}

/// Why the flows' utilities cannot be added, or are not what the controllers' own papers claim.
pub(super) fn why_none(round: &Round) -> Option<String> {
    let schemes = round.schemes();
    schemes::no_common_price(&schemes).or_else(|| schemes::no_claim(&schemes)).or_else(|| round.no_problem())
}

/// The rounds together, as a case's result shows them.
pub fn summary(optima: &[&Optima]) -> IndexMap<&'static str, f64> {
    let rounds: Vec<&RoundOptimum> = optima.iter().flat_map(|o| &o.rounds).collect();
    let mut shown = goodputs(rounds.iter().flat_map(|r| r.goodput.iter().copied()));
    if !rounds.is_empty() {
        let over = |of: fn(&Distance) -> f64| rounds.iter().map(move |r| of(&r.distance));
        shown.insert("goodput_distance_mean", over(|d| d.mean).sum::<f64>() / rounds.len() as f64);
        shown.insert("goodput_distance_max", over(|d| d.largest).fold(0.0, f64::max));
        shown.insert("utility_distance_mean", over(|d| d.utility).sum::<f64>() / rounds.len() as f64);
        shown.insert("rounds", rounds.len() as f64);
    }
    shown
}

/// Mean and percentiles of goodputs, bit/s; nothing of none.
pub(super) fn goodputs(values: impl Iterator<Item = f64>) -> IndexMap<&'static str, f64> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    if sorted.is_empty() {
        return IndexMap::new();
    }
    IndexMap::from([
        ("goodput_mean_bps", sorted.iter().sum::<f64>() / sorted.len() as f64),
        ("goodput_p10_bps", percentile(&sorted, 10)),
        ("goodput_p50_bps", percentile(&sorted, 50)),
        ("goodput_p90_bps", percentile(&sorted, 90)),
    ])
}
