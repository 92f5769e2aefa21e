//! A claim of a paper, judged.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A claim and whether it holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Claim")]
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
    /// Why there is no value, or why it decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What the results say about a claim.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Verdict {
    /// Every value is on the right side of every bound.
    #[default]
    #[serde(rename = "holds")]
    Holds,
    /// A bound is within the confidence interval of a value, there is no value, or the mechanisms of a case did nothing.
    #[serde(rename = "inconclusive")]
    Inconclusive,
    /// A value is on the wrong side of a bound.
    #[serde(rename = "does not hold")]
    DoesNotHold,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Holds => "holds",
            Self::Inconclusive => "inconclusive",
            Self::DoesNotHold => "does not hold",
        })
    }
}

/// The name of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FormName {
    /// The value is left / right.
    Ratio,
    /// The value is left - right, in the metric's unit.
    Difference,
    /// The value is the metric.
    Band,
    /// The value is the step from a case to the next one, as a share of the larger of the two values.
    Order,
    /// The value is how far two jumps are apart, s.
    Jumps,
}

/// How the reason begins if the mechanisms of a case did nothing.
pub(crate) const INERT: &str = "inert: ";

/// The cases of a claim by their verdicts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Whether it decides nothing because the mechanisms of a case did nothing.
    pub fn is_inert(&self) -> bool {
        self.verdict == Verdict::Inconclusive && self.why.as_ref().is_some_and(|why| why.starts_with(INERT))
    }

    /// Whether it was expected to hold and does not. Inconclusive claims do not fail, nor do those that contradict
    /// their paper.
    pub fn fails(&self) -> bool {
        self.contradicts.is_none() && self.expected == Verdict::Holds && self.verdict == Verdict::DoesNotHold
    }
}
