//! The flags of a window's segments, one bit each: an ACK processes 64 segments at a time.

use std::ops::Range;

/// The flags of 64 neighbouring segments; bit i stands for the first one's number plus i.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Word {
    pub sacked: u64,
    pub lost: u64,
    /// Lost, and its retransmission is in the network.
    pub retransmitted: u64,
    /// It was sent more than once; only RACK uses this.
    pub again: u64,
}

impl Word {
    /// Lost segments that wait for their retransmission.
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.lost & !self.retransmitted
    }

    /// Segments that are in the network, as far as known.
    #[inline]
    pub fn in_network(&self) -> u64 {
        !(self.sacked | self.waiting())
    }

    /// Clears all flags of the segments in `mask`.
    #[inline]
    pub fn clear(&mut self, mask: u64) {
        self.sacked &= !mask;
        self.lost &= !mask;
        self.retransmitted &= !mask;
        self.again &= !mask;
    }
}

/// A ring of words; outside of the window all bits are 0.
#[derive(Debug, Clone)]
pub(super) struct Flags(Box<[Word]>);

impl Flags {
    /// For a window of up to `segments`, a power of two.
    pub fn new(segments: usize) -> Self {
        Self(vec![Word::default(); segments.div_ceil(64)].into_boxed_slice())
    }

    /// The word of `seq`. In a full ring a window's first and last segments may share one, in different bits.
    #[inline]
    pub fn word(&mut self, seq: u32) -> &mut Word {
        let mask = self.0.len() - 1;
        &mut self.0[(seq / 64) as usize & mask]
    }

    /// The same for a window of up to `segments`; `window` is the range with flags.
    pub fn grow(&mut self, segments: usize, window: Range<u32>) {
        let mut grown = Self::new(segments);
        for (base, mask) in words(window) {
            let (old, new) = (*self.word(base), grown.word(base));
            new.sacked |= old.sacked & mask;
            new.lost |= old.lost & mask;
            new.retransmitted |= old.retransmitted & mask;
            new.again |= old.again & mask;
        }
        *self = grown;
    }
}

/// The bit of `seq` in its word.
#[inline]
pub(super) fn bit(seq: u32) -> u64 {
    1 << (seq % 64)
}

/// The words over a range of segments: the number of the first segment of each, and which bits are in the range.
#[inline]
pub(super) fn words(range: Range<u32>) -> impl DoubleEndedIterator<Item = (u32, u64)> {
    let Range { start, end } = range;
    let last = if start < end { (end - 1) / 64 + 1 } else { start / 64 };
    (start / 64..last).map(move |word| {
        let base = word * 64;
        let from = u64::MAX << start.saturating_sub(base);
        let to = u64::MAX >> (63 - (end - 1 - base).min(63));
        (base, from & to)
    })
}

/// The numbers of the segments whose bits are set, in order.
#[inline]
pub(super) fn segments(base: u32, mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let first = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (first < 64).then(|| base + first)
    })
}
