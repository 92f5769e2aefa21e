//! Traffic patterns.

use tresse_units::Stream;

use crate::size::Size;

/// One transfer: `bytes` from one host to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The sending host.
    pub from: u32,
    /// The receiving host.
    pub to: u32,
    /// The message.
    pub bytes: u64,
}

/// XMP §5.2.1: every host sends to one other host chosen at random, each host receives one flow;
/// when all have finished, a new permutation starts.
#[derive(Debug, Clone)]
pub struct Permutation {
    /// How many hosts there are; at least 2.
    pub hosts: u32,
    /// The sizes of the flows.
    pub size: Size,
    /// The run's seed.
    pub seed: u64,
}

impl Permutation {
    /// The transfers of one round, by sending host.
    pub fn round(&self, round: u32) -> Vec<Transfer> {
        transfers(permutation(self.hosts, self.seed, round), &self.size, self.seed, round)
    }
}

/// The receiver of each host in a round.
pub(crate) fn permutation(hosts: u32, seed: u64, round: u32) -> Vec<u32> {
    let mut stream = Stream::new(seed, "permutation", u64::from(round));
    let mut to: Vec<u32> = (0..hosts).collect();
    // A shuffle in which no host gets itself: every such permutation is equally likely.
    loop {
        stream.shuffle(&mut to);
        if to.iter().zip(0..).all(|(&to, from)| to != from) {
            return to;
        }
    }
}

/// OPN §Design motivation: every host of the first rack sends to one host of the second, each of which
/// receives one flow.
#[derive(Debug, Clone)]
pub struct RackToRack {
    /// Hosts per rack; those of the first are 0, 1, …, those of the second follow.
    pub rack: u32,
    /// The sizes of the flows.
    pub size: Size,
    /// The run's seed.
    pub seed: u64,
}

impl RackToRack {
    /// The transfers of one round, by sending host: every assignment is equally likely.
    pub fn round(&self, round: u32) -> Vec<Transfer> {
        transfers(rack_to_rack(self.rack, self.seed, round), &self.size, self.seed, round)
    }
}

/// The receiver of each host of the first rack in a round.
pub(crate) fn rack_to_rack(rack: u32, seed: u64, round: u32) -> Vec<u32> {
    let mut to: Vec<u32> = (rack..2 * rack).collect();
    Stream::new(seed, "rack to rack", u64::from(round)).shuffle(&mut to);
    to
}

/// Host 0 sends to the first of `to`, host 1 to the second, and so on.
fn transfers(to: Vec<u32>, size: &Size, seed: u64, round: u32) -> Vec<Transfer> {
    to.into_iter()
        .zip(0..)
        .map(|(to, from)| {
            let identity = u64::from(round) << 32 | u64::from(from);
            let bytes = size.draw(&mut Stream::new(seed, "flow size", identity));
            Transfer { from, to, bytes }
        })
        .collect()
}
