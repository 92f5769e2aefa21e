//! XMP's Incast jobs: requests to several servers, and their responses.

use std::collections::{BTreeSet, VecDeque};

use tresse_units::{NEVER, Stream, Time};

use crate::source::{Action, Job, Source, Start};
use crate::span::Span;

/// The settings of [`Jobs`].
#[derive(Debug, Clone)]
pub struct JobsConfig {
    /// How many hosts there are; more than `servers`.
    pub hosts: u32,
    /// Parallel jobs, 1 to 65,536. XMP has 8.
    pub jobs: u32,
    /// The servers of a job, 1 to 32,768. XMP has 8.
    pub servers: u32,
    /// The client's request to each server, bytes; at least 1. XMP has 2 kB.
    pub request: u64,
    /// A server's response, bytes; at least 1. XMP has 64 kB.
    pub response: u64,
    /// The time from the end of a job to the start of the next. XMP has none.
    pub gap: Span,
    /// How long after its start a job, and so each of its flows, should have finished.
    pub deadline: Option<Span>,
    /// How many jobs there are in all; `None` if they never end.
    pub count: Option<u32>,
    /// The run's seed.
    pub seed: u64,
}

/// XMP §5.2.1, Incast: several jobs run in parallel. For each, a client and its servers are chosen at random;
/// the client sends a request to all servers at once, each answers when the request has arrived, and the job
/// ends when all responses have arrived. Then another begins in its place.
///
/// The k-th job in place p has its hosts, its gap and its deadline from streams of the name p << 32 | k; its flows have
/// the names p << 48 | k << 16 | i: the requests first, then the responses, each by server.
#[derive(Debug)]
pub struct Jobs {
    config: JobsConfig,
    places: Vec<Place>,
    /// When the next jobs begin, and in which places.
    due: BTreeSet<(Time, u32)>,
    actions: VecDeque<Action>,
    /// Jobs that have started, and that have ended.
    started: u32,
    ended: u32,
}

/// A running job, and how many there were before in this place.
#[derive(Debug, Clone, Default)]
struct Place {
    before: u32,
    number: u32,
    start: Time,
    deadline: Option<Time>,
    client: u32,
    servers: Vec<u32>,
    /// Responses that have not arrived.
    waits: u32,
}

impl Jobs {
    /// At the start, time 0, when the first job begins in every place.
    pub fn new(config: JobsConfig) -> Self {
        let first = config.jobs.min(config.count.unwrap_or(u32::MAX));
        Self {
            places: vec![Place::default(); config.jobs as usize],
            due: (0..first).map(|place| (0, place)).collect(),
            actions: VecDeque::new(),
            started: 0,
            ended: 0,
            config,
        }
    }

    fn stream(&self, purpose: &str, place: u32) -> Stream {
        let identity = u64::from(place) << 32 | u64::from(self.places[place as usize].before);
        Stream::new(self.config.seed, purpose, identity)
    }

    fn begin(&mut self, now: Time, place: u32) {
        let mut stream = self.stream("job hosts", place);
        let mut hosts: Vec<u32> = Vec::with_capacity(self.config.servers as usize + 1);
        while hosts.len() <= self.config.servers as usize {
            let host = stream.below(self.config.hosts.into()) as u32;
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        let servers = hosts.split_off(1);
        let deadline = self.config.deadline;
        let deadline = deadline.map(|d| now.saturating_add(d.draw(&mut self.stream("job deadline", place))));
        let job = &mut self.places[place as usize];
        *job = Place {
            before: job.before,
            number: self.started,
            start: now,
            deadline,
            client: hosts[0],
            waits: self.config.servers,
            servers,
        };
        self.started += 1;
        for server in 0..self.config.servers {
            let start = self.flow(place, server);
            self.actions.push_back(Action::Start(start));
        }
    }

    /// Flow `i` of the job in `place`: a request or a response.
    fn flow(&self, place: u32, i: u32) -> Start {
        let job = &self.places[place as usize];
        let servers = self.config.servers;
        let server = job.servers[(i % servers) as usize];
        let (from, to, bytes) = match i < servers {
            true => (job.client, server, self.config.request),
            false => (server, job.client, self.config.response),
        };
        Start {
            name: u64::from(place) << 48 | u64::from(job.before) << 16 | u64::from(i),
            from,
            to,
            bytes: Some(bytes),
            round: 0,
            job: Some(job.number),
            deadline: job.deadline,
        }
    }

    fn end(&mut self, now: Time, place: u32) {
        let after = now.saturating_add(self.config.gap.draw(&mut self.stream("job gap", place)));
        let job = &mut self.places[place as usize];
        job.before += 1;
        self.actions.push_back(Action::Ended(Job {
            number: job.number,
            start: job.start,
            end: now,
            flows: 2 * self.config.servers,
            deadline: job.deadline,
        }));
        self.ended += 1;
        // Due jobs count, so that two places do not both start the last job.
        let taken = u64::from(self.started) + self.due.len() as u64;
        if self.config.count.is_none_or(|count| taken < u64::from(count)) {
            self.due.insert((after, place));
        }
    }
}

impl Source for Jobs {
    fn next(&self) -> Time {
        match self.actions.is_empty() {
            true => self.due.first().map_or(NEVER, |&(time, _)| time),
            false => 0,
        }
    }

    fn poll(&mut self, now: Time) -> Option<Action> {
        if self.actions.is_empty()
            && let Some(&(time, place)) = self.due.first().filter(|&&(time, _)| time <= now)
        {
            self.due.remove(&(time, place));
            self.begin(now, place);
        }
        self.actions.pop_front()
    }

    fn handle_finished(&mut self, now: Time, name: u64) {
        let (place, i) = ((name >> 48) as u32, u32::from(name as u16));
        if i < self.config.servers {
            let response = self.flow(place, i + self.config.servers);
            self.actions.push_back(Action::Start(response));
            return;
        }
        self.places[place as usize].waits -= 1;
        if self.places[place as usize].waits == 0 {
            self.end(now, place);
        }
    }

    fn is_over(&self) -> bool {
        self.config.count.is_some_and(|count| self.ended == count)
    }

    fn is_endless(&self) -> bool {
        self.config.count.is_none()
    }

    fn close(&mut self) {
        self.config.count = Some(self.started);
        self.due.clear();
    }

    fn expected_bytes(&self) -> u64 {
        let JobsConfig { servers, request, response, .. } = self.config;
        let job = u64::from(servers).saturating_mul(request.saturating_add(response));
        self.config.count.map_or(0, |count| job.saturating_mul(count.into()))
    }
}
