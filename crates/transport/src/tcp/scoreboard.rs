//! The segments that a subflow has sent and that are not cumulatively ACKed.

mod flags;
mod timed;

use tresse_units::Time;

use self::flags::{Flags, bit, segments, words};
use crate::Block;
use crate::tcp::sent::SentQueue;

pub(crate) use timed::{Delivered, sent_after};

/// The least size of the rings, segments.
const SMALLEST: usize = 16;

/// How many SACK blocks are remembered: an ACK has three, and one more may have been split off.
const TOLD: usize = 4;

/// The segments `una..nxt`, with Linux's counts (`sacked_out`, `lost_out`, `retrans_out`).
// What every ACK needs comes first.
#[derive(Debug, Clone)]
#[repr(C)]
pub(crate) struct Scoreboard {
    una: u32,
    nxt: u32,
    /// SACKed segments; with NewReno, the number of duplicate ACKs, and no segment is flagged.
    sacked: u32,
    lost: u32,
    retransmitted: u32,
    highest_sacked: u32,
    /// The data sequence number of each.
    ring: Box<[u32]>,
    /// Transmissions that RACK has found lost.
    losses: u64,
    /// When and in which order segments were sent, for RACK.
    sent: Option<Box<SentQueue>>,
    flags: Flags,
    /// No lost segment below this one waits for its retransmission.
    next_lost: u32,
    /// Every unSACKed segment below this one is known to be lost, or will never be judged.
    judged: u32,
    /// SACK blocks that were reported before: their segments are SACKed or cumulatively ACKed.
    told: [Block; TOLD],
    /// Which of them is replaced next.
    oldest_told: u8,
}

