//! How a sprayed connection uses the fields of a [`Wire`]: its ACKs have a bitmap instead of TCP's blocks.

use crate::{Block, Wire};

/// Data: the path that it takes.
pub fn with_path(wire: Wire, path: u32) -> Wire {
    Wire { blocks: [Block::default(), Block { start: wire.seq, end: path }, Block::default()], ..wire }
}

/// The contents of an ACK or NACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The packet that it answers.
    pub packet: u32,
    /// The path that this packet took.
    pub path: u32,
    /// Bit j is set if the packet `base` + j has arrived.
    pub base: u32,
    /// See `base`.
    pub bitmap: u64,
}

impl Answer {
    /// The contents of `wire`.
    pub fn of(wire: &Wire) -> Self {
        let [bitmap, own, base] = wire.blocks;
        Self {
            packet: own.start,
            path: own.end,
            base: base.start,
            bitmap: u64::from(bitmap.end) << 32 | u64::from(bitmap.start),
        }
    }

    /// The packets that have arrived from [`Answer::base`] on, as blocks in the order of their numbers.
    pub fn arrived(&self) -> impl Iterator<Item = Block> {
        let Self { base, bitmap, .. } = *self;
        let mut next = 0;
        std::iter::from_fn(move || {
            let start = next + bitmap.checked_shr(next).filter(|&left| left != 0)?.trailing_zeros();
            next = start + (bitmap >> start).trailing_ones();
            Some(Block { start: base + start, end: base + next })
        })
    }

    /// The blocks of a wire with these contents.
    pub fn blocks(self) -> [Block; 3] {
        [
            Block { start: self.bitmap as u32, end: (self.bitmap >> 32) as u32 },
            Block { start: self.packet, end: self.path },
            Block { start: self.base, end: 0 },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_arrived_is_told_in_blocks() {
        let blocks = |bitmap| -> Vec<_> {
            let answer = Answer { packet: 0, path: 0, base: 100, bitmap };
            answer.arrived().map(|block| (block.start, block.end)).collect()
        };
        assert_eq!(blocks(0), []);
        assert_eq!(blocks(0b1101), [(100, 101), (102, 104)]);
        assert_eq!(blocks(1 << 63 | 1), [(100, 101), (163, 164)]);
        assert_eq!(blocks(u64::MAX), [(100, 164)]);
    }
}
