//! What a run is judged by. The lab only asks: it knows nothing about what was published.

use indexmap::IndexMap;
use tresse_experiment::plan::Case;
use tresse_results::record::report::Report;
use tresse_results::record::results::Parts;
use tresse_units::Time;

use crate::stopping_rule::Verdicts;

/// What judges a run.
pub trait Judge {
    /// What was published of a case.
    fn published(&self, case: &Case) -> Numbers;

    /// The jumps of job completion times that the results should have.
    fn jumps(&self) -> Vec<Jumps>;

    /// The verdicts on a run whose cases are complete.
    fn verdicts(&self, report: &Report) -> Verdicts;
}

/// Numbers of a case, by metric.
#[derive(Debug, Clone, Default)]
pub struct Numbers {
    /// Of the whole case.
    pub of_case: IndexMap<String, f64>,
    /// Of its parts.
    pub of_parts: Parts<IndexMap<String, f64>>,
}

/// Two jumps to look for in the distribution of a case's job completion times.
#[derive(Debug, Clone)]
pub struct Jumps {
    /// Their name in the results.
    pub name: String,
    /// How far apart they are, ps.
    pub apart: Time,
    /// The width of a class, ps.
    pub within: Time,
}

/// Nothing judges the run.
#[derive(Debug, Clone, Copy)]
pub struct NotJudged;

impl Judge for NotJudged {
    fn published(&self, _: &Case) -> Numbers {
        Numbers::default()
    }

    fn jumps(&self) -> Vec<Jumps> {
        Vec::new()
    }

    fn verdicts(&self, _: &Report) -> Verdicts {
        Verdicts::default()
    }
}
