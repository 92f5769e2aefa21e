//! The progress of a replication.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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
    /// The latest time at which it ends, ps; 0 if unknown.
    pub expected_ps: AtomicU64,
    /// The replication has ended.
    pub done: AtomicBool,
}

impl Progress {
    /// Takes over the progress of another replication, which has not ended.
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
