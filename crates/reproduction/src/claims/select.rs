//! The cases of a selector, and their values under every seed.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use tresse_experiment::schema::metrics::row_of;
use tresse_lab::metric::intervals::half_width_95;
use tresse_results::record::metric::Metric;
use tresse_results::record::results::{CaseResult, WindowResult, is};

use crate::schema::claims::Selector;

/// A value under every seed.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    /// There is only one seed, or the value does not depend on it.
    One(f64),
    /// By seed; at least one.
    Seeds(BTreeMap<u64, f64>),
}

impl Values {
    /// Applies `of` to both under the same seeds; `None` if it is undefined for some.
    pub(super) fn paired(&self, other: &Self, of: impl Fn(f64, f64) -> Option<f64>) -> Option<Self> {
        let by_seed = |seeds: &BTreeMap<u64, f64>, of: &dyn Fn(u64, f64) -> Option<f64>| {
            let values = seeds.iter().map(|(&seed, &value)| Some((seed, of(seed, value)?)));
            Some(Self::Seeds(values.collect::<Option<_>>()?))
        };
        match (self, other) {
            (Self::One(own), Self::One(other)) => of(*own, *other).map(Self::One),
            (Self::Seeds(own), Self::One(other)) => by_seed(own, &|_, own| of(own, *other)),
            (Self::One(own), Self::Seeds(other)) => by_seed(other, &|_, other| of(*own, other)),
            (Self::Seeds(own), Self::Seeds(other)) => by_seed(own, &|seed, own| of(own, *other.get(&seed)?)),
        }
    }

    /// The values under the seeds under which `other` was run too, if both were run under several.
    pub(super) fn under_seeds_of(self, other: &CaseResult) -> Self {
        match self {
            Self::Seeds(mut values) if !other.seeds.is_empty() => {
                values.retain(|seed, _| other.seeds.iter().any(|own| own.seed == *seed));
                Self::Seeds(values)
            }
            values => values,
        }
    }

    /// The number of seeds with a value.
    pub(super) fn seeds(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Seeds(values) => values.len(),
        }
    }

    /// The mean over seeds.
    pub(super) fn mean(&self) -> f64 {
        match self {
            Self::One(value) => *value,
            Self::Seeds(values) => values.values().sum::<f64>() / values.len() as f64,
        }
    }

    /// Half the width of its 95 % confidence interval; `None` under one seed.
    pub(super) fn ci95(&self) -> Option<f64> {
        match self {
            Self::One(_) => None,
            Self::Seeds(values) => half_width_95(&values.values().copied().collect::<Vec<_>>()),
        }
    }
}

/// The cases of `selector`. If some have the part that it names, only these: a case without jobs is not among
/// the cases for a group of jobs.
pub(super) fn cases<'a>(selector: &Selector, cases: &'a [CaseResult]) -> Vec<&'a CaseResult> {
    let wanted = selector.wanted();
    let meant: Vec<&CaseResult> = cases.iter().filter(|case| is(&case.case, &wanted)).collect();
    let with_part: Vec<&CaseResult> =
        meant.iter().copied().filter(|case| Known::of(case).part(selector).is_some()).collect();
    if with_part.is_empty() { meant } else { with_part }
}

/// `metric` of the part of `case` that `selector` names, under every seed; or why there is none.
pub(super) fn values(case: &CaseResult, selector: &Selector, metric: &str) -> Result<Values, String> {
    let seeds = case.seeds.iter().filter_map(|seed| {
        let known =
            Known { metrics: &seed.metrics, by: &seed.by, windows: &seed.windows, optimum: &seed.optimum };
        Some((seed.seed, known.value(selector, metric)?))
    });
    let values: BTreeMap<u64, f64> = seeds.collect();
    if !values.is_empty() {
        return Ok(Values::Seeds(values));
    }
    // One seed, or a value that does not depend on it.
    let value = Known::of(case).value(selector, metric);
    value.map(Values::One).ok_or_else(|| format!("{} has no {metric}", label(case, selector)))
}

/// Why `metric` of the part of `case` that `selector` names says little of the whole: it leaves most of it out.
pub(super) fn minority(case: &CaseResult, selector: &Selector, metric: &str) -> Option<String> {
    let own = row_of(metric)?.left_out?;
    let slice = metric.rsplit_once('.').map_or(String::new(), |(slice, _)| format!("{slice}."));
    let count = |name: &str| Known::of(case).value(selector, &format!("{slice}{name}"));
    let (left_out, all) = (count(own.left_out)?, count(own.all)?);
    (2.0 * left_out > all).then(|| {
        let (label, name) = (label(case, selector), own.left_out);
        format!(
            "{metric} of {label} is that of a minority, {} of {all} (`{name}` = {left_out})",
            all - left_out
        )
    })
}

/// The data of a case, under all seeds or under one.
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

    /// The metrics of the part that `selector` names.
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

/// The pairs of cases from the two sides of a claim. On an axis that a side leaves open, those with the same
/// value, if there are any; for the number of subflows, all if one side has only one number.
pub(super) fn pairs<'a>(
    sides: [&Selector; 2],
    all: &'a [CaseResult],
) -> Vec<(&'a CaseResult, &'a CaseResult)> {
    let [left, right] = sides.map(|side| cases(side, all));
    let crossed = left.iter().flat_map(|l| right.iter().map(|r| (*l, *r)));
    let mut pairs: Vec<_> = crossed.collect();
    let has_one =
        |side: &[&CaseResult]| side.windows(2).all(|w| w[0].case["subflows"] == w[1].case["subflows"]);
    for axis in ["variant", "pattern", "subflows"] {
        let named = sides.map(|side| side.wanted().names(axis));
        let is_left_to_one = axis == "subflows" && named == [false; 2] && (has_one(&left) || has_one(&right));
        if named == [true; 2] || is_left_to_one {
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

/// A case and the part of it that `selector` names, for people: `xmp-2 incast, group large`.
pub(super) fn label(case: &CaseResult, selector: &Selector) -> String {
    let part = selector.part().into_iter().map(|(what, name)| format!(", {what} {name}"));
    case.label() + &part.collect::<String>()
}
