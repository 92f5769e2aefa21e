//! The verdicts on claims.

use std::cmp::Ordering;

use tresse_results::record::claim::{Share, Verdict};
use tresse_results::record::mechanism::why_inert;
use tresse_results::record::results::CaseResult;

use super::ClaimResult;
use super::select::{self, Values};
use crate::schema::Publication;
use crate::schema::claims::{Claim, Jumps, Order, Selector};
use crate::schema::forms::{Bounds, Compare, Form};

/// The claims of `publication` whose cases are among `cases`, and whether they hold; `profile` is the name of
/// the profile that was run.
pub(crate) fn verdicts(publication: &Publication, profile: &str, cases: &[CaseResult]) -> Vec<ClaimResult> {
    let result = |claim: &Claim| {
        let all = judged(claim, cases)?;
        let Judged { statement, found, .. } = deciding(claim, &all)?;
        Some(ClaimResult {
            id: claim.id.clone(),
            text: claim.text.clone(),
            source: claim.source.clone(),
            reading_of: claim.reading_of.clone(),
            metric: statement.metric.clone(),
            form: statement.form().ok()?.name(),
            holds: match found.verdict {
                Verdict::Holds => Some(true),
                Verdict::Inconclusive => None,
                Verdict::DoesNotHold => Some(false),
            },
            verdict: found.verdict,
            value: found.value,
            ci95: found.ci95,
            of: (all.len() > 1).then(|| found.of.clone()),
            cases: (all.len() > 1).then(|| share(claim, &all)),
            expected: claim.expected.of(profile),
            because: claim.because.clone(),
            contradicts: claim.contradicts.clone(),
            why: found.why.clone(),
        })
    };
    publication.claims.iter().filter_map(result).collect()
}

/// A case of a claim, judged separately.
pub(super) struct Judged<'a> {
    /// The statement about it.
    statement: &'a Claim,
    pub(super) found: Found<'a>,
    name: String,
}

/// The cases of a claim, the nearest to failing first: those of `for_all`, or of its selectors. `None` if the
/// cases of some selector were not run.
pub(super) fn judged<'a>(claim: &'a Claim, cases: &'a [CaseResult]) -> Option<Vec<Judged<'a>>> {
    let mut all = Vec::new();
    for statement in claim.statements() {
        let mut found = found(statement, cases)?;
        found.sort_by(Found::nearer_to_failing);
        if claim.cases.is_empty() {
            all.extend(found.into_iter().map(|found| Judged { statement, name: found.of.clone(), found }));
        } else {
            let worst = found.into_iter().next()?;
            all.push(Judged { statement, name: statement.text.clone(), found: worst });
        }
    }
    all.sort_by(|a, b| a.found.nearer_to_failing(&b.found));
    Some(all)
}

/// The deciding case: if all of them have to hold, the one nearest to failing.
pub(super) fn deciding<'a, 'b>(claim: &Claim, all: &'b [Judged<'a>]) -> Option<&'b Judged<'a>> {
    all.get(all.len() - claim.at_least.unwrap_or(all.len()))
}

/// How many of the cases hold, and which do not.
fn share(claim: &Claim, all: &[Judged]) -> Share {
    let with = |verdict: Verdict| {
        let own = all.iter().filter(move |case| case.found.verdict == verdict);
        own.map(|case| case.name.clone()).collect::<Vec<_>>()
    };
    Share {
        of: all.len(),
        hold: with(Verdict::Holds).len(),
        at_least: claim.at_least,
        do_not_hold: with(Verdict::DoesNotHold),
        inconclusive: with(Verdict::Inconclusive),
    }
}

/// The finding for one case or for a pair.
pub(super) struct Found<'a> {
    pub(super) verdict: Verdict,
    value: Option<f64>,
    pub(super) ci95: Option<f64>,
    /// How far it is from failing, in the unit of the value; below 0 it has failed.
    pub(super) margin: f64,
    /// The scale for a narrow interval: the nearest bound, or 1 if the value is a share.
    pub(super) scale: f64,
    /// The number of seeds with a value.
    pub(super) seeds: usize,
    pub(super) cases: Vec<&'a CaseResult>,
    of: String,
    /// Why there is no value, or why it decides nothing.
    pub(super) why: Option<String>,
}

