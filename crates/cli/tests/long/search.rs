//! `tresse evaluate` where it simulates for long: the claims of a paper, and a search that is led by the score.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::tresse;

/// What `tresse evaluate` prints with `--json`.
fn evaluate(dir: &Path, arguments: &[&str]) -> Value {
    let output =
        tresse(dir).arg("evaluate").args(arguments).arg("--json").output().expect("the command starts");
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("one JSON object: {e}: {said}"))
}

/// Reno's subflows know nothing of each other: on the path that gets free they gain, but do not compensate.
#[test]
fn the_claims_of_a_paper_are_judged_with_the_candidate_in_its_schemes_place() {
    let claims = "title = \"Shift\"\n\n[[experiments]]\nname = \"shift\"\nmeasure = \"claims\"\n\
                  experiment = \"xmp/fig4\"\nscheme = \"beta-4\"\n";
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("suite.toml"), claims).expect("a temporary file");
    let xmp = evaluate(dir.path(), &["xmp", "--suite", "suite.toml"]);
    assert_eq!(
        (&xmp["metrics"]["claims_judged"], &xmp["metrics"]["claims_broken"]),
        (&5.0.into(), &0.0.into())
    );
    assert_eq!(xmp["combined_score"], 1.0);
    let reno = evaluate(dir.path(), &["reno", "--suite", "suite.toml"]);
    assert_eq!(reno["metrics"]["claims_broken"], 1.0, "{reno}");
    assert!(
        reno["artifacts"]["claims"].as_str().is_some_and(|text| text.contains("does not hold")),
        "{reno}"
    );
}

/// Six children of a controller that gives up nine tenths of its window at a loss; each has another `cut`.
#[test]
fn a_small_search_finds_something_better() {
    let dir = TempDir::new().expect("a temporary folder");
    tresse(dir.path()).args(["controller", "new", "mine"]).assert().success();
    let template = fs::read_to_string(dir.path().join("mine.c")).expect("it was written");
    let default = "P(cut, 50, 1, 90,";
    assert!(template.contains(default));
    let score = |cut: u64| {
        let child = template.replace(default, &format!("P(cut, {cut}, 1, 90,"));
        fs::write(dir.path().join("mine.c"), child).expect("a temporary file");
        let evaluation = evaluate(dir.path(), &["mine.c"]);
        assert_eq!(evaluation["status"], "ok", "{evaluation}");
        evaluation["combined_score"].as_f64().expect("a number")
    };
    let start = (score(90), 90);
    let (mut best, mut random) = (start, 1u64);
    for _ in 0..6 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let cut = (best.1 + 90 - 40 + (random >> 33) % 81 - 1) % 90 + 1;
        let child = (score(cut), cut);
        if child.0 > best.0 {
            best = child;
        }
    }
    assert!(best.0 > start.0, "{best:?}, from {start:?}");
}
