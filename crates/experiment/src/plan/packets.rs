//! Which packets are recorded.

use std::collections::BTreeSet;

use tresse_fabric::Topology;
use tresse_units::{NEVER, Time};

use crate::diagnostic::Diagnostic;
use crate::plan::host_sets::HostSets;
use crate::read::Loaded;

/// The packets that are recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packets {
    /// Those that these hosts send or receive.
    pub hosts: BTreeSet<u32>,
    /// From this time on, ps.
    pub from: Time,
    /// Before this time, ps.
    pub to: Time,
    /// At most this many per case and seed.
    pub limit: u64,
}

/// The maximum number of packets that may be requested.
const MOST: u64 = 100_000_000;

/// The packets to record according to `[measure]`, if any.
///
/// # Errors
/// The first thing that is wrong, with its place in the file.
pub(crate) fn resolve(loaded: &Loaded, fabric: &Topology) -> Result<Option<Packets>, Diagnostic> {
    let Some(keys) = &loaded.experiment.measure.packets else { return Ok(None) };
    let wrong = |key: &str, message: &str| loaded.error_at(&["measure", "packets", key], message);
    let known = HostSets { fabric }.names();
    let hosts: Result<BTreeSet<u32>, String> = keys.hosts.iter().map(|host| known.find(host)).collect();
    let hosts = hosts.map_err(|e| wrong("hosts", &e))?;
    if hosts.is_empty() {
        return Err(wrong("hosts", "at least one host, such as [0]"));
    }
    let (from, to) = (keys.from.0, keys.to.map_or(NEVER, |to| to.0));
    if from >= to {
        return Err(wrong("to", "a time after `from`"));
    }
    if !(1..=MOST).contains(&keys.limit) {
        return Err(wrong("limit", &format!("1 to {MOST} packets")));
    }
    Ok(Some(Packets { hosts, from, to, limit: keys.limit }))
}