impl<'a> Found<'a> {
    fn nearer_to_failing(&self, other: &Self) -> Ordering {
        other.verdict.cmp(&self.verdict).then(self.margin.total_cmp(&other.margin))
    }

    /// The same value, which decides nothing if there is a reason for that.
    fn doubted(self, why: Option<String>) -> Self {
        match why {
            Some(why) if self.why.is_none() => {
                Self { verdict: Verdict::Inconclusive, why: Some(why), ..self }
            }
            _ => self,
        }
    }

    /// There is no value.
    fn none(verdict: Verdict, cases: Vec<&'a CaseResult>, of: String, why: String) -> Self {
        let margin = f64::NEG_INFINITY;
        Self { verdict, value: None, ci95: None, margin, scale: 0.0, seeds: 0, cases, of, why: Some(why) }
    }
}

/// What one seed can show: a claim that holds by less than this share of its bound, or of 1 if the values are shares, is
/// decided by chance.
const RESOLUTION: f64 = 1e-4;

/// What a value says by itself.
pub(super) struct Weighed {
    pub(super) verdict: Verdict,
    margin: f64,
    scale: f64,
    is_by_chance: bool,
}

/// Whether a value with half its interval is within the bounds; `whole` is the scale for a narrow interval, if it is not
/// the bound.
pub(super) fn weighed([above, below]: Bounds, whole: Option<f64>, value: f64, ci95: Option<f64>) -> Weighed {
    let width = ci95.unwrap_or(0.0);
    let margins = [above.map(|above| (value - above, above)), below.map(|below| (below - value, below))];
    let nearest = margins.into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0));
    let (margin, bound) = nearest.unwrap_or((f64::INFINITY, 0.0));
    let scale = whole.unwrap_or(bound).abs();
    let is_by_chance = ci95.is_none() && margin > 0.0 && margin <= RESOLUTION * scale;
    let verdict = match margin {
        _ if is_by_chance => Verdict::Inconclusive,
        margin if margin > width => Verdict::Holds,
        margin if margin <= -width => Verdict::DoesNotHold,
        _ => Verdict::Inconclusive,
    };
    Weighed { verdict, margin, scale, is_by_chance }
}

/// The bounds of the steps of an order, which are shares.
pub(super) fn of_steps(order: Order, slack: f64) -> Bounds {
    match order {
        Order::Falling => [None, Some(slack)],
        Order::Rising => [Some(-slack), None],
    }
}

/// Whether values are within the bounds: see [`weighed`].
fn judge<'a>(
    values: Result<Values, String>,
    bounds: Bounds,
    whole: Option<f64>,
    cases: Vec<&'a CaseResult>,
    of: String,
) -> Found<'a> {
    let values = match values {
        Ok(values) => values,
        Err(why) => return Found::none(Verdict::Inconclusive, cases, of, why),
    };
    let (value, ci95) = (values.mean(), values.ci95());
    let Weighed { verdict, margin, scale, is_by_chance } = weighed(bounds, whole, value, ci95);
    let why = is_by_chance.then(|| "it would hold by less than 0.01 %, under one seed".to_owned());
    Found { verdict, value: Some(value), ci95, margin, scale, seeds: values.seeds(), cases, of, why }
}

/// The findings of the cases for a claim; `None` if the cases of some selector were not run. What a case shows in which
/// its mechanisms did nothing is no evidence.
pub(super) fn found<'a>(claim: &Claim, cases: &'a [CaseResult]) -> Option<Vec<Found<'a>>> {
    let found = measured(claim, cases)?.into_iter().map(|own| {
        let inert = own.cases.iter().find_map(|c| why_inert(c));
        own.doubted(inert)
    });
    Some(found.collect())
}

