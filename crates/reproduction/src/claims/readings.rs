//! How many sentences of a paper hold, and how many of its numbers are reproduced: each counts once, however
//! many readings were run.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tresse_results::record::claim::Verdict;

use super::{ClaimResult, PublishedNumber};

/// How many claims hold, and how many numbers are reproduced, of an experiment or of several of a paper.
/// Another reading of a claim (`reading_of`), or of a number that was listed before, does not count
/// separately.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Claims, except for those that contradict their own paper.
    pub claims: usize,
    /// Those that hold.
    pub claims_hold: usize,
    /// Those that hold, at least under another reading of what the paper leaves open.
    pub claims_hold_in_a_reading: usize,
    /// Those that the runs do not decide, except the inert ones.
    #[serde(default)]
    pub claims_undecided: usize,
    /// Those of which a case's mechanisms did nothing.
    #[serde(default)]
    pub claims_inert: usize,
    /// The cases of these claims; a claim without a count of its cases has one.
    #[serde(default)]
    pub claim_cases: usize,
    /// The cases for which they hold.
    #[serde(default)]
    pub claim_cases_hold: usize,
    /// Claims that contradict their own paper, not included above.
    #[serde(default)]
    pub claims_contradict: usize,
    /// Published numbers that were measured in a simulator.
    pub numbers: usize,
    /// Those for which ours are within 20 %.
    pub numbers_within_20_percent: usize,
    /// Those for which ours are within 20 % under this reading or another.
    pub numbers_within_20_percent_in_a_reading: usize,
    /// How long the runs took.
    pub wall_s: f64,
}

/// The claims and numbers of an experiment, by its name.
pub(crate) type Judged<'a> = (&'a str, &'a [ClaimResult], &'a [PublishedNumber]);

/// The tally of these experiments, except for the time.
pub(crate) fn tally(experiments: &[Judged<'_>]) -> Tally {
    let mut tally = Tally::default();
    let full = |name: &str, claim: &str| match claim.contains(' ') {
        true => claim.to_owned(),
        false => format!("{name} {claim}"),
    };
    let elsewhere: BTreeSet<String> = (experiments.iter())
        .flat_map(|&(name, claims, _)| claims.iter().map(move |claim| (name, claim)))
        .filter(|(_, claim)| claim.verdict == Verdict::Holds && claim.contradicts.is_none())
        .filter_map(|(name, claim)| Some(full(name, claim.reading_of.as_ref()?)))
        .collect();
    for &(name, claims, _) in experiments {
        for claim in claims.iter().filter(|claim| claim.reading_of.is_none()) {
            if claim.contradicts.is_some() {
                tally.claims_contradict += 1;
                continue;
            }
            let holds = claim.verdict == Verdict::Holds;
            tally.claims += 1;
            tally.claims_hold += usize::from(holds);
            tally.claims_inert += usize::from(claim.is_inert());
            tally.claims_undecided +=
                usize::from(claim.verdict == Verdict::Inconclusive && !claim.is_inert());
            let (cases, hold) = claim.cases.as_ref().map_or((1, holds.into()), |c| (c.of, c.hold));
            tally.claim_cases += cases;
            tally.claim_cases_hold += hold;
            tally.claims_hold_in_a_reading +=
                usize::from(holds || elsewhere.contains(&full(name, &claim.id)));
        }
    }
    let is_near = |number: &&PublishedNumber| number.within_20_percent == Some(true);
    let mut readings: Vec<Vec<&PublishedNumber>> = Vec::new();
    for number in experiments.iter().flat_map(|(_, _, numbers)| *numbers).filter(|n| n.is_simulated()) {
        match readings.iter_mut().find(|readings| readings[0].is_same(number)) {
            Some(readings) => readings.push(number),
            None => readings.push(vec![number]),
        }
    }
    tally.numbers = readings.len();
    tally.numbers_within_20_percent = readings.iter().filter(|readings| is_near(&readings[0])).count();
    tally.numbers_within_20_percent_in_a_reading =
        readings.iter().filter(|readings| readings.iter().any(is_near)).count();
    tally
}

impl Tally {
    /// The claims that do not hold.
    pub fn claims_that_do_not_hold(&self) -> usize {
        self.claims - self.claims_hold - self.claims_undecided - self.claims_inert
    }
}

impl PublishedNumber {
    /// Whether both are the same number of a paper, measured in any variant.
    fn is_same(&self, other: &Self) -> bool {
        let axes = |number: &Self| {
            let mut case = number.case.clone();
            case.shift_remove("variant");
            case
        };
        self.metric == other.metric
            && self.published == other.published
            && self.part == other.part
            && axes(self) == axes(other)
    }
}
