//! `docs/reproduction.md`: how much holds, paper by paper, and where the rest is.

use std::collections::BTreeMap;

use serde::Deserialize;
use tresse_experiment::Profile;

use super::markdown::duration;
use super::{Reproduction, Runs, Stored};
use crate::claims::Tally;
use crate::paper;

/// The counts of version 0.1.0 for a paper; the names are those of [`Tally`]. The file has more than is
/// shown.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
struct Earlier {
    claims: usize,
    claims_hold: usize,
    numbers: usize,
    numbers_within_20_percent: usize,
}

const EARLIER: &str = include_str!("../../../../papers/results-0.1.0.toml");

/// By profile and paper.
fn earlier() -> BTreeMap<String, BTreeMap<String, Earlier>> {
    toml::from_str(EARLIER).expect("a test reads it")
}

impl Earlier {
    /// The sum over several papers.
    fn sum<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        all.fold(Self::default(), |sum, own| Self {
            claims: sum.claims + own.claims,
            claims_hold: sum.claims_hold + own.claims_hold,
            numbers: sum.numbers + own.numbers,
            numbers_within_20_percent: sum.numbers_within_20_percent + own.numbers_within_20_percent,
        })
    }
}

/// The page: a sentence about all five papers, a table with a line for each of the kept results, and how to
/// read it.
pub fn page(stored: &[Stored]) -> String {
    format!("# Reproduction\n\n{}{HOW}", table(stored))
}

const HOW: &str = "
How to read it:

- A claim is a sentence of the paper with a bound; it holds if all its values are on the right side, in each of its cases.
- What a paper leaves open can be read in several ways. The first reading counts; \"in a reading\" also counts claims that hold in another one.
- Claims that contradict their own paper are judged, and counted apart.
- Numbers are those of simulators; a testbed's are shown beside ours, and compared as ratios, by claims.
- Real hosts run the experiments of the papers' testbeds on Linux's own TCP and MPTCP ([testbed.md](testbed.md)), counted apart.
- The quick profile shortens long experiments; the full one has the paper's own size and takes hours. \"model 2\" is an earlier model of the simulator (see the changelog). Quick times were taken on a busy machine: up to four times too long. \"0.1.0\" is the count of that version.

A paper's name leads to how it was read, and to what does not hold, and why. `make site` makes a page for each paper, with its
figures drawn from our results, the published numbers beside ours, all claims with their verdicts, and the reasons for
differences. [papers/results](../papers/results) has the verdicts with every digit, and `tresse explain claims` explains
the claims in the experiments' files.

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
    let earlier = earlier();
    let quick: Vec<&Stored> = stored.iter().filter(|s| s.runs == Runs::Simulated(Profile::Quick)).collect();
    let all = (quick.len() == paper::ALL.len()).then(|| {
        let all = quick.iter().flat_map(|s| s.results.experiments.clone()).collect();
        (
            Reproduction::of(all).summary,
            Earlier::sum(earlier.get("quick").into_iter().flat_map(|q| q.values())),
        )
    });
    let mut text = all.as_ref().map(|(today, _)| sentence(today)).unwrap_or_default();
    text += "\
        | paper | profile | claims that hold | in a reading | numbers within 20 % | time | 0.1.0: claims, numbers |\n\
        |---|---|---|---|---|---|---|\n";
    // Runs of which nothing counts, such as experiments whose claims all contradict the paper, have no line.
    for s in stored.iter().filter(|s| s.results.summary.claims + s.results.summary.numbers > 0) {
        let paper = format!("[{0}](../papers/{0}/README.md)", s.paper.name);
        let then = earlier.get(s.runs.name()).and_then(|papers| papers.get(s.paper.name));
        let mut runs = if s.runs == Runs::Real { "real hosts" } else { s.runs.name() }.to_owned();
        runs.extend(s.earlier_models().iter().map(|model| format!(", model {model}")));
        text += &line(&paper, &runs, &s.results.summary, then);
    }
    if let Some((today, then)) = &all {
        text += &line("all five", Profile::Quick.name(), today, Some(then));
    }
    text
}

/// The counts of all five papers, in words.
fn sentence(today: &Tally) -> String {
    format!(
        "Of {} claims of the five papers {} hold, {} in this reading or another, and {} of {} published numbers are within \
         20 % (quick profile); {} more claims contradict their own paper.\n\n",
        today.claims,
        today.claims_hold,
        today.claims_hold_in_a_reading,
        today.numbers_within_20_percent,
        today.numbers,
        today.claims_contradict,
    )
}

/// A line of the table.
fn line(paper: &str, runs: &str, today: &Tally, then: Option<&Earlier>) -> String {
    let share = |part: usize, all: usize| match all {
        0 => "-".to_owned(),
        all => format!("{part} of {all} ({:.0} %)", 100.0 * part as f64 / all as f64),
    };
    let before = |then: &Earlier| {
        let claims = format!("{} of {}", then.claims_hold, then.claims);
        match then.numbers {
            0 => claims,
            all => format!("{claims}, {} of {all}", then.numbers_within_20_percent),
        }
    };
    let cells = [
        paper.to_owned(),
        runs.to_owned(),
        share(today.claims_hold, today.claims),
        today.claims_hold_in_a_reading.to_string(),
        share(today.numbers_within_20_percent, today.numbers),
        duration(today.wall_s),
        then.map_or_else(|| "-".to_owned(), before),
    ];
    format!("| {} |\n", cells.join(" | "))
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
        assert_eq!((all.claims_hold, all.claims), (288, 485));
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
            line("xmp", "full", &today, earlier["full"].get("xmp")),
            "| xmp | full | 80 of 100 (80 %) | 90 | - | 5.0 s | 88 of 113, 17 of 34 |\n"
        );
        assert!(line("opn", "full", &today, None).ends_with("| 5.0 s | - |\n"));
        let said = sentence(&today);
        assert!(
            said.starts_with("Of 100 claims of the five papers 80 hold, 90 in this reading or another"),
            "{said}"
        );
    }
}
