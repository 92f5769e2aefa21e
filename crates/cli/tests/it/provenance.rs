//! What a run was made of: `run.json` keeps it, and `compare` tells what differs before it compares results.

use std::fs;
use std::path::Path;
use std::process::{Child, Command as Process, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{fails, own_controller, tresse, wait_until};

/// Two schemes on two pairs of hosts, with sizes from a file, and what was published of them.
const OWN: &str = r#"
title = "Two schemes"
[fabric]
topology = "dumbbell"
pairs = 2
rate = "1Gbps"
delay = "20us"
queue = "100pkt"
mark = "10pkt"
host_queue = "100pkt"
[transport]
profile = "ns3"
[schemes.dctcp]
controller = "dctcp"
[schemes.lia]
controller = "lia"
[workloads.w]
pattern = "permutation"
size = { file = "sizes.cdf" }
rounds = 2
[published]
source = "a paper's Table 1"
values = [{ scheme = "lia", pattern = "w", goodput_mean = "1Mbps", differs = "the pipe is wide" }]
[[claims]]
id = "fast"
text = "LIA has more than a megabit"
metric = "goodput_mean_bps"
of = { scheme = "lia" }
above = 1e6
"#;

/// A folder with the experiment, its sizes and a user's controller.
fn folder() -> TempDir {
    let dir = TempDir::new().expect("a temporary folder");
    write(&dir, "own.toml", OWN);
    write(&dir, "sizes.cdf", "100000 0\n200000 1\n");
    write(&dir, "mine.c", &own_controller());
    dir
}

fn write(dir: &TempDir, file: &str, text: &str) {
    fs::write(dir.path().join(file), text).expect("written");
}

/// Runs the experiment into `out`.
fn run(dir: &TempDir, out: &str, more: &[&str]) -> Value {
    let output = tresse(dir.path()).args(["run", "own.toml", "--out", out, "--json"]).args(more).output();
    let output = output.expect("the command starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("--json prints one object")
}

/// What the command prints.
fn prints(dir: &TempDir, args: &[&str]) -> String {
    let output = tresse(dir.path()).args(args).output().expect("the command starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The notes that stand before the table of two runs, `a` and `b`, as lines; and the same as JSON.
fn differences(dir: &TempDir) -> (String, Value) {
    let text = prints(dir, &["compare", "a", "b"]);
    let head = text.split("\n\n").next().expect("a head").to_owned();
    let json: Value = serde_json::from_str(&prints(dir, &["compare", "a", "b", "--json"])).expect("JSON");
    (head, json["experiments"][0]["differences"].clone())
}

fn sha256(text: &str) -> String {
    tresse_experiment::read::files::sha256(text)
}

#[test]
fn a_run_keeps_what_it_was_made_of() {
    let dir = folder();
    let mine = ["--controller", "mine.c", "--set", "schemes.lia.controller=mine", "--only", "scheme=lia"];
    let report = run(&dir, "a", &mine);
    let text = fs::read_to_string(dir.path().join("a/run.json")).expect("run.json");
    let saved: Value = serde_json::from_str(&text).expect("JSON");
    let inputs = &saved["inputs"];
    assert_eq!(report["inputs"], *inputs);
    assert_eq!(inputs["set"], serde_json::json!(["schemes.lia.controller=mine"]));
    assert_eq!(inputs["only"], serde_json::json!(["scheme=lia"]));
    let file = |path: &str, text: &str| serde_json::json!({ "path": path, "sha256": sha256(text) });
    let files = [file("own.toml", OWN), file("sizes.cdf", "100000 0\n200000 1\n")];
    assert_eq!(inputs["files"], serde_json::json!(files));
    let own = &inputs["controllers"][0];
    assert_eq!((&own["name"], &own["path"]), (&"mine".into(), &"mine.c".into()));
    assert_eq!(own["source"], own_controller());
    assert_eq!(own["sha256"], sha256(&own_controller()));
    assert!(own["flags"].as_array().expect("flags").contains(&"-O2".into()), "{own}");
    assert!(!own["compiler"].as_str().expect("a version").is_empty());
    assert_eq!(inputs["digest"].as_str().expect("a digest").len(), 64);
    // The same again has the same digests; another seed has others.
    let digests = |report: &Value| (report["inputs"]["digest"].clone(), report["digest"].clone());
    assert_eq!(digests(&run(&dir, "b", &mine)), digests(&report));
    let seed = run(&dir, "c", &[&mine[..], &["--seed", "2"]].concat());
    assert_ne!(digests(&seed).0, digests(&report).0);
    let none: [Value; 0] = [];
    assert_eq!(differences(&dir).1, serde_json::json!(none));
}

#[test]
fn another_source_is_told_with_its_lines() {
    let dir = folder();
    let mine = ["--controller", "mine.c", "--set", "schemes.lia.controller=mine"];
    let first = run(&dir, "a", &mine);
    let source = own_controller();
    let line = source.lines().find(|line| line.contains("return")).expect("a function returns something");
    write(&dir, "mine.c", &source.replacen(line, &format!("{line} /* changed */"), 1));
    let second = run(&dir, "b", &mine);
    assert_eq!(first["digest"], second["digest"], "a comment changes no result");
    assert_ne!(first["inputs"]["digest"], second["inputs"]["digest"]);
    let (head, json) = differences(&dir);
    assert!(head.contains("note: the source of the controller mine (mine.c):\n    -"), "{head}");
    assert!(head.contains("/* changed */"), "{head}");
    assert_eq!((&json[0]["what"], &json[0]["name"]), (&"controller".into(), &"mine".into()));
    assert_eq!(json[0]["lines"].as_array().expect("lines").len(), 2, "one less, one more");
}

/// Also what a controller includes is its source.
#[test]
fn another_header_is_told() {
    let dir = folder();
    write(&dir, "mine.c", &format!("#include \"own.h\"\n{}", own_controller()));
    for (out, header) in [("a", "// one\n"), ("b", "// two\n")] {
        write(&dir, "own.h", header);
        run(&dir, out, &["--controller", "mine.c", "--set", "schemes.lia.controller=mine"]);
    }
    let (head, _) = differences(&dir);
    assert!(head.contains("note: the content of own.h: SHA-256 "), "{head}");
}

#[test]
fn another_compiler_is_told() {
    let dir = folder();
    for out in ["a", "b"] {
        run(&dir, out, &["--controller", "mine.c", "--set", "schemes.lia.controller=mine"]);
    }
    let path = dir.path().join("b/run.json");
    let mut other: Value = serde_json::from_str(&fs::read_to_string(&path).expect("run.json")).expect("JSON");
    other["inputs"]["controllers"][0]["compiler"] = "cc 99.1".into();
    other["inputs"]["controllers"][0]["flags"] = serde_json::json!(["-O3"]);
    fs::write(&path, other.to_string()).expect("written");
    let (head, json) = differences(&dir);
    assert!(
        head.contains("note: another compiler of the controller mine: ") && head.contains(" and cc 99.1\n"),
        "{head}"
    );
    assert!(head.contains("note: other flags of the controller mine: "), "{head}");
    assert_eq!((&json[0]["what"], &json[1]["what"]), (&"compiler".into(), &"flags".into()));
}

/// Of many keys the first ones are shown.
#[test]
fn another_experiment_is_told_in_few_lines() {
    let dir = folder();
    run(&dir, "a", &[]);
    write(&dir, "sizes.cdf", "100000 0\n200000 1\n");
    write(&dir, "own.toml", &OWN.replace("profile = \"ns3\"", MANY).replace("rounds = 2", "rounds = 3"));
    run(&dir, "b", &[]);
    let (head, json) = differences(&dir);
    assert_eq!(head.matches("\nnote: ").count(), 14, "a file, twelve keys, and how many more: {head}");
    assert!(head.contains("note: more keys that differ: 2 (`--json` has all)"), "{head}");
    assert_eq!(json.as_array().expect("a list").len(), 15, "{json}");
}

/// The keys of a transport one by one, and a key less.
const MANY: &str = r#"
mss = "1460B"
header = "40B"
ack = "40B"
initial_window = "1pkt"
rto_min = "200ms"
rto_initial = "1s"
rto_max = "60s"
recovery = "newreno"
reduction = "immediate"
ack_every = "2pkt"
ack_timer = "40ms"
quick_acks = "16pkt"
"#;

#[test]
fn another_setting_is_told() {
    let dir = folder();
    run(&dir, "a", &[]);
    run(&dir, "b", &["--set", "fabric.mark=20pkt"]);
    let (head, json) = differences(&dir);
    assert!(head.contains("note: another --set: none and fabric.mark=20pkt"), "{head}");
    assert!(head.contains("note: fabric.mark: 10pkt and 20pkt"), "{head}");
    assert_eq!(
        json[1],
        serde_json::json!({ "what": "key", "name": "fabric.mark", "left": "10pkt", "right": "20pkt" })
    );
}

#[test]
fn another_choice_of_cases_is_told() {
    let dir = folder();
    run(&dir, "a", &[]);
    run(&dir, "b", &["--only", "scheme=lia"]);
    let (head, json) = differences(&dir);
    assert!(head.contains("note: another --only: none and scheme=lia"), "{head}");
    assert_eq!(json.as_array().expect("a list").len(), 1, "{json}");
    assert!(head.contains("all cases that both runs have: the same results to the last bit"), "{head}");
}

#[test]
fn another_file_is_told() {
    let dir = folder();
    run(&dir, "a", &[]);
    write(&dir, "sizes.cdf", "100000 0\n300000 1\n");
    run(&dir, "b", &[]);
    let (head, json) = differences(&dir);
    assert!(head.contains("note: the content of sizes.cdf: SHA-256 "), "{head}");
    assert_eq!((&json[0]["what"], &json[0]["name"]), (&"file".into(), &"sizes.cdf".into()));
}

#[test]
fn another_key_of_an_edited_file_is_told() {
    let dir = folder();
    run(&dir, "a", &[]);
    write(&dir, "own.toml", &OWN.replace("mark = \"10pkt\"", "mark = \"20pkt\""));
    run(&dir, "b", &[]);
    let (head, json) = differences(&dir);
    assert!(head.contains("note: fabric.mark: 10pkt and 20pkt"), "{head}");
    assert!(head.contains("note: the content of own.toml: "), "{head}");
    assert!(json.as_array().expect("a list").iter().any(|d| d["name"] == "fabric.mark"), "{json}");
}

#[test]
fn another_seed_and_other_replications_are_told() {
    let dir = folder();
    run(&dir, "a", &[]);
    run(&dir, "b", &["--seed", "2", "--replications", "3"]);
    let (head, _) = differences(&dir);
    assert!(head.contains("another seed: 1 and 2") && head.contains("other replications: 1 and 3"), "{head}");
}

/// The digest of a run depends on the order of its cases, that of each case does not.
#[test]
fn another_order_of_the_cases_is_told() {
    let dir = folder();
    run(&dir, "a", &[]);
    let (dctcp, lia) = ("[schemes.dctcp]\ncontroller = \"dctcp\"\n", "[schemes.lia]\ncontroller = \"lia\"\n");
    let (both, turned) = (format!("{dctcp}{lia}"), format!("{lia}{dctcp}"));
    assert!(OWN.contains(&both));
    write(&dir, "own.toml", &OWN.replace(&both, &turned));
    run(&dir, "b", &[]);
    let (head, _) = differences(&dir);
    assert!(
        head.contains("the same cases with the same results to the last bit; the digests differ"),
        "{head}"
    );
}

/// A folder of before has none of this.
#[test]
fn an_older_run_can_be_compared() {
    let dir = folder();
    run(&dir, "a", &[]);
    run(&dir, "b", &[]);
    let path = dir.path().join("a/run.json");
    let mut old: Value = serde_json::from_str(&fs::read_to_string(&path).expect("run.json")).expect("JSON");
    for key in ["inputs", "changed", "judged"] {
        old.as_object_mut().expect("a table").shift_remove(key);
    }
    for case in old["cases"].as_array_mut().expect("cases") {
        case.as_object_mut().expect("a table").shift_remove("digest");
    }
    fs::write(&path, old.to_string()).expect("written");
    let (head, json) = differences(&dir);
    assert!(head.contains("note: the first run is from an earlier build"), "{head}");
    assert!(head.contains("the same results to the last bit: digest "), "{head}");
    assert!(json.as_array().expect("a list").is_empty());
    assert!(prints(&dir, &["compare", "a"]).contains("paper: a paper's Table 1"));
}

#[test]
fn a_changed_run_is_not_judged_unless_asked() {
    let dir = folder();
    let changed = "changed: fabric.mark = 20pkt";
    let set = ["--set", "fabric.mark=20pkt", "--set", "measure.samples=1ms"];
    let report = run(&dir, "a", &set);
    assert_eq!((&report["judged"], &report["changed"][0]["key"]), (&false.into(), &"fabric.mark".into()));
    assert_eq!(
        (&report["changed"][0]["from"], &report["changed"][0]["to"]),
        (&"10pkt".into(), &"20pkt".into())
    );
    let none: [Value; 0] = [];
    assert_eq!(report["claims"], serde_json::json!(none));
    assert_eq!(report["cases"][1]["published"], serde_json::json!({}));
    for args in [&["run", "own.toml"][..], &["compare", "a"], &["compare", "a", "--markdown"]] {
        let args = [args, if args[0] == "run" { &set } else { &[] }].concat();
        let text = prints(&dir, &args);
        assert!(text.contains(changed) && text.contains("(`--judge` judges them anyway)"), "{text}");
        assert!(!text.contains("paper's Table 1") && !text.contains("LIA has more"), "{text}");
        let text = prints(&dir, &[&args[..], &["--judge"]].concat());
        assert!(text.contains(changed) && text.contains("judged anyway"), "{text}");
        assert!(text.contains("paper's Table 1") && text.contains("LIA has more"), "{text}");
    }
    let json: Value = serde_json::from_str(&prints(&dir, &["compare", "a", "--json"])).expect("JSON");
    let own = &json["experiments"][0];
    assert_eq!(
        (&own["judged"], &own["numbers"], &json["summary"]["claims"]),
        (&false.into(), &Value::Array(vec![]), &0.into())
    );

    // Beside another run its claims are compared if that is asked.
    run(&dir, "b", &[]);
    let text = prints(&dir, &["compare", "b", "a"]);
    assert!(text.contains("note: changed: fabric.mark = 20pkt (the second run)\n"), "{text}");
    assert!(text.contains("claims are not compared"), "{text}");
    let text = prints(&dir, &["compare", "b", "a", "--judge"]);
    assert!(text.contains("claims whose verdict changed: 0 of 1"), "{text}");
}

#[test]
fn what_only_measures_more_is_judged() {
    let dir = folder();
    let report = run(&dir, "a", &["--set", "measure.samples=1ms", "--set", "fabric.rate=1000Mbps"]);
    assert_eq!((&report["judged"], &report["changed"]), (&true.into(), &Value::Null));
    assert_eq!(report["claims"][0]["verdict"], "holds");
}

/// A run that takes minutes, in the folder `out`.
fn long(dir: &TempDir, out: &[&str]) -> Child {
    let child = Process::new(env!("CARGO_BIN_EXE_tresse"))
        .current_dir(dir.path())
        .args(["run", "own.toml", "--set", "workloads.w.rounds=200000"])
        .args(out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    child.expect("the command starts")
}

/// It is killed without a word (SIGKILL).
fn kill(mut child: Child) {
    child.kill().expect("it runs");
    child.wait().expect("it has ended");
}

fn is_begun(out: &Path) -> bool {
    out.join("run.json").exists()
}

#[test]
fn a_killed_run_is_told_from_one_under_way() {
    let dir = folder();
    run(&dir, "b", &[]);
    let child = long(&dir, &["--out", "a"]);
    wait_until(|| is_begun(&dir.path().join("a")));
    let one = || prints(&dir, &["compare", "a"]);
    let both = || differences(&dir).0;
    let (alone, beside) = (one(), both());
    let error = fails(tresse(dir.path()).args(["run", "own.toml", "--out", "a"]), 2);
    kill(child);
    assert!(alone.contains("PARTIAL: it is in progress"), "{alone}");
    assert!(beside.contains("note: the first run is in progress: its results are partial"), "{beside}");
    assert!(error.contains("another run is in progress in a") && error.contains("--out DIR"), "{error}");
    assert!(one().contains("PARTIAL: it was killed"), "{}", one());
    assert!(both().contains("note: the first run was killed: its results are partial"), "{}", both());
    let error = fails(tresse(dir.path()).args(["run", "own.toml", "--out", "a"]), 2);
    assert!(error.contains("a is not empty"), "{error}");
}

#[test]
fn runs_that_begin_together_have_folders_of_their_own() {
    let dir = folder();
    let children: Vec<Child> = (0..6).map(|_| long(&dir, &[])).collect();
    let folders: Vec<_> = (1..=6).map(|n| dir.path().join(format!("runs/own-{n}"))).collect();
    wait_until(|| folders.iter().all(|folder| is_begun(folder)));
    children.into_iter().for_each(kill);
    assert!(!dir.path().join("runs/own-7").exists());
}

#[test]
fn a_folder_is_of_one_run() {
    let dir = folder();
    let mut children: Vec<Child> = (0..6).map(|_| long(&dir, &["--out", "a"])).collect();
    // One stays; the others end with bad input.
    let mut codes = Vec::new();
    wait_until(|| {
        codes = children.iter_mut().map(|c| c.try_wait().expect("a child").map(|s| s.code())).collect();
        codes.iter().flatten().count() == 5
    });
    assert!(codes.iter().flatten().all(|code| *code == Some(2)), "{codes:?}");
    wait_until(|| is_begun(&dir.path().join("a")));
    children.into_iter().for_each(|mut child| {
        let _ = child.kill(); // five have ended
        child.wait().expect("it has ended");
    });
}
