//! The optimum beside the rounds that were simulated.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use tresse_experiment::plan::Case;
use tresse_experiment::plan::bound_scheme::BoundScheme;
use tresse_experiment::plan::parts::Part;
use tresse_optimum::claims::Standing;
use tresse_optimum::distance::Distance;
use tresse_optimum::solve::solve;

use super::round::Round;
use super::words;
use crate::record::flow::{Begun, Flow};
use crate::record::metric::percentile;

/// The optimum of one round, and how far its flows were from it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Beside {
    /// The optimal goodput of each flow, bit/s.
    goodput: Vec<f64>,
    /// From there to the goodputs that were measured.
    distance: Distance,
}

/// The optima beside a case's rounds under one seed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Optima {
    rounds: Vec<Beside>,
    /// Why a round has none.
    why_none: Option<String>,
}

/// The rounds of a case and seed that are compared. Of an experiment with thousands of small rounds the
/// optima would cost more than the simulation.
pub(super) const MOST_ROUNDS: usize = 16;

/// The paths of the largest round that is compared, over all flows. A solution cannot be interrupted: some
/// thousands of paths take half a minute where the solver is compiled without optimisation.
const MOST_PATHS: usize = 1024;

impl Optima {
    /// Adds a round of which every flow has finished, or was there until the end: those `flows`. Its optimal goodputs, in the order of the
    /// flows, bit/s; none after the first 16 rounds, or if there is no optimum.
    pub fn add(&mut self, case: &Case, seed: u64, flows: &[Flow]) -> Option<&[f64]> {
        if self.why_none.is_some() || self.rounds.len() >= MOST_ROUNDS {
            return None;
        }
        match beside(case, seed, flows) {
            Ok(beside) => {
                self.rounds.push(beside);
                self.rounds.last().map(|b| &b.goodput[..])
            }
            Err(why) => {
                self.why_none = Some(why);
                None
            }
        }
    }

    /// Says why a round has none.
    pub fn refuse(&mut self, why: &str) {
        self.why_none.get_or_insert_with(|| why.to_owned());
    }

    /// Why a round has none.
    pub fn why_none(&self) -> Option<&str> {
        self.why_none.as_deref()
    }
}

fn beside(case: &Case, seed: u64, flows: &[Flow]) -> Result<Beside, String> {
    let bound_scheme = case.bound_scheme().ok_or(words::SEVERAL)?;
    if let Some(why) = words::no_fixed_paths(bound_scheme).or_else(|| words::no_lasting_links(case)) {
        return Err(why);
    }
    if case.parts.iter().any(Part::is_limited) {
        return Err("applications limit the flows, or they are datagrams".to_owned());
    }
    let begun: Vec<Begun> = flows.iter().map(|f| f.begun).collect();
    let round = Round::new(case, bound_scheme, seed, &begun);
    if let Some(why) = why_none(bound_scheme, &round) {
        return Err(why);
    }
    let paths = round.paths();
    if paths > MOST_PATHS {
        return Err(format!(
            "a round has {paths} subflows; beyond {MOST_PATHS} its optimum takes too long beside a run \
             (`tresse optimum` computes it)"
        ));
    }
    let problem = round.problem().ok_or("no utility of such subflows is known")?;
    let optimum = solve(&problem).map_err(|e| words::no_optimum(bound_scheme, &e))?;
    let rates: Vec<f64> = flows.iter().map(|f| round.rate(f.record.goodput() as f64)).collect();
    Ok(Beside {
        goodput: optimum.totals.iter().map(|&x| round.goodput(x)).collect(),
        distance: Distance::of_totals(&problem, &optimum, &rates),
    })
}

/// Why the controller's own paper gives no optimum to be near to.
pub(super) fn why_none(bound_scheme: &BoundScheme, round: &Round) -> Option<String> {
    let name = bound_scheme.controllers.controller().name();
    match round.claim() {
        None => Some(format!("nothing is known of what {name} claims to maximise")),
        Some(claim) if claim.standing == Standing::None => {
            Some(format!("{name} claims no utility ({})", claim.source))
        }
        Some(_) => None,
    }
}

/// The rounds together, as a case's result shows them.
pub fn summary(optima: &[&Optima]) -> IndexMap<&'static str, f64> {
    let rounds: Vec<&Beside> = optima.iter().flat_map(|o| &o.rounds).collect();
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
