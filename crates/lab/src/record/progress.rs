//! How far a replication is.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How far a replication is; written by it, read by what shows progress.
#[derive(Debug, Default)]
pub struct Progress {
    /// Simulated time, ps.
    pub now: AtomicU64,
    /// Packet-hops so far.
    pub hops: AtomicU64,
    /// Payload that has arrived, bytes.
    pub bytes: AtomicU64,
    /// Payload that there is to carry on the average of all seeds, bytes; 0 before the replication begins, and if it ends
    /// at a time.
    pub expected_bytes: AtomicU64,
    /// When it ends at the latest, ps; 0 if that is not known.
    pub expected_ps: AtomicU64,
    /// The replication has ended.
    pub done: AtomicBool,
}

impl Progress {
    /// Is as far as another, which has not ended.
    pub(crate) fn follow(&self, other: &Self) {
        let pairs = [
            (&self.now, &other.now),
            (&self.hops, &other.hops),
            (&self.bytes, &other.bytes),
            (&self.expected_bytes, &other.expected_bytes),
            (&self.expected_ps, &other.expected_ps),
        ];
        for (own, other) in pairs {
            own.store(other.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}
