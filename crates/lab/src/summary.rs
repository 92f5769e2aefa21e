//! From outcomes to the table: metrics, confidence intervals, published numbers, claims, digest.

use indexmap::IndexMap;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::experiment::{Claim, Experiment, Selector};
use crate::optimum;
use crate::resolve::Case;
use crate::unit::{Flow, Outcome};

/// The results of one case over its replications.
#[derive(Debug, Clone, Serialize)]
pub struct CaseResult {
    /// The axes.
    pub case: IndexMap<&'static str, serde_json::Value>,
    /// What was measured, of [`METRICS`]; every key ends in its unit, counts have none.
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
}

/// The names of all metrics.
pub(crate) const METRICS: &[&str] = &[
    "goodput_mean_bps",
    "goodput_p10_bps",
    "goodput_p50_bps",
    "goodput_p90_bps",
    "flows",
    "delivered_bytes",
    "timeouts",
    "retransmissions_pkts",
    "drops_pkts",
    "lost_pkts",
    "marks_pkts",
    "mark_cuts",
    "simulated_s",
    "packet_hops",
];

/// A value: counts stay whole.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Metric {
    /// A count.
    Count(u64),
    /// A mean, or a time.
    Real(f64),
}

impl Metric {
    /// The value as a number to compute with.
    pub fn value(self) -> f64 {
        match self {
            Self::Count(n) => n as f64,
            Self::Real(x) => x,
        }
    }
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
    let flows: Vec<&Flow> = outcomes.iter().flat_map(|o| &o.flows).collect();
    let mut goodput: Vec<u64> = flows.iter().map(|f| f.record.goodput()).collect();
    goodput.sort_unstable();
    let mut metrics = IndexMap::new();
    if !goodput.is_empty() {
        metrics.insert("goodput_mean_bps", Metric::Real(mean(&goodput)));
        for (name, percent) in [("goodput_p10_bps", 10), ("goodput_p50_bps", 50), ("goodput_p90_bps", 90)] {
            metrics.insert(name, Metric::Count(percentile(&goodput, percent)));
        }
    }
    let total = |f: fn(&Outcome) -> u64| Metric::Count(outcomes.iter().map(f).sum());
    let sum = |f: fn(&Flow) -> u64| Metric::Count(flows.iter().map(|flow| f(flow)).sum());
    metrics.insert("flows", Metric::Count(flows.len() as u64));
    metrics.insert("delivered_bytes", sum(|f| f.record.bytes));
    metrics.insert("timeouts", sum(|f| f.record.counters.timeouts));
    metrics.insert("retransmissions_pkts", sum(|f| f.record.counters.retransmissions));
    metrics.insert("drops_pkts", total(|o| o.packets.dropped - o.lost));
    metrics.insert("lost_pkts", total(|o| o.lost));
    metrics.insert("marks_pkts", total(|o| o.marks));
    metrics.insert("mark_cuts", sum(|f| f.record.counters.mark_cuts));
    let simulated = outcomes.iter().map(|o| o.simulated).sum();
    metrics.insert("simulated_s", Metric::Real(tresse_fabric::seconds(simulated)));
    metrics.insert("packet_hops", total(|o| o.hops));

    // Replications are independent; so are the rounds of a pattern, which are drawn anew.
    let (ci95_over, means) = if outcomes.len() > 1 {
        ("seeds", outcomes.iter().filter_map(|o| mean_goodput(o.flows.iter())).collect::<Vec<_>>())
    } else {
        let rounds = outcomes.first().map_or(&[][..], |o| &o.flows);
        let by_round = rounds.chunk_by(|a, b| a.round == b.round);
        ("rounds", by_round.filter_map(|r| mean_goodput(r.iter())).collect())
    };
    let ci95 = half_width_95(&means).map(|w| ("goodput_mean_bps", w)).into_iter().collect();

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
        metrics,
        ci95,
        ci95_over,
        published: published.map(|v| ("goodput_mean_bps", v.goodput_mean.0 as f64)).into_iter().collect(),
        no_optimum: why_none.or_else(cut_short),
        optimum,
        optimum_of: "round_start",
    }
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

fn mean(values: &[u64]) -> f64 {
    let sum: u128 = values.iter().map(|&v| u128::from(v)).sum();
    sum as f64 / values.len() as f64
}

fn mean_goodput<'a>(flows: impl Iterator<Item = &'a Flow>) -> Option<f64> {
    let goodput: Vec<u64> = flows.map(|f| f.record.goodput()).collect();
    (!goodput.is_empty()).then(|| mean(&goodput))
}

/// The smallest value that at least `percent` per cent of the values do not exceed.
pub(crate) fn percentile<T: Copy>(sorted: &[T], percent: usize) -> T {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted[rank - 1]
}

/// Half the width of the 95 % interval of the mean, by Student's t; none for fewer than two values.
fn half_width_95(values: &[f64]) -> Option<f64> {
    // The 97.5 % quantile for 1, 2, … degrees of freedom; beyond the table it is below 2.05.
    const T: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    let n = values.len();
    if n < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1) as f64;
    Some(T.get(n - 2).copied().unwrap_or(2.042) * (variance / n as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        // 1, 2, 3: mean 2, s = 1, t(2) = 4.303, so 4.303 / sqrt(3).
        let width = half_width_95(&[1.0, 2.0, 3.0]).expect("three values");
        assert!((width - 4.303 / 3f64.sqrt()).abs() < 1e-9);
        assert_eq!(half_width_95(&[1.0]), None);
    }

    #[test]
    fn percentiles_are_values_that_occurred() {
        let values = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
        assert_eq!([10, 50, 90, 100].map(|p| percentile(&values, p)), [10, 50, 90, 100]);
        assert_eq!(percentile(&[7], 10), 7);
    }
}
