//! Which cases a selector means, and what is known of them under every seed.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use serde_json::Value;

use crate::experiment::Selector;
use crate::metrics::{Metric, half_width_95};
use crate::summary::{CaseResult, WindowResult};

impl Selector {
    /// The part of a case that it speaks of: what divides the case, and the part's name; none of the whole case.
    pub(crate) fn part(&self) -> Vec<(&'static str, String)> {
        let names = [
            ("window", self.window.clone()),
            ("group", self.group.clone()),
            ("subflow", self.subflow.map(|n| n.to_string())),
            ("distance", self.distance.clone()),
            ("size", self.size.clone()),
            ("layer", self.layer.clone()),
        ];
        names.into_iter().filter_map(|(what, name)| Some((what, name?))).collect()
    }
}

/// A value under each seed; under one without a name if there is one seed only.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Values(BTreeMap<u64, f64>);

impl Values {
    /// One that is the same whatever the seed.
    pub(super) fn one(value: f64) -> Self {
        Self(BTreeMap::from([(0, value)]))
    }

    /// What `of` makes of both under the same seed; none if it makes nothing of any, or no seed has both.
    pub(super) fn paired(&self, other: &Self, of: impl Fn(f64, f64) -> Option<f64>) -> Option<Self> {
        let both = self.0.iter().filter_map(|(seed, &own)| Some((*seed, own, *other.0.get(seed)?)));
        let values: BTreeMap<u64, f64> =
            both.filter_map(|(seed, own, other)| Some((seed, of(own, other)?))).collect();
        (!values.is_empty()).then_some(Self(values))
    }

    /// The mean over seeds.
    pub(super) fn mean(&self) -> f64 {
        self.0.values().sum::<f64>() / self.0.len() as f64
    }

    /// Half the width of its 95 % confidence interval; none under one seed.
    pub(super) fn ci95(&self) -> Option<f64> {
        half_width_95(&self.0.values().copied().collect::<Vec<_>>())
    }
}

/// The cases that `selector` means. If some have the part that it speaks of, those only: what has no jobs is none of
/// the cases of which a group of jobs is meant.
pub(super) fn cases<'a>(selector: &Selector, cases: &'a [CaseResult]) -> Vec<&'a CaseResult> {
    let is = |case: &CaseResult, axis: &str, wanted: Option<Value>| {
        wanted.is_none_or(|wanted| case.case.get(axis) == Some(&wanted))
    };
    let text = |name: &Option<String>| name.clone().map(Value::from);
    let is_meant = |case: &&CaseResult| {
        is(case, "scheme", text(&selector.scheme))
            && is(case, "subflows", selector.subflows.map(Value::from))
            && is(case, "pattern", text(&selector.pattern))
            && is(case, "variant", text(&selector.variant))
    };
    let meant: Vec<&CaseResult> = cases.iter().filter(is_meant).collect();
    let with_part: Vec<&CaseResult> =
        meant.iter().copied().filter(|case| Known::of(case).part(selector).is_some()).collect();
    if with_part.is_empty() { meant } else { with_part }
}

/// `metric` of the part of `case` that `selector` speaks of, under every seed; or why there is none.
pub(super) fn values(case: &CaseResult, selector: &Selector, metric: &str) -> Result<Values, String> {
    let seeds = case.seeds.iter().filter_map(|seed| {
        let known =
            Known { metrics: &seed.metrics, by: &seed.by, windows: &seed.windows, optimum: &seed.optimum };
        Some((seed.seed, known.value(selector, metric)?))
    });
    let values: BTreeMap<u64, f64> = seeds.collect();
    if !values.is_empty() {
        return Ok(Values(values));
    }
    // One seed, or what does not depend on it.
    let value = Known::of(case).value(selector, metric);
    value.map(Values::one).ok_or_else(|| format!("{} has no {metric}", label(case, selector)))
}

/// What is known of a case, under all seeds or under one.
struct Known<'a> {
    metrics: &'a IndexMap<String, Metric>,
    by: &'a IndexMap<String, IndexMap<String, IndexMap<String, Metric>>>,
    windows: &'a IndexMap<String, WindowResult>,
    optimum: &'a IndexMap<String, f64>,
}

impl<'a> Known<'a> {
    fn of(case: &'a CaseResult) -> Self {
        Self { metrics: &case.metrics, by: &case.by, windows: &case.windows, optimum: &case.optimum }
    }

    fn value(&self, selector: &Selector, metric: &str) -> Option<f64> {
        match metric.strip_prefix("optimum.") {
            Some(key) => self.optimum.get(key).copied(),
            None => self.part(selector)?.get(metric).map(|m| m.value()),
        }
    }

    /// The metrics of the part that `selector` speaks of.
    fn part(&self, selector: &Selector) -> Option<&'a IndexMap<String, Metric>> {
        if let Some(window) = &selector.window {
            let window = self.windows.get(window)?;
            let Some(group) = &selector.group else { return Some(&window.metrics) };
            let group = window.groups.get(group)?;
            return match selector.subflow {
                Some(subflow) => group.subflows.get(subflow as usize),
                None => Some(&group.metrics),
            };
        }
        match &selector.part()[..] {
            [] => Some(self.metrics),
            [(what, name), ..] => self.by.get(*what)?.get(name),
        }
    }
}

/// The pairs of a case of the one side and one of the other that a claim is of. On an axis that a side leaves open,
/// those with the same value, if there are any; on the number of subflows also all, if one side has one number only.
pub(super) fn pairs<'a>(
    sides: [&Selector; 2],
    all: &'a [CaseResult],
) -> Vec<(&'a CaseResult, &'a CaseResult)> {
    let [left, right] = sides.map(|side| cases(side, all));
    let crossed = left.iter().flat_map(|l| right.iter().map(|r| (*l, *r)));
    let mut pairs: Vec<_> = crossed.collect();
    let is_named: [(&str, fn(&Selector) -> bool); 3] = [
        ("variant", |s| s.variant.is_some()),
        ("pattern", |s| s.pattern.is_some()),
        ("subflows", |s| s.subflows.is_some()),
    ];
    for (axis, is_named) in is_named {
        let has_one = |side: &[&CaseResult]| side.windows(2).all(|w| w[0].case[axis] == w[1].case[axis]);
        let named = sides.map(is_named);
        if named == [true; 2]
            || (axis == "subflows" && named == [false; 2] && (has_one(&left) || has_one(&right)))
        {
            continue;
        }
        let same = |(l, r): &&(&CaseResult, &CaseResult)| l.case.get(axis) == r.case.get(axis);
        let joined: Vec<_> = pairs.iter().filter(same).copied().collect();
        if !joined.is_empty() {
            pairs = joined;
        }
    }
    pairs
}

/// A case and the part of it that `selector` speaks of, for people: `xmp-2 incast, group large`.
pub(super) fn label(case: &CaseResult, selector: &Selector) -> String {
    let part = selector.part().into_iter().map(|(what, name)| format!(", {what} {name}"));
    case.label() + &part.collect::<String>()
}
