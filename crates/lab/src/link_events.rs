//! The links of a run: what has become of them, and what will.

use tresse_experiment::plan::link_events::{Change, LinkEvent};
use tresse_fabric::Topology;
use tresse_units::{BitsPerSecond, Time};

use crate::network::Network;

/// Makes a change.
pub(crate) fn make(change: &Change, world: &mut dyn Network) {
    match &change.what {
        LinkEvent::Rate(ports, rate) => ports.iter().for_each(|&port| world.set_rate(port, *rate)),
        LinkEvent::Up(ports, up) => ports.iter().for_each(|&port| world.set_link(port, *up)),
        LinkEvent::Reroute => world.reroute(),
    }
}

/// The links as they are, and what will become of them.
#[derive(Debug, Clone)]
pub(crate) struct Links<'a> {
    changes: &'a [Change],
    /// By port: its rate when the link is up.
    rates: Vec<BitsPerSecond>,
    /// By port.
    up: Vec<bool>,
}

impl<'a> Links<'a> {
    /// As they are before anything changes.
    pub fn new(topology: &Topology, changes: &'a [Change]) -> Self {
        let rates: Vec<_> = topology.configs.iter().map(|c| c.rate).collect();
        Self { changes, up: vec![true; rates.len()], rates }
    }

    /// When the next change comes.
    pub fn next(&self) -> Option<Time> {
        self.changes.first().map(|c| c.at)
    }

    /// What a port's link can carry, bit/s: nothing while it is down.
    pub fn capacity(&self, port: u32) -> BitsPerSecond {
        if self.up[port as usize] { self.rates[port as usize] } else { 0 }
    }

    /// A port of a link that is down.
    pub fn down(&self) -> Option<u32> {
        (0..).zip(&self.up).find(|(_, up)| !**up).map(|(port, _)| port)
    }

    /// Makes the changes that are due. Whether there were any.
    pub fn apply(&mut self, world: &mut dyn Network) -> bool {
        let due = self.advance(world.now());
        due.iter().for_each(|change| make(change, world));
        !due.is_empty()
    }

    /// What the links are at `now`, which is no earlier than any time before: the changes since then.
    pub fn advance(&mut self, now: Time) -> &'a [Change] {
        let due = self.changes.iter().take_while(|c| c.at <= now).count();
        let (due, rest) = self.changes.split_at(due);
        self.changes = rest;
        for change in due {
            match &change.what {
                LinkEvent::Rate(ports, rate) => {
                    ports.iter().for_each(|&port| self.rates[port as usize] = *rate);
                }
                LinkEvent::Up(ports, up) => ports.iter().for_each(|&port| self.up[port as usize] = *up),
                LinkEvent::Reroute => {}
            }
        }
        due
    }
}
