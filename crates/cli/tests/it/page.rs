//! `tresse report`: what the page of a run holds. What it shows is tested in a browser (`page/tests/browser`).

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use tresse_results::store::read::read;

use crate::common::{fails, own_controller, tresse};

/// Two flows of two schemes over one bottleneck, with samples.
pub const SHORT: &str = r#"
title = "Two <script>alert(1)</script> flows"
[fabric]
topology = "dumbbell"
pairs = 2
rate = "100Mbps"
delay = "50us"
queue = "50pkt"
mark = "10pkt"
host_queue = "unlimited"
[transport]
profile = "linux"
[schemes."<script>alert(1)</script>"]
controller = "dctcp"
[schemes.reno]
controller = "reno"
[workloads.pair]
pattern = "flows"
flow = [{ from = "S1", to = "D1", size = "500kB" }, { from = "S2", to = "D2", size = "500kB" }]
[measure]
samples = "1ms"
rtt = true
queues = "100us"
"#;

/// The JSON at the head of a page.
pub fn head(page: &str) -> Value {
    let start = page.find("id=\"tresse-head\">").expect("a head") + "id=\"tresse-head\">".len();
    let end = page[start..].find("</script>").expect("its end");
    serde_json::from_str(&page[start..start + end]).expect("JSON")
}

/// Runs [`SHORT`] into `out`.
pub fn short(dir: &Path, out: &str) {
    fs::write(dir.join("short.toml"), SHORT).expect("it can be written");
    tresse(dir).args(["run", "short.toml", "--out", out]).assert().success();
}

