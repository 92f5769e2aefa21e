//! What tests need that load controllers into the kernel.

use std::io::{self, Write};

use tempfile::TempDir;

use crate::common::tresse;

/// Whether eBPF can be loaded here; prints what is missing if not.
pub fn kernel_is_here() -> bool {
    let dir = TempDir::new().expect("a temporary folder");
    let output =
        tresse(dir.path()).args(["controller", "check", "reno", "--json"]).output().expect("it starts");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    if let Some(lacks) = json["programs_skipped"].as_str() {
        say(&format!("skipped: {lacks}"));
    }
    json["programs"].is_array()
}

/// A line that the test runner does not capture.
pub fn say(line: &str) {
    drop(writeln!(io::stderr(), "{line}"));
}

/// Detaches at the end, however the test ends.
pub struct Detached<'a>(pub &'a str);

impl Drop for Detached<'_> {
    fn drop(&mut self) {
        let dir = TempDir::new().expect("a temporary folder");
        let _ = tresse(dir.path()).args(["detach", self.0, "--force"]).output();
    }
}