impl Scoreboard {
    pub fn new() -> Self {
        Self {
            ring: vec![0; SMALLEST].into_boxed_slice(),
            flags: Flags::new(SMALLEST),
            una: 0,
            nxt: 0,
            sacked: 0,
            lost: 0,
            retransmitted: 0,
            next_lost: 0,
            judged: 0,
            highest_sacked: 0,
            told: [Block::default(); TOLD],
            oldest_told: 0,
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
        *self.dsn(seq) = dsn;
        if let Some(sent) = &mut self.sent {
            sent.push(seq, now);
        }
        self.nxt += 1;
        seq
    }

    /// A cumulative ACK up to `seq`, with SACK. Returns how many segments it delivers.
    #[inline]
    pub fn acknowledge(&mut self, seq: u32) -> u32 {
        let acked = seq - self.una;
        let before = self.sacked;
        self.advance(seq);
        acked - (before - self.sacked)
    }

    /// A cumulative ACK up to `seq`, with NewReno (Linux's `tcp_remove_reno_sacks`): one segment
    /// filled the hole, the rest had been reported by duplicate ACKs.
    #[inline]
    pub fn acknowledge_reno(&mut self, seq: u32) -> u32 {
        let acked = seq - self.una;
        self.advance(seq);
        let delivered = if self.sacked == 0 { acked } else { acked.saturating_sub(self.sacked).max(1) };
        self.sacked -= self.sacked.min(acked - 1);
        self.limit_reno_sacks();
        delivered
    }

    /// A duplicate ACK, with NewReno. Returns how many segments it delivers.
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

    /// A SACK block. Returns how many segments it delivers.
    pub fn sack(&mut self, start: u32, end: u32) -> u32 {
        let mut delivered = 0;
        for (start, end) in self.untold(start, end) {
            for (base, mask) in words(start..end) {
                let word = self.flags.word(base);
                let new = mask & !word.sacked;
                if new == 0 {
                    continue;
                }
                self.lost -= (word.lost & new).count_ones();
                self.retransmitted -= (word.retransmitted & new).count_ones();
                word.clear(new);
                word.sacked |= new;
                self.highest_sacked = self.highest_sacked.max(base + new.ilog2());
                delivered += new.count_ones();
            }
        }
        self.sacked += delivered;
        delivered
    }

    /// The part of a SACK block in the window that was not reported before. An ACK reports up to three
    /// blocks, which may be as long as the window, and one of them has grown by a segment or two.
    #[inline]
    fn untold(&mut self, start: u32, end: u32) -> [(u32, u32); 2] {
        let (start, end) = (start.max(self.una), end.min(self.nxt));
        if start >= end {
            return [(0, 0); 2];
        }
        let new = Block { start, end };
        let known = self.told.iter_mut().find(|b| start <= b.end && b.start <= end && b.end > 0);
        let Some(known) = known else {
            self.told[usize::from(self.oldest_told)] = new;
            self.oldest_told = (self.oldest_told + 1) % TOLD as u8;
            return [(start, end), (0, 0)];
        };
        let before = (start, known.start.min(end));
        let after = (known.end.max(start), end);
        *known = Block { start: start.min(known.start), end: end.max(known.end) };
        [before, after]
    }

    /// Marks as lost the segments with at least `threshold` SACKed segments above them (RFC 6675 §4, IsLost).
    pub fn judge(&mut self, threshold: u32) {
        if self.sacked < threshold {
            return;
        }
        let limit = self.below_sacked(threshold);
        self.lose_range(self.judged.max(self.una)..limit);
        self.judged = self.judged.max(limit);
    }

    /// The `count`th SACKed segment from the highest down; there are that many.
    fn below_sacked(&mut self, mut count: u32) -> u32 {
        for (base, mask) in words(self.una..self.highest_sacked + 1).rev() {
            let mut sacked = self.flags.word(base).sacked & mask;
            if sacked.count_ones() < count {
                count -= sacked.count_ones();
                continue;
            }
            for _ in 1..count {
                sacked ^= 1 << sacked.ilog2();
            }
            return base + sacked.ilog2();
        }
        unreachable!("fewer segments are SACKed than are counted")
    }

    /// Marks the first segment as lost: the hole of a NewReno recovery.
    pub fn lose_head(&mut self) {
        if self.una < self.nxt {
            self.mark_lost(self.una);
            self.limit_reno_sacks();
        }
    }

    /// After a timeout: all unSACKed segments count as lost and not retransmitted.
    pub fn lose_all(&mut self, keep_sacks: bool) {
        (self.sacked, self.lost, self.retransmitted) = (0, 0, 0);
        if !keep_sacks {
            self.told = [Block::default(); TOLD];
        }
        for (base, mask) in words(self.una..self.nxt) {
            let word = self.flags.word(base);
            let kept = if keep_sacks { word.sacked & mask } else { 0 };
            word.clear(mask);
            word.sacked |= kept;
            word.lost |= mask & !kept;
            self.sacked += kept.count_ones();
            self.lost += (mask & !kept).count_ones();
        }
        self.next_lost = self.una;
        self.judged = self.nxt;
    }

    /// Whether a lost segment waits for its retransmission.
    #[inline]
    pub fn has_lost(&self) -> bool {
        self.lost > self.retransmitted
    }

    /// Retransmits the first lost segment that waits. Returns its sequence number and data sequence number.
    pub fn retransmit(&mut self, now: Time) -> Option<(u32, u32)> {
        if !self.has_lost() {
            return None;
        }
        for (base, mask) in words(self.next_lost.max(self.una)..self.nxt) {
            let word = self.flags.word(base);
            let Some(seq) = segments(base, word.waiting() & mask).next() else { continue };
            word.retransmitted |= bit(seq);
            word.again |= bit(seq);
            if let Some(sent) = &mut self.sent {
                sent.push(seq, now);
            }
            self.retransmitted += 1;
            self.next_lost = seq + 1;
            return Some((seq, *self.dsn(seq)));
        }
        unreachable!("{} lost, {} retransmitted, and none to be found", self.lost, self.retransmitted)
    }

    /// Calls `tell` with the data sequence numbers of all segments that are neither cumulatively ACKed nor
    /// SACKed, in order.
    pub fn for_each_unsacked(&mut self, mut tell: impl FnMut(u32)) {
        for (base, mask) in words(self.una..self.nxt) {
            let unsacked = mask & !self.flags.word(base).sacked;
            segments(base, unsacked).for_each(|seq| tell(*self.dsn(seq)));
        }
    }

    fn mark_lost(&mut self, seq: u32) {
        self.lose_range(seq..seq + 1);
    }

    /// Marks as lost the segments that are neither SACKed nor lost yet.
    fn lose_range(&mut self, range: std::ops::Range<u32>) {
        for (base, mask) in words(range) {
            let word = self.flags.word(base);
            let new = mask & !(word.sacked | word.lost);
            if new != 0 {
                word.lost |= new;
                self.lost += new.count_ones();
                self.next_lost = self.next_lost.min(base + new.trailing_zeros());
            }
        }
    }

    /// Removes the segments below `seq`.
    #[inline]
    fn advance(&mut self, seq: u32) {
        let plain = self.lost == 0 && self.retransmitted == 0 && self.highest_sacked < self.una;
        if !plain {
            for (base, mask) in words(self.una..seq) {
                let word = self.flags.word(base);
                self.lost -= (word.lost & mask).count_ones();
                self.retransmitted -= (word.retransmitted & mask).count_ones();
                self.sacked -= (word.sacked & mask).count_ones();
                word.clear(mask);
            }
        }
        self.una = seq;
    }

    /// Linux's `tcp_limit_reno_sacked`: there is at least one hole.
    fn limit_reno_sacks(&mut self) {
        let holes = self.lost.max(1);
        self.sacked = self.sacked.min(self.outstanding().saturating_sub(holes));
    }

    #[inline]
    fn dsn(&mut self, seq: u32) -> &mut u32 {
        let mask = self.ring.len() - 1;
        &mut self.ring[seq as usize & mask]
    }

    #[cold]
    fn grow(&mut self) {
        let mut ring = vec![0; 2 * self.ring.len()].into_boxed_slice();
        let mask = ring.len() - 1;
        for seq in self.una..self.nxt {
            ring[seq as usize & mask] = *self.dsn(seq);
        }
        self.ring = ring;
        self.flags.grow(self.ring.len(), self.una..self.nxt);
        if let Some(sent) = &mut self.sent {
            sent.grow(self.una..self.nxt);
        }
    }
}

#[cfg(test)]
mod tests;
