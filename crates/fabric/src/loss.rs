//! Packets that a port loses whatever its queue: a bad cable, or a model's given loss probability.

use crate::random::{GOLDEN, mix};

/// A probability in parts of 2^32, so that no float decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probability(u64);

impl Probability {
    /// Never.
    pub const ZERO: Self = Self(0);
    /// Always.
    pub const ONE: Self = Self(1 << 32);

    /// `parts` of 2^32; beyond that it is 1.
    pub fn from_parts(parts: u64) -> Self {
        Self(parts).min(Self::ONE)
    }

    /// The parts of 2^32.
    pub fn parts(self) -> u64 {
        self.0
    }
}

/// Independent losses: how likely a packet is lost, and the random numbers that decide.
///
/// The n-th packet's number is a function of the seed, the port and n: SplitMix64 (Steele, Lea, Flood
/// 2014), which counts and then mixes. So no port's losses depend on what other ports there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    probability: Probability,
    key: u64,
}

impl Loss {
    /// Nothing is lost.
    pub const NONE: Self = Self { probability: Probability::ZERO, key: 0 };

    /// Losses of port number `port` under `seed`.
    pub fn new(probability: Probability, seed: u64, port: u32) -> Self {
        // Mixed twice: the streams of two ports must not be one stream from two places.
        let of_port = u64::from(port).wrapping_add(1).wrapping_mul(GOLDEN);
        Self { probability, key: mix(mix(seed.wrapping_add(GOLDEN)).wrapping_add(of_port)) }
    }

    /// How likely an arriving packet is lost.
    pub fn probability(&self) -> Probability {
        self.probability
    }

    /// Whether packet `n` of this port, from 1, is lost.
    pub(crate) fn takes(&self, n: u64) -> bool {
        mix(self.key.wrapping_add(n.wrapping_mul(GOLDEN))) >> 32 < self.probability.0
    }
}
