//! Jobs of requests and responses that arrive at their own times, whether or not earlier ones have ended.

use std::collections::{BTreeMap, VecDeque};

use tresse_units::{NEVER, Stream, Time};

use crate::arrivals::{ArrivalConfig, Arrivals};
use crate::poisson::Limit;
use crate::source::{Action, Job, Source, Start};
use crate::span::Span;

/// The settings of [`OpenJobs`].
#[derive(Debug, Clone)]
pub struct OpenJobsConfig {
    /// How many hosts there are; more than `servers`.
    pub hosts: u32,
    /// The servers of a job; at least 1.
    pub servers: u32,
    /// The client's request to each server, bytes; at least 1.
    pub request: u64,
    /// A server's response, bytes; at least 1.
    pub response: u64,
    /// How long after its start a job, and so each of its flows, should have finished.
    pub deadline: Option<Span>,
    /// When they arrive.
    pub arrivals: ArrivalConfig,
    /// The run's seed.
    pub seed: u64,
}

/// XMP's jobs ([`Jobs`](crate::Jobs)), but each begins at its own time, between hosts that are drawn for it. Nothing
/// about them depends on how fast flows are, so every scheme carries the same work at the same times.
///
/// Job n has its hosts, its gap and its deadline from streams of the name n; its flow i has the name n << 32 | i: the
/// requests first, then the responses, each by server.
#[derive(Debug)]
pub struct OpenJobs {
    config: OpenJobsConfig,
    arrivals: Arrivals,
    actions: VecDeque<Action>,
    /// Those that have not ended, by number.
    running: BTreeMap<u32, Running>,
}

/// A job that has not ended.
#[derive(Debug, Clone)]
struct Running {
    start: Time,
    deadline: Option<Time>,
    client: u32,
    servers: Vec<u32>,
    /// Responses that have not arrived.
    waits: u32,
}

impl OpenJobs {
    /// At the start, time 0.
    pub fn new(config: OpenJobsConfig) -> Self {
        let arrivals = Arrivals::new(config.arrivals, "job gap", config.seed);
        Self { config, arrivals, actions: VecDeque::new(), running: BTreeMap::new() }
    }

    fn begin(&mut self, now: Time, number: u32) {
        let OpenJobsConfig { hosts, servers, deadline, seed, .. } = self.config;
        let mut stream = Stream::new(seed, "job hosts", number.into());
        let mut drawn: Vec<u32> = Vec::with_capacity(servers as usize + 1);
        while drawn.len() <= servers as usize {
            let host = stream.below(hosts.into()) as u32;
            if !drawn.contains(&host) {
                drawn.push(host);
            }
        }
        let after = |d: Span| d.draw(&mut Stream::new(seed, "job deadline", number.into()));
        let job = Running {
            start: now,
            deadline: deadline.map(|d| now.saturating_add(after(d))),
            servers: drawn.split_off(1),
            client: drawn[0],
            waits: servers,
        };
        for i in 0..servers {
            self.actions.push_back(Action::Start(self.flow(number, &job, i)));
        }
        self.running.insert(number, job);
    }

    /// Flow `i` of a job: a request or a response.
    fn flow(&self, number: u32, job: &Running, i: u32) -> Start {
        let servers = self.config.servers;
        let server = job.servers[(i % servers) as usize];
        let (from, to, bytes) = match i < servers {
            true => (job.client, server, self.config.request),
            false => (server, job.client, self.config.response),
        };
        let name = u64::from(number) << 32 | u64::from(i);
        Start { name, from, to, bytes: Some(bytes), round: 0, job: Some(number), deadline: job.deadline }
    }
}

impl Source for OpenJobs {
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
        let (number, i) = ((name >> 32) as u32, name as u32);
        let servers = self.config.servers;
        if i < servers {
            let response = self.flow(number, &self.running[&number], i + servers);
            self.actions.push_back(Action::Start(response));
            return;
        }
        let job = self.running.get_mut(&number).expect("a job whose response arrives runs");
        job.waits -= 1;
        if job.waits == 0 {
            let Running { start, deadline, .. } = *job;
            self.running.remove(&number);
            self.actions.push_back(Action::Ended(Job {
                number,
                start,
                end: now,
                flows: 2 * servers,
                deadline,
            }));
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
        let OpenJobsConfig { servers, request, response, arrivals, .. } = &self.config;
        let job = f64::from(*servers) * request.saturating_add(*response) as f64;
        libm::round(arrivals.expected().unwrap_or(0.0) * job) as u64
    }
}
