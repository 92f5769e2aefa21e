//! `tresse bench`: what its JSON has, and what has changed since an earlier one.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{fails, tresse};

/// What the shortest case prints with these arguments.
fn bench(dir: &Path, arguments: &[&str]) -> String {
    let only = ["bench", "--repetitions", "1", "--only", "arrivals"];
    let output = tresse(dir).args(only).args(arguments).output().expect("the command starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "progress is for terminals");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn a_case_is_measured_and_compared_with_itself() {
    let dir = TempDir::new().expect("a temporary folder");
    let before = bench(dir.path(), &["--json"]);
    fs::write(dir.path().join("before.json"), &before).expect("written");
    let report: Value = serde_json::from_str(&before).expect("--json prints one object");
    assert_eq!(report["schema"], "tresse/bench/1");
    let [case] = &report["cases"].as_array().expect("cases")[..] else { panic!("{before}") };
    assert_eq!(case["name"], "fat-tree-k8-arrivals");
    let number = |key: &str| case[key].as_f64().unwrap_or_else(|| panic!("{key}: {case}"));
    // A thousand flows of 6 kB a millisecond come, and the network carries them: 375 Mbit/s a host.
    assert!((number("goodput_bps") / 375e6 - 1.0).abs() < 0.02, "{case}");
    let finished = number("flows_per_s") * number("wall_s");
    assert!((finished / 50_000.0 - 1.0).abs() < 0.05, "{finished} flows in 50 ms");
    assert!(case["ratio_to_fixed_routes"].is_null(), "that case was not run");
    for key in ["samples_packet_hops_per_s", "samples_ceiling_packet_hops_per_s"] {
        assert_eq!(case[key].as_array().map(Vec::len), Some(1), "{key}");
    }
    if cfg!(target_os = "linux") {
        assert!(number("bytes_a_host") > 0.0 && number("peak_rss_bytes") > 128.0 * number("bytes_a_host"));
    }
    assert!(report.get("compared").is_none());

    let again: Value =
        serde_json::from_str(&bench(dir.path(), &["--json", "--compare", "before.json"])).expect("JSON");
    let [compared] = &again["compared"].as_array().expect("compared")[..] else { panic!("{again}") };
    assert_eq!((&compared["name"], &compared["verdict"]), (&case["name"], &"unclear".into()));
    assert_eq!(compared["why"], "too few repetitions to tell");
    let ratio = compared["ratio_to_ceiling_before"].as_f64().expect("a ratio");
    assert!((ratio / number("ratio_to_ceiling") - 1.0).abs() < 1e-9, "{compared}");
    assert!(compared["change"].is_number() && compared["speed_change"].is_number());
    assert_eq!((&again["only_before"], &again["only_now"]), (&Value::Array(vec![]), &Value::Array(vec![])));

    let former = before.replace("fat-tree-k8-arrivals", "fat-tree-k8-arrivals-of-old");
    fs::write(dir.path().join("former.json"), former).expect("written");
    let table = bench(dir.path(), &["--compare", "former.json"]);
    for part in
        ["kflows/s", "\nonly before: fat-tree-k8-arrivals-of-old\n", "\nonly now: fat-tree-k8-arrivals\n"]
    {
        assert!(table.contains(part), "{part} in {table}");
    }
}

#[test]
fn what_cannot_be_compared_or_chosen_is_told_before_anything_runs() {
    let dir = TempDir::new().expect("a temporary folder");
    let message = |arguments: &[&str]| fails(tresse(dir.path()).arg("bench").args(arguments), 2);
    let missing = message(&["--compare", "gone.json"]);
    assert!(missing.starts_with("error: gone.json: cannot be read: "), "{missing}");
    for (text, why) in [
        ("[", "EOF while parsing"),
        (r#"{ "schema": "tresse/list/1", "repetitions": 1, "cases": [] }"#, "its schema is tresse/list/1"),
    ] {
        fs::write(dir.path().join("old.json"), text).expect("written");
        let broken = message(&["--compare", "old.json"]);
        assert!(broken.starts_with("error: old.json: not the output of `tresse bench --json`: "), "{broken}");
        assert!(broken.contains(why) && broken.contains("\nhint: "), "{broken}");
    }
    let unknown = message(&["--only", "k8-cubic"]);
    assert!(
        unknown.starts_with("error: --only k8-cubic: no benchmark has this text in its name"),
        "{unknown}"
    );
    assert!(unknown.contains("fat-tree-k8-lia2-sack, "), "{unknown}");
}
