//! The first screen of `docs/reproduction.md`: how much holds, and how much of it did in 0.1.0; and the list of the claims
//! that contradict their own paper.

use std::collections::BTreeMap;

use serde::Deserialize;
use tresse_experiment::Profile;
use tresse_experiment::diagnostic::Diagnostic;

use super::markdown::duration;
use super::page::{anchor, built_in};
use super::{Reproduction, Stored};
use crate::claims::Tally;
use crate::paper;

/// What version 0.1.0 counted of a paper; the names are those of [`Tally`].
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Earlier {
    claims: usize,
    claims_hold: usize,
    claims_hold_in_a_reading: usize,
    numbers: usize,
    numbers_within_20_percent: usize,
    numbers_within_20_percent_in_a_reading: usize,
}

const EARLIER: &str = include_str!("../../../../papers/results-0.1.0.toml");

/// By profile and paper.
fn earlier() -> BTreeMap<String, BTreeMap<String, Earlier>> {
    toml::from_str(EARLIER).expect("a test reads it")
}

impl Earlier {
    /// Of several papers together.
    fn sum<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        all.fold(Self::default(), |sum, own| Self {
            claims: sum.claims + own.claims,
            claims_hold: sum.claims_hold + own.claims_hold,
            claims_hold_in_a_reading: sum.claims_hold_in_a_reading + own.claims_hold_in_a_reading,
            numbers: sum.numbers + own.numbers,
            numbers_within_20_percent: sum.numbers_within_20_percent + own.numbers_within_20_percent,
            numbers_within_20_percent_in_a_reading: sum.numbers_within_20_percent_in_a_reading
                + own.numbers_within_20_percent_in_a_reading,
        })
    }
}

/// The heading of the list of claims that contradict their own paper.
const CONTRADICTIONS: &str = "Claims that contradict their own paper";

/// How much holds: a sentence of all five papers, and a table with a line for each of the results that are kept.
pub(super) fn overview(stored: &[Stored]) -> String {
    if stored.is_empty() {
        return "No results are kept yet.\n".to_owned();
    }
    let earlier = earlier();
    let quick: Vec<&Stored> = stored.iter().filter(|s| s.profile == Profile::Quick).collect();
    let all = (quick.len() == paper::ALL.len()).then(|| {
        let all = quick.iter().flat_map(|s| s.results.experiments.clone()).collect();
        (
            Reproduction::of(all).summary,
            Earlier::sum(earlier.get("quick").into_iter().flat_map(|q| q.values())),
        )
    });
    let mut text = all.as_ref().map(|(today, then)| sentence(today, then)).unwrap_or_default();
    text += "\
        | paper | profile | claims that hold | in 0.1.0 | … in a reading | in 0.1.0 | counted apart | numbers within 20 % \
        | in 0.1.0 | … in a reading | in 0.1.0 | took |\n\
        |---|---|---|---|---|---|---|---|---|---|---|---|\n";
    for s in stored {
        let paper = format!("[{}](#{})", s.paper.name, anchor(s.paper.title()));
        let then = earlier.get(s.profile.name()).and_then(|papers| papers.get(s.paper.name));
        text += &line(&paper, s.profile, &s.results.summary, then);
    }
    if let Some((today, then)) = &all {
        text += &line("all five", Profile::Quick, today, Some(then));
    }
    text += "\n\"In 0.1.0\": what version 0.1.0 counted. A paper has fewer claims than there where sentences over several \
             cases became one claim, or are counted apart.\n";
    text
}

/// The counts of all five papers, in words.
fn sentence(today: &Tally, then: &Earlier) -> String {
    format!(
        "**{} of {} claims hold by default, {} in this reading or another** (quick profile, all five papers; in 0.1.0 {} and \
         {} of {}). A claim holds if it does in each of its cases; of all cases {} of {} hold. {} more [contradict their own paper](#{}), and are counted apart. **{} of {} published numbers are within \
         20 % by default, {} in a reading** ({} and {} of {}).\n\n",
        today.claims_hold,
        today.claims,
        today.claims_hold_in_a_reading,
        then.claims_hold,
        then.claims_hold_in_a_reading,
        then.claims,
        today.claim_cases_hold,
        today.claim_cases,
        today.claims_contradict,
        anchor(CONTRADICTIONS),
        today.numbers_within_20_percent,
        today.numbers,
        today.numbers_within_20_percent_in_a_reading,
        then.numbers_within_20_percent,
        then.numbers_within_20_percent_in_a_reading,
        then.numbers,
    )
}

