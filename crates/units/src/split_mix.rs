//! Counted random numbers: the n-th draw of a named place is a function of its name and n.
//!
//! So no draw shifts another one (design rule 4).

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): it counts in steps of one constant and mixes the count.
///
/// If it is [`named`](Self::named), each place that draws, such as a switch or a port, has its own numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitMix(u64);

/// 2^64 over the golden ratio, odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl SplitMix {
    /// The numbers that follow from one word.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The draws of the `identity`-th `purpose` under the run's `seed`.
    pub fn named(seed: u64, purpose: u64, identity: u64) -> Self {
        Self(mix(mix(mix(seed) ^ purpose) ^ identity))
    }

    /// The next number, uniform over 64 bits.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "it never ends, and no caller needs an iterator")]
    pub fn next(&mut self) -> u64 {
        let next = self.nth(1);
        self.0 = self.0.wrapping_add(GOLDEN);
        next
    }

    /// The `n`-th number from here, counted from 1, without drawing it.
    #[inline]
    pub fn nth(self, n: u64) -> u64 {
        mix(self.0.wrapping_add(n.wrapping_mul(GOLDEN)))
    }

    /// A number below `n`. Its bias is below n / 2^64, too small to measure.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// Keeps `count` of `items`, every choice and every order equally likely (Fisher and Yates).
    ///
    /// # Panics
    /// If there are fewer.
    pub fn choose<T>(&mut self, items: &mut Vec<T>, count: usize) {
        for i in 0..count {
            let other = i + self.below((items.len() - i) as u64) as usize;
            items.swap(i, other);
        }
        items.truncate(count);
    }
}

/// SplitMix64's output function: every bit of the input affects every bit of the output.
#[inline]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
