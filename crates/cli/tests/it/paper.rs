//! `tresse paper`: the experiments of a paper, one after the other.

use std::fs;
use std::process::{Command as Process, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{fails, interrupt, paper, tresse, wait_until};

/// Experiments of each paper whose quick profile takes seconds: as many as are needed to see that what the files expect
/// comes out.
fn comes_out_as_expected(name: &str, only: &str) {
    let dir = TempDir::new().expect("a temporary folder");
    let (text, progress) = paper(dir.path(), &[name, "--only", only]);
    assert!(text.contains(&format!("results: runs/paper-{name}-1")), "{text}");
    assert!(progress.starts_with(&format!("[1/1] {name}/{only}")), "{progress}");
    assert!(text.contains("not as expected: 0"), "{text}");
}

#[test]
fn xmps_shares_of_a_bottleneck_come_out() {
    comes_out_as_expected("xmp", "fig6");
}

#[test]
fn the_thesis_function_of_odctcp_comes_out() {
    comes_out_as_expected("holnet", "fig5.1");
}

/// Verdicts of real hosts, of which something is kept, stand below those of the simulator.
#[test]
fn real_hosts_stand_beside_what_is_simulated() {
    let dir = TempDir::new().expect("a temporary folder");
    let (text, _) = paper(dir.path(), &["xmp", "--only", "fig6", "--out", "p"]);
    assert!(text.contains("real: quick profile · 1 seed · real hosts, --scale 1/"), "{text}");
    assert_eq!(text.matches("  real hosts: ").count(), 3, "{text}");
    let (text, _) = paper(dir.path(), &["xmp", "--only", "fig6", "--out", "p", "--json"]);
    let report: Value = serde_json::from_str(&text).expect("--json prints one object");
    let real = &report["experiments"][0]["real"];
    assert_eq!(real["claims"].as_array().map(Vec::len), Some(3));
    assert!(real["testbed"]["late_p99_ns"].is_number() && real["numbers"].is_array());
    let (text, _) = paper(dir.path(), &["xmp", "--only", "fig6", "--out", "p", "--markdown"]);
    assert!(text.contains("| verdict, real | value, real |"), "{text}");

    // A run on real hosts itself is told as such, and nothing that it says is an error.
    let truth = json!({ "schema": "tresse/testbed/2", "runs": [
        { "scale": "1/2", "late_p99_ns": 90_000, "packets_per_s": 1e4 }] });
    fs::write(dir.path().join("p/fig6/testbed.json"), truth.to_string()).expect("it can be written");
    let output = tresse(dir.path()).args(["compare", "p/fig6"]).output().expect("the command starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success() && text.contains(" s · real hosts, --scale 1/2, 99 % of the "), "{text}");
    assert!(!text.contains("  real hosts: "), "{text}");
}

#[test]
fn a_paper_leaves_a_report_and_a_folder_for_each_experiment() {
    let dir = TempDir::new().expect("a temporary folder");
    let (name, only) = ("xmp", "fig6");
    let (text, _) = paper(dir.path(), &[name, "--only", only, "--out", "p", "--json"]);
    let report: Value = serde_json::from_str(&text).expect("--json prints one object");
    for (key, value) in
        [("schema", "tresse/paper/1"), ("paper", name), ("profile", "quick"), ("status", "complete")]
    {
        assert_eq!(report[key], value, "{key}");
    }
    let experiment = &report["experiments"][0];
    assert_eq!(experiment["schema"], "tresse/run/1");
    assert_eq!(experiment["experiment"], "xmp/fig6");
    assert!(experiment["cases"].is_array() && experiment["claims"].is_array());
    assert!(experiment.get("resolved").is_none(), "the experiment itself is in run.json");
    for key in ["claims", "claims_hold", "numbers", "numbers_within_20_percent", "wall_s"] {
        assert!(report["summary"][key].is_number(), "{key}");
    }

    // The whole folder is compared as one run is, and with itself.
    let compare = |arguments: &[&str]| {
        let output = tresse(dir.path()).arg("compare").args(arguments).output().expect("the command starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let compared: Value = serde_json::from_str(&compare(&["p", "--json"])).expect("JSON");
    assert_eq!(compared["experiments"].as_array().map(Vec::len), Some(1));
    assert_eq!(compared["summary"]["claims"], report["summary"]["claims"]);
    assert_eq!(compare(&["p", "p"]).matches("to the last bit").count(), 1);

    // What is complete is not run again.
    let before = fs::read_to_string(dir.path().join("p/fig6/run.json")).expect("run.json");
    let (_, progress) = paper(dir.path(), &[name, "--only", only, "--out", "p"]);
    assert_eq!(progress, "[1/1] xmp/fig6: already complete\n");
    assert_eq!(fs::read_to_string(dir.path().join("p/fig6/run.json")).expect("run.json"), before);
    // An experiment that was interrupted is.
    fs::write(dir.path().join("p/fig6/run.json"), before.replace("\"complete\"", "\"partial\""))
        .expect("written");
    let (_, progress) = paper(dir.path(), &[name, "--only", only, "--out", "p"]);
    assert!(!progress.contains("is there"), "{progress}");

    let error = fails(tresse(dir.path()).args(["paper", name, "--seed", "2", "--out", "p"]), 2);
    assert!(error.contains("p contains a run with seed 1, but this one has 2"), "{error}");
    let error = fails(tresse(dir.path()).args(["paper", name, "--out", "p/fig6"]), 2);
    assert!(error.contains("is not empty"), "{error}");
}

#[test]
fn an_interrupted_paper_keeps_what_it_has_and_says_how_to_go_on() {
    let dir = TempDir::new().expect("a temporary folder");
    // The full profile takes minutes: it is under way when the signal comes.
    let mut child = Process::new(env!("CARGO_BIN_EXE_tresse"))
        .current_dir(dir.path())
        .args(["paper", "xmp", "--only", "table1,table2", "--out", "p", "--json", "--profile", "full"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let first = dir.path().join("p/table1/flows.partial");
    wait_until(|| first.exists());
    interrupt(child.id());
    wait_until(|| child.try_wait().expect("the child can be waited for").is_some());
    let output = child.wait_with_output().expect("the child has ended");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(
        stderr.contains("partial: experiments left: 2") && stderr.contains("with `--out p` continues it"),
        "{stderr}"
    );
    let report: Value = serde_json::from_slice(&output.stdout).expect("the report is printed");
    assert_eq!(
        (&report["status"], &report["experiments"][0]["status"]),
        (&"partial".into(), &"partial".into())
    );
    let marker = fs::read_to_string(dir.path().join("p/paper.json")).expect("paper.json");
    assert!(marker.contains("\"status\": \"partial\""), "{marker}");
    assert!(!dir.path().join("p/table2").exists(), "it was not begun");
}

#[test]
fn wrong_names_are_told_before_anything_is_written() {
    let dir = TempDir::new().expect("a temporary folder");
    for (arguments, parts) in [
        (&["xpm"][..], ["there is no paper `xpm`", "did you mean `xmp`?"]),
        (&["xmp", "--only", "tabel1"], ["xmp has no such experiment", "did you mean `xmp/table1`?"]),
        (
            &["xmp", "--only", "opn/fig2"],
            ["xmp has no such experiment", "hint: its experiments are xmp/fig1"],
        ),
        (&["xmp", "--profile", "half"], ["invalid value 'half'", "quick"]),
    ] {
        let error = fails(tresse(dir.path()).arg("paper").args(arguments), 2);
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
    assert_eq!(fs::read_dir(dir.path()).expect("the folder").count(), 0);
}
