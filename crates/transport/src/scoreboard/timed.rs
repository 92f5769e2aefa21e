//! The scoreboard with times, for RACK: what an ACK delivered, and what is lost by time.

use tresse_units::Time;

use super::{EVER_RETRANSMITTED, LOST, RETRANSMITTED, SACKED, Scoreboard};
use crate::sent::SentQueue;

/// A segment that an ACK has delivered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delivered {
    pub seq: u32,
    /// When it was last sent.
    pub time: Time,
    /// It was sent more than once, so that the ACK may be for an earlier transmission.
    pub again: bool,
}

/// RFC 8985 §6.2, `RACK_sent_after`: the transmission `a` came after `b`; both are (time, segment).
#[inline]
pub(crate) fn sent_after(a: (Time, u32), b: (Time, u32)) -> bool {
    a > b
}

/// Whether a segment is in the network, as far as is known: it is in the list then.
#[inline]
fn in_network(flags: u32) -> bool {
    flags & SACKED == 0 && flags & (LOST | RETRANSMITTED) != LOST
}

impl Scoreboard {
    /// One that keeps times.
    pub fn timed() -> Self {
        let mut board = Self::new();
        board.sent = Some(Box::new(SentQueue::new(board.ring.len())));
        board
    }

    /// When `seq`, which is outstanding, was last sent.
    pub fn time(&self, seq: u32) -> Time {
        self.sent.as_ref().map_or(0, |sent| sent.time(seq))
    }

    /// A cumulative ACK up to `seq`: calls `each` with every segment that it delivers, in order, and
    /// returns how many they are.
    pub fn acknowledge_timed(&mut self, seq: u32, mut each: impl FnMut(Delivered)) -> u32 {
        let mut delivered = 0;
        for acked in self.una..seq {
            let flags = self.at(acked).flags;
            self.uncount(flags);
            if flags & SACKED != 0 {
                self.sacked -= 1;
            } else {
                self.take(acked, flags, &mut each);
                delivered += 1;
            }
        }
        self.una = seq;
        delivered
    }

    /// A SACK block, as [`Scoreboard::acknowledge_timed`].
    pub fn sack_timed(&mut self, start: u32, end: u32, mut each: impl FnMut(Delivered)) -> u32 {
        let mut delivered = 0;
        for seq in start.max(self.una)..end.min(self.nxt) {
            let flags = self.at(seq).flags;
            if flags & SACKED != 0 {
                continue;
            }
            self.take(seq, flags, &mut each);
            self.at(seq).flags = SACKED;
            self.uncount(flags);
            self.sacked += 1;
            delivered += 1;
        }
        delivered
    }

    fn take(&mut self, seq: u32, flags: u32, each: &mut impl FnMut(Delivered)) {
        let Some(sent) = &mut self.sent else { return };
        if in_network(flags) {
            sent.remove(seq);
        }
        each(Delivered { seq, time: sent.time(seq), again: flags & EVER_RETRANSMITTED != 0 });
    }

    /// RFC 8985 §6.2 step 5, `RACK_detect_loss`: marks what was sent before `newest`, the last
    /// transmission that is known to have arrived, and `patience` ago or longer. Returns when the last
    /// of the others will be that old.
    pub fn lose_older(&mut self, now: Time, newest: (Time, u32), patience: Time) -> Option<Time> {
        let mut wait = None;
        let mut next = self.sent.as_ref()?.first();
        while let Some(seq) = next {
            let sent = self.sent.as_ref()?;
            let time = sent.time(seq);
            if !sent_after(newest, (time, seq)) {
                break;
            }
            next = sent.after(seq);
            let due = time + patience;
            if due <= now {
                self.lose(seq);
            } else {
                wait = wait.max(Some(due));
            }
        }
        wait
    }

    /// RFC 8985 §6.3, after a timeout: the first segment is lost, and so is what was sent `age` ago or
    /// longer; what was sent since may still arrive.
    pub fn lose_on_timeout(&mut self, now: Time, age: Time) {
        for seq in self.una..self.nxt {
            let flags = self.at(seq).flags;
            if in_network(flags) && (seq == self.una || self.time(seq) + age <= now) {
                self.lose(seq);
            }
        }
    }

    /// A segment that is in the network is lost; if it is a retransmission, once more (Linux's
    /// `tcp_mark_skb_lost`).
    fn lose(&mut self, seq: u32) {
        let segment = self.at(seq);
        if segment.flags & LOST == 0 {
            self.mark_lost(seq);
        } else {
            segment.flags &= !RETRANSMITTED;
            self.retransmitted -= 1;
            self.next_lost = self.next_lost.min(seq);
        }
        self.losses += 1;
        if let Some(sent) = &mut self.sent {
            sent.remove(seq);
        }
    }

    /// Sends the last segment again as a probe, unless it has arrived. As in Linux, the scoreboard does
    /// not count it as a retransmission: it is not known to be lost.
    pub fn probe_last(&mut self, now: Time) -> Option<(u32, u32)> {
        let seq = self.nxt - 1;
        let segment = self.at(seq);
        if !in_network(segment.flags) {
            return None;
        }
        segment.flags |= EVER_RETRANSMITTED;
        let dsn = segment.dsn;
        if let Some(sent) = &mut self.sent {
            sent.remove(seq);
            sent.push(seq, now);
        }
        Some((seq, dsn))
    }
}
