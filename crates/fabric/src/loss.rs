//! Packets that a port loses whatever its queue: a bad cable, or a model's given loss probability.

use tresse_units::SplitMix;

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

impl From<tresse_units::Probability> for Probability {
    fn from(probability: tresse_units::Probability) -> Self {
        Self::from_parts(probability.parts())
    }
}

/// Independent losses: how likely a packet is lost, and the random numbers that decide.
///
/// The n-th packet's number is a function of the seed, the port and n, so a port's losses do not depend on
/// the other ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    probability: Probability,
    numbers: SplitMix,
}

impl Loss {
    /// Nothing is lost.
    pub const NONE: Self = Self { probability: Probability::ZERO, numbers: SplitMix::new(0) };

    /// Losses of port number `port` under `seed`.
    pub fn new(probability: Probability, seed: u64, port: u32) -> Self {
        if probability == Probability::ZERO {
            return Self::NONE; // equal for all ports, so that they can share their configuration
        }
        // Mixed twice: two ports must not read the same stream from different positions.
        let of_run = SplitMix::new(SplitMix::new(seed).next());
        Self { probability, numbers: SplitMix::new(of_run.nth(u64::from(port) + 1)) }
    }

    /// How likely an arriving packet is lost.
    pub fn probability(&self) -> Probability {
        self.probability
    }

    /// Whether packet `n` of this port, from 1, is lost.
    pub(crate) fn takes(&self, n: u64) -> bool {
        self.numbers.nth(n) >> 32 < self.probability.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The choice of lost packets must never change: results depend on it.
    #[test]
    fn a_port_loses_its_own_packets() {
        let tenth = Loss::new(Probability::from_parts((1 << 32) / 10), 7, 3);
        let lost: Vec<u64> = (1..60).filter(|&n| tenth.takes(n)).collect();
        assert_eq!(lost, [3, 4, 10, 22, 33, 41, 52]);
    }
}
