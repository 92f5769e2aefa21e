//! The progress of a replication, and of a run.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The progress of a replication; the replication writes it, and progress displays read it.
#[derive(Debug, Default)]
pub struct Progress {
    /// Simulated time, ps.
    pub now: AtomicU64,
    /// Packet-hops so far.
    pub hops: AtomicU64,
    /// The payload that has arrived, bytes.
    pub bytes: AtomicU64,
    /// The average payload over all seeds that has to be carried, bytes; 0 before the replication begins, and if it
    /// ends at a fixed time.
    pub expected_bytes: AtomicU64,
    /// Flows that have finished or were stopped, of those that `expected_flows` counts.
    pub flows: AtomicU64,
    /// How many flows it has besides those that go on as long as these do; 0 if `expected_bytes` is known.
    pub expected_flows: AtomicU64,
    /// The latest time at which it ends, ps; 0 if unknown.
    pub expected_ps: AtomicU64,
    /// The replication has ended.
    pub done: AtomicBool,
}

impl Progress {
    /// Takes over the progress of another replication, which has not ended.
    pub fn follow(&self, other: &Self) {
        let pairs = [
            (&self.now, &other.now),
            (&self.hops, &other.hops),
            (&self.bytes, &other.bytes),
            (&self.expected_bytes, &other.expected_bytes),
            (&self.flows, &other.flows),
            (&self.expected_flows, &other.expected_flows),
            (&self.expected_ps, &other.expected_ps),
        ];
        for (own, other) in pairs {
            own.store(other.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}

/// `progress.json`: the progress of a run, for readers of its folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Progress")]
pub struct ProgressFile {
    /// 0 to 1; `None` if that is not known.
    pub done_ratio: Option<f64>,
    /// Seconds since it began.
    pub elapsed_s: f64,
    /// Seconds until it ends; `None` if that is not known.
    pub left_s: Option<f64>,
    /// Packet-hops so far.
    pub packet_hops: u64,
    /// Replications that have ended.
    pub replications_done: usize,
    /// Replications that are to run.
    pub replications: usize,
    /// The schemes of all cases, with their numbers of subflows: results name only those of complete cases.
    #[serde(default)]
    pub schemes: Vec<String>,
}

impl ProgressFile {
    /// Its name in the folder of a run in progress.
    pub const NAME: &str = "progress.json";
}
