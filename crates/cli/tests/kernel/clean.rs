//! What a test must leave as it was.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::RwLockWriteGuard;

use crate::clock::wait_for;
use crate::control::ending;
use crate::namespace::must;
use crate::probe::{has, say};
use crate::repeat::alone;

/// Where the command pins.
const PINS: &str = "/sys/fs/bpf/tresse";

/// The machine before a test, which runs alone in this process until this is checked.
pub struct Clean {
    maps: Option<BTreeSet<u64>>,
    log: Vec<String>,
    _alone: RwLockWriteGuard<'static, ()>,
}

impl Clean {
    /// Remembers.
    pub fn before() -> Self {
        let alone = alone();
        Self { maps: maps(), log: complaints(), _alone: alone }
    }

    /// Compares.
    pub fn check(self) {
        let available = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        let available = available.expect("the kernel lists its congestion controls");
        assert!(!available.contains(&ending()), "still registered: {available}");
        let pinned: Vec<_> = below(Path::new(PINS))
            .into_iter()
            .filter(|path| path.to_string_lossy().contains(&ending()))
            .collect();
        assert!(pinned.is_empty(), "still pinned: {pinned:?}");
        match &self.maps {
            // The kernel frees them when the last socket has gone, and somewhat later.
            Some(before) => {
                let left = || maps().unwrap_or_default().difference(before).copied().collect::<Vec<_>>();
                assert!(wait_for(20.0, || left().is_empty()), "maps are left: {:?}", left());
            }
            None => {
                say("skipped: looking for maps that are left: bpftool is missing (apt-get install bpftool)")
            }
        }
        let log = complaints();
        let new: Vec<_> = log.iter().filter(|line| !self.log.contains(line)).collect();
        assert!(new.is_empty(), "the kernel complains: {new:#?}");
    }
}

/// The numbers of all maps in the kernel; None without bpftool.
fn maps() -> Option<BTreeSet<u64>> {
    if !has("bpftool") {
        return None;
    }
    let list: serde_json::Value =
        serde_json::from_str(&must(Command::new("bpftool").args(["-j", "map", "list"])))
            .expect("bpftool prints JSON");
    Some(list.as_array()?.iter().filter_map(|map| map["id"].as_u64()).collect())
}

/// Lines of the kernel's log that tell of an error of its own.
fn complaints() -> Vec<String> {
    let log = must(&mut Command::new("dmesg"));
    let bad = |line: &&str| ["WARNING:", "BUG:", "Oops", "Call Trace"].iter().any(|word| line.contains(word));
    log.lines().filter(bad).map(str::to_owned).collect()
}

/// All files below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.iter().flat_map(|path| below(path)).chain(paths.iter().cloned()).collect()
}
