//! How many seeds are run: the file's rule beside the intervals that were measured.

use tresse_experiment::keys::stopping_rule::{Replications, Until};

use crate::record::results::CaseResult;

/// How many seeds there are to be in all after `count` of them gave these results; `None` if that was enough.
pub fn after(rule: &Replications, count: u32, results: &[CaseResult]) -> Option<u32> {
    let Replications::Until(until) = rule else { return None };
    let widest = results.iter().filter_map(|case| width(until, case)).fold(0.0, f64::max);
    until.after(count, widest)
}

/// The cases of which the interval is still wider than asked for, a line for each.
pub fn too_wide(rule: &Replications, results: &[CaseResult]) -> Vec<String> {
    let Replications::Until(until) = rule else { return Vec::new() };
    let line = |case: &CaseResult| {
        let width = width(until, case).filter(|width| *width > until.width)?;
        let (of, percent, wanted) = (&until.of, 100.0 * width, 100.0 * until.width);
        Some(format!("{}: {of} is known to ±{percent:.1} %, not to ±{wanted} %", case.label()))
    };
    results.iter().filter_map(line).collect()
}

/// Half the interval of the rule's metric as a share of its mean; `None` if the case has no such interval.
fn width(until: &Until, case: &CaseResult) -> Option<f64> {
    let half = *case.ci95.get(&*until.of)?;
    let mean = case.metrics.get(&*until.of)?.value();
    // All seeds alike, also all 0.
    Some(if half == 0.0 { 0.0 } else { half / mean.abs() })
}
