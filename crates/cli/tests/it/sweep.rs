//! `tresse sweep`. What a sweep computes is tested in its crate; that it survives a SIGKILL, here.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{fails, tresse};

const SMALL: &str = r#"title = "A small fat tree"
[fabric]
topology = "fat-tree"
k = 4
rate = "1Gbps"
delay = "20us"
queue = "100pkt"
mark = "10pkt"
host_queue = "100pkt"
[transport]
profile = "linux"
[schemes.dctcp]
controller = "dctcp"
[workloads.permutation]
pattern = "permutation"
size = "700kB"
rounds = 1
"#;

/// Forty points of some hundredths of a second.
fn plan(dir: &Path) {
    fs::write(dir.join("small.toml"), SMALL).expect("it can be written");
    let plan = "experiment = \"small.toml\"\n[[designs]]\n\
                keys = { \"fabric.mark\" = { from = \"1pkt\", to = \"40pkt\", steps = 40 } }\n";
    fs::write(dir.join("plan.toml"), plan).expect("it can be written");
}

fn sweep(dir: &Path, args: &[&str]) -> Value {
    let output = tresse(dir).arg("sweep").args(args).arg("--json").output().expect("the command starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("--json prints one object")
}

fn results(folder: &Path) -> Vec<u8> {
    fs::read(folder.join("results.parquet")).expect("there are results")
}

/// The lines of a journal that is being written, its head among them.
fn lines(folder: &Path) -> usize {
    fs::read_to_string(folder.join("journal.jsonl")).map_or(0, |text| text.matches('\n').count())
}

#[test]
fn a_killed_sweep_goes_on_and_ends_with_the_same_bytes() {
    let dir = TempDir::new().expect("a temporary folder");
    plan(dir.path());
    let whole = sweep(dir.path(), &["plan.toml", "--out", "whole"]);
    assert_eq!(
        (&whole["schema"], &whole["points"], &whole["failed"]),
        (&"tresse/sweep/1".into(), &40.into(), &0.into())
    );
    let killed = dir.path().join("killed");
    let mut process: Child = std::process::Command::new(env!("CARGO_BIN_EXE_tresse"))
        .current_dir(dir.path())
        .args(["sweep", "plan.toml", "--out", "killed", "--parallel", "1"])
        .stdout(Stdio::null())
        .spawn()
        .expect("the command starts");
    while lines(&killed) < 4 {
        assert!(process.try_wait().expect("a process").is_none(), "it ended before it could be killed");
        std::thread::yield_now();
    }
    process.kill().expect("it is there");
    process.wait().expect("it was there");
    let kept = lines(&killed) - 1;
    assert!(kept < 40);
    let show = tresse(dir.path()).args(["show", "killed"]).output().expect("the command starts");
    let told = String::from_utf8(show.stdout).expect("text");
    let expected =
        format!("{kept} of 40 points; interrupted: `tresse sweep plan.toml --out killed` continues");
    assert!(told.contains(&expected), "{told}");
    let again = sweep(dir.path(), &["plan.toml", "--out", "killed"]);
    assert_eq!(again["points"], 40);
    assert_eq!(lines(&killed), 41, "nothing is computed twice");
    assert!(results(&dir.path().join("whole")) == results(&killed), "the results differ");
}

#[test]
fn keys_of_a_plan_are_not_options() {
    let dir = TempDir::new().expect("a temporary folder");
    plan(dir.path());
    for (keys, hint) in [
        (r#""fabric.mark" = [30, 40]"#, r#"hint: `"fabric.mark" = "30pkt"`"#),
        (r#""rounds" = [2, 3]"#, r#"did you mean `"workloads.permutation.rounds" = 2`?"#),
    ] {
        let text = format!("experiment = \"small.toml\"\n[[designs]]\nkeys = {{ {keys} }}\n");
        fs::write(dir.path().join("wrong.toml"), text).expect("it can be written");
        let told = fails(tresse(dir.path()).args(["sweep", "wrong.toml"]), 2);
        assert!(told.contains(hint) && !told.contains("--set"), "{told}");
    }
}

#[test]
fn shards_are_merged() {
    let dir = TempDir::new().expect("a temporary folder");
    plan(dir.path());
    for shard in ["1/3", "2/3", "3/3"] {
        sweep(dir.path(), &["plan.toml", "--out", "parts", "--shard", shard]);
    }
    let merged = sweep(dir.path(), &["merge", "parts"]);
    assert_eq!(merged["points"], 40);
    sweep(dir.path(), &["plan.toml", "--out", "whole"]);
    assert!(results(&dir.path().join("whole")) == results(&dir.path().join("parts")), "the results differ");
}

#[test]
fn points_that_fail_are_told_and_end_with_1() {
    let dir = TempDir::new().expect("a temporary folder");
    plan(dir.path());
    let failing =
        "experiment = \"small.toml\"\n[[designs]]\nkeys = { \"workloads.permutation.rounds\" = [1, 0] }\n";
    fs::write(dir.path().join("failing.toml"), failing).expect("it can be written");
    let sweep = |args: &[&str]| {
        let mut command = tresse(dir.path());
        command
            .args(["sweep", "failing.toml", "--out", "out"])
            .args(args)
            .output()
            .expect("the command starts")
    };
    let text = sweep(&[]);
    let told = String::from_utf8_lossy(&text.stdout);
    assert_eq!(text.status.code(), Some(1), "{told}");
    assert!(told.starts_with("2 points, 1 failed:\n  1 of them: ") && told.contains("rounds"), "{told}");
    let json: Value = serde_json::from_slice(&sweep(&["--json"]).stdout).expect("--json prints one object");
    assert_eq!((&json["failed"], &json["failures"][0]["points"]), (&1.into(), &1.into()));
    let show = |args: &[&str]| {
        let output =
            tresse(dir.path()).args(["show", "out"]).args(args).output().expect("the command starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let table = show(&[]);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].starts_with("rounds  scheme   pattern      goodput mean, Mbit/s"), "{table}");
    assert!(lines[1].trim_start().starts_with("0 ") && lines[1].trim_end().ends_with('-'), "{table}");
    assert!(lines[2].starts_with("     1  dctcp-1  permutation"), "{table}");
    let rows: Value = serde_json::from_str(&show(&["--json"])).expect("one object");
    assert_eq!(rows["rows"][1]["case"]["scheme"], "dctcp");
    assert!(rows["rows"][0]["error"].as_str().is_some_and(|why| why.contains("rounds")), "{rows}");
    assert!(
        fails(tresse(dir.path()).args(["show", "out", "--by", "size"]), 2)
            .contains("--by is not for a sweep")
    );
    let table = fails(tresse(dir.path()).args(["show", "out", "--table", "jobs"]), 2);
    assert!(table.contains("--table is not for a sweep") && table.contains("results.parquet"), "{table}");
    // Once the value is corrected, it is neither missing nor in the table.
    let corrected = failing.replace("[1, 0]", "[1, 2]");
    fs::write(dir.path().join("failing.toml"), corrected).expect("it can be written");
    let json: Value = serde_json::from_slice(&sweep(&["--json"]).stdout).expect("--json prints one object");
    assert_eq!((&json["points"], &json["failed"]), (&2.into(), &0.into()), "{json}");
    assert!(json.get("planned").is_none_or(Value::is_null), "{json}");
    assert!(!show(&[]).contains("failed"), "{}", show(&[]));
}

#[test]
fn a_scheme_without_marks_is_shown_once_for_all_thresholds() {
    let dir = TempDir::new().expect("a temporary folder");
    let schemes = "[schemes.lia]\ncontroller = \"lia\"\n[schemes.xmp]\ncontroller = \"xmp\"\n";
    let small = SMALL.replace("[schemes.dctcp]\ncontroller = \"dctcp\"\n", schemes);
    fs::write(dir.path().join("small.toml"), small).expect("it can be written");
    let plan = "experiment = \"small.toml\"\n[[designs]]\n\
                keys = { \"fabric.mark\" = [\"5pkt\", \"10pkt\", \"20pkt\"] }\n";
    fs::write(dir.path().join("plan.toml"), plan).expect("it can be written");
    let told = sweep(dir.path(), &["plan.toml", "--out", "out"]);
    assert_eq!((&told["points"], &told["left_out"]["points"]), (&4.into(), &2.into()));
    let show = |args: &[&str]| {
        let output =
            tresse(dir.path()).args(["show", "out"]).args(args).output().expect("the command starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let table = show(&[]);
    let begins: Vec<Vec<&str>> =
        table.lines().skip(1).take(4).map(|line| line.split_whitespace().take(2).collect()).collect();
    assert_eq!(
        begins,
        [["-", "lia-1"], ["5pkt", "xmp-1"], ["10pkt", "xmp-1"], ["20pkt", "xmp-1"]],
        "{table}"
    );
    let why = "left out: 2 points that would differ only in what makes no difference: fabric.mark for lia (no packet can \
               be marked)";
    assert!(table.contains(why), "{table}");
    let csv = show(&["--format", "csv"]);
    let begins: Vec<Vec<&str>> =
        csv.lines().skip(1).take(4).map(|line| line.split(',').take(2).collect()).collect();
    assert_eq!(begins, [["", "lia-1"], ["5pkt", "xmp-1"], ["10pkt", "xmp-1"], ["20pkt", "xmp-1"]], "{csv}");
    let rows: Value = serde_json::from_str(&show(&["--json"])).expect("one object");
    assert_eq!(rows["rows"][0]["setting"], serde_json::json!({}));
    assert_eq!(rows["rows"][3]["setting"]["fabric.mark"], "20pkt");
}

#[test]
fn what_is_wrong_is_told() {
    let dir = TempDir::new().expect("a temporary folder");
    plan(dir.path());
    for (args, told) in [
        (&["nowhere.toml"][..], "nowhere.toml"),
        (&["plan.toml", "--shard", "1/2"], "--out"),
        (&["plan.toml", "--out", "a", "--shard", "3/2"], "I/N"),
        (&["merge", "nowhere"], "nowhere"),
        (&["merge", "."], "no shards of a sweep"),
        (&["plan.toml", "--out", "."], "is not empty and has no sweep"),
        (&["small.toml"], "small.toml:2:2: "),
    ] {
        let said = fails(tresse(dir.path()).arg("sweep").args(args), 2);
        assert!(said.contains(told), "{args:?}: {said}");
    }
    let drawn = "experiment = \"small.toml\"\n[[designs]]\nkind = \"sobol\"\npoints = 4\n\
                 keys = { \"fabric.mark\" = { from = \"1pkt\", to = \"40pkt\" } }\n";
    fs::write(dir.path().join("drawn.toml"), drawn).expect("it can be written");
    for (args, told) in [
        (&["sweep", "drawn.toml"][..], "extra `sweep`"),
        (&["sweep", "plan.toml", "--engine", "ray"], "extra `ray`"),
        (&["tune", "plan.toml"], "extra `tune`"),
    ] {
        let said = fails(tresse(dir.path()).args(args).env("TRESSE_PYTHON", "/no/python"), 3);
        assert!(said.contains(told), "{args:?}: {said}");
    }
}
