//! `docs/reproduction.md`: how much holds, paper by paper, and where the rest is.

use tresse_experiment::Profile;

use super::agreement::Agreement;
use super::markdown::duration;
use super::{FULL, QUICK, Reproduced, Reproduction, Runs, Stored};
use crate::claims::Tally;
use crate::paper;

/// The page: a sentence about all five papers, a table with a line for each of the kept results, and how to
/// read it.
pub fn page(stored: &[Stored]) -> String {
    format!("# Reproduction\n\n{}{HOW}", table(stored))
}

const HOW: &str = "
How to read it:

- A claim is a sentence of the paper with a bound; it holds if all its values are on the right side, in each of its cases.
- \"In a reading\" also counts claims that hold in another reading of what the paper leaves open.
- Undecided: a bound lies within the interval of the value. Inert: the mechanism did nothing in a case (`tresse explain inert`).
- By one seed: of all claims, those that ran under one seed, so that no interval shows how certain they are.
- Claims that contradict their own paper are judged, and counted apart.
- Numbers are those of simulators; a testbed's are compared as ratios, by claims.
- Real hosts run Linux's own TCP and MPTCP ([testbed.md](testbed.md)), counted apart.
- As in quick: claims with the same verdict as in the quick profile, and the verdicts' rank correlation (Kendall's tau-b).
- The quick profile shortens long experiments; the full one has the paper's size. \"Model 2\" is an earlier model of the simulator.

A paper's name leads to how it was read, to what does not hold, and why. `make site` makes a page for each paper, with
figures, claims, verdicts and reasons. [papers/results](../papers/results) has every digit.

To reproduce everything:

    make reproduction    # all five papers, and this page; PROFILE=full, PAPERS=xmp
    tresse paper xmp     # one paper, shown as it runs
    make testbed         # those on real hosts, as root
";

/// How much holds.
fn table(stored: &[Stored]) -> String {
    if stored.is_empty() {
        return "There are no stored results yet.\n".to_owned();
    }
    let quick: Vec<&Stored> = stored.iter().filter(|s| s.runs == QUICK).collect();
    let all = (quick.len() == paper::ALL.len()).then(|| {
        let all = quick.iter().flat_map(|s| s.results.experiments.clone()).collect();
        Reproduction::of(all).summary
    });
    let full: Vec<_> =
        stored.iter().filter(|s| s.runs == FULL).flat_map(|s| s.results.experiments.clone()).collect();
    let mut text = all.as_ref().map(|quick| sentence(quick, &full)).unwrap_or_default();
    text += "\
        | paper | profile | claims that hold | in a reading | do not | undecided | inert | by one seed | contradict | numbers within 20 % | \
        as in quick | time |\n\
        |---|---|---|---|---|---|---|---|---|---|---|---|\n";
    // Runs of which nothing counts, such as experiments whose claims all contradict the paper, have no line.
    let mut rows: Vec<&Stored> =
        stored.iter().filter(|s| s.results.summary.claims + s.results.summary.numbers > 0).collect();
    // Full size first.
    rows.sort_by_key(|s| (paper::ALL.iter().position(|paper| *paper == s.paper), s.runs != FULL));
    for s in rows {
        let paper = format!("[{0}](../papers/{0}/README.md)", s.paper.name);
        let mut runs = if s.runs == Runs::Real { "real hosts" } else { s.runs.name() }.to_owned();
        runs.extend(s.part().map(|part| format!(", {part}")));
        runs.extend(s.earlier_models().iter().map(|model| format!(", model {model}")));
        // Counted anew: what is kept may be of a version that counted less.
        let today = Reproduction::of(s.results.experiments.clone()).summary;
        let of_same_paper = quick.iter().find(|quick| quick.paper == s.paper && s.runs == FULL);
        text += &line(
            [&paper, &runs],
            &today,
            by_one_seed(&s.results.experiments),
            of_same_paper.map(|quick| s.agreement(quick)),
        );
    }
    if let Some(today) = &all {
        let quick: Vec<_> = quick.iter().flat_map(|s| s.results.experiments.clone()).collect();
        let one = by_one_seed(&full);
        let count = format!("full, {} of {} experiments", full.len(), quick.len());
        text += &line(["all five", &count], &Reproduction::of(full).summary, one, None);
        text += &line(["all five", Profile::Quick.name()], today, by_one_seed(&quick), None);
    }
    text
}

/// How many claims are judged by one seed.
fn by_one_seed(experiments: &[Reproduced]) -> usize {
    experiments.iter().filter(|e| e.replications == 1).map(|e| e.comparison.summary.claims).sum()
}

/// The counts of all five papers, in words.
fn sentence(today: &Tally, full: &[Reproduced]) -> String {
    let at_full_size = Reproduction::of(full.to_vec()).summary;
    format!(
        "At the papers' full size {} of {} claims hold, in {} experiments of the five papers. In the quick profile, which has \
         all experiments, {} of {} hold, {} in this reading or another, and {} of {} published numbers are within 20 %; {} \
         more claims contradict their own paper.\n\n",
        at_full_size.claims_hold,
        at_full_size.claims,
        full.len(),
        today.claims_hold,
        today.claims,
        today.claims_hold_in_a_reading,
        today.numbers_within_20_percent,
        today.numbers,
        today.claims_contradict,
    )
}

/// A line of the table.
fn line(
    [paper, runs]: [&str; 2],
    today: &Tally,
    by_one_seed: usize,
    beside_quick: Option<Agreement>,
) -> String {
    let share = |part: usize, all: usize| match all {
        0 => "-".to_owned(),
        all => format!("{part} of {all} ({:.0} %)", 100.0 * part as f64 / all as f64),
    };
    let cells = [
        paper.to_owned(),
        runs.to_owned(),
        share(today.claims_hold, today.claims),
        today.claims_hold_in_a_reading.to_string(),
        today.claims_that_do_not_hold().to_string(),
        today.claims_undecided.to_string(),
        today.claims_inert.to_string(),
        by_one_seed.to_string(),
        today.claims_contradict.to_string(),
        share(today.numbers_within_20_percent, today.numbers),
        beside_quick.map_or_else(
            || "-".to_owned(),
            |own| {
                let tau = own.tau.map(|tau| format!("; {tau:.2}")).unwrap_or_default();
                format!("{} of {}{tau}", own.same, own.of)
            },
        ),
        duration(today.wall_s),
    ];
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_every_count() {
        let today = Tally {
            claims: 100,
            claims_hold: 80,
            claims_hold_in_a_reading: 90,
            claims_undecided: 4,
            claims_inert: 6,
            claims_contradict: 3,
            wall_s: 5.0,
            ..Tally::default()
        };
        assert_eq!(
            line(["xmp", "full"], &today, 12, Some(Agreement { same: 98, of: 100, tau: Some(0.956) })),
            "| xmp | full | 80 of 100 (80 %) | 90 | 10 | 4 | 6 | 12 | 3 | - | 98 of 100; 0.96 | 5.0 s |\n"
        );
        let said = sentence(&today, &[]);
        assert!(said.contains("all experiments, 80 of 100 hold, 90 in this reading or another"), "{said}");
    }
}
