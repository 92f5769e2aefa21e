//! The segments that arrived out of order on one subflow.

use std::collections::VecDeque;

use crate::{Block, Count};

/// Disjoint ranges in ascending order, and which of them grew last. Segments come at the end or fill the
/// first gap, so both ends are fast.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ranges {
    blocks: VecDeque<Block>,
    newest: u32,
}

impl Ranges {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// How many segments there are.
    pub fn segments(&self) -> u32 {
        self.blocks.iter().map(|b| b.end - b.start).sum()
    }

    /// Adds a segment; false if it was there.
    pub fn insert(&mut self, seq: u32) -> bool {
        let at = self.blocks.partition_point(|b| b.end < seq);
        self.newest = seq;
        match self.blocks.get_mut(at) {
            Some(b) if b.start <= seq && seq < b.end => return false,
            Some(b) if b.end == seq => {
                b.end += 1;
                if at + 1 < self.blocks.len() && self.blocks[at + 1].start == seq + 1 {
                    self.blocks[at].end = self.blocks[at + 1].end;
                    self.blocks.remove(at + 1);
                }
            }
            Some(b) if b.start == seq + 1 => b.start = seq,
            _ => self.blocks.insert(at, Block { start: seq, end: seq + 1 }),
        }
        true
    }

    /// Takes out the range that begins at `seq`. Returns the segment after it, or `seq` if there is no such
    /// range.
    pub fn take_from(&mut self, seq: u32) -> u32 {
        match self.blocks.front() {
            Some(&b) if b.start == seq => {
                self.blocks.pop_front();
                b.end
            }
            _ => seq,
        }
    }

    /// Up to three blocks for an ACK: the one that grew last, then the others from the highest down (RFC 2018 §4).
    pub fn blocks(&self) -> ([Block; 3], Count) {
        let mut out = [Block::default(); 3];
        let mut n = 0;
        let at = self.blocks.partition_point(|b| b.end <= self.newest);
        let newest = self.blocks.get(at).filter(|b| b.start <= self.newest);
        let others = self.blocks.iter().rev().filter(|b| Some(*b) != newest);
        for b in newest.into_iter().chain(others).take(3) {
            out[n] = *b;
            n += 1;
        }
        (out, Count::of(n))
    }
}
