//! Published numbers and claims, judged against results; and the pages made from them.

#![forbid(unsafe_code)]

mod claims;
pub mod metric_display;
pub mod pages;
pub mod paper;
mod paper_experiment;
pub mod schema;

use tresse_experiment::plan::Case;
use tresse_experiment::{Diagnostic, Loaded, Plan};
use tresse_lab::judge::{Judge, Jumps, Numbers};
use tresse_lab::runner::{self, On, Options, Watch};
use tresse_lab::stopping_rule::Verdicts;
use tresse_results::record::report::{Report, Testbed};
use tresse_results::store::finished::{Finished, of_another_version};

use schema::claims::Claim;

pub use claims::{Comparison, PublishedNumber, Tally, comparison};
pub use paper_experiment::PaperExperiment;
pub use schema::{OWNER, Publication};

/// Runs `plan`, writes its results to the folder, and judges the paper's claims by them.
///
/// # Errors
/// If the folder cannot be written. Data written until then stays in folders `*.partial`.
pub fn run(loaded: &Loaded, plan: &Plan, options: &Options, watch: &Watch) -> Result<Report, Diagnostic> {
    runner::run(loaded, plan, options, watch, &Publication::of_loaded(loaded)?)
}

/// The same without a folder: the report is the only result.
///
/// # Errors
/// If a case needs a separate process and there is none.
pub fn measure(loaded: &Loaded, plan: &Plan, options: &Options, watch: &Watch) -> Result<Report, Diagnostic> {
    runner::measure(loaded, plan, options, watch, &Publication::of_loaded(loaded)?)
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
    runner::run_on(loaded, plan, options, watch, &Publication::of_loaded(loaded)?, testbed, on)
}

impl Publication {
    /// That of an experiment to run.
    ///
    /// # Errors
    /// If it was read without [`OWNER`], the first key or value that is wrong.
    pub fn of_loaded(loaded: &Loaded) -> Result<Self, Diagnostic> {
        Self::of(&loaded.experiment).map_err(|wrong| loaded.error(wrong))
    }

    /// That of a run.
    ///
    /// # Errors
    /// If another version of Tresse has written it, which has other keys.
    pub fn of_run(run: &Finished) -> Result<Self, Diagnostic> {
        Self::of(&run.experiment).map_err(|wrong| of_another_version(&run.name, &wrong.message))
    }
}

impl Judge for Publication {
    fn published(&self, case: &Case) -> Numbers {
        let of_case = self.published.values.iter().filter(|v| {
            // What flows got in a window is compared with that window (`PublishedNumber`).
            v.window.is_none() && case.is(&v.selector().wanted())
        });
        let mut all = Numbers::default();
        for value in of_case {
            let numbers = value.numbers().map(|(metric, number)| (metric.to_owned(), number));
            match value.selector().part().pop() {
                None => all.of_case.extend(numbers),
                Some((what, name)) => {
                    let parts = all.of_parts.entry(what.to_owned()).or_default();
                    parts.entry(name).or_default().extend(numbers);
                }
            }
        }
        all
    }

    fn jumps(&self) -> Vec<Jumps> {
        let claims = self.claims.iter().flat_map(Claim::statements);
        let jumps = claims.filter_map(|claim| {
            let keys = claim.jumps.as_ref()?;
            Some(Jumps { name: claim.id.clone(), apart: keys.apart.0, within: keys.within.0 })
        });
        jumps.collect()
    }

    fn verdicts(&self, report: &Report) -> Verdicts {
        Verdicts {
            claims: claims::verdicts(self, &report.profile, &report.cases),
            undecided: claims::undecided(self, &report.cases),
        }
    }
}
