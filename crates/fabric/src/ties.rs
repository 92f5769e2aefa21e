//! The order of events at the same instant.
//!
//! In a network of equal links, many events coincide again and again. An order by number would let the same
//! host win each time, which never happens in a real network. So the order is drawn anew for each instant. It
//! is a function of the seed, the instant and the entity that causes the event; it does not depend on what
//! was pushed first, nor on other entities (design rule 4).

use tresse_units::{SplitMix, Time, mix};

use crate::entity::{ARRIVALS, Entity};

/// The order of events at one instant, under a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ties(u64);

/// The purpose of these random numbers, next to those of balancers and ports.
const TIES: u64 = 4;

/// An entity within its class, and its rank, are below this.
const RANKS: u64 = ARRIVALS as u64;
/// Odd; any that mix well will do.
const FACTORS: [u64; 3] = [0x6c_8e95, 0x2c_1b3d, 0x6c_8e95];
const INVERSES: [u64; 3] = [inverse(FACTORS[0]), inverse(FACTORS[1]), inverse(FACTORS[2])];

/// The inverse of an odd factor modulo 2^64, by Newton's iteration: each step doubles the number of correct
/// bits, initially 3.
const fn inverse(factor: u64) -> u64 {
    let mut x = factor;
    let mut bits = 3;
    while bits < 64 {
        x = x.wrapping_mul(2u64.wrapping_sub(factor.wrapping_mul(x)));
        bits *= 2;
    }
    x
}

impl Ties {
    /// The orders under the run's `seed`.
    pub fn new(seed: u64) -> Self {
        Self(SplitMix::named(seed, TIES, 0).next())
    }

    /// The place of `entity`, below 2^24, among those that have an event at `time`: the classes keep their
    /// order, and a class is in an order drawn at random.
    ///
    /// It is a permutation of each class that differs from instant to instant: no two entities have the same
    /// place.
    #[inline]
    pub fn rank(self, time: Time, entity: Entity) -> u32 {
        let [first, second] = self.draw(time);
        let entity = u64::from(entity);
        let x = entity.wrapping_mul(FACTORS[0]).wrapping_add(first) % RANKS;
        let x = (x ^ (x >> 12)).wrapping_mul(FACTORS[1]).wrapping_add(second) % RANKS;
        let x = (x ^ (x >> 11)).wrapping_mul(FACTORS[2]) % RANKS;
        (entity & RANKS | x) as u32
    }

    /// The entity of this [`rank`](Self::rank) at `time`.
    #[inline]
    pub fn entity(self, time: Time, rank: u32) -> Entity {
        let [first, second] = self.draw(time);
        let rank = u64::from(rank);
        let x = rank.wrapping_mul(INVERSES[2]) % RANKS;
        let x = (x ^ (x >> 11) ^ (x >> 22)).wrapping_sub(second).wrapping_mul(INVERSES[1]) % RANKS;
        let x = (x ^ (x >> 12)).wrapping_sub(first).wrapping_mul(INVERSES[0]) % RANKS;
        (rank & RANKS | x) as u32
    }

    /// The place of the timer of this name among those that fire at `time`.
    pub fn timer(self, time: Time, name: u64) -> u64 {
        mix(mix(self.0 ^ time) ^ name)
    }

    /// Two words for an instant; use only their lowest 23 bits.
    #[inline]
    fn draw(self, time: Time) -> [u64; 2] {
        let z = (time ^ self.0).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 32)).wrapping_mul(0xd1b5_4a32_d192_ed03);
        [z >> 41, z >> 18]
    }
}
