//! Sizes for arrivals, drawn in strata.

use tresse_units::Stream;

use crate::size::Size;

/// Arrivals in a block, and the number of parts of equal probability for it.
pub const BLOCK: u64 = 1024;

/// The sizes of the arrivals 0, 1, …: each is distributed as in [`Size`], and in every block of 1024 arrivals
/// one comes from each 1/1024 of the distribution, in random order.
///
/// With the heavy tails of data centres, the mean of independent sizes approaches the distribution's only
/// after very many flows (datamining-expresspass: after 10^5 it has a standard deviation of 2.6 %), so runs
/// would differ by how many large flows they happen to have. With strata, only the place within each part,
/// and the incomplete last block, are left to chance: 0.16 %. The price is that the sizes of a block are not
/// independent: a large one makes others less likely. The n-th size depends only on the seed and on n.
#[derive(Debug, Clone)]
pub struct Strata {
    size: Size,
    seed: u64,
    /// The block of `order`.
    block: u64,
    /// Which part of the distribution each arrival of the block draws from.
    order: Vec<u16>,
}

impl Strata {
    /// Sizes under the run's `seed`.
    pub fn new(size: Size, seed: u64) -> Self {
        Self { size, seed, block: u64::MAX, order: (0..BLOCK as u16).collect() }
    }

    /// The size of arrival `n`, bytes.
    pub fn nth(&mut self, n: u64) -> u64 {
        if self.block != n / BLOCK {
            self.block = n / BLOCK;
            // From the same order each time, so that it depends only on the block's number.
            self.order.sort_unstable();
            Stream::new(self.seed, "strata", self.block).shuffle(&mut self.order);
        }
        let part = f64::from(self.order[(n % BLOCK) as usize]);
        let within = Stream::new(self.seed, "flow size", n).unit();
        self.size.quantile((part + within) / BLOCK as f64)
    }
}
