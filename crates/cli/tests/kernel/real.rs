//! `tresse testbed`: experiments on real hosts around the emulated fabric.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::clean::Clean;
use crate::clock::sleep;
use crate::control::attachable;
use crate::probe::{ready, say};

/// XMP's testbed (a), slower.
const BOTTLENECKS: &str = r#"
title = "A flow over two bottlenecks, and one over each"

[fabric]
topology = "xmp-testbed-a"
rate = { access = "1Gbps", bottleneck = "100Mbps" }
delay = "289us"
queue = "100pkt"
mark = "15pkt"
host_queue = "unlimited"

[transport]
profile = "linux"

[schemes.xmp]
controller = "xmp"

[schemes.lia]
controller = "lia"

[workloads.three]
pattern = "flows"
duration = "4s"
flow = [
  { name = "flow 1", from = "S1", to = "D1" },
  { name = "flow 2", from = "S2", to = "D2", subflows = 2, via = [["DN1 in"], ["DN2 in"]] },
  { name = "flow 3", from = "S3", to = "D3" },
]

[measure]
samples = "500ms"
"#;

const MESSAGES: &str = r#"
title = "Messages in a fat tree"

[fabric]
topology = "fat-tree"
k = 4
rate = "50Mbps"
delay = "50us"
queue = "100pkt"
mark = "20pkt"
host_queue = "unlimited"
routing = "ecmp"

[transport]
profile = "linux"

[schemes.xmp]
controller = "xmp"
subflows = 2

[workloads.permutation]
pattern = "permutation"
size = "300kB"
rounds = 2
"#;

fn can_run(test: &str) -> bool {
    if !Path::new("/dev/net/tun").exists() {
        say(&format!("skipped: {test}: TUN devices are missing (/dev/net/tun)"));
        return false;
    }
    ready(test) && !attachable(test, &["xmp"]).is_empty()
}

fn tresse(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("tresse"));
    command.current_dir(dir).args(args);
    command
}

fn folder(experiment: &str) -> TempDir {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("mine.toml"), experiment).expect("a temporary file");
    dir
}

/// What `tresse testbed run --json` prints, and how late the fabric was at the 99th percentile, us.
fn run(dir: &Path) -> (Value, f64) {
    let args = ["testbed", "run", "mine.toml", "--json", "--out", "out"];
    let output = tresse(dir, &args).output().expect("the command starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let truth = fs::read_to_string(dir.join("out/testbed.json")).expect("it says how true it was");
    let truth: Value = serde_json::from_str(&truth).expect("JSON");
    let late = truth["runs"][0]["late_p99_ns"].as_f64().expect("a number") / 1000.0;
    (serde_json::from_slice(&output.stdout).expect("JSON"), late)
}

fn number(case: &Value, metric: &str) -> f64 {
    case["metrics"][metric].as_f64().unwrap_or_else(|| panic!("no {metric}: {case}"))
}

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
fn real_messages_arrive_whole() {
    if !can_run("real_messages_arrive_whole") {
        return;
    }
    let dir = folder(MESSAGES);
    let (report, late) = run(dir.path());
    let case = &report["cases"][0];
    // Every byte was looked at by its receiver.
    assert_eq!(number(case, "flows"), 32.0, "{case}");
    assert_eq!(report["status"], "complete");
    let slowest = number(case, "fct_max_s");
    say(&format!(
        "32 messages of 300 kB in a fat tree: the slowest took {slowest:.3} s, late by {late:.0} us (99 %)"
    ));
    // Alone 0.05 s.
    assert!((0.05..10.0).contains(&slowest), "{slowest}");
}

#[test]
fn a_killed_testbed_leaves_nothing_that_clean_does_not_find() {
    let test = "a_killed_testbed_leaves_nothing_that_clean_does_not_find";
    if !can_run(test) {
        return;
    }
    let clean = Clean::before();
    let dir = folder(BOTTLENECKS);
    for moment in [0.05, 0.3, 0.8, 1.6] {
        let mut child =
            tresse(dir.path(), &["testbed", "run", "mine.toml", "--out", &format!("out-{moment}")])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("the command starts");
        sleep(moment);
        child.kill().expect("it is there");
        child.wait().expect("it was there");
        let output = tresse(dir.path(), &["testbed", "clean"]).output().expect("the command starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let left = tresse(dir.path(), &["testbed", "clean"]).output().expect("the command starts");
        assert_eq!(String::from_utf8_lossy(&left.stdout), "nothing is left of a testbed\n");
    }
    clean.check();
}
