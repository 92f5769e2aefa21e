//! How many seeds are run: the file's rule applied to what was measured.

use tresse_experiment::schema::stopping_rule::{Replications, Until};

use tresse_results::record::claim::ClaimResult;
use tresse_results::record::results::CaseResult;

/// The verdicts on a run's claims, and what more seeds may decide.
#[derive(Debug, Clone, Default)]
pub struct Verdicts {
    pub claims: Vec<ClaimResult>,
    /// What keeps inconclusive claims undecided.
    pub undecided: Vec<Undecided>,
}

/// A value of a claim with a bound in its interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Undecided {
    pub claim: String,
    /// The indices of its cases in the results.
    pub cases: Vec<usize>,
    /// How many seeds it is known under.
    pub seeds: u32,
    /// How many times wider its interval is than it should be.
    pub by: f64,
}

/// How many seeds each case should have, after `seeds` of each gave these results; the same number if that was
/// enough.
pub fn after(
    rule: &Replications,
    seeds: &[u32],
    results: &[CaseResult],
    undecided: &[Undecided],
) -> Vec<u32> {
    let mut more = seeds.to_vec();
    let Replications::Until(until) = rule else { return more };
    let Some(width) = until.width else {
        for own in undecided {
            let wanted = until.after(own.seeds, own.by).unwrap_or(0);
            own.cases.iter().for_each(|&case| more[case] = more[case].max(wanted));
        }
        return more;
    };
    let widest = results.iter().filter_map(|case| self::width(until, case)).fold(0.0, f64::max);
    for own in &mut more {
        *own = until.after(*own, widest / width).unwrap_or(*own);
    }
    more
}

/// The cases whose interval is still wider than requested, one per line.
pub fn too_wide(rule: &Replications, results: &[CaseResult]) -> Vec<String> {
    let Replications::Until(until) = rule else { return Vec::new() };
    let Some(asked) = until.width else { return Vec::new() };
    let line = |case: &CaseResult| {
        let width = width(until, case).filter(|width| *width > asked)?;
        let (of, percent, wanted) = (&until.of, 100.0 * width, 100.0 * asked);
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
