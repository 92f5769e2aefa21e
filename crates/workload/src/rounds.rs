//! Patterns in rounds: all flows of a round start at once, and the next round begins when all have finished.

use tresse_units::{NEVER, Stream, Time};

use crate::pattern::{permutation, rack_to_rack};
use crate::size::Size;
use crate::source::{Action, Source, Start};

/// Who sends to whom in a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pairing {
    /// [`crate::Permutation`] of this many hosts.
    Permutation(u32),
    /// [`crate::RackToRack`] with this many hosts a rack.
    RackToRack(u32),
    /// Always these senders and receivers, all at once.
    Listed(Vec<(u32, u32)>),
}

/// The settings of [`Rounds`].
#[derive(Debug, Clone)]
pub struct RoundsConfig {
    /// Who sends to whom.
    pub pairing: Pairing,
    /// The sizes of the flows; `None` if they have no end. Then there is one round, which lasts until it is stopped.
    pub size: Option<Size>,
    /// Connections for each pair, at the same time; at least 1.
    pub connections: u32,
    /// The number of rounds; at least 1.
    pub rounds: u32,
    /// The run's seed.
    pub seed: u64,
}

/// A pattern in rounds.
///
/// A flow's name is its round << 32 | its place in it: by pair, in order, and then by connection. Connection
/// 0 of a pair has the size that [`crate::Permutation`] and [`crate::RackToRack`] draw, and further ones do
/// not shift the others.
#[derive(Debug)]
pub struct Rounds {
    config: RoundsConfig,
    round: u32,
    /// The flows of the round.
    flows: Vec<Start>,
    started: usize,
    finished: usize,
}

impl Rounds {
    /// At the start, time 0.
    pub fn new(config: RoundsConfig) -> Self {
        let flows = config.flows(0);
        Self { config, round: 0, flows, started: 0, finished: 0 }
    }

    fn rounds(&self) -> u32 {
        if self.config.size.is_some() { self.config.rounds } else { 1 }
    }
}

impl RoundsConfig {
    fn flows(&self, round: u32) -> Vec<Start> {
        let by_sender = |to: Vec<u32>| (0..).zip(to).collect();
        let pairs: Vec<(u32, u32)> = match &self.pairing {
            &Pairing::Permutation(hosts) => by_sender(permutation(hosts, self.seed, round)),
            &Pairing::RackToRack(rack) => by_sender(rack_to_rack(rack, self.seed, round)),
            Pairing::Listed(pairs) => pairs.clone(),
        };
        let purposes: Vec<String> = (0..self.connections)
            .map(|n| if n == 0 { "flow size".to_owned() } else { format!("flow size of connection {n}") })
            .collect();
        let mut flows = Vec::with_capacity(pairs.len() * purposes.len());
        let round_bits = u64::from(round) << 32;
        // If each host sends once, the place of a pair in the list is its sender.
        for (&(from, to), pair) in pairs.iter().zip(0..) {
            for purpose in &purposes {
                let name = round_bits | flows.len() as u64;
                let draw = |size: &Size| size.draw(&mut Stream::new(self.seed, purpose, round_bits | pair));
                let bytes = self.size.as_ref().map(draw);
                flows.push(Start { name, from, to, bytes, round, job: None, deadline: None });
            }
        }
        flows
    }
}

impl Source for Rounds {
    fn next(&self) -> Time {
        if self.started < self.flows.len() { 0 } else { NEVER }
    }

    fn poll(&mut self, _now: Time) -> Option<Action> {
        let start = *self.flows.get(self.started)?;
        self.started += 1;
        Some(Action::Start(start))
    }

    fn handle_finished(&mut self, _now: Time, _name: u64) {
        self.finished += 1;
        if self.finished == self.flows.len() && self.round + 1 < self.rounds() {
            self.round += 1;
            self.flows = self.config.flows(self.round);
            (self.started, self.finished) = (0, 0);
        }
    }

    fn is_over(&self) -> bool {
        self.round + 1 == self.rounds() && self.finished == self.flows.len()
    }

    fn is_endless(&self) -> bool {
        self.config.size.is_none()
    }

    fn expected_bytes(&self) -> u64 {
        let flows = self.flows.len() as u64 * u64::from(self.config.rounds);
        self.config.size.as_ref().map_or(0, |size| size.mean().saturating_mul(flows))
    }
}
