//! Published numbers next to ours.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use tresse_results::record::results::CaseResult;

use super::select;
use crate::schema::claims::{Kind, Published, PublishedValue};

/// How far ours may be from a published number, as a share of it.
const NEAR: f64 = 0.2;

/// A published number next to ours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedNumber {
    /// The case, by its axes.
    pub case: IndexMap<String, serde_json::Value>,
    /// The part of it, such as `group` or `window`, by its name; empty for the whole case.
    pub part: IndexMap<String, String>,
    /// The case and its part, for people: `xmp-2 incast, group large`.
    pub of: String,
    pub metric: String,
    /// The published value.
    pub published: f64,
    /// Our value; the mean over seeds, if there are several.
    pub ours: Option<f64>,
    /// Half the width of our 95 % confidence interval, over seeds or rounds as in the case's `ci95_over`.
    pub ci95: Option<f64>,
    /// The ratio of ours to the published one; `None` if that is 0.
    pub ratio: Option<f64>,
    /// Whether ours is at most 20 % off.
    pub within_20_percent: Option<bool>,
    /// The kind of system on which the published one was measured.
    pub kind: Kind,
    /// Why ours is more than 20 % off, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs: Option<String>,
    /// Why we have no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl PublishedNumber {
    /// Whether it counts among those that should be within 20 %.
    pub fn is_simulated(&self) -> bool {
        self.kind == Kind::Simulation
    }

    /// Whether it is from a simulator, and ours is more than 20 % off with its whole interval, without an
    /// explanation.
    pub fn fails(&self) -> bool {
        let is_far = |ours: f64| {
            (ours - self.published).abs() - self.ci95.unwrap_or(0.0) > NEAR * self.published.abs()
        };
        self.is_simulated() && self.differs.is_none() && self.ours.is_some_and(is_far)
    }
}

/// The published numbers of `cases`.
pub(super) fn numbers(published: &Published, cases: &[CaseResult]) -> Vec<PublishedNumber> {
    let pairs = published.values.iter().flat_map(|value| {
        let selected = select::cases(&value.selector(), cases);
        selected.into_iter().flat_map(move |case| {
            value.numbers().map(move |(metric, number)| beside(published.kind, value, case, metric, number))
        })
    });
    pairs.collect()
}

fn beside(
    kind: Kind,
    value: &PublishedValue,
    case: &CaseResult,
    metric: &str,
    published: f64,
) -> PublishedNumber {
    let selector = value.selector();
    let found = select::values(case, &selector, metric);
    let ours = found.as_ref().ok().map(select::Values::mean);
    // With one seed the interval may be over the rounds of its pattern.
    let over_rounds = || selector.part().is_empty().then(|| case.ci95.get(metric).copied()).flatten();
    let ci95 = found.as_ref().ok().and_then(|values| values.ci95().or_else(over_rounds));
    PublishedNumber {
        case: case.case.clone(),
        part: selector.part().into_iter().map(|(what, name)| (what.to_owned(), name)).collect(),
        of: select::label(case, &selector),
        metric: metric.to_owned(),
        published,
        ours,
        ci95,
        ratio: ours.filter(|_| published != 0.0).map(|ours| ours / published),
        within_20_percent: ours.map(|ours| (ours - published).abs() <= NEAR * published.abs()),
        kind,
        differs: value.differs.clone(),
        why: found.err(),
    }
}
