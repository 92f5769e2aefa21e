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
        let new: Vec<_> = complaints().into_iter().filter(|c| !self.log.contains(c)).collect();
        let (excused, new): (Vec<_>, Vec<_>) = new.into_iter().partition(|c| c.excused);
        for complaint in excused {
            say(&format!("of hooks skipped while process 1 ran, the kernel says: {}", complaint.line));
        }
        assert!(new.is_empty(), "the kernel complains: {new:#?}");
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

/// A line of the kernel's log that tells of an error of its own.
#[derive(Debug, PartialEq, Eq)]
struct Complaint {
    line: String,
    /// It came while process 1 ran: there the kernel may have skipped the hook whose result it warns of
    /// (see `repeat`).
    excused: bool,
}

fn complaints() -> Vec<Complaint> {
    let log = must(&mut Command::new("dmesg"));
    let mut excused = false;
    let mut complaints = Vec::new();
    for line in log.lines() {
        if let Some(at) = line.split("WARNING: ").nth(1) {
            let thread = at.split("PID: ").nth(1).and_then(|rest| rest.split_whitespace().next());
            excused = thread.is_some_and(|pid| Path::new("/proc/1/task").join(pid).exists());
        }
        let serious = ["BUG:", "Oops"].iter().any(|word| line.contains(word));
        if serious || ["WARNING:", "Call Trace"].iter().any(|word| line.contains(word)) {
            complaints.push(Complaint { line: line.to_owned(), excused: excused && !serious });
        }
        excused &= !line.contains("end trace");
    }
    complaints
}

/// All files below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.iter().flat_map(|path| below(path)).chain(paths.iter().cloned()).collect()
}
