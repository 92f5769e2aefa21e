//! From outcomes to the table: metrics beside published numbers and the optimum, claims, digest.

use indexmap::IndexMap;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::convergence;
use crate::experiment::{Claim, Experiment, PublishedValue, Selector};
use crate::metrics::{self, By, METRICS, Metric};
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
    /// The same of parts of the flows, by `group` (a part of the workload, or a scheme of a mix), `distance` and
    /// `size`, and of the ports by `layer`; what has one part only is left out.
    pub by: By,
    /// Half the width of the 95 % confidence interval of a metric.
    pub ci95: IndexMap<&'static str, f64>,
    /// What the interval is over: `seeds`, or `rounds` if there is one seed only.
    pub ci95_over: &'static str,
    /// What was published of it.
    pub published: IndexMap<&'static str, f64>,
    /// What was published of parts of it, as in `by`.
    pub published_by: IndexMap<&'static str, IndexMap<String, IndexMap<&'static str, f64>>>,
    /// The rates that the controller claims to reach, and how far the flows were from them; empty if it
    /// claims none. `docs/optimum.md` says what the keys mean.
    pub optimum: IndexMap<&'static str, f64>,
    /// Which flows the optimum is of: those at the start of each round, none of which has finished.
    pub optimum_of: &'static str,
    /// Why there is no optimum, or why some rounds have none.
    pub no_optimum: Option<String>,
    /// Why there are no convergence times; `None` if there are, or if nobody asked.
    pub no_convergence: Option<String>,
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
    /// Whether the value lies within the claim's bounds; `None` if there is no value.
    pub holds: Option<bool>,
    /// The ratio that was measured.
    pub value: Option<f64>,
    /// Why there is no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The results of `case`; `outcomes` are its replications. None before the first flow.
pub fn case_result(case: &Case, outcomes: &[Outcome], experiment: &Experiment) -> CaseResult {
    let (ci95, ci95_over) = metrics::intervals(outcomes);
    let published = experiment.published.values.iter().filter(|v| {
        let same_number = v.subflows.is_none_or(|n| case.subflows == Some(n));
        v.scheme == case.scheme && same_number && v.pattern == case.pattern
    });
    let (mut of_all, mut of_parts) = (IndexMap::new(), IndexMap::<_, IndexMap<String, _>>::new());
    for value in published {
        match value.parts().next() {
            None => of_all.extend(numbers(value)),
            Some((what, name)) => {
                let parts: &mut IndexMap<_, IndexMap<_, _>> = of_parts.entry(what).or_default();
                parts.entry(name.to_owned()).or_default().extend(numbers(value));
            }
        }
    }
    let optima: Vec<_> = outcomes.iter().map(|o| &o.optima).collect();
    let optimum = optimum::summary(&optima);
    let why_none = optima.iter().find_map(|o| o.why_none().map(str::to_owned));
    let cut_short = || optimum.is_empty().then(|| "no round had finished when it was interrupted".to_owned());
    CaseResult {
        case: axes(case),
        metrics: metrics::of(outcomes).into_iter().chain(metrics::offered(case)).collect(),
        by: metrics::by(&case.groups, outcomes),
        ci95,
        ci95_over,
        published: of_all,
        published_by: of_parts,
        no_optimum: why_none.or_else(cut_short),
        optimum,
        optimum_of: "round_start",
        no_convergence: no_convergence(outcomes, experiment),
        no_sharing_score: sharing::why_none(case),
    }
}

/// Why a case has no convergence times, if they were asked for.
fn no_convergence(outcomes: &[Outcome], experiment: &Experiment) -> Option<String> {
    experiment.measure.convergence.as_ref()?;
    let most = convergence::MOST_FLOWS;
    let flows = outcomes.iter().map(|o| o.flows.len()).max().filter(|n| *n > most);
    flows
        .map(|n| {
            format!(
                "a run has {n} flows, and convergence times are of at most {most}: each is an event for all"
            )
        })
        .or_else(|| {
            let none = outcomes.iter().all(|o| o.converged.is_empty());
            none.then(|| {
                "no subflow was left alone by events for long enough: `for` in `convergence`".to_owned()
            })
        })
}

/// A published case's numbers under the names of the metrics; every name was checked.
fn numbers(value: &PublishedValue) -> IndexMap<&'static str, f64> {
    let name = |name: &str| METRICS.iter().copied().find(|&m| m == name);
    let goodput = value.goodput_mean.map(|rate| ("goodput_mean_bps", rate.0 as f64));
    let others = value.metrics.iter().filter_map(|(metric, &number)| Some((name(metric)?, number)));
    goodput.into_iter().chain(others).collect()
}

/// The axes of a case, as results name it; `subflows` is null if the path manager decides.
pub(crate) fn axes(case: &Case) -> IndexMap<&'static str, serde_json::Value> {
    IndexMap::from([
        ("scheme", case.scheme.clone().into()),
        ("subflows", case.subflows.into()),
        ("pattern", case.pattern.clone().into()),
    ])
}

