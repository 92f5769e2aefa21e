//! Whether a controller's code does what its file declares: the part of `tresse controller check` that compares.

use std::io;
use std::sync::Arc;

use serde::Serialize;
use tresse_controllers::check::rates::{Draw, mean_windows_apart};
use tresse_controllers::law::Standing;
use tresse_controllers::sandbox::End;
use tresse_controllers::{ConfiguredController, Controller};
use tresse_optimum::agreement::{Comparison, compare, largest, law, trials};

/// A controller's mean rates beside those that it declares.
#[derive(Debug, Clone, Serialize)]
pub struct Agreement {
    /// The law; none if none is declared.
    pub law: Option<Judged>,
    /// The utility at its price; none if none is declared, or if its price was not tried.
    pub utility: Option<Judged>,
    pub trials: Vec<TrialEntry>,
}

/// By how much the code's rates differ.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Judged {
    /// The largest difference of any trial, as a share of what is declared.
    pub largest_error: f64,
    /// The largest that is declared to be allowed; none if it is not judged: a utility that the source does not name,
    /// or one that it names for other signals than those of the trials.
    pub tolerance: Option<f64>,
}

impl Judged {
    /// Whether the code does what is declared, or need not.
    pub fn holds(&self) -> bool {
        self.tolerance.is_none_or(|tolerance| self.largest_error <= tolerance)
    }
}

/// One trial. Rates are sums over the paths.
#[derive(Debug, Clone, Serialize)]
pub struct TrialEntry {
    /// `packets` or `rounds`, if these are signalled at random; `delay`.
    pub signals: &'static str,
    /// The probability of a signal by path.
    pub probability: Vec<f64>,
    /// The RTTs of the empty paths.
    pub rtt_ns: Vec<u32>,
    /// What queues add.
    pub delay_ns: Vec<u32>,
    /// The code's mean rate.
    pub code_pkts_per_s: f64,
    /// The law's.
    pub law_pkts_per_s: Option<f64>,
    /// The rate that the utility asks for.
    pub utility_pkts_per_s: Option<f64>,
    /// The code's rate over the law's, less 1.
    pub law_error: Option<f64>,
    /// The code's rate over the utility's, less 1.
    pub utility_error: Option<f64>,
}

/// ns in 1/8 us.
const NS_OF_EIGHTH: u32 = 125;

impl TrialEntry {
    fn of(comparison: &Comparison) -> Self {
        let ways = &comparison.trial.ways;
        Self {
            signals: match comparison.trial.draw {
                _ if ways.iter().all(|way| way.probability == 0.0) => "delay",
                Draw::Packets => "packets",
                Draw::Rounds => "rounds",
            },
            probability: ways.iter().map(|way| way.probability).collect(),
            rtt_ns: ways.iter().map(|way| way.rtt * NS_OF_EIGHTH).collect(),
            delay_ns: ways.iter().map(|way| way.queueing * NS_OF_EIGHTH).collect(),
            code_pkts_per_s: comparison.code_pps,
            law_pkts_per_s: comparison.law_pps,
            utility_pkts_per_s: comparison.utility_pps,
            law_error: comparison.law_error(),
            utility_error: comparison.utility_error(),
        }
    }
}

/// Drives the hooks of `controller` with its defaults, in a process of its own.
///
/// # Errors
/// If no process can be made, or if a hook ended it (with how).
pub fn agreement(controller: Controller) -> io::Result<Result<Agreement, End>> {
    let scheme = Arc::new(ConfiguredController::new(controller, []).expect("defaults lie in their ranges"));
    let trials = trials(&scheme);
    let laws = || trials.iter().map(|trial| law(&scheme, trial)).collect::<Vec<_>>();
    Ok(mean_windows_apart(&scheme, &trials, laws)?.map(|(windows, laws)| {
        let comparisons = compare(&scheme, trials, &windows, &laws);
        let judged = |error: Option<f64>, thousandths: Option<u32>| {
            let tolerance = thousandths.map(|t| f64::from(t) / 1000.0);
            error.map(|largest_error| Judged { largest_error, tolerance })
        };
        let follows = scheme.follows().and_then(|declared| {
            judged(largest(comparisons.iter().map(Comparison::law_error)), declared.tolerance)
        });
        let maximises = scheme.maximises().and_then(|utility| {
            let error = largest(comparisons.iter().map(Comparison::utility_error));
            judged(error, utility.tolerance.filter(|_| utility.standing != Standing::None))
        });
        let trials = comparisons.iter().map(TrialEntry::of).collect();
        Agreement { law: follows, utility: maximises, trials }
    }))
}
