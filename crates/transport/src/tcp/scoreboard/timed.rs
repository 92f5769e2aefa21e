//! The scoreboard with times, for RACK: the segments that an ACK delivered, and losses by time.

use tresse_units::Time;

use super::Scoreboard;
use super::flags::{Word, bit, segments, words};
use crate::tcp::sent::SentQueue;

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

impl Scoreboard {
    /// A scoreboard that keeps times.
    pub fn timed() -> Self {
        let mut board = Self::new();
        board.sent = Some(Box::new(SentQueue::new(board.ring.len())));
        board
    }

    /// When `seq`, which is outstanding, was last sent.
    pub fn time(&self, seq: u32) -> Time {
        self.sent.as_ref().map_or(0, |sent| sent.time(seq))
    }

    /// A cumulative ACK up to `seq`: calls `each` with every segment that it delivers, in order, and returns
    /// their number.
    pub fn acknowledge_timed(&mut self, seq: u32, mut each: impl FnMut(Delivered)) -> u32 {
        let mut delivered = 0;
        for (base, mask) in words(self.una..seq) {
            let word = *self.flags.word(base);
            self.flags.word(base).clear(mask);
            self.lost -= (word.lost & mask).count_ones();
            self.retransmitted -= (word.retransmitted & mask).count_ones();
            self.sacked -= (word.sacked & mask).count_ones();
            let new = mask & !word.sacked;
            delivered += new.count_ones();
            self.take(base, new, &word, &mut each);
        }
        self.una = seq;
        delivered
    }

    /// A SACK block, as [`Scoreboard::acknowledge_timed`].
    pub fn sack_timed(&mut self, start: u32, end: u32, mut each: impl FnMut(Delivered)) -> u32 {
        let mut delivered = 0;
        for (start, end) in self.untold(start, end) {
            for (base, mask) in words(start..end) {
                let word = *self.flags.word(base);
                let new = mask & !word.sacked;
                if new == 0 {
                    continue;
                }
                self.flags.word(base).clear(new);
                self.flags.word(base).sacked |= new;
                self.lost -= (word.lost & new).count_ones();
                self.retransmitted -= (word.retransmitted & new).count_ones();
                delivered += new.count_ones();
                self.take(base, new, &word, &mut each);
            }
        }
        self.sacked += delivered;
        delivered
    }

    /// Calls `each` with the segments in `new`, which an ACK delivers; `word` has their flags.
    fn take(&mut self, base: u32, new: u64, word: &Word, each: &mut impl FnMut(Delivered)) {
        let Some(sent) = &mut self.sent else { return };
        for seq in segments(base, new) {
            if word.in_network() & bit(seq) != 0 {
                sent.remove(seq);
            }
            each(Delivered { seq, time: sent.time(seq), again: word.again & bit(seq) != 0 });
        }
    }

    /// RFC 8985 §6.2 step 5, `RACK_detect_loss`: marks segments that were sent before `newest`, the last
    /// transmission known to have arrived, and at least `patience` ago. Returns when the last of the others
    /// will be that old.
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

    /// RFC 8985 §6.3, after a timeout: the first segment is lost, and so are those sent at least `age` ago;
    /// later ones may still arrive.
    pub fn lose_on_timeout(&mut self, now: Time, age: Time) {
        for (base, mask) in words(self.una..self.nxt) {
            for seq in segments(base, self.flags.word(base).in_network() & mask) {
                if seq == self.una || self.time(seq) + age <= now {
                    self.lose(seq);
                }
            }
        }
    }

    /// A segment that is in the network is lost; if it is a retransmission, once more (Linux's
    /// `tcp_mark_skb_lost`).
    fn lose(&mut self, seq: u32) {
        let word = self.flags.word(seq);
        if word.lost & bit(seq) == 0 {
            self.mark_lost(seq);
        } else {
            word.retransmitted &= !bit(seq);
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
        let word = self.flags.word(seq);
        if word.in_network() & bit(seq) == 0 {
            return None;
        }
        word.again |= bit(seq);
        let dsn = *self.dsn(seq);
        if let Some(sent) = &mut self.sent {
            sent.remove(seq);
            sent.push(seq, now);
        }
        Some((seq, dsn))
    }
}
