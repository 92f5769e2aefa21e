//! `tresse controller check --prove`: what it proves, and where it does not.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{fails, own_controller, tresse};

/// Whether there is Frama-C; if not, a line says so.
fn frama_c_is_here() -> bool {
    let here = std::process::Command::new("frama-c").arg("-version").output().is_ok();
    if !here {
        eprintln!("skipped: frama-c is not installed: apt-get install --no-install-recommends frama-c-base");
    }
    here
}

/// The properties that are not proved of Reno with `planted` in place of `own`, as `property:line`.
fn not_proved(own: &str, planted: &str) -> Vec<String> {
    let dir = TempDir::new().expect("a temporary folder");
    let text = own_controller();
    assert!(text.contains(own));
    let text = text.replace(own, planted);
    let line = text.lines().position(|line| line.contains(planted)).map_or(0, |at| at + 1);
    fs::write(dir.path().join("mine.c"), text).expect("written");
    let args = ["controller", "check", "mine.c", "--prove", "--json"];
    let output = tresse(dir.path()).args(args).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let proof: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(proof["schema"], "tresse/controller-proof/1");
    let mut found = Vec::new();
    for property in proof["properties"].as_array().expect("a list") {
        let open = property["not_proved"].as_array().expect("a list");
        assert_eq!(property["proved"], open.is_empty());
        for open in open {
            let name = property["property"].as_str().expect("a name");
            let here = open["file"] == "mine.c" && open["line"] == line;
            found.push(format!("{name}{}", if here { " here" } else { "" }));
        }
    }
    found.dedup();
    found
}

const CUT: &str = "return half_window(s);";
const GROWTH: &str = "raise_window(s, &state_of(s)->credit, left, increase(s));";

#[test]
fn all_of_reno_is_proved() {
    if frama_c_is_here() {
        assert_eq!(not_proved(CUT, CUT), [""; 0]);
    }
}

#[test]
fn a_division_by_0_is_not_proved() {
    if frama_c_is_here() {
        let planted = "return 2 + half_window(s) / (s->srtt + 1 - 1) * 0;";
        assert!(not_proved(CUT, planted).contains(&"division here".to_owned()));
    }
}

#[test]
fn an_overflow_is_not_proved() {
    if frama_c_is_here() {
        let planted = "return half_window(s) * 8192 / 8192;";
        assert_eq!(not_proved(CUT, planted)[0], "overflow here");
    }
}

#[test]
fn growth_above_what_was_delivered_is_not_proved() {
    if frama_c_is_here() {
        for planted in [
            "raise_window(s, &state_of(s)->credit, 2 * left, increase(s));",
            "raise_window(s, &state_of(s)->credit, left, 2 * increase(s));",
            "raise_window(s, &state_of(s)->credit, slow_start(s, a->delivered + 1), increase(s));",
            "s->cwnd += left + (u32)(increase(s) >> 60);",
        ] {
            assert!(not_proved(GROWTH, planted).contains(&"growth here".to_owned()), "{planted}");
        }
    }
}

#[test]
fn a_cut_below_the_floor_is_not_proved() {
    if frama_c_is_here() {
        assert_eq!(not_proved(CUT, "return s->cwnd / 2;"), ["window"]);
    }
}

#[test]
fn without_frama_c_it_says_what_to_install() {
    let dir = TempDir::new().expect("a temporary folder");
    let mut command = tresse(dir.path());
    // Nothing but the shell.
    std::os::unix::fs::symlink("/bin/sh", dir.path().join("sh")).expect("a link");
    let said = fails(command.args(["controller", "check", "reno", "--prove"]).env("PATH", dir.path()), 3);
    assert!(said.contains("apt-get install --no-install-recommends frama-c-base"), "{said}");
}
