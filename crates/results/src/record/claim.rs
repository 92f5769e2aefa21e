//! A claim of a paper, judged.

use serde::{Deserialize, Serialize};
use tresse_experiment::keys::claim_forms::FormName;
use tresse_experiment::keys::claims::Verdict;

/// A claim and whether it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimResult {
    /// Its name.
    pub id: String,
    /// The claim in words.
    pub text: String,
    /// Where the paper says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The claim of which this is another reading, as in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading_of: Option<String>,
    /// Its metric.
    pub metric: String,
    /// The form of the claim, which determines what `value` is.
    pub form: FormName,
    /// Whether it holds; `None` if that is inconclusive.
    pub holds: Option<bool>,
    /// The verdict.
    pub verdict: Verdict,
    /// The value that decides; of several, the one nearest to failing.
    pub value: Option<f64>,
    /// Half the width of the 95 % confidence interval of `value` over seeds; `None` with one seed.
    pub ci95: Option<f64>,
    /// The case or pair that `value` belongs to, if the claim is about several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// How many cases it holds for, if it is about several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cases: Option<Share>,
    /// The verdict that the experiment's file expects in this profile.
    pub expected: Verdict,
    /// Why it is not expected to hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The proof that it contradicts its own paper; such a claim is counted separately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contradicts: Option<String>,
    /// Why there is no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The cases of a claim by their verdicts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// How many there are; at least 2.
    pub of: usize,
    /// How many hold.
    pub hold: usize,
    /// How many must hold. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<usize>,
    /// Those that do not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub do_not_hold: Vec<String>,
    /// Those that are inconclusive.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inconclusive: Vec<String>,
}

impl ClaimResult {
    /// Whether it was expected to hold and does not. Inconclusive claims do not fail, nor do those that contradict
    /// their paper.
    pub fn fails(&self) -> bool {
        self.contradicts.is_none() && self.expected == Verdict::Holds && self.verdict == Verdict::DoesNotHold
    }
}
