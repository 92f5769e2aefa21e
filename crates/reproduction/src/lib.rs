//! Published numbers and claims, judged against results; and the pages made from them.

#![forbid(unsafe_code)]

mod claims;
pub mod metric_display;
pub mod pages;
pub mod paper;

use tresse_experiment::{Diagnostic, Loaded, Plan};
use tresse_lab::runner::{self, On, Options, Watch};
use tresse_lab::stopping_rule::Verdicts;
use tresse_results::record::report::{Report, Testbed};

pub use claims::{Comparison, PublishedNumber, Tally, comparison};

/// Runs `plan`, writes its results to the folder, and judges the paper's claims by them.
///
/// # Errors
/// If the folder cannot be written. Data written until then stays in folders `*.partial`.
pub fn run(loaded: &Loaded, plan: &Plan, options: &Options, watch: &Watch) -> Result<Report, Diagnostic> {
    runner::run(loaded, plan, options, watch, |report| judged(loaded, report))
}

/// The same without a folder: the report is the only result.
///
/// # Errors
/// If a case needs a separate process and there is none.
pub fn measure(loaded: &Loaded, plan: &Plan, options: &Options, watch: &Watch) -> Result<Report, Diagnostic> {
    runner::measure(loaded, plan, options, watch, |report| judged(loaded, report))
}

/// Runs the plan on real hosts, with `on` in place of the simulator, and judges it.
///
/// # Errors
/// If the folder cannot be written; errors of `on`.
pub fn run_on(
    loaded: &Loaded,
    plan: &Plan,
    options: &Options,
    watch: &Watch,
    testbed: Testbed,
    on: &On<'_>,
) -> Result<Report, Diagnostic> {
    runner::run_on(loaded, plan, options, watch, |report| judged(loaded, report), testbed, on)
}

fn judged(loaded: &Loaded, report: &Report) -> Verdicts {
    Verdicts {
        claims: claims::verdicts(&loaded.experiment, &report.profile, &report.cases),
        undecided: claims::undecided(&loaded.experiment, &report.cases),
    }
}
