//! `tresse run`: results, determinism, interruption.

use std::fs;
use std::path::Path;
use std::process::{Command as Process, Stdio};

use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{SMALL, interrupt, own_controller, tresse, wait_until};

fn small(dir: &Path, more: &[&str]) -> Value {
    let output = tresse(dir).args(SMALL).args(more).arg("--json").output().expect("the command starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("--json prints one object")
}

fn rows(path: &Path) -> i64 {
    let file = fs::File::open(path).expect("the table is there");
    SerializedFileReader::new(file).expect("a whole Parquet file").metadata().file_metadata().num_rows()
}

#[test]
fn a_run_leaves_its_table_and_its_files() {
    let dir = TempDir::new().expect("a temporary folder");
    let report = small(dir.path(), &["--out", "out", "--judge"]);
    assert_eq!(report["schema"], "tresse/run/1");
    assert_eq!(report["status"], "complete");
    assert_eq!(report["seed"], 1);
    let cases = report["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 5);
    for case in cases {
        assert_eq!(case["metrics"]["flows"], 256, "two rounds of 128");
        assert_eq!(case["metrics"]["delivered_bytes"], 256 * 200_000);
        assert!(case["metrics"]["goodput_mean_bps"].as_f64().expect("a number") > 1e6);
        assert!(case["published"]["goodput_mean_bps"].as_f64().expect("a number") > 4e8);
        assert!(case["ci95"]["goodput_mean_bps"].is_number());
    }
    let ids: Vec<_> = report["claims"].as_array().expect("claims").iter().map(|c| &c["id"]).collect();
    assert!(ids.contains(&&Value::from("xmp2-beats-dctcp")), "{ids:?}");

    let out = dir.path().join("out");
    assert_eq!(rows(&out.join("flows.parquet")), 5 * 256);
    assert_eq!(rows(&out.join("links.parquet")), 5 * 768);
    assert!(rows(&out.join("rtts.parquet")) > 5 * 10);
    let saved: Value =
        serde_json::from_str(&fs::read_to_string(out.join("run.json")).expect("run.json")).expect("JSON");
    assert_eq!(saved["digest"], report["digest"]);
    assert_eq!(saved["resolved"]["workloads"]["permutation"]["rounds"], 2);
    assert_eq!(
        fs::read_dir(&out).expect("the folder").count(),
        4,
        "nothing partial is left, nor `progress.json`"
    );
}

#[test]
fn every_column_says_its_unit_and_its_meaning() {
    let dir = TempDir::new().expect("a temporary folder");
    small(dir.path(), &["--out", "out", "--only", "scheme=dctcp", "--set", "measure.samples=1ms"]);
    for name in ["flows.parquet", "links.parquet", "samples.parquet", "queues.parquet"] {
        let file = fs::File::open(dir.path().join("out").join(name)).expect("the table is there");
        let schema = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file)
            .expect("a whole Parquet file")
            .schema()
            .clone();
        for field in schema.fields() {
            let meaning = field.metadata().get("meaning").map(String::as_str).unwrap_or_default();
            assert!(!meaning.is_empty() && field.metadata().contains_key("unit"), "{name}: {field:?}");
        }
    }
}

#[test]
fn one_case_on_several_threads_is_the_same() {
    let dir = TempDir::new().expect("a temporary folder");
    let report = |out: &str, more: &[&str]| {
        let args = [&["--only", "scheme=xmp", "--only", "subflows=2", "--out", out], more].concat();
        // With messages of 200 kB, threads are not worth it.
        let larger = ["--set", "workloads.permutation.size=2MB", "--set", "workloads.permutation.rounds=1"];
        let output =
            tresse(dir.path()).args(SMALL).args(larger).args(args).arg("--json").output().expect("it starts");
        let report: Value = serde_json::from_slice(&output.stdout).expect("--json prints one object");
        (report["digest"].clone(), String::from_utf8(output.stderr).expect("messages are UTF-8"))
    };
    let (one, _) = report("one", &["--threads", "1"]);
    for threads in ["2", "3", "8"] {
        let (several, said) = report(&format!("out{threads}"), &["--threads", threads]);
        assert_eq!((&several, said.contains("one thread")), (&one, false), "{threads} threads");
    }
    let shared = ["--threads", "2", "--set", "fabric.buffer={size='1MB', alpha=1}"];
    let (_, said) = report("shared", &shared);
    assert!(said.contains("note: one thread per case: its ports share buffers\n"), "{said}");
}

#[test]
fn the_digest_depends_on_the_experiment_and_the_seed_alone() {
    let dir = TempDir::new().expect("a temporary folder");
    let digest = |more: &[&str]| small(dir.path(), more)["digest"].as_str().expect("a digest").to_owned();
    let one = digest(&["--parallel", "1"]);
    assert_eq!(one, digest(&["--parallel", "2"]));
    assert_ne!(one, digest(&["--seed", "2"]));
    // The same in debug and release builds; sim's scenarios are held to that in `make test`.
    assert_eq!(
        one,
        include_str!("digest.txt").trim(),
        "results have changed: raise MODEL_VERSION, and say so"
    );
}

#[test]
fn ports_of_a_layer_lose_packets_as_the_seed_says() {
    let dir = TempDir::new().expect("a temporary folder");
    let run = |more: &[&str]| small(dir.path(), &[&["--only", "scheme=dctcp"], more].concat());
    let lost = |report: &Value| report["cases"][0]["metrics"]["lost_pkts"].as_u64().expect("a count");
    let core = "fabric.loss={ rack = 0, aggregation = 0, core = 0.01 }";
    let one = run(&["--set", core, "--out", "core"]);
    assert_eq!(one["cases"][0]["metrics"]["flows"], 256, "every flow finishes");
    assert_eq!(one["digest"], run(&["--set", core])["digest"]);
    assert_ne!(lost(&one), lost(&run(&["--set", core, "--seed", "2"])));
    let file = fs::File::open(dir.path().join("core/links.parquet")).expect("the table is there");
    let rows = SerializedFileReader::new(file).expect("a whole Parquet file");
    let mut total = 0;
    for row in rows.get_row_iter(None).expect("rows") {
        let row = row.expect("a row");
        let cell = |name| row.get_column_iter().find(|(n, _)| *n == name).expect("the column").1.to_string();
        let lost: u64 = cell("lost").parse().expect("a count");
        assert!(lost == 0 || cell("layer") == "\"core\"", "{row}");
        total += lost;
    }
    assert!(total > 0);
    assert_eq!(total, lost(&one));
    assert_eq!(lost(&run(&[])), 0);
}

#[test]
fn replications_widen_nothing_but_the_sample() {
    let dir = TempDir::new().expect("a temporary folder");
    let report = small(dir.path(), &["--replications", "3", "--only", "scheme=dctcp"]);
    assert_eq!(report["cases"][0]["metrics"]["flows"], 3 * 256);
    assert_eq!(report["cases"][0]["ci95_over"], "seeds");
}

#[test]
fn an_interrupted_run_keeps_what_it_has_and_says_so() {
    let dir = TempDir::new().expect("a temporary folder");
    // The full profile takes minutes: it is under way when the signal comes.
    let mut child = Process::new(env!("CARGO_BIN_EXE_tresse"))
        .current_dir(dir.path())
        .args(["run", "xmp/table1", "--out", "out", "--json", "--profile", "full"])
        .args(["--only", "scheme=xmp,lia", "--only", "pattern=permutation", "--set", "measure.samples=1ms"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // What is there can be read while the run goes on.
    let [samples, queues] =
        ["samples", "queues"].map(|name| dir.path().join(format!("out/{name}.partial/000001.parquet")));
    wait_until(|| samples.exists() && queues.exists());
    assert!(rows(&samples) > 0 && rows(&queues) > 0);
    let running = fs::read_to_string(dir.path().join("out/run.json")).expect("run.json");
    assert!(running.contains("\"status\": \"running\""), "{running}");
    interrupt(child.id());
    wait_until(|| child.try_wait().expect("the child can be waited for").is_some());
    let output = child.wait_with_output().expect("the child has ended");
    assert_eq!(output.status.code(), Some(130));
    let report: Value = serde_json::from_slice(&output.stdout).expect("the partial table is printed");
    assert_eq!(report["status"], "partial");
    assert!(String::from_utf8_lossy(&output.stderr).contains("partial: interrupted"));
    let saved = fs::read_to_string(dir.path().join("out/run.json")).expect("run.json");
    assert!(saved.contains("\"status\": \"partial\""), "{saved}");
    rows(&dir.path().join("out/flows.parquet"));
    assert!(rows(&dir.path().join("out/samples.parquet")) > 0);
    assert!(rows(&dir.path().join("out/queues.parquet")) > 0);
    assert!(!dir.path().join("out/samples.partial").exists());
}

#[test]
fn a_killed_run_leaves_what_can_be_read() {
    let dir = TempDir::new().expect("a temporary folder");
    // Each of the five cases takes seconds: it is under way when the first one is done.
    let mut child = Process::new(env!("CARGO_BIN_EXE_tresse"))
        .current_dir(dir.path())
        .args(["run", "xmp/table1", "--out", "out", "--parallel", "1", "--set", "fabric.k=4"])
        .args(["--set", "workloads.permutation.size=1MB", "--set", "workloads.permutation.rounds=20"])
        .args([
            "--set",
            "measure.samples=100us",
            "--set",
            "profile.quick={}",
            "--only",
            "pattern=permutation",
        ])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    let out = dir.path().join("out");
    let report = || -> Value {
        let text = fs::read_to_string(out.join("run.json")).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    };
    let done = || report()["cases"].as_array().map_or(0, Vec::len);
    let tables = ["flows", "samples", "queues"];
    let begun = || tables.iter().all(|t| out.join(format!("{t}.partial/000001.parquet")).exists());
    wait_until(|| done() > 0 && begun());
    child.kill().expect("it runs");
    child.wait().expect("the child has ended");
    let report = report();
    assert_eq!(
        (&report["status"], &report["cases"][0]["metrics"]["flows"]),
        (&"running".into(), &320.into())
    );
    for table in tables {
        let parts = fs::read_dir(out.join(format!("{table}.partial"))).expect("the parts");
        let paths = parts.map(|part| part.expect("an entry").path());
        let read = paths.filter(|p| p.extension().is_some_and(|e| e == "parquet")).map(|p| rows(&p));
        assert!(read.sum::<i64>() > 0, "{table}");
        assert!(!out.join(format!("{table}.parquet")).exists());
    }
}

#[test]
fn many_small_flows_can_be_interrupted_too() {
    let dir = TempDir::new().expect("a temporary folder");
    let more = ["--set", "workloads.permutation.size=15kB", "--set", "workloads.permutation.rounds=20000"];
    let mut child = Process::new(env!("CARGO_BIN_EXE_tresse"))
        .current_dir(dir.path())
        .args([
            "run",
            "xmp/table1",
            "--only",
            "pattern=permutation",
            "--only",
            "scheme=dctcp",
            "--out",
            "out",
        ])
        .args(more)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    wait_until(|| dir.path().join("out/flows.partial").exists());
    interrupt(child.id());
    wait_until(|| child.try_wait().expect("the child can be waited for").is_some());
    assert_eq!(child.wait().expect("the child has ended").code(), Some(130));
    rows(&dir.path().join("out/flows.parquet"));
}

#[test]
fn a_users_controller_runs() {
    let dir = TempDir::new().expect("a temporary folder");
    let text = own_controller();
    fs::write(dir.path().join("mine.c"), text).expect("a file");
    let report = small(
        dir.path(),
        &["--controller", "mine.c", "--set", "schemes.lia.controller=mine", "--only", "scheme=lia"],
    );
    assert_eq!(report["cases"][0]["metrics"]["flows"], 256);
}

/// Else its author would take the built-in controller's results for those of his own.
#[test]
fn a_users_controller_that_no_case_uses_is_told() {
    let dir = TempDir::new().expect("a temporary folder");
    let text = own_controller();
    fs::write(dir.path().join("mine.c"), text).expect("a file");
    let warning = |only: &str| {
        let own = ["--controller", "mine.c", "--set", "schemes.lia.controller=mine", "--only", only];
        let output = tresse(dir.path()).args(SMALL).args(own).output().expect("the command starts");
        assert!(output.status.success());
        String::from_utf8(output.stderr).expect("messages are UTF-8")
    };
    let unused = warning("scheme=dctcp");
    assert!(unused.contains("no case uses the controller mine") && unused.contains("hint: "), "{unused}");
    let used = warning("scheme=lia");
    assert!(!used.contains("warning"), "{used}");
}

/// Jobs over TCP beside large flows, each a group.
const INCAST: &str = r#"
title = "Jobs and large flows"
[fabric]
topology = "fat-tree"
k = 4
rate = "1Gbps"
delay = "20us"
queue = "100pkt"
host_queue = "100pkt"
[transport]
profile = "ns3"
[schemes.lia]
controller = "lia"
subflows = 2
[schemes.tcp]
controller = "reno"
axis = false
[workloads.incast.parts.jobs]
pattern = "jobs"
scheme = "tcp"
jobs = 1
total = 5
servers = 3
request = "2kB"
response = "10kB"
deadline = "100us"
[workloads.incast.parts.large]
pattern = "permutation"
size = "100kB"
[published]
source = "a paper"
values = [{ scheme = "lia", pattern = "incast", group = "large", goodput_mean = "500Mbps" }]
"#;

#[test]
fn groups_and_jobs_stand_below_the_table() {
    let dir = TempDir::new().expect("a temporary folder");
    fs::write(dir.path().join("incast.toml"), INCAST).expect("written");
    let output = tresse(dir.path()).args(["run", "incast.toml"]).output().expect("the command starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let cells = |start: &[&str]| -> Vec<&str> {
        let mut rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        rows.rfind(|row| row.starts_with(start)).unwrap_or_else(|| panic!("{start:?} in {text}"))
    };
    // case (two words), group, Mbit/s, paper, p10, p90, two times, slowdown, RTOs, flows.
    let large = cells(&["lia-2", "incast", "large"]);
    assert_eq!((large.len(), large[4], large[11]), (12, "500.0", "16"), "{text}");
    let jobs = cells(&["lia-2", "incast", "jobs"]);
    assert_eq!(
        (jobs[4], jobs[11]),
        ("-", "30"),
        "a request and a response for each of three servers: {text}"
    );
    // jobs, mean, p99, late.
    let row = cells(&["lia-2", "incast", "5"]);
    let [mean, p99] = [row[3], row[4]].map(|ms| ms.parse::<f64>().expect("a number"));
    // Two round trips in a rack take 160 us.
    assert!(row.len() == 6 && row[5] == "100.0" && 0.16 < mean && mean <= p99, "{text}");
    assert!(text.contains("\npaper: a paper\n"), "{text}");
}
