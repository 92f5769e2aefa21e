//! `--fidelity` and `tresse fidelity`.

use serde_json::Value;
use tempfile::TempDir;

use crate::common::tresse;

/// A set of one experiment: DCTCP, XMP and DCM by rounds have the links full as by packets, and wait nearly as long in the
/// queue. The worst is XMP alone with K = 10 packets, which has 0.85 of it.
#[test]
fn rounds_are_near_packets_on_one_link() {
    let dir = TempDir::new().expect("a temporary folder");
    let run =
        |args: &[&str]| tresse(dir.path()).arg("fidelity").args(args).output().expect("the command starts");
    let output = run(&["--only", "dumbbell", "--json"]);
    let all: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(all["schema"], "tresse/fidelity/1");
    let cases = all["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 16);
    for case in cases.iter().filter(|case| case["marks"] == true) {
        for value in case["values"].as_array().expect("values") {
            let ratio = value[1][1].as_f64().expect("a number") / value[1][0].as_f64().expect("a number");
            let within = if value[0] == "goodput_mean_bps" { 0.02 } else { 0.16 };
            assert!((ratio - 1.0).abs() < within, "{}: {} {ratio}", case["case"], value[0]);
        }
    }
    let unknown = run(&["--only", "dumbell"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("is not in the set: dumbbell,"));
}
