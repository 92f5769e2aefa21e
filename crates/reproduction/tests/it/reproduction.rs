//! `docs/reproduction.md` is as the experiments' files and the results in `papers/results/` say.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use tresse_experiment::Profile;
use tresse_experiment::read::built_in;
use tresse_reproduction::pages::{Reproduction, Stored, page, times};
use tresse_reproduction::paper;

/// Writes the page instead of comparing it.
const UPDATE: &str = "TRESSE_UPDATE_DOCS";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The results that are kept, in the order of the papers.
fn stored() -> Vec<Stored> {
    let mut stored = Vec::new();
    for &paper in paper::ALL {
        for profile in [Profile::Quick, Profile::Full] {
            let path = root().join("papers/results").join(Stored::file(paper, profile));
            if let Ok(text) = fs::read_to_string(&path) {
                let results: Reproduction =
                    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                stored.push(Stored { paper, profile, results });
            }
        }
    }
    stored
}

/// The page as it should be.
static PAGE: LazyLock<String> =
    LazyLock::new(|| page(&stored()).expect("the built-in experiments are valid"));

/// Compares the file with `text`, or writes it.
#[expect(clippy::disallowed_methods, reason = "how a developer asks for the page")]
fn holds(file: &str, text: &str) {
    let path = root().join(file);
    if std::env::var(UPDATE).is_ok() {
        fs::write(path, text).expect("it can be written");
        return;
    }
    let old = fs::read_to_string(path).expect("it is there");
    let hint = format!("hint: {UPDATE}=1 cargo test -p tresse-lab --test reproduction writes {file}");
    for (old, new) in old.lines().zip(text.lines()) {
        assert_eq!(old, new, "{hint}");
    }
    assert!(old == text, "{file} has more lines, or fewer\n{hint}");
}

#[test]
fn the_page_is_as_files_and_results_say() {
    holds("docs/reproduction.md", &PAGE);
    holds("papers/results/times.toml", &times(&stored()));
}

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
