//! Random streams, named by their identity.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A random stream for one purpose of one entity: the same seed, purpose and identity give the same numbers,
/// regardless of other draws.
#[derive(Debug, Clone)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of `identity` for `purpose` under the run's `seed`.
    pub fn new(seed: u64, purpose: &str, identity: u64) -> Self {
        // FNV-1a over the purpose; the generator's own seeding (SplitMix64) spreads the hash.
        let name = purpose
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |h: u64, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        let mut mix = seed;
        for word in [name, identity] {
            mix = (mix ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mix ^= mix >> 32;
        }
        Self(Xoshiro256PlusPlus::seed_from_u64(mix))
    }

    /// A uniform number below `n`, without bias (Lemire's method).
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "no number lies below 0");
        loop {
            let wide = u128::from(self.0.next_u64()) * u128::from(n);
            if (wide as u64) >= n.wrapping_neg() % n {
                return (wide >> 64) as u64;
            }
        }
    }

    /// A uniform number between 0 and 1, exclusive, in steps of 2^-52: its logarithm is finite, and its
    /// distances from 0 and 1 are symmetric.
    pub fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }

    /// A number from the exponential distribution with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -libm::log(self.unit()) * mean
    }

    /// A random order of `items` (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}
