//! What `docs/reproduction.md` is made of: the experiments' files, and the results in `papers/results/`.

use std::path::Path;
use std::sync::LazyLock;

use tresse_experiment::read::built_in;
use tresse_reproduction::pages::{Stored, page};
use tresse_reproduction::paper;

/// The results that are kept.
fn stored() -> Vec<Stored> {
    Stored::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers/results"))
        .expect("they can be read")
}

/// The page as it should be.
static PAGE: LazyLock<String> =
    LazyLock::new(|| page(&stored()).expect("the built-in experiments are valid"));

/// Results are of the experiments as they are now: every number and every claim was judged, with the verdict that the
/// file expects.
#[test]
fn the_results_are_of_today() {
    for stored in stored() {
        let stale = stored.stale().expect("the built-in experiments are valid");
        let file = Stored::file(stored.paper, stored.profile);
        let command = format!("scripts/reproduction {} {}", stored.profile.name(), stored.paper.name);
        assert!(stale.is_empty(), "papers/results/{file}: {}\nhint: {command}", stale.join("\n"));
    }
}

#[test]
fn every_experiment_claim_and_number_stands_in_the_page() {
    for (name, experiment) in built_in::all() {
        assert!(PAGE.contains(&format!("\n    tresse run {name}")), "{name}");
        assert!(PAGE.contains(&format!("### {}\n", experiment.title)), "{name}");
        for claim in &experiment.claims {
            let text = claim.text.replace('|', "\\|");
            let mark = if claim.reading_of.is_some() { "↳ " } else { "" };
            assert!(PAGE.contains(&format!("| {mark}{text}")), "{name}: {}", claim.id);
            let because = claim.because.as_deref().unwrap_or_default();
            assert!(PAGE.contains(because), "{name}: {because}");
            if let Some(proof) = &claim.contradicts {
                let times = if claim.reading_of.is_none() { 2 } else { 1 };
                assert!(PAGE.matches(proof).count() >= times, "{name}: {proof}");
            }
        }
        for value in &experiment.published.values {
            let shown = value.goodput_mean.map(|rate| format!("| {:.1} |", rate.0 as f64 / 1e6));
            assert!(PAGE.contains(&shown.unwrap_or_default()), "{name}: {value:?}");
            assert!(PAGE.contains(value.differs.as_deref().unwrap_or_default()), "{name}: {value:?}");
        }
    }
}

/// The text before the tables stays as it was written, but for its headings and links.
#[test]
fn what_is_written_by_hand_stands_in_the_page() {
    for paper in paper::ALL {
        for line in paper.about.lines().filter(|line| !line.starts_with('#') && !line.contains("](")) {
            assert!(PAGE.contains(line), "{}: {line}", paper.name);
        }
    }
}
