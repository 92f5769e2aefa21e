//! `tresse mark`, as far as it goes without a device: the kernel's part is tested in tresse-linux.

use tempfile::TempDir;

use crate::common::{fails, tresse};

fn refused(words: &[&str]) -> String {
    let dir = TempDir::new().expect("a temporary folder");
    fails(tresse(dir.path()).args(["mark", "add", "tresse-none"]).args(words), 2)
}

#[test]
fn bad_settings_are_refused_before_anything_is_asked_of_the_machine() {
    let message = refused(&["--rate", "0bps", "--threshold", "20pkt"]);
    assert!(message.contains("a rate of 0 bit/s: expected 1 Mbit/s to 400 Gbit/s"), "{message}");
    let message = refused(&["--rate", "1Gbps"]);
    assert!(message.contains("--threshold <THRESHOLD>|--rtt <RTT>"), "{message}");
    let message = refused(&["--rate", "1Gbps", "--threshold", "20"]);
    assert!(message.contains("\"20\" has no unit"), "{message}");
    let message = refused(&["--rate", "1Gbps", "--threshold", "unlimited"]);
    assert!(message.contains("--threshold: an unlimited threshold marks nothing"), "{message}");
    let two = ["--class", "a,weight=1,dscp=10", "--class", "b,weight=1,dscp=10"];
    let message = refused(&[&["--rate", "1Gbps", "--threshold", "20pkt"][..], &two].concat());
    assert!(message.contains("`a` and `b` both take dscp 10"), "{message}");
}
