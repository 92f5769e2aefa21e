//! What a report says of its experiment's claims and published numbers.

mod finished;
mod forms;
mod numbers;
mod readings;
mod select;
mod verdicts;

use serde::{Deserialize, Serialize};

use crate::experiment::{Experiment, Verdict};
use crate::run::{Report, Status};
pub use finished::Finished;
pub(crate) use forms::Form;
pub use forms::FormName;
pub use numbers::PublishedNumber;
pub use readings::Tally;
pub(crate) use readings::{Judged, tally};
pub(crate) use verdicts::verdicts;

/// A claim and whether it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimResult {
    /// Its name.
    pub id: String,
    /// It, in words.
    pub text: String,
    /// Where the paper says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The claim that this is another reading of, as the file has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading_of: Option<String>,
    /// The metric that it is of.
    pub metric: String,
    /// What it says of the metric, and so what `value` is.
    pub form: FormName,
    /// Whether it holds; `None` if that is inconclusive.
    pub holds: Option<bool>,
    /// What the results say.
    pub verdict: Verdict,
    /// The value that decides, of several the one that is nearest to failing.
    pub value: Option<f64>,
    /// Half the width of the 95 % confidence interval of `value` over seeds; `None` with one seed.
    pub ci95: Option<f64>,
    /// What `value` is of, if the claim is of several cases or pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The verdict that the experiment's file expects in this profile.
    pub expected: Verdict,
    /// Why it is not expected to hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Why there is no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl ClaimResult {
    /// It was expected to hold, and does not. What is inconclusive does not fail.
    pub fn fails(&self) -> bool {
        self.expected == Verdict::Holds && self.verdict == Verdict::DoesNotHold
    }
}

/// Published numbers and claims beside the results of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The published numbers of the cases that were run, in the order of the file.
    pub numbers: Vec<PublishedNumber>,
    /// The claims whose cases were run; none of a run that was interrupted.
    pub claims: Vec<ClaimResult>,
    /// How many there are of each.
    pub summary: Tally,
}

impl Comparison {
    /// Whether something is not as it should be: a claim that is expected to hold does not, or a published simulation
    /// number lies more than 20 % off and nobody says why.
    pub fn fails(&self) -> bool {
        self.claims.iter().any(ClaimResult::fails) || self.numbers.iter().any(PublishedNumber::fails)
    }
}

/// What `report` says of the published numbers and the claims of `experiment`, which may be a newer text of the one that
/// was run.
pub fn comparison(experiment: &Experiment, report: &Report) -> Comparison {
    let numbers = numbers::numbers(&experiment.published, &report.cases);
    let claims = match report.status {
        Status::Complete => verdicts(experiment, &report.profile, &report.cases),
        Status::Running | Status::Partial => Vec::new(),
    };
    let summary = Tally { wall_s: report.wall_s, ..tally(&[(&report.experiment, &claims, &numbers)]) };
    Comparison { numbers, claims, summary }
}