/// The claims whose two cases were run.
pub fn claims(claims: &[Claim], results: &[CaseResult]) -> Vec<ClaimResult> {
    let find = |side: &Selector| results.iter().find(|r| selects(side, r));
    let both = claims.iter().filter_map(|claim| Some((claim, find(&claim.left)?, find(&claim.right)?)));
    both.map(|(claim, left, right)| {
        let ratio = ratio(&claim.metric, (&claim.left, left), (&claim.right, right));
        let value = ratio.as_ref().ok().copied();
        let holds = |ratio: f64| {
            claim.ratio_above.is_none_or(|bound| ratio > bound)
                && claim.ratio_below.is_none_or(|bound| ratio < bound)
        };
        ClaimResult {
            id: claim.id.clone(),
            text: claim.text.clone(),
            holds: value.map(holds),
            value,
            why: ratio.err(),
        }
    })
    .collect()
}

/// `metric` of a case, or of a part of it, over that of another one, or why it is undefined.
fn ratio(
    metric: &str,
    left: (&Selector, &CaseResult),
    right: (&Selector, &CaseResult),
) -> Result<f64, String> {
    let of = |(selector, case): (&Selector, &CaseResult)| {
        let (metrics, part) = match selector.parts().next() {
            None => (Some(&case.metrics), String::new()),
            Some((what, name)) => {
                (case.by.get(what).and_then(|parts| parts.get(name)), format!(", {what} {name}"))
            }
        };
        let name = || {
            let label = match case.case["subflows"].as_u64() {
                Some(n) => format!("{}-{n}", text(case, "scheme")),
                None => text(case, "scheme").to_owned(),
            };
            format!("{label} {}{part}", text(case, "pattern"))
        };
        match metrics.and_then(|m| m.get(metric)) {
            Some(value) => Ok((value.value(), name())),
            None => Err(format!("{} has no {metric}", name())),
        }
    };
    let ((above, _), (below, name)) = (of(left)?, of(right)?);
    if below == 0.0 {
        return Err(format!("{metric} of {name} is 0, and nothing has a ratio to that"));
    }
    Ok(above / below)
}

fn text<'a>(case: &'a CaseResult, axis: &str) -> &'a str {
    case.case[axis].as_str().unwrap_or_default()
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
            let begun = &f.begun.start;
            words.extend([begun.round.into(), begun.from.into(), begun.to.into(), r.bytes, r.start, r.end]);
            let c = &r.counters;
            words.extend([c.sent, c.retransmissions, c.timeouts, c.recoveries, c.mark_cuts, c.marks]);
        }
        for (part, job) in &outcome.jobs {
            words.extend([*part as u64, job.number.into(), job.start, job.end, job.flows.into()]);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn case(scheme: &str, flows: Option<u64>) -> CaseResult {
        CaseResult {
            case: IndexMap::from([
                ("scheme", scheme.into()),
                ("subflows", 2.into()),
                ("pattern", "p".into()),
            ]),
            metrics: flows.map(|n| ("flows", Metric::Count(n))).into_iter().collect(),
            by: By::new(),
            ci95: IndexMap::new(),
            ci95_over: "rounds",
            published: IndexMap::new(),
            published_by: IndexMap::new(),
            optimum: IndexMap::new(),
            optimum_of: "round_start",
            no_optimum: None,
            no_convergence: None,
            no_sharing_score: None,
        }
    }

    /// The claim that `left` has more than twice the flows of `right`.
    fn result(left: &str, right: &str) -> Option<serde_json::Value> {
        let side = |scheme: &str| Selector {
            scheme: scheme.to_owned(),
            subflows: None,
            pattern: None,
            variant: None,
            group: None,
            distance: None,
            size: None,
            layer: None,
        };
        let claim = Claim {
            id: "twice".to_owned(),
            text: "more than twice".to_owned(),
            metric: "flows".to_owned(),
            left: side(left),
            right: side(right),
            ratio_above: Some(2.0),
            ratio_below: None,
        };
        let cases = [case("one", Some(1)), case("three", Some(3)), case("zero", Some(0)), case("none", None)];
        claims(&[claim], &cases).pop().map(|c| serde_json::to_value(c).expect("it can be written"))
    }

    #[test]
    fn a_claim_holds_does_not_hold_or_is_undefined() {
        let defined = |holds: bool, value: f64| {
            let claim = serde_json::json!({
                "id": "twice", "text": "more than twice", "holds": holds, "value": value,
            });
            Some(claim)
        };
        assert_eq!(result("three", "one"), defined(true, 3.0));
        assert_eq!(result("one", "three"), defined(false, 1.0 / 3.0));
        assert_eq!(result("zero", "one"), defined(false, 0.0));
        for (left, right, why) in [
            ("one", "zero", "flows of zero-2 p is 0, and nothing has a ratio to that"),
            ("zero", "zero", "flows of zero-2 p is 0, and nothing has a ratio to that"),
            ("none", "one", "none-2 p has no flows"),
            ("one", "none", "none-2 p has no flows"),
        ] {
            let claim = result(left, right).expect("both were run");
            assert!(claim["holds"].is_null() && claim["value"].is_null(), "{claim}");
            assert_eq!(claim["why"], why);
        }
        assert_eq!(result("one", "another"), None, "that was not run");
    }
}
