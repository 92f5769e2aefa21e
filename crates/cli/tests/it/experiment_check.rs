//! `tresse check`: an experiment is looked at, not run.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::tresse;

const FAIR: &str = r#"
title = "two schemes"
[fabric]
topology = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
rate = "100Gbps"
delay = "1us"
queue = "800kB"
mark = "270kB"
routing = "ecmp"
[transport]
profile = "linux"
[schemes.dctcp]
controller = "dctcp"
[schemes.xmp]
controller = "xmp"
subflows = [2, 4]
[workloads.all]
pattern = "permutation"
size = "1MB"
"#;

/// The exit code, and what it says.
fn checked(args: &[&str]) -> (Option<i32>, Value, String) {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("fair.toml"), FAIR).expect("the folder can be written");
    let run = |more: &[&str]| {
        let output = tresse(dir.path()).args(["check", "fair.toml"]).args(args).args(more).output();
        let output = output.expect("the command starts");
        (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8"))
    };
    let (code, json) = run(&["--json"]);
    let (same, text) = run(&[]);
    assert_eq!(code, same);
    assert!(!dir.path().join("runs").exists(), "nothing is run");
    (code, serde_json::from_str(&json).unwrap_or_default(), text)
}

#[test]
fn a_fair_comparison_is_fine_and_an_unfair_one_is_not() {
    let (code, json, text) = checked(&[]);
    assert_eq!((code, &json["schema"]), (Some(0), &"tresse/check/1".into()), "{text}");
    assert_eq!((&json["cases"], &json["differences"]), (&3.into(), &Value::Array(Vec::new())));
    assert!(text.starts_with("fair.toml: 3 cases\n") && text.contains("4 hosts, base RTT"), "{text}");

    let (code, json, text) = checked(&["--set", "schemes.xmp.transport.rto_min=1ms"]);
    assert_eq!(code, Some(1), "{text}");
    let difference = json["differences"][0].as_str().unwrap_or_default();
    assert!(difference.contains("smallest timeout") && text.contains(difference), "{json} {text}");

    assert_eq!(checked(&["--set", "fabric.k=4"]).0, Some(2), "an experiment that cannot be run");
}

/// Marks of classes and of RED are marks too.
#[test]
fn other_marks_than_a_threshold_are_told() {
    let (_, json, text) = checked(&[
        "--set",
        "fabric.mark=unlimited",
        "--set",
        "fabric.red={ min = \"5pkt\", max = \"15pkt\", probability = 0.1 }",
    ]);
    assert_eq!(json["networks"][0]["marked_by"], serde_json::json!(["red"]), "{text}");
    assert!(text.contains("marks as `red` say") && !text.contains("do not mark"), "{text}");
}

#[test]
fn the_threshold_is_shown_against_the_bandwidth_delay_product() {
    let of = |args: &[&str]| checked(args).1["networks"][0].clone();
    let network = of(&[]);
    let number = |value: &Value| value.as_f64().expect("a number");
    // Four links of 1 us there and back, and a packet of 1500 bytes and an ACK of 52 on each.
    let rtt = 8000.0 + 4.0 * (1500.0 + 52.0) * 8.0 / 100.0;
    assert!((number(&network["base_rtt_ns"]) / rtt - 1.0).abs() < 0.01, "{network} {rtt}");
    let bdp = rtt * 100.0 / 8.0;
    assert!((number(&network["bdp_bytes"]) / bdp - 1.0).abs() < 0.01, "{network} {bdp}");
    assert!((number(&network["mark_over_bdp_ratio"]["all"]) / (270e3 / bdp) - 1.0).abs() < 0.01, "{network}");
    let packets = of(&["--set", "fabric.mark=20pkt"]);
    assert!((number(&packets["mark_over_bdp_ratio"]["all"]) / (30e3 / bdp) - 1.0).abs() < 0.01, "{packets}");
    assert_eq!(of(&["--set", "fabric.mark=unlimited"])["mark_over_bdp_ratio"]["all"], Value::Null);
}

#[test]
fn a_threshold_in_bdp_is_shown_in_bytes() {
    let (_, json, text) = checked(&["--set", "fabric.mark=0.5BDP"]);
    let network = &json["networks"][0];
    let number = |value: &Value| value.as_f64().expect("a number");
    let half = number(&network["bdp_bytes"]) / 2.0;
    assert!((number(&network["mark_bytes"]["all"]) - half).abs() <= 0.5, "{network}");
    assert!((number(&network["mark_over_bdp_ratio"]["all"]) - 0.5).abs() < 1e-4, "{network}");
    assert!(text.contains(&format!("K = 0.50 BDP ({}B)", half.round())), "{text}");
    let (_, json, _) = checked(&["--set", "fabric.host_queue=1MB", "--set", "fabric.host_mark=20pkt"]);
    assert_eq!(json["networks"][0]["mark_bytes"]["hosts"], 30_000);
}

#[test]
fn it_says_how_much_there_is_to_do() {
    let (code, json, text) = checked(&["--set", "replications=3"]);
    assert_eq!(code, Some(0), "{text}");
    let work = &json["work"];
    assert_eq!([&work["cases"], &work["seeds"], &work["flows"]], [3, 3, 3 * 3 * 4], "{work}");
    assert!(text.contains("\nto compute: 3 cases under 3 seeds, about 36 flows, "), "{text}");
    let forecast = &json["forecast"];
    assert!(
        forecast["wall_s"].as_f64().is_some_and(|s| s > 0.0) && forecast["tried_cases"] == 3,
        "{forecast}"
    );
}

#[test]
fn a_first_window_that_overflows_a_queue_is_told() {
    let is_told = |args: &[&str]| {
        let (code, json, text) = checked(args);
        assert_eq!(code, Some(0), "{text}");
        let notes: Vec<&str> =
            json["notes"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        notes.iter().any(|note| note.contains("first window") && note.contains("xmp-4 (10 packets)"))
    };
    assert!(!is_told(&[]), "800 kB is enough");
    assert!(is_told(&["--set", "fabric.queue=9pkt", "--set", "fabric.mark=5pkt"]));
    assert!(!is_told(&["--set", "fabric.queue=10pkt", "--set", "fabric.mark=5pkt"]));
    assert!(is_told(&["--set", "fabric.queue=14kB", "--set", "fabric.mark=5kB"]));
}
