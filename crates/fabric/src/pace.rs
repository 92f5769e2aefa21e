//! How long bytes take at a rate.

use tresse_units::{BitsPerSecond, SECOND, Time};

/// The time that bytes take at a rate: a port's form of its rate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace(u64);

/// Fractional bits of the picoseconds per byte.
const PACE_BITS: u32 = 16;

impl Pace {
    /// # Panics
    /// If the rate is 0.
    pub fn new(rate: BitsPerSecond) -> Self {
        assert!(rate > 0, "a port needs a rate");
        let byte_time = (u128::from(8 * SECOND) << PACE_BITS) / u128::from(rate);
        Self(u64::try_from(byte_time).expect("a rate of at least 1 bit/s"))
    }

    /// How long `bytes` take on the wire, at least 1 ps: two packets never leave at one instant.
    #[inline]
    pub fn time(self, bytes: u32) -> Time {
        match u64::from(bytes).checked_mul(self.0) {
            Some(time) => (time >> PACE_BITS).max(1),
            // Below 3 kbit/s, for the largest packets.
            None => self.total(bytes.into()),
        }
    }

    /// How long many `bytes` take, without rounding packet by packet.
    pub fn total(self, bytes: u64) -> Time {
        ((u128::from(bytes) * u128::from(self.0)) >> PACE_BITS) as Time
    }

    /// Bytes that take `time`, rounded up.
    pub fn bytes(self, time: Time) -> u64 {
        // Up to 281 s; a division of 128 bits takes several times as long.
        if time >> (64 - PACE_BITS) == 0 {
            return (time << PACE_BITS).div_ceil(self.0);
        }
        (u128::from(time) << PACE_BITS).div_ceil(u128::from(self.0)) as u64
    }
}