/// Two runs of [`SHORT`] in a folder that says that it is of a twin.
pub fn twin(dir: &Path, out: &str) {
    for side in ["simulated", "real"] {
        short(dir, &format!("{out}/{side}"));
    }
    fs::write(dir.join(out).join("twin.json"), r#"{ "schema": "tresse/twin/1" }"#)
        .expect("it can be written");
}

fn report(dir: &Path, args: &[&str]) -> String {
    let output = tresse(dir).arg("report").args(args).output().expect("the command starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a page is UTF-8")
}

#[test]
fn a_page_holds_the_run_and_its_tables() {
    let dir = TempDir::new().expect("a temporary folder");
    short(dir.path(), "out");
    let said = report(dir.path(), &["out"]);
    assert_eq!(said, "out/report.html\n");
    let page = fs::read_to_string(dir.path().join("out/report.html")).expect("the page");
    let head = head(&page);
    let run = &head["runs"][0];
    assert_eq!(
        (&head["schema"], &run["id"], &run["state"]),
        (&"tresse/page/1".into(), &"out".into(), &"complete".into())
    );
    assert_eq!(run["command"], "tresse run short.toml --replications 1");
    assert_eq!(run["tables"]["flows"]["rows"], 4);
    assert_eq!(run["cases"].as_array().map(Vec::len), Some(2));
    assert_eq!(run["problems"], Value::Array(Vec::new()));
    for name in ["flows", "links", "rtts", "lengths", "subflows", "samples", "ports", "queues", "network-0"] {
        assert!(page.contains(&format!("id=\"tresse-0-{name}\"")), "{name}");
    }
    assert!(run["tables"]["subflows"]["rows"] == 4 && run["tables"]["samples"]["rows"].as_u64() > Some(20));
    // What a file says is text everywhere.
    assert!(!page.contains("<script>alert"), "a name became a script");
    assert_eq!(run["cases"][0]["scheme"], "<script>alert(1)</script>-1");
}

#[test]
fn several_runs_make_one_page_and_a_page_may_go_to_stdout() {
    let dir = TempDir::new().expect("a temporary folder");
    short(dir.path(), "a/run");
    short(dir.path(), "b/run");
    assert_eq!(report(dir.path(), &["a/run", "b/run"]), "report.html\n");
    let page = fs::read_to_string(dir.path().join("report.html")).expect("the page");
    let ids: Vec<Value> = (0..2).map(|n| head(&page)["runs"][n]["id"].clone()).collect();
    assert_eq!(ids, ["a/run", "b/run"]);
    assert_eq!(head(&report(dir.path(), &["a/run", "-o", "-"]))["runs"].as_array().map(Vec::len), Some(1));
}

#[test]
fn the_folder_of_a_twin_stands_for_its_two_runs() {
    let dir = TempDir::new().expect("a temporary folder");
    twin(dir.path(), "twin");
    assert_eq!(report(dir.path(), &["twin"]), "twin/report.html\n");
    let page = fs::read_to_string(dir.path().join("twin/report.html")).expect("the page");
    let ids: Vec<Value> = (0..2).map(|n| head(&page)["runs"][n]["id"].clone()).collect();
    assert_eq!(ids, ["simulated", "real"]);
    // Beside another run, it is two of three.
    short(dir.path(), "alone");
    let page = report(dir.path(), &["alone", "twin", "-o", "-"]);
    assert_eq!(head(&page)["runs"].as_array().map(Vec::len), Some(3));
    // Its simulation alone is not a run yet.
    fs::remove_file(dir.path().join("twin/twin.json")).expect("it is there");
    let unfinished = fails(tresse(dir.path()).args(["report", "twin"]), 2);
    assert!(unfinished.contains("twin: there is no run here"), "{unfinished}");
}

#[test]
fn a_damaged_table_of_a_run_without_sums_is_told_on_the_page() {
    let dir = TempDir::new().expect("a temporary folder");
    short(dir.path(), "out");
    let (flows, samples) = (dir.path().join("out/flows.parquet"), dir.path().join("out/samples.parquet"));
    let whole = fs::read(&flows).expect("the table");
    fs::write(&flows, &whole[..whole.len() / 2]).expect("it can be written");
    fs::write(samples, "nothing of the kind").expect("it can be written");
    // Of an earlier version's run, there are no sums to refuse it by.
    let file = dir.path().join("out/run.json");
    let mut run: Value = serde_json::from_slice(&fs::read(&file).expect("run.json")).expect("JSON");
    run.as_object_mut().expect("a table").remove("tables").expect("the sums");
    fs::write(&file, run.to_string()).expect("it can be written");
    let page = report(dir.path(), &["out", "-o", "-"]);
    let run = &head(&page)["runs"][0];
    let problems: Vec<&str> =
        run["problems"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert!(problems.iter().any(|p| p.starts_with("flows.parquet cannot be read")), "{problems:?}");
    assert!(problems.iter().any(|p| p.starts_with("samples.parquet cannot be read")), "{problems:?}");
    assert!(run["tables"]["flows"].is_null() && run["tables"]["links"]["rows"].as_u64() > Some(0));
}

#[test]
fn a_run_that_did_not_end_says_so() {
    let dir = TempDir::new().expect("a temporary folder");
    short(dir.path(), "out");
    let file = dir.path().join("out/run.json");
    let text = fs::read_to_string(&file).expect("run.json");
    for (status, state) in [("partial", "interrupted"), ("running", "killed")] {
        let changed = text.replace("\"status\": \"complete\"", &format!("\"status\": \"{status}\""));
        fs::write(&file, changed).expect("it can be written");
        assert_eq!(head(&report(dir.path(), &["out", "-o", "-"]))["runs"][0]["state"], state);
    }
}

#[test]
fn what_is_no_run_is_refused() {
    let dir = TempDir::new().expect("a temporary folder");
    let nothing = fails(tresse(dir.path()).args(["report", "nowhere"]), 2);
    assert!(nothing.contains("nowhere: there is no run here"), "{nothing}");
    short(dir.path(), "out");
    let unwritten = fails(tresse(dir.path()).args(["report", "out", "-o", "no/such/folder.html"]), 2);
    assert!(unwritten.contains("cannot be written"), "{unwritten}");
    fs::write(dir.path().join("out/run.json"), "{}").expect("it can be written");
    let broken = fails(tresse(dir.path()).args(["report", "out"]), 2);
    assert!(broken.contains("out/run.json") && broken.contains("run the experiment again"), "{broken}");
    assert!(!dir.path().join("out/report.html").exists());
}

#[test]
fn a_run_writes_its_page_and_draws_in_the_terminal() {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("short.toml"), SHORT).expect("it can be written");
    let output = tresse(dir.path())
        .args(["run", "short.toml", "--out", "out", "--report", "--plot"])
        .env("COLUMNS", "80")
        .output()
        .expect("the command starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(stderr.contains("page: out/report.html"), "{stderr}");
    assert!(dir.path().join("out/report.html").exists());
    let is_braille = |c| ('\u{2801}'..='\u{28ff}').contains(&c);
    assert!(stdout.contains("time, s") && stdout.contains(is_braille), "{stdout}");
    assert!(!stdout.contains('\u{1b}'), "no colours in a pipe");
    assert!(stdout.lines().filter(|l| l.contains(is_braille)).all(|l| l.chars().count() <= 80), "{stdout}");
}

/// The sum of a column of a table of the run `out`.
fn sum(dir: &Path, table: &str, column: &str) -> u64 {
    let table = read(&dir.join("out"), table).expect("it can be read").expect("it has rows");
    table.values(column).expect("the column").iter().sum()
}

#[test]
fn intervals_add_up_to_the_run() {
    let dir = TempDir::new().expect("a temporary folder");
    // Two subflows over ECMP, a short queue, and a link that fails: marks, drops, retransmissions and timeouts.
    tresse(dir.path())
        .args([
            "run",
            "xmp/table1",
            "--out",
            "out",
            "--only",
            "pattern=permutation",
            "--only",
            "scheme=xmp,lia",
        ])
        .args([
            "--set",
            "fabric.k=4",
            "--set",
            "fabric.queue=12pkt",
            "--set",
            "workloads.permutation.size=300kB",
        ])
        .args(["--set", "workloads.permutation.rounds=1", "--set", "measure.samples=1ms"])
        .assert()
        .success();
    for column in ["marks", "retransmissions", "timeouts"] {
        assert_eq!(sum(dir.path(), "samples", column), sum(dir.path(), "flows", column), "{column}");
    }
    assert!(sum(dir.path(), "samples", "marks") > 0 && sum(dir.path(), "samples", "timeouts") > 0);
    let lost = sum(dir.path(), "links", "drops") + sum(dir.path(), "links", "lost");
    assert_eq!((sum(dir.path(), "queues", "drops"), lost > 0), (lost, true));
    assert_eq!(sum(dir.path(), "queues", "marks"), sum(dir.path(), "links", "marks"));
    // A path for each subflow, from the sender's own port, as long as its hosts are apart.
    let paths = read(&dir.path().join("out"), "paths").expect("it can be read").expect("it has rows");
    let (codes, words) = paths.words("path").expect("the column");
    let ports: Vec<usize> = codes.iter().map(|&code| words[code as usize].split(' ').count()).collect();
    assert!(ports.iter().all(|n| [2, 4, 6].contains(n)), "{ports:?}");
    let subflows = sum(dir.path(), "flows", "opened");
    assert_eq!(ports.len() as u64, subflows, "no route changes");
}

#[test]
fn an_axis_of_numbers_is_the_same_in_tables_and_results() {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("short.toml"), SHORT).expect("it can be written");
    let set = ["--set", "fabric.loss=[0.000001, 0.001]", "--only", "scheme=reno"];
    tresse(dir.path()).args(["run", "short.toml", "--out", "out"]).args(set).assert().success();
    let page = report(dir.path(), &["out", "-o", "-"]);
    let cases = head(&page)["runs"][0]["cases"].as_array().expect("cases").clone();
    let results: Vec<&Value> = cases.iter().map(|case| &case["result"]).collect();
    assert_eq!(results, [0, 1]);
}

#[test]
fn the_network_is_there_whatever_is_drawn_or_judged() {
    let dir = TempDir::new().expect("a temporary folder");
    let figure = "[[figures]]\nid = \"a\"\ntitle = \"RTTs\"\nchart = \"cdf\"\nx = \"rtt_s\"\n";
    fs::write(dir.path().join("short.toml"), format!("{SHORT}{figure}")).expect("it can be written");
    fs::write(dir.path().join("mine.c"), own_controller()).expect("it can be written");
    let set =
        ["--set", "measure.rtt=false", "--set", "schemes.reno.controller=mine", "--controller", "mine.c"];
    tresse(dir.path()).args(["run", "short.toml", "--out", "out"]).args(set).assert().success();
    fs::remove_file(dir.path().join("mine.c")).expect("it is there");
    let page = report(dir.path(), &["out", "-o", "-"]);
    let run = &head(&page)["runs"][0];
    assert_eq!((&run["problems"], &run["networks"][0]["hosts"]), (&Value::Array(vec![]), &4.into()));
}
