//! When each segment was last sent, and which were sent before it, as RACK needs it (RFC 8985 §5.1).

use tresse_units::Time;

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    time: Time,
    before: u32,
    after: u32,
}

/// No segment: a message has fewer than 2^32.
const NONE: u32 = u32::MAX;

/// The segments in the network in the order of their last transmission (Linux's `tsorted_sent_queue`): a list
/// through a ring, so that a loss is found without reading the segments that were sent later.
#[derive(Debug, Clone)]
pub(crate) struct SentQueue {
    ring: Box<[Entry]>,
    first: u32,
    last: u32,
}

impl SentQueue {
    /// An empty one; `size` is the scoreboard's, a power of two.
    pub fn new(size: usize) -> Self {
        Self { ring: vec![Entry::default(); size].into_boxed_slice(), first: NONE, last: NONE }
    }

    /// `seq` was sent now; it is not in the list.
    pub fn push(&mut self, seq: u32, now: Time) {
        let before = self.last;
        *self.at(seq) = Entry { time: now, before, after: NONE };
        match before {
            NONE => self.first = seq,
            _ => self.at(before).after = seq,
        }
        self.last = seq;
    }

    /// Takes `seq` out of the list; its time is kept.
    pub fn remove(&mut self, seq: u32) {
        let Entry { before, after, .. } = *self.at(seq);
        match before {
            NONE => self.first = after,
            _ => self.at(before).after = after,
        }
        match after {
            NONE => self.last = before,
            _ => self.at(after).before = before,
        }
    }

    /// When `seq` was last sent.
    pub fn time(&self, seq: u32) -> Time {
        self.ring[seq as usize & (self.ring.len() - 1)].time
    }

    /// The segment that was sent first.
    pub fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }

    /// The segment that was sent next after `seq`.
    pub fn after(&self, seq: u32) -> Option<u32> {
        let after = self.ring[seq as usize & (self.ring.len() - 1)].after;
        (after != NONE).then_some(after)
    }

    /// Doubles the ring, in which `segments` are.
    pub fn grow(&mut self, segments: std::ops::Range<u32>) {
        let mut ring = vec![Entry::default(); 2 * self.ring.len()].into_boxed_slice();
        let mask = ring.len() - 1;
        for seq in segments {
            ring[seq as usize & mask] = *self.at(seq);
        }
        self.ring = ring;
    }

    fn at(&mut self, seq: u32) -> &mut Entry {
        let mask = self.ring.len() - 1;
        &mut self.ring[seq as usize & mask]
    }
}
