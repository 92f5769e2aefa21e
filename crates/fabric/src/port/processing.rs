//! The time that a host spends on each packet that it sends. It is random, so that periodic traffic does not
//! lock in (Floyd and Jacobson, "On traffic phase effects in packet-switched gateways", 1992; ns-2's
//! `overhead_`).

use tresse_units::{SplitMix, Time};

/// How long a host may take over a packet, and the random numbers that decide.
///
/// The n-th packet's number is a function of the seed, the port and n.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Processing {
    below: Time,
    numbers: SplitMix,
}

/// The purpose of the random numbers.
const PROCESSING: u64 = 5;

impl Processing {
    /// It takes no time.
    pub const NONE: Self = Self { below: 0, numbers: SplitMix::new(0) };

    /// Uniform from 0 to less than `below`, ps, at port number `port` under `seed`.
    pub fn new(below: Time, seed: u64, port: u32) -> Self {
        Self { below, numbers: SplitMix::named(seed, PROCESSING, port.into()) }
    }

    /// Every packet takes less than this.
    pub(crate) fn below(&self) -> Time {
        self.below
    }

    /// How long packet `n`, from 1, takes.
    fn time(&self, n: u64) -> Time {
        ((u128::from(self.numbers.nth(n)) * u128::from(self.below)) >> 64) as Time
    }
}

/// The packets of a port that a host spent time on.
#[derive(Debug)]
pub(super) struct Processed {
    processing: Processing,
    packets: u64,
    /// When the last one is at the far end.
    last: Time,
}

impl Processed {
    pub fn new(processing: Processing) -> Self {
        Self { processing, packets: 0, last: 0 }
    }

    /// When a packet is at the far end that would be there at `time` without processing. The host works on
    /// many at once, and none overtakes another.
    pub fn arrival(&mut self, time: Time) -> Time {
        self.packets += 1;
        self.last = (time + self.processing.time(self.packets)).max(self.last + 1);
        self.last
    }
}
