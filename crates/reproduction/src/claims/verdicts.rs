//! The verdicts on claims.

use tresse_experiment::keys::Experiment;
use tresse_experiment::keys::claim_forms::{Bounds, Compare, Form};
use tresse_experiment::keys::claims::{Claim, Jumps, Order, Selector, Verdict};
use tresse_lab::record::results::CaseResult;

use super::ClaimResult;
use super::select::{self, Values};

/// The claims of `experiment` whose cases are among `cases`, and whether they hold; `profile` is the name of the one that
/// was run.
pub(crate) fn verdicts(experiment: &Experiment, profile: &str, cases: &[CaseResult]) -> Vec<ClaimResult> {
    let result = |claim: &Claim| {
        let (form, found) = (claim.form().ok()?.name(), found(claim, cases)?);
        let is_one = found.len() == 1;
        // Of several the one that is nearest to failing.
        let worst =
            found.into_iter().min_by(|a, b| b.verdict.cmp(&a.verdict).then(a.margin.total_cmp(&b.margin)))?;
        Some(ClaimResult {
            id: claim.id.clone(),
            text: claim.text.clone(),
            source: claim.source.clone(),
            reading_of: claim.reading_of.clone(),
            metric: claim.metric.clone(),
            form,
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

/// Whether values keep to the bounds.
fn judge(values: Result<Values, String>, [above, below]: Bounds, of: String) -> Found {
    let values = match values {
        Ok(values) => values,
        Err(why) => return Found::none(Verdict::Inconclusive, of, why),
    };
    let (value, ci95) = (values.mean(), values.ci95());
    let width = ci95.unwrap_or(0.0);
    let margins = [above.map(|above| value - above), below.map(|below| below - value)];
    let margin = margins.into_iter().flatten().fold(f64::INFINITY, f64::min);
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
    match claim.form().ok()? {
        Form::Against { left, right, by, bounds } => {
            let of: Pair = match by {
                Compare::Ratio => ratio,
                Compare::Difference => difference,
            };
            each_pair(metric, right.iter().map(|right| [left, right]), cases, of, bounds)
        }
        Form::Order { of, order, slack } => {
            let bounds = match order {
                Order::Falling => [None, Some(slack)],
                Order::Rising => [Some(-slack), None],
            };
            each_pair(metric, of.windows(2).map(|two| [&two[1], &two[0]]), cases, step, bounds)
        }
        Form::Within { of, bounds } => each_case(of, cases, |selector, case| {
            judge(select::values(case, selector, metric), bounds, select::label(case, selector))
        }),
        Form::Jumps { of, jumps } => each_case(of, cases, |_, case| distance(&claim.id, jumps, case)),
    }
}

/// What `of` finds of every case that the selectors mean.
fn each_case(
    selectors: &[Selector],
    cases: &[CaseResult],
    of: impl Fn(&Selector, &CaseResult) -> Found,
) -> Option<Vec<Found>> {
    let mut found = Vec::new();
    for selector in selectors {
        let meant = select::cases(selector, cases);
        if meant.is_empty() {
            return None;
        }
        found.extend(meant.into_iter().map(|case| of(selector, case)));
    }
    Some(found)
}

/// What two values make; `None` if it is undefined.
type Pair = fn(f64, f64) -> Option<f64>;

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
    of: Pair,
    bounds: Bounds,
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
                let [values, against] = [select::values(l, left, metric)?, select::values(r, right, metric)?];
                let why = || match against {
                    Values::One(_) => format!("{metric} of {other} is 0, and nothing has a ratio to that"),
                    Values::Seeds(_) => format!("{metric} of {own} or {other} is 0 or missing under a seed"),
                };
                values.paired(&against, of).ok_or_else(why)
            };
            judge(values(), bounds, format!("{own} against {other}"))
        }));
    }
    Some(found)
}

/// How far the jumps of a case are apart, s, of the jobs under all seeds together.
fn distance(claim: &str, jumps: &Jumps, case: &CaseResult) -> Found {
    let of = case.label();
    let seconds = |d: tresse_units::Duration| tresse_units::seconds(d.0);
    let (apart, within) = (seconds(jumps.apart), seconds(jumps.within));
    match case.jumps.get(claim) {
        Some(found) => {
            judge(Ok(Values::One(found.apart_s)), [Some(apart - within), Some(apart + within)], of)
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
