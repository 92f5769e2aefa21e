//! The time that a host spends on each packet that it sends or receives.
//!
//! A random part keeps periodic traffic from locking in (Floyd and Jacobson, "On traffic phase effects in packet-switched
//! gateways", 1992; ns-2's `overhead_`): the host works on many packets at once. And a core may be a server: it takes its
//! packets one by one, and what waits for it has left the network card's queue, or has arrived.

use tresse_units::{SplitMix, Time};

/// What a packet costs a core, which takes one after the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Service {
    /// Until an idle core begins, ps.
    pub wake: Time,
    /// For each packet, ps.
    pub packet: Time,
    /// For each of its bytes, ps.
    pub byte: Time,
}

impl Service {
    /// It costs nothing.
    pub const NONE: Self = Self { wake: 0, packet: 0, byte: 0 };

    /// How long a core needs for a packet, ps.
    pub fn of(&self, bytes: u32) -> Time {
        self.packet + self.byte * Time::from(bytes)
    }
}

/// How long a host may take over a packet, and the random numbers that decide.
///
/// The n-th packet's number is a function of the seed, the port and n.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Processing {
    below: Time,
    numbers: SplitMix,
    /// The core of the host that sends, and that of the host that receives.
    cores: [Service; 2],
}

/// The purpose of the random numbers.
const PROCESSING: u64 = 5;

impl Processing {
    /// It takes no time.
    pub const NONE: Self = Self { below: 0, numbers: SplitMix::new(0), cores: [Service::NONE; 2] };

    /// Uniform from 0 to less than `below`, ps, at port number `port` under `seed`.
    pub fn new(below: Time, seed: u64, port: u32) -> Self {
        if below == 0 {
            return Self::NONE; // equal for all ports, so that they can share their configuration
        }
        Self { below, numbers: SplitMix::named(seed, PROCESSING, port.into()), ..Self::NONE }
    }

    /// The same on hosts with these cores: of the one that sends into the port, and of the one that it leads to.
    #[must_use]
    pub fn on(self, cores: [Service; 2]) -> Self {
        Self { cores, ..self }
    }

    /// Whether no packet takes any time.
    pub(crate) fn is_none(&self) -> bool {
        self.below == 0 && self.cores == [Service::NONE; 2]
    }

    /// A packet of `bytes` that meets idle cores takes at most this.
    pub(crate) fn longest(&self, bytes: u32) -> Time {
        self.below + self.cores.iter().map(|core| core.wake + core.of(bytes)).sum::<Time>()
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
    /// When each core has done what it knows of.
    free: [Time; 2],
    /// When the last one is at the far end.
    last: Time,
}

impl Processed {
    pub fn new(processing: Processing) -> Self {
        Self { processing, packets: 0, free: [0; 2], last: 0 }
    }

    /// When a packet of `bytes` is at the far end that would be there at `time` without processing. None overtakes
    /// another.
    pub fn arrival(&mut self, time: Time, bytes: u32) -> Time {
        self.packets += 1;
        let mut time = time + self.processing.time(self.packets);
        for (core, free) in self.processing.cores.iter().zip(&mut self.free) {
            if *core != Service::NONE {
                let begin = if time > *free { time + core.wake } else { *free };
                time = begin + core.of(bytes);
                *free = time;
            }
        }
        self.last = time.max(self.last + 1);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORE: Service = Service { wake: 1000, packet: 100, byte: 2 };

    #[test]
    fn a_core_takes_one_packet_after_the_other_and_wakes_when_it_was_idle() {
        let mut own = Processed::new(Processing::NONE.on([CORE, Service::NONE]));
        assert_eq!(own.arrival(5000, 50), 6200, "it wakes");
        assert_eq!(own.arrival(5100, 0), 6300, "the core is busy");
        assert_eq!(own.arrival(6300, 0), 6400, "it has just finished");
        assert_eq!(own.arrival(6500, 0), 7600, "it was idle");
    }

    #[test]
    fn the_receiving_core_follows_the_sending_one() {
        let slow = Service { wake: 0, packet: 300, byte: 0 };
        let mut own = Processed::new(Processing::NONE.on([Service { wake: 0, ..CORE }, slow]));
        let arrivals = [0, 1, 2].map(|time| own.arrival(1000 + time, 0));
        assert_eq!(arrivals, [1400, 1700, 2000], "the slower of both decides");
    }
}
