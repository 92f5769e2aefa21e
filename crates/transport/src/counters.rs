//! What a subflow counts.

use std::ops::{AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// The counters of a subflow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Segments sent for the first time.
    pub sent: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Segments whose data another subflow had sent before; counted as sent too.
    pub reinjections: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Packets of handshakes that were sent again: the first time after [`Config::rto_initial`](crate::Config::rto_initial).
    pub handshake_timeouts: u64,
    /// Fast recoveries entered.
    pub recoveries: u64,
    /// Windows cut for an ECN mark.
    pub mark_cuts: u64,
    /// CE marks that ACKs echoed.
    pub marks: u64,
    /// Tail loss probes (RFC 8985 §7), new segments and retransmissions; counted there too.
    pub probes: u64,
    /// Rounds (XMP §2.1); each is counted when its first segment is ACKed, so that time without ACKs has none.
    pub rounds: u64,
    /// The windows under which these rounds were sent, summed, packets.
    pub windows: u64,
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.sent += other.sent;
        self.retransmissions += other.retransmissions;
        self.reinjections += other.reinjections;
        self.timeouts += other.timeouts;
        self.handshake_timeouts += other.handshake_timeouts;
        self.recoveries += other.recoveries;
        self.mark_cuts += other.mark_cuts;
        self.marks += other.marks;
        self.probes += other.probes;
        self.rounds += other.rounds;
        self.windows += other.windows;
    }
}

impl Sub for Counters {
    type Output = Self;

    /// The counts since `before`.
    fn sub(self, before: Self) -> Self {
        Self {
            sent: self.sent - before.sent,
            retransmissions: self.retransmissions - before.retransmissions,
            reinjections: self.reinjections - before.reinjections,
            timeouts: self.timeouts - before.timeouts,
            handshake_timeouts: self.handshake_timeouts - before.handshake_timeouts,
            recoveries: self.recoveries - before.recoveries,
            mark_cuts: self.mark_cuts - before.mark_cuts,
            marks: self.marks - before.marks,
            probes: self.probes - before.probes,
            rounds: self.rounds - before.rounds,
            windows: self.windows - before.windows,
        }
    }
}
