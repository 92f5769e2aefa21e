//! `tresse compare`: runs beside published numbers, and beside each other.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{fails, tresse};

/// Two schemes on a small tree, for milliseconds, with room for what was published of them.
const TWO: &str = r#"
title = "Two schemes"
[fabric]
topology = "fat-tree"
k = 4
rate = "1Gbps"
delay = "20us"
queue = "100pkt"
mark = "10pkt"
host_queue = "100pkt"
host_mark = "10pkt"
[transport]
profile = "ns3"
[schemes.dctcp]
controller = "dctcp"
[schemes.xmp]
controller = "xmp"
subflows = 2
[workloads.permutation]
pattern = "permutation"
size = "200kB"
rounds = 2
"#;

/// Runs [`TWO`] with `more` at its end into the folder `out`.
fn run(dir: &Path, out: &str, more: &str, settings: &[&str]) {
    let file = format!("{out}.toml");
    fs::write(dir.join(&file), format!("{TWO}{more}")).expect("written");
    let output = tresse(dir).args(["run", &file, "--out", out, "--json"]).args(settings).output();
    let output = output.expect("the command starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// What `compare` prints, which must end well.
fn compare(dir: &Path, arguments: &[&str]) -> String {
    let output = tresse(dir).arg("compare").args(arguments).output().expect("the command starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("--json prints one object")
}

/// A number that ours is far from, and a claim that holds.
const PUBLISHED: &str = r#"
[published]
source = "a paper's Table 1"
values = [{ scheme = "xmp", subflows = 2, pattern = "permutation", goodput_mean = "1Mbps", differs = "the pipe is wide" }]
[[claims]]
id = "fast"
text = "XMP has more than a megabit"
metric = "goodput_mean_bps"
of = { scheme = "xmp" }
above = 1e6
"#;

#[test]
fn a_run_stands_beside_what_was_published() {
    let dir = TempDir::new().expect("a temporary folder");
    run(dir.path(), "a", PUBLISHED, &[]);
    let report = json(&compare(dir.path(), &["a", "--json"]));
    assert_eq!((&report["schema"], &report["against"]), (&"tresse/compare/1".into(), &"published".into()));
    let own = &report["experiments"][0];
    let number = &own["numbers"][0];
    assert_eq!(
        (&number["metric"], &number["published"], &number["within_20_percent"], &number["differs"]),
        (&"goodput_mean_bps".into(), &1e6.into(), &false.into(), &"the pipe is wide".into())
    );
    let (ours, ratio) = (number["ours"].as_f64().expect("ours"), number["ratio"].as_f64().expect("a ratio"));
    assert!(ours > 1e7 && (ratio - ours / 1e6).abs() < 1e-6 && number["ci95"].is_number(), "{number}");
    assert_eq!(
        (&own["claims"][0]["verdict"], &own["claims"][0]["expected"]),
        (&"holds".into(), &"holds".into())
    );
    for key in ["profile", "seed", "replications", "version", "model_version", "digest", "settings", "cases"]
    {
        assert!(!own[key].is_null(), "{key}");
    }
    let summary = &report["summary"];
    for (key, n) in [("claims", 1), ("claims_hold", 1), ("numbers", 1), ("numbers_within_20_percent", 0)] {
        assert_eq!(summary[key], n, "{key}");
    }
    assert!(summary["wall_s"].is_number());

    let text = compare(dir.path(), &["a"]);
    let row = text.lines().find(|line| line.starts_with("goodput mean, Mbit/s")).expect("the number's row");
    assert!(row.contains("xmp-2 permutation") && row.contains(" 1.0 "), "{text}");
    for part in ["paper: a paper's Table 1", "differs, xmp-2 permutation: the pipe is wide", "holds "] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let page = compare(dir.path(), &["a", "--markdown"]);
    assert!(page.contains("### Two schemes\n") && page.contains("| claim | verdict | value |"), "{page}");
}

#[test]
fn counts_of_different_numbers_of_seeds_are_compared_per_seed() {
    let dir = TempDir::new().expect("a temporary folder");
    run(dir.path(), "one", "", &[]);
    run(dir.path(), "two", "", &["--replications", "2"]);
    run(dir.path(), "four", "", &["--replications", "4"]);
    let report = json(&compare(dir.path(), &["two", "four", "--json"]));
    let own = &report["experiments"][0];
    let hops = &own["cases"][0]["metrics"]["packet_hops"];
    let of = |key: &str| hops[key].as_f64().expect("a number");
    // Twice the seeds have about twice the packets, and an interval of the sum.
    assert!((of("right") / of("left") - 2.0).abs() < 0.1 && (of("ratio") - 1.0).abs() < 0.05, "{hops}");
    assert!(of("right_ci95") > 0.0 && hops["apart"] == false, "{hops}");
    assert!(
        compare(dir.path(), &["one", "two"]).contains("note: counts are sums over the seeds of each run")
    );
    assert!(!compare(dir.path(), &["one", "one"]).contains("note: counts"));
}

/// The exit code is 1 only where something is not as the experiment's file expects.
#[test]
fn what_is_unexpected_fails() {
    let dir = TempDir::new().expect("a temporary folder");
    let claim = |more: &str| PUBLISHED.replace("above = 1e6", &format!("below = 1e6\n{more}"));
    for (name, more, message) in [
        ("claim", claim(""), "error: claim.toml: the claim fast is expected to hold, and does not"),
        ("number", PUBLISHED.replace(", differs = \"the pipe is wide\"", ""), "its file does not say why"),
    ] {
        run(dir.path(), name, &more, &[]);
        let error = fails(tresse(dir.path()).args(["compare", name]), 1);
        assert!(error.contains(message), "{error}");
        // Of real hosts nothing is expected.
        let truth = r#"{ "runs": [{ "scale": "1/2", "late_p99_ns": 90000, "packets_per_s": 1e4 }] }"#;
        std::fs::write(dir.path().join(name).join("testbed.json"), truth).expect("it can be written");
        let text = compare(dir.path(), &[name]);
        assert!(text.contains(" real  ") && !text.contains(" ours "), "{text}");
    }
    for (name, more) in [
        ("expected", claim("expected = \"does not hold\"\nbecause = \"Its pipe is wide.\"")),
        (
            "testbed",
            PUBLISHED
                .replace(", differs = \"the pipe is wide\"", "")
                .replace("source =", "kind = \"testbed\"\nsource ="),
        ),
    ] {
        run(dir.path(), name, &more, &[]);
        compare(dir.path(), &[name]);
    }
    let text = compare(dir.path(), &["expected"]);
    assert!(text.contains("does not hold") && text.contains("as expected: Its pipe is wide."), "{text}");
}

#[test]
fn two_runs_stand_beside_each_other() {
    let dir = TempDir::new().expect("a temporary folder");
    run(dir.path(), "a", PUBLISHED, &[]);
    run(dir.path(), "b", PUBLISHED, &["--seed", "2"]);
    let report = json(&compare(dir.path(), &["a", "b", "--json"]));
    assert_eq!((&report["schema"], &report["against"]), (&"tresse/compare/1".into(), &"run".into()));
    let pair = &report["experiments"][0];
    assert_eq!((&pair["left"]["run"], &pair["right"]["seed"]), (&"a".into(), &2.into()));
    assert_eq!(pair["cases"].as_array().expect("cases").len(), 2);
    for case in pair["cases"].as_array().expect("cases") {
        let goodput = &case["metrics"]["goodput_mean_bps"];
        let value = |key: &str| goodput[key].as_f64().unwrap_or_else(|| panic!("{key}: {goodput}"));
        assert!((value("ratio") - value("right") / value("left")).abs() < 1e-12);
        let apart = (value("left") - value("right")).abs() > value("left_ci95") + value("right_ci95");
        assert_eq!(goodput["apart"], apart);
        assert!(case["metrics"]["timeouts"]["apart"].is_null(), "it has no interval over rounds");
    }
    let text = compare(dir.path(), &["a", "b"]);
    assert!(
        text.contains("claims whose verdict changed: 0 of 1") && !text.contains("to the last bit"),
        "{text}"
    );
    let same = compare(dir.path(), &["a", "a"]);
    assert!(same.contains("the same results to the last bit"), "{same}");
    let page = compare(dir.path(), &["a", "b", "--markdown"]);
    assert!(page.contains("| xmp-2 permutation | goodput mean, Mbit/s |"), "{page}");
    let csv = compare(dir.path(), &["a", "b", "--format", "csv"]);
    assert!(csv.starts_with("case,metric,first,first ±95 %,second,second ±95 %,ratio,intervals\n"), "{csv}");
    let rows = csv.lines().filter(|line| line.starts_with("xmp-2 permutation,\"goodput mean, Mbit/s\","));
    assert_eq!(rows.count(), 1, "{csv}");
    let latex = compare(dir.path(), &["a", "--format", "latex"]);
    assert!(latex.contains("\\toprule\nmetric & case & paper & ours & ratio"), "{latex}");
    assert!(latex.contains("goodput mean, Mbit/s & xmp-2 permutation & 1.0 & $"), "{latex}");
    assert!(!latex.contains("claims"), "the tables alone: {latex}");
}

#[test]
fn what_two_runs_do_not_have_in_common_is_told() {
    let dir = TempDir::new().expect("a temporary folder");
    run(dir.path(), "a", PUBLISHED, &[]);
    run(dir.path(), "b", PUBLISHED, &["--only", "scheme=xmp", "--profile", "full"]);
    let text = compare(dir.path(), &["a", "b"]);
    for note in [
        "another experiment: a.toml and b.toml",
        "another profile: quick and full",
        "only the first run has dctcp-1",
    ] {
        assert!(text.contains(&format!("note: {note}")), "{note} in {text}");
    }
}

#[test]
fn a_claim_that_held_before_fails() {
    let dir = TempDir::new().expect("a temporary folder");
    run(dir.path(), "a", &PUBLISHED.replace("above = 1e6", "above = 1e8"), &[]);
    run(dir.path(), "b", &PUBLISHED.replace("above = 1e6", "above = 1e8"), &["--set", "fabric.rate=10Mbps"]);
    let error = fails(tresse(dir.path()).args(["compare", "a", "b", "--judge"]), 1);
    assert!(error.contains("the claim fast held, and no longer does"), "{error}");
    // The other way round nothing is lost.
    let text = compare(dir.path(), &["b", "a", "--judge"]);
    assert!(text.contains("does not hold, then holds: XMP has more than a megabit"), "{text}");
}

#[test]
fn a_folder_without_a_run_is_told() {
    let dir = TempDir::new().expect("a temporary folder");
    let error = fails(tresse(dir.path()).args(["compare", "nowhere"]), 2);
    assert!(
        error.contains("nowhere: there is no run here") && error.contains("runs/xmp-table1-1"),
        "{error}"
    );
    fs::create_dir_all(dir.path().join("runs/tiny-1")).expect("a folder");
    fs::write(dir.path().join("runs/tiny-1/run.json"), "{}").expect("written");
    for (path, hint) in [("runs", "such as runs/tiny-1"), ("runs/tiny", "did you mean `runs/tiny-1`?")] {
        let error = fails(tresse(dir.path()).args(["compare", path]), 2);
        assert!(error.contains(hint), "{error}");
    }
    fs::create_dir(dir.path().join("a")).expect("a folder");
    fs::write(dir.path().join("a/run.json"), "{\"schema\":\"another\"}").expect("written");
    let error = fails(tresse(dir.path()).args(["compare", "a"]), 2);
    assert!(error.contains("a/run.json") && error.contains("hint: "), "{error}");
}
