//! Fan-ins that arrive at their own times, whether or not earlier ones have ended.

use std::collections::{BTreeMap, VecDeque};

use tresse_units::{NEVER, Stream, Time};

use crate::arrivals::{ArrivalConfig, Arrivals};
use crate::poisson::Limit;
use crate::size::Size;
use crate::source::{Action, Job, Source, Start};

/// The settings of [`OpenIncast`].
#[derive(Debug, Clone)]
pub struct OpenIncastConfig {
    /// The hosts from which the servers of an incast are drawn.
    pub senders: Vec<u32>,
    /// The hosts from which its receiver is drawn; each has at least `servers` others among the senders.
    pub receivers: Vec<u32>,
    /// How many hosts send at once; at least 1.
    pub servers: u32,
    /// How many connections each of them opens; at least 1.
    pub connections: u32,
    /// The sizes of the flows.
    pub size: Size,
    /// When they arrive.
    pub arrivals: ArrivalConfig,
    /// The run's seed.
    pub seed: u64,
}

/// Incasts that arrive: for each, a receiver and its servers are drawn at random, and all servers send at once. An
/// incast is a job. Nothing about them depends on how fast flows are, so every scheme carries the same work at the same
/// times.
///
/// Incast n has its hosts and its gap from streams of the name n; its flow i has the name n << 32 | i.
#[derive(Debug)]
pub struct OpenIncast {
    config: OpenIncastConfig,
    arrivals: Arrivals,
    actions: VecDeque<Action>,
    /// By number, when an incast began and how many of its flows have not finished.
    running: BTreeMap<u32, (Time, u32)>,
}

impl OpenIncast {
    /// At the start, time 0.
    pub fn new(config: OpenIncastConfig) -> Self {
        let arrivals = Arrivals::new(config.arrivals, "incast gap", config.seed);
        Self { config, arrivals, actions: VecDeque::new(), running: BTreeMap::new() }
    }

    fn flows(&self) -> u32 {
        self.config.servers * self.config.connections
    }

    fn begin(&mut self, now: Time, number: u32) {
        let OpenIncastConfig { senders, receivers, servers, connections, size, seed, .. } = &self.config;
        let mut stream = Stream::new(*seed, "incast hosts", number.into());
        let to = receivers[stream.below(receivers.len() as u64) as usize];
        let mut others: Vec<u32> = senders.iter().copied().filter(|&host| host != to).collect();
        for place in 0..*servers as usize {
            let from = place + stream.below((others.len() - place) as u64) as usize;
            others.swap(place, from);
        }
        let from = others[..*servers as usize]
            .iter()
            .flat_map(|&from| std::iter::repeat_n(from, *connections as usize));
        for (i, from) in from.enumerate() {
            let name = u64::from(number) << 32 | i as u64;
            let bytes = Some(size.draw(&mut Stream::new(*seed, "flow size", name)));
            let start = Start { name, from, to, bytes, round: 0, job: Some(number), deadline: None };
            self.actions.push_back(Action::Start(start));
        }
        self.running.insert(number, (now, self.flows()));
    }
}

impl Source for OpenIncast {
    fn next(&self) -> Time {
        if self.actions.is_empty() { self.arrivals.next() } else { 0 }
    }

    fn poll(&mut self, now: Time) -> Option<Action> {
        if self.actions.is_empty()
            && let Some(number) = self.arrivals.take(now)
        {
            self.begin(now, number);
        }
        self.actions.pop_front()
    }

    fn handle_finished(&mut self, now: Time, name: u64) {
        let number = (name >> 32) as u32;
        let Some((start, left)) = self.running.get_mut(&number) else { return };
        *left -= 1;
        if *left == 0 {
            let start = *start;
            self.running.remove(&number);
            let job = Job { number, start, end: now, flows: self.flows(), deadline: None };
            self.actions.push_back(Action::Ended(job));
        }
    }

    fn is_over(&self) -> bool {
        self.arrivals.next() == NEVER && self.running.is_empty() && self.actions.is_empty()
    }

    fn is_endless(&self) -> bool {
        self.config.arrivals.is_endless()
    }

    fn has_arrived(&self) -> bool {
        self.arrivals.next() == NEVER && self.actions.is_empty()
    }

    fn close(&mut self) {
        self.arrivals.close();
        self.config.arrivals.limit = Limit::Until(0);
    }

    fn expected_bytes(&self) -> u64 {
        let incasts = self.config.arrivals.expected().unwrap_or(0.0);
        libm::round(incasts * f64::from(self.flows()) * self.config.size.exact_mean()) as u64
    }
}
