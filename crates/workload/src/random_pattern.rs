//! XMP's pattern Random.

use std::collections::BTreeSet;

use tresse_units::{NEVER, Stream, Time};

use crate::size::Size;
use crate::source::{Action, Source, Start};

/// The bits of a name that number the flows of a lane.
const NUMBER: u32 = 24;

/// The settings of [`RandomPattern`].
#[derive(Debug, Clone)]
pub struct RandomConfig {
    /// How many hosts there are; at least 2.
    pub hosts: u32,
    /// The rack of each host, if flows must leave their rack (XMP footnote 8); at least two racks.
    pub racks: Option<Vec<u32>>,
    /// The sizes of the flows.
    pub size: Size,
    /// How many flows every host sends at the same time, 1 to 256.
    pub per_host: u32,
    /// The most flows that a host receives at the same time; at least 1. XMP has 4.
    pub at_most: u32,
    /// How many flows there are in all; `None` if they never end.
    pub flows: Option<u64>,
    /// The run's seed.
    pub seed: u64,
}

/// XMP §5.2.1, Random: every host sends to a host chosen at random among those that receive fewer than
/// `at_most` flows, and when a flow finishes, its host at once starts the next. If no host is free, it waits
/// until one is; the one that has waited longest is first.
///
/// The n-th flow on one of the host's lanes (0 to `per_host - 1`) has the name host << 32 | lane << 24 | n.
/// Its size depends only on the seed and this name; its destination also depends on which hosts are free.
#[derive(Debug)]
pub struct RandomPattern {
    config: RandomConfig,
    /// The flows that each host receives.
    receives: Vec<u32>,
    /// The hosts that may receive one more.
    free: BTreeSet<u32>,
    /// The lanes without a flow: idle since, host, lane.
    idle: BTreeSet<(Time, u32, u32)>,
    /// For each lane, by host and lane: the flows so far, and the destination of the current one.
    lanes: Vec<(u32, u32)>,
    /// Lanes have become idle, or destinations free, since a flow last could not start.
    look: bool,
    started: u64,
    finished: u64,
}

impl RandomPattern {
    /// At the start, time 0.
    pub fn new(config: RandomConfig) -> Self {
        let (hosts, per_host) = (config.hosts, config.per_host);
        let idle = (0..per_host).flat_map(|lane| (0..hosts).map(move |host| (0, host, lane))).collect();
        Self {
            receives: vec![0; hosts as usize],
            free: (0..hosts).collect(),
            idle,
            lanes: vec![(0, 0); (hosts * per_host) as usize],
            look: true,
            started: 0,
            finished: 0,
            config,
        }
    }

    fn allows(&self, from: u32, to: u32) -> bool {
        let apart = |racks: &Vec<u32>| racks[from as usize] != racks[to as usize];
        from != to && self.config.racks.as_ref().is_none_or(apart)
    }

    fn has_all(&self) -> bool {
        self.config.flows.is_some_and(|flows| self.started >= flows)
    }

    fn lane(&mut self, host: u32, lane: u32) -> &mut (u32, u32) {
        &mut self.lanes[(host * self.config.per_host + lane) as usize]
    }

    /// A free host for a flow with this name, if there is one: hosts are drawn until one may be chosen. So a
    /// flow keeps its destination if hosts that come later in its own order become free or busy.
    fn destination(&self, from: u32, name: u64) -> Option<u32> {
        self.free.iter().find(|&&to| self.allows(from, to))?;
        let mut stream = Stream::new(self.config.seed, "destination", name);
        loop {
            let to = stream.below(self.config.hosts.into()) as u32;
            if self.allows(from, to) && self.receives[to as usize] < self.config.at_most {
                return Some(to);
            }
        }
    }

    /// The first lane that has waited and finds a destination.
    fn begin(&mut self) -> Option<Start> {
        let (idle, name, to) = self.idle.iter().find_map(|&(since, host, lane)| {
            let (number, _) = self.lanes[(host * self.config.per_host + lane) as usize];
            let name = u64::from(host) << 32 | u64::from(lane) << NUMBER | u64::from(number);
            Some(((since, host, lane), name, self.destination(host, name)?))
        })?;
        let (_, from, lane) = idle;
        self.idle.remove(&idle);
        let state = self.lane(from, lane);
        assert!(state.0 < 1 << NUMBER, "a lane has fewer than 2^24 flows");
        *state = (state.0 + 1, to);
        self.receives[to as usize] += 1;
        if self.receives[to as usize] == self.config.at_most {
            self.free.remove(&to);
        }
        let bytes = Some(self.config.size.draw(&mut Stream::new(self.config.seed, "flow size", name)));
        Some(Start { name, from, to, bytes, round: 0, job: None, deadline: None })
    }
}

impl Source for RandomPattern {
    fn next(&self) -> Time {
        if self.look && !self.has_all() { 0 } else { NEVER }
    }

    fn poll(&mut self, _now: Time) -> Option<Action> {
        if !self.look || self.has_all() {
            return None;
        }
        let start = self.begin();
        match &start {
            Some(_) => self.started += 1,
            None => self.look = false,
        }
        start.map(Action::Start)
    }

    fn handle_finished(&mut self, now: Time, name: u64) {
        let host = (name >> 32) as u32;
        let lane = name as u32 >> NUMBER;
        let (_, to) = *self.lane(host, lane);
        self.receives[to as usize] -= 1;
        self.free.insert(to);
        self.idle.insert((now, host, lane));
        self.look = true;
        self.finished += 1;
    }

    fn is_over(&self) -> bool {
        self.has_all() && self.finished == self.started
    }

    fn is_endless(&self) -> bool {
        self.config.flows.is_none()
    }

    fn expected_bytes(&self) -> u64 {
        self.config.flows.map_or(0, |flows| self.config.size.mean().saturating_mul(flows))
    }
}
