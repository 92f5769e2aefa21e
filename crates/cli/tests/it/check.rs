//! `tresse controller check`: how it ends, and that the script it prints can be played.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{fails, tresse};

/// Sinks by one packet a round, also where it would fall below its floor.
const SINKS: &str = r#"
#include "controller.h"

#define PARAMETERS(P) P(step, 0, 0, 4, "pkt", "what a round takes")
DECLARE_PARAMETERS

static void sink(struct subflow *s, const struct ack *a)
{
	if (a->new_round && s->cwnd > PARAMETER(s, step))
		s->cwnd -= (u32)PARAMETER(s, step);
}

static u32 halve(struct subflow *s, enum cause cause)
{
	return half_window(s);
}

CONTROLLER(sinks,
	.title = "sinks",
	.source = "none",
	.signals = SIGNAL_LOSS,
	.exceptions = EXCEPTION_LOWERS,
	.min_cwnd = 2,
	WITH_PARAMETERS,
	.grow = sink,
	.congestion = halve);
"#;

fn folder(text: &str) -> TempDir {
    let dir = TempDir::new().expect("a temporary folder");
    std::fs::write(dir.path().join("sinks.c"), text).expect("a temporary file");
    dir
}

fn check(dir: &Path, arguments: &[&str]) -> Output {
    tresse(dir).args(["controller", "check"]).args(arguments).output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_sound_controller_is_told_what_it_was_held_to() {
    let dir = TempDir::new().expect("a temporary folder");
    let output = check(dir.path(), &["lia", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(json["schema"], "tresse/controller-check/1");
    let checked = json["invariants"]["checked"].as_array().expect("a list");
    for name in ["growth", "not_above_reno", "rtt_ratios", "single"] {
        assert!(checked.contains(&name.into()), "{name}: {checked:?}");
    }
    assert_eq!(json["invariants"]["broken"], Value::Null);
    assert!(json["invariants"]["hook_calls"].as_u64() > Some(100_000));
    // The kernel was asked, or the reason is given.
    assert_ne!(json["programs"].is_array(), json["programs_skipped"].is_string());
}

#[test]
fn a_breach_ends_with_1_and_its_script_shows_it() {
    let dir = folder(SINKS);
    let output = check(dir.path(), &["sinks.c"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let (script, said) = (text(&output.stdout), text(&output.stderr));
    assert!(script.starts_with("# never_lowers is broken: "), "{script}");
    assert!(script.ends_with("\nwindow 5\nack 1\n"), "{script}");
    // With the largest step a window of 5 packets is left with 1.
    assert!(said.contains("controller trace sinks.c --param step=4 --script -"), "{said}");
    let played = tresse(dir.path())
        .args(["controller", "trace", "sinks.c", "--param", "step=4", "--script", "-"])
        .write_stdin(script.clone())
        .output()
        .expect("it starts");
    let lines = text(&played.stdout);
    assert!(lines.ends_with("ack 0 1 - open\n"), "{script}\n{lines}");

    let output = check(dir.path(), &["sinks.c", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let broken = &json["invariants"]["broken"];
    assert_eq!((&broken["invariant"], &broken["parameters"]["step"]), (&"never_lowers".into(), &4.into()));
    assert!(script.ends_with(broken["script"].as_str().expect("a script")));
}

#[test]
fn a_controller_that_divides_by_0_does_not_end_the_command() {
    let dir = folder(&SINKS.replace("return half_window(s);", "return s->cwnd / (s->cwnd - 10);"));
    let output = check(dir.path(), &["sinks.c"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("divides by 0"), "{}", text(&output.stderr));
    assert!(text(&output.stdout).ends_with("\nloss\n"), "{}", text(&output.stdout));
}

#[test]
fn a_file_that_does_not_compile_ends_with_2_and_names_its_line() {
    let broken = SINKS.replace("return half_window(s);", "return half_windows(s);");
    let line = 1 + broken.lines().position(|l| l.contains("half_windows")).expect("it is there");
    let dir = folder(&broken);
    let said = fails(tresse(dir.path()).args(["controller", "check", "sinks.c"]), 2);
    assert!(said.contains(&format!("sinks.c:{line}:")), "{said}");
}

/// Anybody may check; only the kernel's part needs root.
#[test]
fn without_root_the_invariants_are_checked() {
    // A copy where anybody may run it: the build folder may be root's alone.
    let dir = TempDir::new().expect("a temporary folder");
    let copy = dir.path().join("tresse");
    std::fs::copy(assert_cmd::cargo::cargo_bin("tresse"), &copy).expect("room for a copy");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(dir.path(), open).expect("it is ours");
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--clear-groups"]).arg(&copy).args(["controller", "check", "reno"]);
    let output = command.output().expect("setpriv starts");
    if text(&output.stderr).starts_with("setpriv:") {
        eprintln!("skipped: only root can become nobody");
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("invariants hold: returns, "), "{}", text(&output.stdout));
    assert_eq!(text(&output.stderr).lines().count(), 1, "{}", text(&output.stderr));
    assert!(text(&output.stderr).starts_with("note: the kernel's verifier was not run: "));
}

#[test]
fn what_is_better_known_is_noted() {
    let nameless = crate::common::own_controller()
        .replace("Reno: one more packet per round, half the window on congestion", "")
        .replace("SIGNAL_LOSS, .min_cwnd", "SIGNAL_LOSS | SIGNAL_NEXT_HOP, .min_cwnd");
    let dir = folder(&nameless);
    let output = check(dir.path(), &["sinks.c"]);
    let notes = text(&output.stderr);
    assert!(output.status.success(), "{notes}");
    assert!(notes.contains("note: mine has no .title"), "{notes}");
    assert!(notes.contains("note: mine cannot be attached: "), "{notes}");
}

/// The last one's next sibling does not exist: a write to it did away with the heap of the command.
#[test]
fn a_write_beside_all_subflows_gets_a_verdict() {
    let dir =
        folder(&SINKS.replace("return half_window(s);", "(s + 1)->cwnd = 2;\n\treturn half_window(s);"));
    let output = check(dir.path(), &["sinks.c", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(json["invariants"]["broken"]["invariant"], "own_subflow", "{json}");
}

#[test]
fn missing_hooks_are_noted() {
    let dir = folder(
        &SINKS
            .replace("\n\t.grow = sink,\n\t.congestion = halve", "")
            .replace("static void sink", "void sink")
            .replace("static u32 halve", "u32 halve"),
    );
    let said = text(&check(dir.path(), &["sinks.c"]).stderr);
    assert!(said.contains("note: sinks has no .grow; its window never rises"), "{said}");
    assert!(said.contains("note: sinks has no .congestion;"), "{said}");
}