/// A line of the table.
fn line(paper: &str, profile: Profile, today: &Tally, then: Option<&Earlier>) -> String {
    let share = |part: usize, all: usize| match all {
        0 => "-".to_owned(),
        all => format!("{part} of {all} ({:.0} %)", 100.0 * part as f64 / all as f64),
    };
    let before = |of: fn(&Earlier) -> [usize; 2]| {
        then.map(of)
            .filter(|[_, all]| *all > 0)
            .map_or_else(|| "-".to_owned(), |[part, all]| format!("{part} of {all}"))
    };
    let cells = [
        paper.to_owned(),
        profile.name().to_owned(),
        share(today.claims_hold, today.claims),
        before(|e| [e.claims_hold, e.claims]),
        share(today.claims_hold_in_a_reading, today.claims),
        before(|e| [e.claims_hold_in_a_reading, e.claims]),
        today.claims_contradict.to_string(),
        share(today.numbers_within_20_percent, today.numbers),
        before(|e| [e.numbers_within_20_percent, e.numbers]),
        share(today.numbers_within_20_percent_in_a_reading, today.numbers),
        before(|e| [e.numbers_within_20_percent_in_a_reading, e.numbers]),
        duration(today.wall_s),
    ];
    format!("| {} |\n", cells.join(" | "))
}

/// The claims that contradict their own paper, each with the proof; nothing if there are none. Other readings of a claim
/// stand in their experiments' sections only.
///
/// # Errors
/// If an experiment cannot be read.
pub(super) fn contradictions() -> Result<String, Diagnostic> {
    let mut text = String::new();
    for paper in paper::ALL {
        for name in paper.experiments() {
            for claim in built_in(name, Profile::Full)?.experiment.claims {
                let Some(proof) = claim.contradicts.filter(|_| claim.reading_of.is_none()) else { continue };
                let source = claim.source.map(|s| format!(" ({s})")).unwrap_or_default();
                text += &format!("- {name} `{}`: *{}*{source}. {proof}.\n", claim.id, claim.text);
            }
        }
    }
    let head = "What their paper defines cannot make them true, or another of its sentences or tables says the opposite. They \
                are judged in the sections above, and counted apart.";
    Ok(if text.is_empty() { text } else { format!("\n## {CONTRADICTIONS}\n\n{head}\n\n{text}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_0_1_0_counted_stands_beside_today() {
        let earlier = earlier();
        let quick = &earlier["quick"];
        assert!(quick.len() == 5 && quick.keys().all(|name| paper::find(name).is_ok()));
        let all = Earlier::sum(quick.values());
        assert_eq!((all.claims_hold, all.claims, all.claims_hold_in_a_reading), (288, 485, 307));
        assert_eq!((all.numbers_within_20_percent, all.numbers), (25, 52));
        let today = Tally {
            claims: 100,
            claims_hold: 80,
            claims_hold_in_a_reading: 90,
            claims_contradict: 3,
            wall_s: 5.0,
            ..Tally::default()
        };
        assert_eq!(
            line("xmp", Profile::Full, &today, earlier["full"].get("xmp")),
            "| xmp | full | 80 of 100 (80 %) | 88 of 113 | 90 of 100 (90 %) | 96 of 113 | 3 | - | 17 of 34 | - | 25 of 34 \
             | 5.0 s |\n"
        );
        assert!(
            line("opn", Profile::Full, &today, None)
                .contains("| 80 of 100 (80 %) | - | 90 of 100 (90 %) | - | 3 |")
        );
        let said = sentence(&today, &all);
        assert!(
            said.starts_with("**80 of 100 claims hold by default, 90 in this reading or another**"),
            "{said}"
        );
        assert!(
            said.contains("in 0.1.0 288 and 307 of 485")
                && said.contains("3 more [contradict their own paper](#claims-")
        );
    }
}
