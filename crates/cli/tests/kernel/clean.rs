//! What a test must leave as it was.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, Once, PoisonError, RwLockWriteGuard};

use serde_json::Value;

use crate::clock::wait_for;
use crate::control::beginning;
use crate::namespace::must;
use crate::probe::{has, say};
use crate::repeat::alone;

/// Where the command pins.
const PINS: &str = "/sys/fs/bpf/tresse";

/// The machine before a test, which runs alone in this process until this is checked.
pub struct Clean {
    log: Vec<Complaint>,
    _alone: RwLockWriteGuard<'static, ()>,
}

impl Clean {
    /// Remembers.
    pub fn before() -> Self {
        let alone = alone();
        Self { log: complaints(), _alone: alone }
    }

    /// Compares.
    pub fn check(self) {
        let available = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        let available = available.expect("the kernel lists its congestion controls");
        assert!(!available.contains(&beginning()), "still registered: {available}");
        let pinned: Vec<_> = below(Path::new(PINS))
            .into_iter()
            .filter(|path| path.to_string_lossy().contains(&beginning()))
            .collect();
        assert!(pinned.is_empty(), "still pinned: {pinned:?}");
        // The kernel frees them when the last socket has gone, and somewhat later.
        let left = || maps().filter(|map| own().contains(&number(map, "id"))).collect::<Vec<_>>();
        assert!(wait_for(20.0, || left().is_empty()), "maps are left: {:?}", left());
        let old: BTreeSet<_> = self.log.into_iter().map(|complaint| complaint.line).collect();
        let new: Vec<_> = complaints().into_iter().filter(|new| !old.contains(&new.line)).collect();
        for Complaint { report, excuse, .. } in &new {
            say(&format!("the kernel complains, {}:\n{report}", excuse.unwrap_or("which fails this test")));
        }
        assert!(new.iter().all(|complaint| complaint.excuse.is_some()), "the kernel complains: see above");
    }
}

/// The numbers of the maps that this process has put into the kernel.
fn own() -> MutexGuard<'static, BTreeSet<u64>> {
    static OWN: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes which maps belong to the control with this name, while it is there to tell.
pub fn note_maps(name: &str) {
    let controls = bpftool(&["struct_ops", "dump"]);
    let named = |control: &&Value| control["bpf_struct_ops_tcp_congestion_ops"]["data"]["name"] == name;
    let objects: Vec<_> =
        controls.iter().filter(named).map(|c| number(&c["bpf_map_info"], "btf_id")).collect();
    own().extend(maps().filter(|map| objects.contains(&number(map, "btf_id"))).map(|map| number(&map, "id")));
}

/// How many maps there are with the names of ours.
pub fn maps_of_ours() -> usize {
    let ours = ["stamp", "defaults", "scratch", "counters"];
    maps().filter(|map| map["name"].as_str().is_some_and(|name| ours.contains(&name))).count()
}

fn maps() -> impl Iterator<Item = Value> {
    bpftool(&["map", "list"]).into_iter()
}

fn number(of: &Value, name: &str) -> u64 {
    of[name].as_u64().unwrap_or(0)
}

/// What bpftool lists; nothing, which is said once, if it is missing.
fn bpftool(arguments: &[&str]) -> Vec<Value> {
    static MISSING: Once = Once::new();
    if !has("bpftool") {
        MISSING.call_once(|| {
            say("skipped: looking for maps that are left: bpftool is missing (apt-get install bpftool)");
        });
        return Vec::new();
    }
    let list = must(Command::new("bpftool").arg("-j").args(arguments));
    serde_json::from_str(&list).expect("bpftool prints a list")
}

/// What the kernel's log tells of an error of its own.
struct Complaint {
    /// The line by which it was found.
    line: String,
    /// With those around it.
    report: String,
    /// Why it does not fail a test.
    excuse: Option<&'static str>,
}

fn complaints() -> Vec<Complaint> {
    found(&must(&mut Command::new("dmesg")))
}

/// The complaints of a log, in their order.
fn found(log: &str) -> Vec<Complaint> {
    const OF_PROCESS_1: &str = "of hooks skipped while process 1 ran (see `repeat`)";
    // A stalled processor, a page that could not be had: of the machine, unless a program is on the stack.
    const STACK_ONLY: &str = "with a stack that no program is on";
    let lines: Vec<&str> = log.lines().collect();
    let mut in_report = false;
    let mut complaints = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let serious = ["BUG:", "Oops"].iter().any(|word| line.contains(word));
        let around = &lines[at.saturating_sub(12)..lines.len().min(at + 40)];
        let excuse = if serious {
            None
        } else if let Some(rest) = line.split("WARNING: ").nth(1) {
            let thread = rest.split("PID: ").nth(1).and_then(|rest| rest.split_whitespace().next());
            thread.is_some_and(|pid| Path::new("/proc/1/task").join(pid).exists()).then_some(OF_PROCESS_1)
        } else if line.contains("Call Trace") && !in_report {
            let with_program = around.iter().any(|line| line.contains("bpf_prog_"));
            (!with_program).then_some(STACK_ONLY)
        } else {
            in_report &= !line.contains("end trace");
            continue;
        };
        in_report = !line.contains("Call Trace");
        complaints.push(Complaint { line: (*line).to_owned(), report: around.join("\n"), excuse });
    }
    complaints
}

#[test]
fn a_bare_stack_fails_a_test_only_with_a_program_on_it() {
    let log = |on_stack: &str| {
        format!(
            "[1.0] rcu: INFO: rcu_sched self-detected stall\n[1.0] Call Trace:\n[1.0]  {on_stack}+0x1/0x2\n"
        )
    };
    let excuses = |log: &str| found(log).iter().map(|c| c.excuse.is_some()).collect::<Vec<_>>();
    assert_eq!(excuses(&log("tcp_ack")), [true]);
    assert_eq!(excuses(&log("bpf_prog_0123456789abcdef_xmp_grow")), [false]);
    let warning =
        "[2.0] WARNING: CPU: 0 PID: 999999999 at net/x.c\n[2.0] Call Trace:\n[2.0] ---[ end trace 0 ]---\n";
    assert_eq!(excuses(warning), [false], "its stack is a part of it");
    assert_eq!(excuses(&(warning.to_owned() + &log("tcp_ack"))), [false, true]);
    assert_eq!(excuses("[3.0] BUG: kernel NULL pointer dereference\n"), [false]);
}

/// All files below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.iter().flat_map(|path| below(path)).chain(paths.iter().cloned()).collect()
}
