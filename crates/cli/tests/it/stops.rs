//! Ctrl-C and SIGTERM at any moment: the command ends soon, with 130, and a run leaves a folder that can be read.

use std::fs;
use std::path::Path;
use std::process::{Command as Process, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Runs the command in `dir`, sends the signal after some milliseconds, and waits for the end.
#[expect(clippy::disallowed_methods, reason = "a test of when a process ends needs a clock")]
fn stopped(dir: &Path, args: &[&str], signal: &str, after_ms: u64) -> Output {
    let mut child = Process::new(env!("CARGO_BIN_EXE_tresse"))
        .current_dir(dir)
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    sleep(Duration::from_millis(after_ms));
    let kill = format!("kill -{signal} {}", child.id());
    assert!(Process::new("sh").args(["-c", &kill]).status().is_ok_and(|s| s.success()));
    let start = Instant::now();
    while child.try_wait().expect("it can be waited for").is_none() {
        // It is less than a second where nothing else runs.
        assert!(
            start.elapsed() < Duration::from_secs(15),
            "{args:?} does not end, {after_ms} ms after its start"
        );
        sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().expect("it has ended");
    let stderr = String::from_utf8_lossy(&output.stderr);
    // The signal may come before it is caught.
    assert!(output.status.code() == Some(130) || after_ms < 100, "{args:?}: {stderr}");
    output
}

#[test]
fn a_run_that_is_set_up_or_draws_arrivals_can_be_stopped() {
    let large = ["--set", "fabric.k=48"];
    let arrivals =
        ["--set", "workloads.permutation={pattern=\"poisson\",load=0.5,flows=2000000,size=\"1MB\"}"];
    let mut begun = 0;
    for (what, signal, after_ms) in [
        (large, "INT", 50),
        (large, "TERM", 500),
        (large, "INT", 1500),
        (large, "TERM", 3000),
        (arrivals, "TERM", 50),
        (arrivals, "INT", 500),
        (arrivals, "TERM", 2000),
    ] {
        let dir = TempDir::new().expect("a temporary folder");
        let usual = ["run", "xmp/table1", "--only", "scheme=dctcp", "--only", "pattern=permutation"];
        let args = [&usual[..], &["--set", "profile.quick={}", "--out", "out"], &what].concat();
        let stdout = stopped(dir.path(), &args, signal, after_ms).stdout;
        let stdout = String::from_utf8(stdout).expect("text");
        assert!(!stdout.contains("-0 flows") && !stdout.contains("digest: \n"), "{stdout}");
        let out = dir.path().join("out");
        // It may not have been begun.
        let Ok(report) = fs::read_to_string(out.join("run.json")) else { continue };
        begun += 1;
        assert!(report.contains("\"status\": \"partial\""), "{report}");
        let flows = fs::read(out.join("flows.parquet")).expect("a table that is whole");
        assert!(flows.starts_with(b"PAR1") && flows.ends_with(b"PAR1"));
    }
    assert!(begun > 0, "no run was begun before its signal came");
}

#[test]
fn what_keeps_nothing_ends_at_once() {
    let dir = TempDir::new().expect("a temporary folder");
    for (args, signal, after_ms) in [
        (&["topology", "show", "xmp/table1", "--set", "fabric.k=48"][..], "TERM", 50),
        (&["topology", "show", "xmp/table1", "--set", "fabric.k=48"], "INT", 1000),
        (&["optimum", "xmp/table1", "--set", "fabric.k=32"], "TERM", 1000),
    ] {
        let output = stopped(dir.path(), args, signal, after_ms);
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_paper_says_that_it_is_partial() {
    let mut begun = 0;
    for (signal, after_ms) in [("TERM", 500), ("INT", 1500)] {
        let dir = TempDir::new().expect("a temporary folder");
        stopped(dir.path(), &["paper", "xmp", "--profile", "full", "--out", "p"], signal, after_ms);
        let Ok(marker) = fs::read_to_string(dir.path().join("p/paper.json")) else { continue };
        begun += 1;
        assert!(marker.contains("\"status\": \"partial\""), "{marker}");
    }
    assert!(begun > 0, "no paper was begun before its signal came");
}
