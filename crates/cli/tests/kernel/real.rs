//! `tresse testbed`: experiments on real hosts around the emulated fabric.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::clean::Clean;
use crate::clock::{sleep, wait_for};
use crate::control::attachable;
use crate::probe::{asked, ready, say};

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

/// The host's own namespaces, routes, devices, pins, and settings of its network: which congestion controls there are is among
/// them. Their programs the kernel frees later, with the last of their sockets.
fn host() -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, String> = files(Path::new("/proc/sys/net")).collect();
    for (name, args) in [
        ("ip", &["netns", "list"][..]),
        ("ip", &["-4", "route", "show", "table", "all"]),
        ("ip", &["-o", "link", "show"]),
        ("ls", &["-R", "/sys/fs/bpf"]),
    ] {
        let output = Command::new(name).args(args).output();
        let text =
            output.map_or_else(|e| e.to_string(), |own| String::from_utf8_lossy(&own.stdout).into_owned());
        all.insert(format!("{name} {}", args.join(" ")), text);
    }
    all
}

/// What the files below a folder hold, those that can be read.
fn files(folder: &Path) -> Box<dyn Iterator<Item = (String, String)>> {
    Box::new(fs::read_dir(folder).into_iter().flatten().flatten().flat_map(|entry| {
        let path = entry.path();
        match path.is_dir() {
            true => files(&path),
            false => {
                let text = fs::read_to_string(&path);
                Box::new(text.ok().map(|text| (path.display().to_string(), text)).into_iter())
            }
        }
    }))
}

/// Any number from 0 to 1.
fn random() -> f64 {
    let mut bytes = [0; 4];
    fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes)).expect("random bytes");
    f64::from(u32::from_ne_bytes(bytes)) / f64::from(u32::MAX)
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
    let schemes = if std::env::var_os("TRESSE_TEST_ALL").is_some() { 5 } else { 2 };
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

#[test]
fn a_killed_testbed_leaves_nothing_that_clean_does_not_find() {
    let test = "a_killed_testbed_leaves_nothing_that_clean_does_not_find";
    if !can_run(test) {
        return;
    }
    // `TRESSE_KILLS=30` tries as many moments of the first four seconds, others each time.
    let moments = match asked("TRESSE_KILLS") {
        Some(kills) => (0..kills).map(|_| random() * 4.0).collect(),
        None => vec![0.05, 0.3, 0.8, 1.6],
    };
    let clean = Clean::before();
    let before = host();
    let dir = folder(BOTTLENECKS);
    for moment in moments {
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
        assert_eq!(String::from_utf8_lossy(&left.stdout), "there was nothing to remove\n");
        let after = host();
        let differs = before.keys().chain(after.keys()).find(|key| before.get(*key) != after.get(*key));
        assert_eq!(
            differs,
            None,
            "killed after {moment} s: {:?}",
            differs.map(|key| (before.get(key), after.get(key)))
        );
    }
    clean.check();
}
