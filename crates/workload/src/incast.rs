//! A fan-in: many hosts send to one at once.

use tresse_units::{NEVER, Stream, Time};

use crate::size::Size;
use crate::source::{Action, Job, Source, Start};

/// The settings of [`Incast`].
#[derive(Debug, Clone)]
pub struct IncastConfig {
    /// The senders, once for each connection; at least one.
    pub senders: Vec<u32>,
    /// The receiver, not one of the senders.
    pub receiver: u32,
    /// The sizes of the flows.
    pub size: Size,
    /// The number of rounds, at least 1.
    pub rounds: u32,
    /// The run's seed.
    pub seed: u64,
}

/// Every sender sends one flow to the receiver, all at once; when all have finished, the next round begins
/// immediately (the `incast` of the slides' author; VMCC Fig. 5). Each round is a job, and flow i of round r
/// has the name r << 32 | i.
#[derive(Debug)]
pub struct Incast {
    config: IncastConfig,
    /// The current round, how many of its flows have started, and how many have finished.
    round: u32,
    started: usize,
    finished: usize,
    start: Time,
    ended: Option<Job>,
}

impl Incast {
    /// At the start, time 0.
    pub fn new(config: IncastConfig) -> Self {
        Self { config, round: 0, started: 0, finished: 0, start: 0, ended: None }
    }
}

impl Source for Incast {
    fn next(&self) -> Time {
        let starts = self.round < self.config.rounds && self.started < self.config.senders.len();
        if starts || self.ended.is_some() { 0 } else { NEVER }
    }

    fn poll(&mut self, now: Time) -> Option<Action> {
        if let Some(job) = self.ended.take() {
            return Some(Action::Ended(job));
        }
        if self.round == self.config.rounds {
            return None;
        }
        let &from = self.config.senders.get(self.started)?;
        if self.started == 0 {
            self.start = now;
        }
        let (round, to) = (self.round, self.config.receiver);
        let name = u64::from(round) << 32 | self.started as u64;
        let bytes = Some(self.config.size.draw(&mut Stream::new(self.config.seed, "flow size", name)));
        self.started += 1;
        Some(Action::Start(Start { name, from, to, bytes, round, job: Some(round), deadline: None }))
    }

    fn handle_finished(&mut self, now: Time, _name: u64) {
        self.finished += 1;
        if self.finished == self.config.senders.len() {
            let (number, start, flows) = (self.round, self.start, self.finished as u32);
            self.ended = Some(Job { number, start, end: now, flows, deadline: None });
            (self.started, self.finished) = (0, 0);
            self.round += 1;
        }
    }

    fn is_over(&self) -> bool {
        self.round == self.config.rounds && self.ended.is_none()
    }

    fn is_endless(&self) -> bool {
        false
    }

    fn expected_bytes(&self) -> u64 {
        let flows = self.config.senders.len() as u64 * u64::from(self.config.rounds);
        self.config.size.mean().saturating_mul(flows)
    }
}
