//! `tresse testbed`: experiments on real hosts around the emulated fabric.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::clean::Clean;
use crate::clock::{sleep, wait_for};
use crate::control::attachable;
use crate::probe::{at_full_length, ready, say};

/// XMP's testbed (a), slower.
pub const BOTTLENECKS: &str = r#"
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

pub fn can_run(test: &str) -> bool {
    if !Path::new("/dev/net/tun").exists() {
        say(&format!("skipped: {test}: TUN devices are missing (/dev/net/tun)"));
        return false;
    }
    ready(test) && !attachable(test, &["xmp"]).is_empty()
}

pub fn tresse(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("tresse"));
    command.current_dir(dir).args(args);
    command
}

pub fn folder(experiment: &str) -> TempDir {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("mine.toml"), experiment).expect("a temporary file");
    dir
}

/// What `tresse testbed run --json` prints, and how late the fabric was at the 99th percentile, us.
pub fn run(dir: &Path) -> (Value, f64) {
    let args = ["testbed", "run", "mine.toml", "--json", "--out", "out"];
    let output = tresse(dir, &args).output().expect("the command starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let truth = fs::read_to_string(dir.join("out/testbed.json")).expect("it says how true it was");
    let truth: Value = serde_json::from_str(&truth).expect("JSON");
    let late = truth["runs"][0]["late_p99_ns"].as_f64().expect("a number") / 1000.0;
    (serde_json::from_slice(&output.stdout).expect("JSON"), late)
}

pub fn number(case: &Value, metric: &str) -> f64 {
    case["metrics"][metric].as_f64().unwrap_or_else(|| panic!("no {metric}: {case}"))
}

#[test]
fn real_messages_arrive_whole() {
    if !can_run("real_messages_arrive_whole") {
        return;
    }
    let clean = Clean::before();
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
    clean.check();
}

#[test]
fn nothing_is_lost_or_doubled_when_paths_are_cut() {
    if !can_run("nothing_is_lost_or_doubled_when_paths_are_cut") {
        return;
    }
    // The whole of it, 1 GB and 20 cuts, is `tresse testbed run validation/cuts.toml`.
    let whole = include_str!("../../../../validation/cuts.toml");
    let mut short = whole.replace("\"1GB\"", "\"120MB\"");
    assert_ne!(whole, short);
    // Each takes six seconds: XMP, which shifts on marks, and LIA, which shifts on losses; all five in `make test-all`.
    let schemes = if at_full_length() { 5 } else { 2 };
    if schemes < 5 {
        for (first, next) in [("[schemes.dcm]", "[schemes.lia]"), ("[schemes.olia]", "[workloads.")] {
            let [from, to] = [first, next].map(|part| short.find(part).expect("it is there"));
            short.replace_range(from..to, "");
        }
    }
    let clean = Clean::before();
    let dir = folder(&short);
    let (report, late) = run(dir.path());
    let cases = report["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), schemes);
    for case in cases {
        let scheme = case["case"]["scheme"].as_str().expect("a name");
        // Every byte was looked at by its receiver: one that is not the one that was sent ends the run.
        let (bytes, lost) = (number(case, "delivered_bytes"), number(case, "lost_pkts"));
        let time = number(case, "fct_mean_s");
        say(&format!(
            "{scheme}: 120 MB in {time:.2} s, {lost} packets lost with their links, late by {late:.0} us"
        ));
        assert_eq!(bytes, 120e6, "{scheme}");
        assert!(lost > 0.0, "{scheme}: no path was cut");
        // Other work on the machine makes it three times as long.
        assert!((2.4..40.0).contains(&time), "{scheme}: {time}");
    }
    clean.check();
}

#[test]
fn ctrl_c_ends_a_testbed_and_keeps_what_it_measured() {
    let test = "ctrl_c_ends_a_testbed_and_keeps_what_it_measured";
    if !can_run(test) {
        return;
    }
    let clean = Clean::before();
    let dir = folder(BOTTLENECKS);
    // A group of processes, as a terminal makes one of a command and the hosts that it starts.
    let mut child = tresse(dir.path(), &["testbed", "run", "mine.toml", "--out", "out"])
        .process_group(0)
        .stdout(Stdio::null())
        .spawn()
        .expect("the command starts");
    let begun = dir.path().join("out/run.json");
    let is_begun = wait_for(20.0, || begun.exists());
    sleep(2.0);
    let kill = format!("kill -INT -{}", child.id());
    let killed = Command::new("sh").args(["-c", &kill]).status();
    let code = child.wait().expect("it ends").code();
    assert!(is_begun && killed.is_ok_and(|status| status.success()));
    assert_eq!(code, Some(130));
    let report = fs::read_to_string(dir.path().join("out/run.json")).expect("there is a report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!((&report["status"], &report["testbed"]["scale"]), (&"partial".into(), &"1".into()));
    clean.check();
}
