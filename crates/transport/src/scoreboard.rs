//! The segments that a subflow has sent and that are not cumulatively ACKed.

mod timed;

use tresse_units::Time;

use crate::sent::SentQueue;

pub(crate) use timed::{Delivered, sent_after};

/// What is known of a segment.
#[derive(Debug, Clone, Copy, Default)]
struct Segment {
    dsn: u32,
    flags: u32,
}

const SACKED: u32 = 1;
const LOST: u32 = 2;
const RETRANSMITTED: u32 = 4;
/// It was sent more than once; only RACK asks.
const EVER_RETRANSMITTED: u32 = 8;

/// The segments `una..nxt`, with Linux's counts (`sacked_out`, `lost_out`, `retrans_out`).
#[derive(Debug, Clone)]
pub(crate) struct Scoreboard {
    ring: Box<[Segment]>,
    una: u32,
    nxt: u32,
    /// SACKed segments; with NewReno, duplicate ACKs stand for them and no segment is flagged.
    sacked: u32,
    lost: u32,
    retransmitted: u32,
    /// No lost segment below this one waits for its retransmission.
    next_lost: u32,
    /// Every unSACKed segment below this one is known to be lost or still in doubt for good.
    judged: u32,
    highest_sacked: u32,
    /// Transmissions that RACK has found lost.
    losses: u64,
    /// When and in which order segments were sent, for RACK.
    sent: Option<Box<SentQueue>>,
}

impl Scoreboard {
    pub fn new() -> Self {
        Self {
            ring: vec![Segment::default(); 16].into_boxed_slice(),
            una: 0,
            nxt: 0,
            sacked: 0,
            lost: 0,
            retransmitted: 0,
            next_lost: 0,
            judged: 0,
            highest_sacked: 0,
            losses: 0,
            sent: None,
        }
    }

    /// The first segment that is not cumulatively ACKed.
    #[inline]
    pub fn una(&self) -> u32 {
        self.una
    }

    /// The next segment to be sent.
    #[inline]
    pub fn nxt(&self) -> u32 {
        self.nxt
    }

    #[inline]
    pub fn outstanding(&self) -> u32 {
        self.nxt - self.una
    }

