//! Random numbers that are counted: the n-th draw of a named place is a function of its name and n.
//!
//! So no draw shifts another's (design rule 4), and nothing has to be kept but the count.

/// A place that draws random numbers, such as a switch or a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Draws {
    name: u64,
    count: u64,
}

impl Draws {
    /// The draws of the `identity`-th `purpose` under the run's `seed`.
    pub fn new(seed: u64, purpose: u64, identity: u64) -> Self {
        Self { name: mix(mix(mix(seed) ^ purpose) ^ identity), count: 0 }
    }

    /// The next number, uniform over 64 bits.
    #[inline]
    pub fn next(&mut self) -> u64 {
        self.count += 1;
        mix(self.name.wrapping_add(self.count.wrapping_mul(GOLDEN)))
    }

    /// A number below `n`; each is drawn with the same probability within n / 2^32.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        scale(self.next() as u32, n)
    }
}

/// A hash of 32 bits as a number below `n`.
#[inline]
pub(crate) fn scale(hash: u32, n: u32) -> u32 {
    ((u64::from(hash) * u64::from(n)) >> 32) as u32
}

/// 2^64 over the golden ratio, odd: SplitMix64 counts in these steps.
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64's output function (Steele, Lea, Flood 2014): every bit of the input moves every bit.
#[inline]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
