//! A report's results for its experiment's claims and published numbers.

#[cfg(test)]
mod kept;
mod numbers;
mod readings;
mod select;
mod undecided;
mod verdicts;

use serde::{Deserialize, Serialize};
use tresse_results::record::claim::ClaimResult;
use tresse_results::record::report::{Report, Status};

use crate::schema::Publication;

pub use numbers::PublishedNumber;
pub use readings::Tally;
pub(crate) use readings::{Judged, tally};
pub(crate) use undecided::undecided;
pub(crate) use verdicts::verdicts;

/// Published numbers and claims next to the results of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The published numbers of the cases that were run, in the order of the file.
    pub numbers: Vec<PublishedNumber>,
    /// The claims whose cases were run; none for a run that was interrupted or is not judged.
    pub claims: Vec<ClaimResult>,
    /// How many there are of each.
    pub summary: Tally,
}

impl Comparison {
    /// Whether something is wrong: a claim that is expected to hold does not, or a published simulation
    /// number is more than 20 % off without an explanation.
    pub fn fails(&self) -> bool {
        self.claims.iter().any(ClaimResult::fails) || self.numbers.iter().any(PublishedNumber::fails)
    }
}

/// The results of `report` for the published numbers and the claims of its experiment, which may be from a
/// newer text of it. Empty if it is not judged.
pub fn comparison(publication: &Publication, report: &Report) -> Comparison {
    let numbers = match report.judged {
        true => numbers::numbers(&publication.published, &report.cases),
        false => Vec::new(),
    };
    let claims = match report.status {
        Status::Complete if report.judged => verdicts(publication, &report.profile, &report.cases),
        Status::Complete | Status::Running | Status::Partial => Vec::new(),
    };
    let summary = Tally { wall_s: report.wall_s, ..tally(&[(&report.experiment, &claims, &numbers)]) };
    Comparison { numbers, claims, summary }
}