/// The findings, whatever made the values.
fn measured<'a>(claim: &Claim, cases: &'a [CaseResult]) -> Option<Vec<Found<'a>>> {
    let metric = &claim.metric;
    match claim.form().ok()? {
        Form::Against { left, right, by, bounds } => {
            let of: Pair = match by {
                Compare::Ratio => ratio,
                Compare::Difference => difference,
            };
            each_pair(metric, right.iter().map(|right| [left, right]), cases, of, bounds, None)
        }
        Form::Order { of, order, slack } => {
            let bounds = |slack: f64| of_steps(order, slack);
            let steps = of.windows(2).map(|two| [&two[1], &two[0]]);
            let mut found = each_pair(metric, steps, cases, step, bounds(slack), Some(1.0))?;
            if let (true, [first, .., last]) = (slack > 0.0, of) {
                // Within the slack nothing needs to change at any step: all in all something has to.
                let whole = std::iter::once([last, first]);
                found.extend(each_pair(metric, whole, cases, step, bounds(0.0), Some(1.0))?);
            }
            Some(found)
        }
        Form::Within { of, bounds } => each_case(of, cases, |selector, case| {
            let values = select::values(case, selector, metric);
            let found = judge(values, bounds, None, vec![case], select::label(case, selector));
            found.doubted(select::minority(case, selector, metric))
        }),
        Form::Jumps { of, jumps } => each_case(of, cases, |_, case| distance(&claim.id, jumps, case)),
    }
}

/// The findings of `of` for every case of the selectors.
fn each_case<'a>(
    selectors: &[Selector],
    cases: &'a [CaseResult],
    of: impl Fn(&Selector, &'a CaseResult) -> Found<'a>,
) -> Option<Vec<Found<'a>>> {
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

/// A function of two values; `None` if it is undefined.
type Pair = fn(f64, f64) -> Option<f64>;

fn ratio(left: f64, right: f64) -> Option<f64> {
    (right != 0.0).then(|| left / right)
}

fn difference(left: f64, right: f64) -> Option<f64> {
    Some(left - right)
}

/// A step from one value to the next, as a share of the greater one: defined even if one is 0.
fn step(next: f64, last: f64) -> Option<f64> {
    let greater = next.abs().max(last.abs());
    Some(if greater > 0.0 { (next - last) / greater } else { 0.0 })
}

/// Applies `of` to `metric` for every pair of the sides.
fn each_pair<'a, 'b>(
    metric: &str,
    sides: impl Iterator<Item = [&'b Selector; 2]>,
    cases: &'a [CaseResult],
    of: Pair,
    bounds: Bounds,
    whole: Option<f64>,
) -> Option<Vec<Found<'a>>> {
    let mut found = Vec::new();
    for [left, right] in sides {
        let pairs = select::pairs([left, right], cases);
        if pairs.is_empty() {
            return None;
        }
        found.extend(pairs.into_iter().map(|(l, r)| {
            let [own, other] = [select::label(l, left), select::label(r, right)];
            let values = || {
                // One may have more seeds because of another claim.
                let values = select::values(l, left, metric)?.under_seeds_of(r);
                let against = select::values(r, right, metric)?.under_seeds_of(l);
                let why = || match against {
                    Values::One(_) => format!("{metric} of {other} is 0, so there is no ratio"),
                    Values::Seeds(_) => format!("{metric} of {own} or {other} is 0 or missing under a seed"),
                };
                values.paired(&against, of).ok_or_else(why)
            };
            let minority = || {
                let own = select::minority(l, left, metric);
                own.or_else(|| select::minority(r, right, metric))
            };
            judge(values(), bounds, whole, vec![l, r], format!("{own} against {other}")).doubted(minority())
        }));
    }
    Some(found)
}

/// The distance between the jumps of a case, s, over the jobs under all seeds together.
fn distance<'a>(claim: &str, jumps: &Jumps, case: &'a CaseResult) -> Found<'a> {
    let of = case.label();
    let seconds = |d: tresse_units::Duration| tresse_units::seconds(d.0);
    let (apart, within) = (seconds(jumps.apart), seconds(jumps.within));
    match case.jumps.get(claim) {
        Some(found) => {
            let bounds = [Some(apart - within), Some(apart + within)];
            judge(Ok(Values::One(found.apart_s)), bounds, None, vec![case], of)
        }
        None if case.metrics.contains_key("jobs") => {
            let why = format!("the completion times of {of} have only one jump");
            Found::none(Verdict::DoesNotHold, vec![case], of, why)
        }
        None => {
            let why = format!("{of} has no jobs");
            Found::none(Verdict::Inconclusive, vec![case], of, why)
        }
    }
}
