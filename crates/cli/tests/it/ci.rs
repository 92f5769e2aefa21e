//! packaging/ci: what the action does in the repository of somebody who writes controllers.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::common::tresse;

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/ci");

/// The guide's example without its declarations, which `controller check` would compare with the code for seconds.
fn gentle() -> String {
    let example = include_str!("../../../../docs/examples/gentle.c");
    let (head, rest) = example.split_once("\tMAXIMISES(").expect("it declares a utility");
    let (_, hooks) = rest.split_once("\t.ack = ").expect("its hooks follow");
    format!("{head}\t.ack = {hooks}")
}

const EXPERIMENT: &str = r#"
title = "Gentle beside Reno"
[fabric]
topology = "dumbbell"
pairs = 2
rate = "1Gbps"
delay = "20us"
queue = "100pkt"
mark = "20pkt"
host_queue = "1000pkt"
[transport]
profile = "linux"
[schemes.reno]
controller = "reno"
[schemes.gentle]
controller = "gentle"
[workloads.two]
pattern = "permutation"
size = "10MB"
[[claims]]
id = "gentle-not-slower"
text = "Gentle has Reno's goodput, but for 5 %"
metric = "goodput_mean_bps"
left = { scheme = "gentle" }
right = { scheme = "reno" }
ratio_above = 0.95
"#;

/// A repository with a controller, an experiment, and the kept part of a run of it.
fn repository() -> TempDir {
    let dir = TempDir::new().expect("a temporary folder");
    let path = dir.path();
    fs::write(path.join("gentle.c"), gentle()).expect("written");
    fs::write(path.join("gentle.toml"), EXPERIMENT).expect("written");
    let arguments = ["run", "gentle.toml", "--controller", "gentle.c", "--out", "first"];
    tresse(path).args(arguments).assert().success();
    fs::create_dir(path.join("baseline")).expect("made");
    fs::copy(path.join("first/run.json"), path.join("baseline/run.json")).expect("copied");
    dir
}

/// The action's step "Check" in the repository `dir`.
fn check(dir: &Path, controllers: &str, experiment: &str, baseline: &str) -> Output {
    let command = assert_cmd::cargo::cargo_bin("tresse");
    let mut path = OsString::from(command.parent().expect("it lies in a folder"));
    path.push(":/usr/local/bin:/usr/bin:/bin");
    Command::new(format!("{SCRIPTS}/check"))
        .current_dir(dir)
        .env("PATH", path)
        .envs([("CONTROLLERS", controllers), ("EXPERIMENT", experiment), ("BASELINE", baseline)])
        .env("RUNNER_TEMP", dir)
        .env("GITHUB_OUTPUT", dir.join("output"))
        .env("GITHUB_STEP_SUMMARY", dir.join("summary"))
        .output()
        .expect("the script starts")
}

#[track_caller]
fn assert_code(output: &Output, code: i32) -> String {
    let said = [&*output.stdout, &*output.stderr].map(String::from_utf8_lossy).concat();
    assert_eq!(output.status.code(), Some(code), "{said}");
    said
}

#[test]
fn an_unchanged_controller_passes() {
    let dir = repository();
    let said = assert_code(&check(dir.path(), "gentle.c\n", "gentle.toml", "baseline"), 0);
    assert!(said.contains("invariants hold: "), "{said}");
    assert!(said.contains("the same results to the last bit"), "{said}");
    let summary = fs::read_to_string(dir.path().join("summary")).expect("the summary is written");
    assert!(summary.starts_with("### gentle.toml: "), "{summary}");
    let output = fs::read_to_string(dir.path().join("output")).expect("the outputs are written");
    let run = output.trim_end().strip_prefix("run=").expect("the folder of the run");
    assert!(Path::new(run).join("run.json").exists(), "{run}");
}

#[test]
fn a_broken_controller_fails_and_nothing_is_run() {
    let dir = repository();
    // A cut that raises the window.
    let broken = gentle().replacen("s->cwnd * (100 - (u32)percent)", "s->cwnd * (100 + (u32)percent)", 1);
    fs::write(dir.path().join("broken.c"), broken).expect("written");
    let said = assert_code(&check(dir.path(), "broken.c\ngentle.c", "gentle.toml", "baseline"), 1);
    assert!(said.contains("is broken: "), "{said}");
    assert!(said.contains("== gentle.c") && !said.contains("== gentle.toml"), "{said}");
    fs::write(dir.path().join("broken.c"), "no C").expect("written");
    assert_code(&check(dir.path(), "broken.c", "", ""), 2);
}

#[test]
fn a_claim_that_no_longer_holds_fails() {
    let dir = repository();
    let slower = gentle().replacen("P(mark_cut, 20,", "P(mark_cut, 90,", 1);
    fs::write(dir.path().join("gentle.c"), slower).expect("written");
    let said = assert_code(&check(dir.path(), "gentle.c", "gentle.toml", "baseline"), 1);
    assert!(said.contains("the claim gentle-not-slower held, and no longer does"), "{said}");
    // So it does by itself, without a baseline.
    assert_code(&check(dir.path(), "gentle.c", "gentle.toml", ""), 1);
}

#[test]
fn what_is_missing_is_told_before_anything_runs() {
    let dir = repository();
    let said = assert_code(&check(dir.path(), "", "", ""), 2);
    assert!(said.contains("neither controllers nor an experiment"), "{said}");
    let said = assert_code(&check(dir.path(), "gentle.c", "gentle.toml", "nowhere"), 2);
    assert!(said.contains("hint: tresse run gentle.toml --out nowhere"), "{said}");
}

#[test]
fn a_tarball_is_installed() {
    let dir = TempDir::new().expect("a temporary folder");
    let bin = dir.path().join("tresse-0-x86_64-linux/bin");
    fs::create_dir_all(&bin).expect("made");
    fs::write(bin.join("tresse"), "").expect("written");
    let tar = Command::new("tar")
        .args(["-czf", "tresse.tar.gz", "tresse-0-x86_64-linux"])
        .current_dir(&dir)
        .status();
    assert!(tar.is_ok_and(|status| status.success()));
    let install = |from: &str| {
        let mut command = Command::new(format!("{SCRIPTS}/install"));
        command.args([from, "installed"]).current_dir(&dir).output().expect("the script starts")
    };
    assert_eq!(assert_code(&install("tresse.tar.gz"), 0), "installed/bin\n");
    assert!(dir.path().join("installed/bin/tresse").exists());
    assert_code(&install("tresse.zip"), 2);
}
