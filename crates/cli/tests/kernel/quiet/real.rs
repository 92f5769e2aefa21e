//! `tresse testbed`: rates and shares on real hosts around the emulated fabric.

use std::fs;

use serde_json::Value;

use crate::clean::Clean;
use crate::probe::say;
use crate::real::{BOTTLENECKS, can_run, folder, number, run};

/// A second path from 2 s on, and another host's datagrams.
const LATER: &str = r#"
title = "A subflow that is opened later, and datagrams"

[fabric]
topology = "xmp-testbed-a"
rate = { access = "1Gbps", bottleneck = "50Mbps" }
delay = "289us"
queue = "100pkt"
mark = "15pkt"
host_queue = "unlimited"

[transport]
profile = "linux"

[schemes.xmp]
controller = "xmp"

[workloads.later]
pattern = "flows"
duration = "4s"
flow = [
  { name = "later", from = "S2", to = "D2", subflows = 2, via = [["DN1 in"], ["DN2 in"]], subflow_starts = ["0s", "2s"] },
]

[workloads.datagrams]
pattern = "flows"
duration = "2s"
flow = [
  { name = "datagrams", from = "S1", to = "D1", datagrams = "10Mbps" },
  { name = "two", from = "S2", to = "D2", subflows = 2, via = [["DN1 in"], ["DN2 in"]] },
]
"#;

#[test]
fn real_hosts_share_two_bottlenecks() {
    if !can_run("real_hosts_share_two_bottlenecks") {
        return;
    }
    let clean = Clean::before();
    let dir = folder(BOTTLENECKS);
    let (report, late) = run(dir.path());
    let cases = report["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 2);
    for case in cases {
        let scheme = case["case"]["scheme"].as_str().expect("a name");
        // Three flows; of 1500 bytes at most 1428 are MPTCP's payload.
        let used = 3.0 * number(case, "goodput_mean_bps") / (200e6 * 1428.0 / 1500.0);
        let flow = |name: &str| case["by"]["group"][name]["goodput_mean_bps"].as_f64().expect("a flow");
        let shares = ["flow 1", "flow 2", "flow 3"].map(|name| flow(name) / 1e6);
        say(&format!("{scheme}: {used:.3} of both links, {shares:.1?} Mbit/s, late by {late:.0} us (99 %)"));
        assert!((0.6..1.03).contains(&used), "{scheme} uses {used} of both links");
        assert!(shares.iter().all(|share| *share > 20.0), "{scheme}: {shares:?}");
        if scheme == "xmp" {
            assert_eq!(number(case, "timeouts"), 0.0, "{case}");
        }
    }
    assert!(dir.path().join("out/samples.parquet").exists());
    clean.check();
}

#[test]
fn subflows_open_when_they_should_and_datagrams_run_beside_them() {
    let test = "subflows_open_when_they_should_and_datagrams_run_beside_them";
    if !can_run(test) {
        return;
    }
    let clean = Clean::before();
    let dir = folder(LATER);
    let (report, late) = run(dir.path());
    let case = |pattern: &str| {
        let mut cases = report["cases"].as_array().expect("cases").iter();
        cases.find(|case| case["case"]["pattern"] == pattern).expect("a case")
    };
    let later = number(case("later"), "goodput_mean_bps") / 1e6;
    let both = &case("datagrams")["by"]["group"];
    let [datagrams, two] =
        ["datagrams", "two"].map(|group| both[group]["goodput_mean_bps"].as_f64().expect("a rate") / 1e6);
    say(&format!(
        "one path for 2 s, then two: {later:.1} Mbit/s; two paths: {two:.1} beside {datagrams:.1} of \
         datagrams, late by {late:.0} us (99 %)"
    ));
    // One path carries 47.6 of its 50 Mbit/s, both 95.2.
    assert!((60.0..76.0).contains(&later), "{later}");
    assert!((9.8..10.2).contains(&datagrams), "{datagrams}");
    assert!((70.0..87.0).contains(&two), "{two}");
    let truth = fs::read_to_string(dir.path().join("out/testbed.json")).expect("it says how true it was");
    let truth: Value = serde_json::from_str(&truth).expect("JSON");
    for run in truth["runs"].as_array().expect("runs") {
        assert_eq!(run["subflows_refused"], 0, "{run}");
        assert_eq!(run["refused"], 0, "{run}");
    }
    clean.check();
}
