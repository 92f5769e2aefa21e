//! The verdicts on claims.

use super::ClaimResult;
use super::select::{self, Values};
use crate::experiment::{Claim, Experiment, Jumps, Order, Selector, Selectors, Verdict};
use crate::summary::CaseResult;

/// The claims of `experiment` whose cases are among `cases`, and whether they hold; `profile` is the name of the one that
/// was run.
pub(crate) fn verdicts(experiment: &Experiment, profile: &str, cases: &[CaseResult]) -> Vec<ClaimResult> {
    let result = |claim: &Claim| {
        let found = found(claim, cases)?;
        let is_one = found.len() == 1;
        // Of several the one that is nearest to failing.
        let worst =
            found.into_iter().min_by(|a, b| b.verdict.cmp(&a.verdict).then(a.margin.total_cmp(&b.margin)))?;
        Some(ClaimResult {
            id: claim.id.clone(),
            text: claim.text.clone(),
            source: claim.source.clone(),
            holds: match worst.verdict {
                Verdict::Holds => Some(true),
                Verdict::Inconclusive => None,
                Verdict::DoesNotHold => Some(false),
            },
            verdict: worst.verdict,
            value: worst.value,
            ci95: worst.ci95,
            of: (!is_one).then_some(worst.of),
            expected: claim.expected.of(profile),
            because: claim.because.clone(),
            why: worst.why,
        })
    };
    experiment.claims.iter().filter_map(result).collect()
}

/// What was found of one case, or of a pair.
struct Found {
    verdict: Verdict,
    value: Option<f64>,
    ci95: Option<f64>,
    /// How far it is from failing, in the unit of the value; below 0 it has failed.
    margin: f64,
    of: String,
    why: Option<String>,
}

impl Found {
    /// There is no value.
    fn none(verdict: Verdict, of: String, why: String) -> Self {
        Self { verdict, value: None, ci95: None, margin: f64::NEG_INFINITY, of, why: Some(why) }
    }
}

/// What a value must keep to.
#[derive(Clone, Copy)]
enum Bound {
    Above(f64),
    Below(f64),
}

/// Both bounds, where they are said.
fn bounds(above: Option<f64>, below: Option<f64>) -> Vec<Bound> {
    above.map(Bound::Above).into_iter().chain(below.map(Bound::Below)).collect()
}

/// Whether values keep to the bounds.
fn judge(values: Result<Values, String>, bounds: &[Bound], of: String) -> Found {
    let values = match values {
        Ok(values) => values,
        Err(why) => return Found::none(Verdict::Inconclusive, of, why),
    };
    let (value, ci95) = (values.mean(), values.ci95());
    let width = ci95.unwrap_or(0.0);
    let margin = |bound: &Bound| match bound {
        Bound::Above(least) => value - least,
        Bound::Below(most) => most - value,
    };
    let margin = bounds.iter().map(margin).fold(f64::INFINITY, f64::min);
    let verdict = match margin {
        margin if margin > width => Verdict::Holds,
        margin if margin <= -width => Verdict::DoesNotHold,
        _ => Verdict::Inconclusive,
    };
    Found { verdict, value: Some(value), ci95, margin, of, why: None }
}

/// What the cases say of a claim; `None` if the cases of some selector were not run.
fn found(claim: &Claim, cases: &[CaseResult]) -> Option<Vec<Found>> {
    let metric = &claim.metric;
    if let (Some(left), Some(right)) = (&claim.left, &claim.right) {
        let is_ratio = claim.ratio_above.is_some() || claim.ratio_below.is_some();
        let (of, bounds): (Compare, _) = match is_ratio {
            true => (ratio, bounds(claim.ratio_above, claim.ratio_below)),
            false => (difference, bounds(claim.difference_above, claim.difference_below)),
        };
        let sides = right.all().iter().map(|right| [left, right]);
        return each_pair(metric, sides, cases, of, &bounds);
    }
    let of = claim.of.as_ref().map_or(&[][..], Selectors::all);
    if let Some(order) = claim.order {
        let slack = claim.slack.unwrap_or(0.0);
        let bound = match order {
            Order::Falling => Bound::Below(slack),
            Order::Rising => Bound::Above(-slack),
        };
        let steps = of.windows(2).map(|step| [&step[1], &step[0]]);
        return each_pair(metric, steps, cases, step, &[bound]);
    }
    let mut found = Vec::new();
    for selector in of {
        let selected = select::cases(selector, cases);
        if selected.is_empty() {
            return None;
        }
        found.extend(selected.into_iter().map(|case| match &claim.jumps {
            Some(jumps) => distance(&claim.id, jumps, case),
            None => judge(
                select::values(case, selector, metric),
                &bounds(claim.above, claim.below),
                select::label(case, selector),
            ),
        }));
    }
    Some(found)
}

/// What two values make, and what stands between their names; `None` if it is undefined.
type Compare = fn(f64, f64) -> Option<f64>;

fn ratio(left: f64, right: f64) -> Option<f64> {
    (right != 0.0).then(|| left / right)
}

fn difference(left: f64, right: f64) -> Option<f64> {
    Some(left - right)
}

/// A step from one value to the next, as a share of the greater one: defined also where one is 0.
fn step(next: f64, last: f64) -> Option<f64> {
    let greater = next.abs().max(last.abs());
    Some(if greater > 0.0 { (next - last) / greater } else { 0.0 })
}

/// What `of` makes of `metric` for every pair that the sides mean.
fn each_pair<'a>(
    metric: &str,
    sides: impl Iterator<Item = [&'a Selector; 2]>,
    cases: &[CaseResult],
    of: Compare,
    bounds: &[Bound],
) -> Option<Vec<Found>> {
    let mut found = Vec::new();
    for [left, right] in sides {
        let pairs = select::pairs([left, right], cases);
        if pairs.is_empty() {
            return None;
        }
        found.extend(pairs.into_iter().map(|(l, r)| {
            let [own, other] = [select::label(l, left), select::label(r, right)];
            let values = || {
                let (own, against) = (select::values(l, left, metric)?, select::values(r, right, metric)?);
                let undefined = || match against.mean() {
                    0.0 => format!("{metric} of {other} is 0, and nothing has a ratio to that"),
                    _ => format!(
                        "{metric} of {own_name} and of {other} were measured under no common seed",
                        own_name = select::label(l, left)
                    ),
                };
                own.paired(&against, of).ok_or_else(undefined)
            };
            judge(values(), bounds, format!("{own} against {other}"))
        }));
    }
    Some(found)
}

/// How far the jumps of a case are apart, s, of the jobs under all seeds together.
fn distance(claim: &str, jumps: &Jumps, case: &CaseResult) -> Found {
    let of = case.label();
    let seconds = |d: crate::units::Duration| tresse_fabric::seconds(d.0);
    let (apart, within) = (seconds(jumps.apart), seconds(jumps.within));
    match case.jumps.get(claim) {
        Some(found) => {
            let bounds = bounds(Some(apart - within), Some(apart + within));
            judge(Ok(Values::one(found.apart_s)), &bounds, of)
        }
        None if case.metrics.contains_key("jobs") => {
            let why = format!("the completion times of {of} have one jump only");
            Found::none(Verdict::DoesNotHold, of, why)
        }
        None => {
            let why = format!("{of} has no jobs");
            Found::none(Verdict::Inconclusive, of, why)
        }
    }
}