    /// Packets in the network, by Linux's estimate (`tcp_packets_in_flight`).
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.outstanding() - self.sacked - self.lost + self.retransmitted
    }

    #[inline]
    pub fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Lost segments that have not arrived since, retransmitted or not.
    #[inline]
    pub fn lost(&self) -> u32 {
        self.lost
    }

    /// Lost segments whose retransmission is in the network.
    #[inline]
    pub fn retransmitted(&self) -> u32 {
        self.retransmitted
    }

    /// Transmissions that RACK has found lost, ever.
    #[inline]
    pub fn losses(&self) -> u64 {
        self.losses
    }

    /// Adds a segment: its sequence number.
    #[inline]
    pub fn push(&mut self, now: Time, dsn: u32) -> u32 {
        if self.outstanding() as usize == self.ring.len() {
            self.grow();
        }
        let seq = self.nxt;
        *self.at(seq) = Segment { dsn, flags: 0 };
        if let Some(sent) = &mut self.sent {
            sent.push(seq, now);
        }
        self.nxt += 1;
        seq
    }

    /// A cumulative ACK up to `seq`, with SACK: how many segments it delivers.
    #[inline]
    pub fn acknowledge(&mut self, seq: u32) -> u32 {
        let acked = seq - self.una;
        let before = self.sacked;
        self.advance(seq);
        acked - (before - self.sacked)
    }

    /// A cumulative ACK up to `seq`, with NewReno (Linux's `tcp_remove_reno_sacks`): one segment
    /// filled the hole, the rest had been told of by duplicate ACKs.
    #[inline]
    pub fn acknowledge_reno(&mut self, seq: u32) -> u32 {
        let acked = seq - self.una;
        self.advance(seq);
        let delivered = if self.sacked == 0 { acked } else { acked.saturating_sub(self.sacked).max(1) };
        self.sacked -= self.sacked.min(acked - 1);
        self.limit_reno_sacks();
        delivered
    }

    /// A duplicate ACK, with NewReno: how many segments it delivers.
    pub fn duplicate_ack(&mut self) -> u32 {
        let before = self.sacked;
        self.sacked += 1;
        self.limit_reno_sacks();
        self.sacked.saturating_sub(before)
    }

    /// With NewReno, forgets the duplicate ACKs seen so far (Linux's `tcp_reset_reno_sack`).
    pub fn forget_duplicates(&mut self) {
        self.sacked = 0;
    }

    /// A SACK block: how many segments it delivers.
    pub fn sack(&mut self, start: u32, end: u32) -> u32 {
        let mut delivered = 0;
        for seq in start.max(self.una)..end.min(self.nxt) {
            let segment = self.at(seq);
            if segment.flags & SACKED != 0 {
                continue;
            }
            let flags = std::mem::replace(&mut segment.flags, SACKED);
            self.uncount(flags);
            self.sacked += 1;
            self.highest_sacked = self.highest_sacked.max(seq);
            delivered += 1;
        }
        delivered
    }

    /// Marks as lost what has at least `threshold` SACKed segments above it (RFC 6675 §4, IsLost).
    pub fn judge(&mut self, threshold: u32) {
        if self.sacked < threshold {
            return;
        }
        let mut seen = 0;
        let mut limit = self.highest_sacked;
        loop {
            seen += u32::from(self.at(limit).flags & SACKED != 0);
            if seen == threshold {
                break;
            }
            limit -= 1;
        }
        for seq in self.judged.max(self.una)..limit {
            self.mark_lost(seq);
        }
        self.judged = self.judged.max(limit);
    }

    /// Marks the first segment as lost: the hole of a NewReno recovery.
    pub fn lose_head(&mut self) {
        if self.una < self.nxt {
            self.mark_lost(self.una);
            self.limit_reno_sacks();
        }
    }

    /// After a timeout: all that is not SACKed counts as lost and as not retransmitted.
    pub fn lose_all(&mut self, keep_sacks: bool) {
        (self.sacked, self.lost, self.retransmitted) = (0, 0, 0);
        for seq in self.una..self.nxt {
            let segment = self.at(seq);
            if keep_sacks && segment.flags & SACKED != 0 {
                self.sacked += 1;
            } else {
                segment.flags = LOST;
                self.lost += 1;
            }
        }
        self.next_lost = self.una;
        self.judged = self.nxt;
    }

    /// Whether a lost segment waits for its retransmission.
    #[inline]
    pub fn has_lost(&self) -> bool {
        self.lost > self.retransmitted
    }

    /// Retransmits the first lost segment that waits: its sequence number and data sequence number.
    pub fn retransmit(&mut self, now: Time) -> Option<(u32, u32)> {
        if !self.has_lost() {
            return None;
        }
        for seq in self.next_lost.max(self.una)..self.nxt {
            let segment = self.at(seq);
            if segment.flags & (LOST | RETRANSMITTED) == LOST {
                segment.flags |= RETRANSMITTED | EVER_RETRANSMITTED;
                let dsn = segment.dsn;
                if let Some(sent) = &mut self.sent {
                    sent.push(seq, now);
                }
                self.retransmitted += 1;
                self.next_lost = seq + 1;
                return Some((seq, dsn));
            }
        }
        unreachable!("{} lost, {} retransmitted, and none to be found", self.lost, self.retransmitted)
    }

    /// Tells the data sequence numbers of what is neither cumulatively ACKed nor SACKed, in order.
    pub fn for_each_unsacked(&mut self, mut tell: impl FnMut(u32)) {
        for seq in self.una..self.nxt {
            let segment = self.at(seq);
            if segment.flags & SACKED == 0 {
                tell(segment.dsn);
            }
        }
    }

    fn mark_lost(&mut self, seq: u32) {
        let segment = self.at(seq);
        if segment.flags & (SACKED | LOST) == 0 {
            segment.flags |= LOST;
            self.lost += 1;
            self.next_lost = self.next_lost.min(seq);
        }
    }

    /// Takes the segments below `seq` out.
    #[inline]
    fn advance(&mut self, seq: u32) {
        let plain = self.lost == 0 && self.retransmitted == 0 && self.highest_sacked < self.una;
        if !plain {
            for seq in self.una..seq {
                let flags = self.at(seq).flags;
                self.uncount(flags);
                self.sacked -= u32::from(flags & SACKED != 0);
            }
        }
        self.una = seq;
    }

    fn uncount(&mut self, flags: u32) {
        self.lost -= u32::from(flags & LOST != 0);
        self.retransmitted -= u32::from(flags & RETRANSMITTED != 0);
    }

    /// Linux's `tcp_limit_reno_sacked`: there is at least one hole.
    fn limit_reno_sacks(&mut self) {
        let holes = self.lost.max(1);
        self.sacked = self.sacked.min(self.outstanding().saturating_sub(holes));
    }

    #[inline]
    fn at(&mut self, seq: u32) -> &mut Segment {
        let mask = self.ring.len() - 1;
        &mut self.ring[seq as usize & mask]
    }

    #[cold]
    fn grow(&mut self) {
        let mut ring = vec![Segment::default(); 2 * self.ring.len()].into_boxed_slice();
        let mask = ring.len() - 1;
        for seq in self.una..self.nxt {
            ring[seq as usize & mask] = *self.at(seq);
        }
        self.ring = ring;
        if let Some(sent) = &mut self.sent {
            sent.grow(self.una..self.nxt);
        }
    }
}
