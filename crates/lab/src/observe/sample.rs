//! Takes samples: what every subflow got in an interval, and what its flow could have got.

use std::collections::BTreeMap;

use tresse_experiment::plan::Case;
use tresse_fabric::Topology;
use tresse_transport::Counters;
use tresse_units::Time;

use crate::link_events::Links;
use crate::network::{Network, OpenSubflow, SubflowNow};
use crate::observe::ports::Ports;
use crate::optimum::steps::{NoOptimum, Steps};
use tresse_results::record::flow::Begun;
use tresse_results::record::sample::{Interval, PathSample, Sample};

/// Takes the samples of a replication. Intervals are counted from the start of each round.
#[derive(Debug)]
pub(crate) struct Sampler<'a> {
    interval: Time,
    /// The round of the flow that started last.
    round: u32,
    /// The start of the current interval.
    start: Time,
    /// By the simulator's names.
    flows: BTreeMap<u64, Watched>,
    /// The flows that ended in the current interval, with those names.
    rows: Vec<(u64, Sample)>,
    /// The paths that appeared in it.
    paths: Vec<PathSample>,
    optimum: Option<Steps<'a>>,
    ports: Ports,
}

/// An active flow, the time in this interval since when it is active, and the state of each subflow at that time.
#[derive(Debug)]
struct Watched {
    begun: Begun,
    since: Time,
    subflows: Vec<SubflowStart>,
}

/// The state of a subflow at the start of this interval.
#[derive(Debug, Clone, Default)]
struct SubflowStart {
    /// The payload that had arrived, bytes.
    arrived: u64,
    counters: Counters,
    /// Its path, if it was seen.
    path: Option<Vec<u32>>,
}

impl<'a> Sampler<'a> {
    /// An interval begins now, without any flows.
    pub fn new(case: &'a Case, seed: u64, interval: Time, world: &dyn Network, links: &Links<'a>) -> Self {
        Self {
            interval,
            round: 0,
            start: world.now(),
            flows: BTreeMap::new(),
            rows: Vec::new(),
            paths: Vec::new(),
            optimum: Some(Steps::new(case, seed, links.clone(), world.now())),
            ports: Ports::new(world),
        }
    }

    /// When the interval began.
    pub fn since(&self) -> Time {
        self.start
    }

    /// When the interval ends.
    pub fn until(&self) -> Time {
        self.start + self.interval
    }

    /// A flow with this name has just started.
    pub fn start(&mut self, world: &dyn Network, id: u64, begun: Begun) {
        self.round = begun.start.round;
        self.flows.insert(id, Watched { begun, since: world.now(), subflows: Vec::new() });
        self.follow(|optimum| optimum.start(id, begun, world.now()));
    }

    /// A flow has just ended.
    pub fn end(&mut self, world: &dyn Network, id: u64) {
        if let Some(watched) = self.flows.remove(&id) {
            self.look(world, id, watched);
        }
        self.follow(|optimum| optimum.end(id, world.now()));
    }

    /// Links have just changed.
    pub fn change(&mut self, world: &dyn Network, links: &Links<'a>) {
        self.follow(|optimum| optimum.change(world.now(), links));
    }

    fn follow(&mut self, what: impl FnOnce(&mut Steps<'a>) -> Result<(), NoOptimum>) {
        if self.optimum.as_mut().is_some_and(|optimum| what(optimum).is_err()) {
            self.optimum = None;
        }
    }

    /// The samples of the interval that ends now; the next one begins.
    pub fn take(&mut self, world: &dyn Network, fabric: &Topology) -> Interval {
        let now = world.now();
        let ports = self.ports.take(world, fabric, self.round, self.start);
        for (id, watched) in std::mem::take(&mut self.flows) {
            let watched = self.look(world, id, watched);
            self.flows.insert(id, watched);
        }
        let areas = self.optimum.as_mut().and_then(|o| o.take(now).ok());
        if areas.is_none() {
            self.optimum = None;
        }
        self.start = now;
        let mut rows = std::mem::take(&mut self.rows);
        for (id, row) in &mut rows {
            let area = areas.as_ref().and_then(|areas| areas.get(id));
            row.optimum = area.map(|area| (area / row.duration as f64).round() as u64);
        }
        rows.sort_by_key(|(id, row)| (*id, row.subflow));
        let subflows = rows.into_iter().map(|(_, row)| row).collect();
        Interval { subflows, ports, paths: std::mem::take(&mut self.paths) }
    }

    /// Adds the rows of a flow that is active, or was until now.
    fn look(&mut self, world: &dyn Network, id: u64, mut watched: Watched) -> Watched {
        let now = world.now();
        let start = watched.since.max(self.start);
        if now == start {
            return watched;
        }
        let sample = |subflow, bytes, own: Option<OpenSubflow>, counters: Counters| Sample {
            flow: watched.begun,
            subflow,
            start,
            duration: now - start,
            bytes,
            cwnd: own.map_or(0, |own| own.cwnd),
            srtt: own.and_then(|own| own.srtt),
            state: own.map(|own| own.state),
            marks: counters.marks,
            retransmissions: counters.retransmissions,
            timeouts: counters.timeouts,
            optimum: None,
        };
        if let Some(received) = world.received(id) {
            let before = watched.subflows.first().map_or(0, |known| known.arrived);
            self.rows.push((id, sample(0, received - before, None, Counters::default())));
            watched.subflows = vec![SubflowStart { arrived: received, ..SubflowStart::default() }];
            return watched;
        }
        let seen = world.subflows(id);
        watched.subflows.resize(seen.len(), SubflowStart::default());
        for ((known, subflow), seen) in watched.subflows.iter_mut().zip(0..).zip(seen) {
            let SubflowNow { arrived, counters, open: own, path } = seen;
            let before = std::mem::replace(&mut known.arrived, arrived);
            let since = counters - std::mem::replace(&mut known.counters, counters);
            let is_quiet = [since.marks, since.retransmissions, since.timeouts] == [0; 3];
            if own.is_none() && known.arrived == before && is_quiet {
                continue; // its handshake is not complete, or it was closed
            }
            self.rows.push((id, sample(subflow, known.arrived - before, own, since)));
            if path != known.path {
                known.path.clone_from(&path);
                let seen = |ports| PathSample { flow: watched.begun, subflow, seen: now, ports };
                self.paths.extend(path.map(seen));
            }
        }
        watched
    }
}
