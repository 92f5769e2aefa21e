//! From outcomes to the table: metrics beside published numbers and the optimum, claims, digest.

use indexmap::IndexMap;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::experiment::{Claim, Experiment, PublishedValue, Selector};
use crate::metrics::{self, METRICS, Metric};
use crate::optimum;
use crate::resolve::Case;
use crate::sharing;
use crate::unit::Outcome;

/// The results of one case over its replications.
#[derive(Debug, Clone, Serialize)]
pub struct CaseResult {
    /// The axes.
    pub case: IndexMap<&'static str, serde_json::Value>,
    /// What was measured, of [`metrics::METRICS`](crate::metrics::METRICS).
    pub metrics: IndexMap<&'static str, Metric>,
    /// Half the width of the 95 % confidence interval of a metric.
    pub ci95: IndexMap<&'static str, f64>,
    /// What the interval is over: `seeds`, or `rounds` if there is one seed only.
    pub ci95_over: &'static str,
    /// What was published of it.
    pub published: IndexMap<&'static str, f64>,
    /// The rates that the controller claims to reach, and how far the flows were from them; empty if it
    /// claims none. `docs/optimum.md` says what the keys mean.
    pub optimum: IndexMap<&'static str, f64>,
    /// Which flows the optimum is of: those at the start of each round, none of which has finished.
    pub optimum_of: &'static str,
    /// Why there is no optimum, or why some rounds have none.
    pub no_optimum: Option<String>,
    /// Why path-sharing detection has no score; `None` if it has one, or if nothing detects.
    pub no_sharing_score: Option<String>,
}

/// A claim and whether it holds.
#[derive(Debug, Clone, Serialize)]
pub struct ClaimResult {
    /// Its name.
    pub id: String,
    /// It, in words.
    pub text: String,
    /// Whether the value lies within the claim's bounds.
    pub holds: bool,
    /// The ratio that was measured.
    pub value: f64,
}

/// The results of `case`; `outcomes` are its replications. None before the first flow.
pub fn case_result(case: &Case, outcomes: &[Outcome], experiment: &Experiment) -> CaseResult {
    let (ci95, ci95_over) = metrics::intervals(outcomes);
    let published = experiment
        .published
        .values
        .iter()
        .find(|v| v.scheme == case.scheme && v.subflows == case.subflows && v.pattern == case.pattern);
    let optima: Vec<_> = outcomes.iter().map(|o| &o.optima).collect();
    let optimum = optimum::summary(&optima);
    let why_none = optima.iter().find_map(|o| o.why_none().map(str::to_owned));
    let cut_short = || optimum.is_empty().then(|| "no round had finished when it was interrupted".to_owned());
    CaseResult {
        case: axes(case),
        metrics: metrics::of(outcomes),
        ci95,
        ci95_over,
        published: published.map(numbers).unwrap_or_default(),
        no_optimum: why_none.or_else(cut_short),
        optimum,
        optimum_of: "round_start",
        no_sharing_score: sharing::why_none(case),
    }
}

/// A published case's numbers under the names of the metrics; every name was checked.
fn numbers(value: &PublishedValue) -> IndexMap<&'static str, f64> {
    let name = |name: &str| METRICS.iter().copied().find(|&m| m == name);
    let goodput = value.goodput_mean.map(|rate| ("goodput_mean_bps", rate.0 as f64));
    let others = value.metrics.iter().filter_map(|(metric, &number)| Some((name(metric)?, number)));
    goodput.into_iter().chain(others).collect()
}

/// The axes of a case, as results name it.
pub(crate) fn axes(case: &Case) -> IndexMap<&'static str, serde_json::Value> {
    IndexMap::from([
        ("scheme", case.scheme.clone().into()),
        ("subflows", case.subflows.into()),
        ("pattern", case.pattern.clone().into()),
    ])
}

/// The claims whose two cases were run.
pub fn claims(claims: &[Claim], results: &[CaseResult]) -> Vec<ClaimResult> {
    let value = |claim: &Claim, side: &Selector| {
        let mut matching = results.iter().filter(|r| selects(side, r));
        let found = matching.next()?;
        found.metrics.get(claim.metric.as_str()).map(|m| m.value())
    };
    claims
        .iter()
        .filter_map(|claim| {
            let ratio = value(claim, &claim.left)? / value(claim, &claim.right)?;
            let holds = claim.ratio_above.is_none_or(|bound| ratio > bound)
                && claim.ratio_below.is_none_or(|bound| ratio < bound);
            Some(ClaimResult { id: claim.id.clone(), text: claim.text.clone(), holds, value: ratio })
        })
        .collect()
}

fn selects(selector: &Selector, result: &CaseResult) -> bool {
    result.case["scheme"] == selector.scheme.as_str()
        && selector.subflows.is_none_or(|n| result.case["subflows"] == n)
        && selector.pattern.as_deref().is_none_or(|p| result.case["pattern"] == p)
}

/// A fingerprint of everything that was simulated: equal digests, equal results. It depends on the
/// cases, the seeds and the model only, not on the machine or the number of workers.
pub fn digest(units: &[(&Case, u64, &Outcome)]) -> String {
    let mut hash = Sha256::new();
    for (case, seed, outcome) in units {
        hash.update(case.label());
        let mut words = vec![*seed, outcome.simulated, outcome.hops];
        for f in &outcome.flows {
            let r = &f.record;
            words.extend([f.round.into(), f.from.into(), f.to.into(), r.bytes, r.start, r.end]);
            let c = &r.counters;
            words.extend([c.sent, c.retransmissions, c.timeouts, c.recoveries, c.mark_cuts, c.marks]);
        }
        for l in &outcome.links {
            words.extend([l.port.into(), l.bytes, l.drops + l.lost, l.marks]);
        }
        for word in words {
            hash.update(word.to_le_bytes());
        }
    }
    hash.finalize().iter().take(16).map(|b| format!("{b:02x}")).collect()
}
