//! The optimum beside the rounds that were simulated.

use std::sync::atomic::{AtomicBool, Ordering};

use indexmap::IndexMap;
use tresse_optimum::claims::Standing;
use tresse_optimum::distance::Distance;
use tresse_optimum::solve::solve;

use super::round::Round;
use crate::resolve::{Case, Plan};
use crate::summary::percentile;
use crate::unit::Flow;

/// The optimum of one round, and how far its flows were from it.
#[derive(Debug, Clone)]
pub struct Beside {
    /// The optimal goodput of each flow, bit/s.
    goodput: Vec<f64>,
    /// From there to the goodputs that were measured.
    distance: Distance,
}

/// The rounds of a case and seed that are compared. Of an experiment with thousands of small rounds the
/// optima would cost more than the simulation.
pub(super) const MOST_ROUNDS: usize = 16;

/// The optima of the first 16 of those rounds of `flows` of which every flow has finished; those that `stop`
/// still allows.
///
/// # Errors
/// Why there are none: the controller claims no utility, or the solver found no answer.
pub fn beside(
    plan: &Plan,
    case: &Case,
    seed: u64,
    flows: &[Flow],
    stop: &AtomicBool,
) -> Result<Vec<Beside>, String> {
    let mut all = Vec::new();
    for measured in flows.chunk_by(|a, b| a.round == b.round).take(MOST_ROUNDS) {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let round = Round::new(plan, case, seed, measured[0].round);
        if let Some(why) = why_none(case, &round) {
            return Err(why);
        }
        let Some(problem) = round.problem().filter(|p| p.flows.len() == measured.len()) else { continue };
        let optimum = solve(&problem).map_err(|e| e.to_string())?;
        let rates: Vec<f64> = measured.iter().map(|f| round.rate(f.record.goodput() as f64)).collect();
        all.push(Beside {
            goodput: optimum.totals.iter().map(|&x| round.goodput(x)).collect(),
            distance: Distance::of_totals(&problem, &optimum, &rates),
        });
    }
    Ok(all)
}

/// Why the controller's own paper gives no optimum to be near to.
pub(super) fn why_none(case: &Case, round: &Round) -> Option<String> {
    let name = case.controllers.controller().name();
    match round.claim() {
        None => Some(format!("nothing is known of what {name} claims to maximise")),
        Some(claim) if claim.standing == Standing::None => {
            Some(format!("{name} claims no utility ({})", claim.source))
        }
        Some(_) => None,
    }
}

/// The rounds together, as a case's result shows them.
pub fn summary(rounds: &[&Beside]) -> IndexMap<&'static str, f64> {
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
