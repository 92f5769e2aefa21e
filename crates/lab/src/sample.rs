//! Samples: what every subflow got in an interval, and what its flow could have had.

use tresse_controllers::State;
use tresse_fabric::{MICROSECOND, SECOND, Time, Topology};
use tresse_sim::World;
use tresse_workload::Transfer;

use crate::changes::Links;
use crate::optimum::Steps;
use crate::ports::{PortSample, Ports};
use crate::resolve::{Case, Plan};
use crate::round::Connection;
use crate::unit::flow_id;

/// A subflow in an interval, or in that part of it until its flow ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// The round of the pattern, from 0.
    pub round: u32,
    /// The sending host.
    pub from: u32,
    /// The receiving host.
    pub to: u32,
    /// Which subflow, from 0.
    pub subflow: u32,
    /// When the interval began, ps.
    pub start: Time,
    /// How long it was, or until the flow ended, ps.
    pub duration: Time,
    /// Payload that arrived on this subflow, bytes; what arrived on another too counts there as well.
    pub bytes: u64,
    /// The window at the end, packets; 0 if the subflow was closed.
    pub cwnd: u32,
    /// The smoothed RTT at the end, ps; `None` before the first sample, and if the subflow was closed.
    pub srtt: Option<Time>,
    /// The sender's state at the end; `None` if the subflow was closed.
    pub state: Option<State>,
    /// The mean of the flow's optimal goodput over the same time, bit/s, all subflows together.
    pub optimum: Option<u64>,
}

impl Sample {
    /// The mean rate, bit/s.
    pub fn goodput(&self) -> u64 {
        (u128::from(self.bytes) * 8 * u128::from(SECOND) / u128::from(self.duration)) as u64
    }
}

/// What was sampled in an interval.
#[derive(Debug)]
pub struct Interval {
    /// The subflows.
    pub subflows: Vec<Sample>,
    /// The ports.
    pub ports: Vec<PortSample>,
}

/// Takes the samples of one round, whose flows all start together. Intervals are counted from there.
#[derive(Debug)]
pub struct Sampler {
    round: u32,
    interval: Time,
    /// When the interval began that is under way.
    start: Time,
    /// In the order of the sending hosts.
    flows: Vec<Watched>,
    /// What is known of the interval that is under way: the flows that ended in it.
    rows: Vec<Sample>,
    optimum: Option<Steps>,
    ports: Ports,
}

/// A flow, and what had arrived on each subflow when the interval began.
#[derive(Debug)]
struct Watched {
    transfer: Transfer,
    arrived: Vec<u64>,
    ended: bool,
}

impl Sampler {
    /// For the round `round` that starts now; `None` if no samples are wanted.
    pub fn new(
        plan: &Plan,
        case: &Case,
        seed: u64,
        round: u32,
        connections: &[Connection],
        world: &World,
        links: &Links,
    ) -> Option<Self> {
        let interval = plan.samples?;
        let watched = |c: &Connection| Watched { transfer: c.transfer, arrived: Vec::new(), ended: false };
        Some(Self {
            round,
            interval,
            start: world.now(),
            flows: connections.iter().map(watched).collect(),
            rows: Vec::new(),
            optimum: Steps::of(plan, case, seed, round, world.now(), links),
            ports: Ports::new(world),
        })
    }

    /// When the interval ends.
    pub fn until(&self) -> Time {
        self.start + self.interval
    }

    /// The flow from host `from` has just ended.
    pub fn end(&mut self, world: &World, from: u32) {
        let flow = from as usize;
        self.look(world, flow);
        self.flows[flow].ended = true;
        if let Some(optimum) = &mut self.optimum
            && optimum.end(flow, world.now()).is_err()
        {
            self.optimum = None;
        }
    }

    /// Links have just changed.
    pub fn change(&mut self, world: &World, links: &Links) {
        if let Some(optimum) = &mut self.optimum
            && optimum.change(world.now(), links).is_err()
        {
            self.optimum = None;
        }
    }

    /// The samples of the interval that ends now; the next one begins.
    pub fn take(&mut self, world: &World, fabric: &Topology) -> Interval {
        let now = world.now();
        let ports = self.ports.take(world, fabric, self.round, self.start);
        for flow in 0..self.flows.len() {
            if now > self.start && !self.flows[flow].ended {
                self.look(world, flow);
            }
        }
        let areas = self.optimum.as_mut().and_then(|o| o.take(now).ok());
        if areas.is_none() {
            self.optimum = None;
        }
        self.start = now;
        let mut rows = std::mem::take(&mut self.rows);
        for row in &mut rows {
            let mean = |areas: &Vec<f64>| areas[row.from as usize] / row.duration as f64;
            row.optimum = areas.as_ref().map(|areas| mean(areas).round() as u64);
        }
        rows.sort_by_key(|r| (r.from, r.subflow));
        Interval { subflows: rows, ports }
    }

    /// Adds the rows of a flow that is there.
    fn look(&mut self, world: &World, flow: usize) {
        let watched = &mut self.flows[flow];
        let Transfer { from, to, .. } = watched.transfer;
        let (sender, receiver) = world.ends(flow_id(self.round, flow as u32)).expect("the flow was started");
        watched.arrived.resize(sender.subflows(), 0);
        for (arrived, subflow) in watched.arrived.iter_mut().zip(0..) {
            let before = std::mem::replace(arrived, receiver.arrived(subflow as usize));
            let own = sender.place(subflow as usize).map(|place| &sender.group()[place]);
            if own.is_none() && *arrived == before {
                continue; // its handshake is under way, or it was closed
            }
            self.rows.push(Sample {
                round: self.round,
                from,
                to,
                subflow,
                start: self.start,
                duration: world.now() - self.start,
                bytes: *arrived - before,
                cwnd: own.map_or(0, |own| own.cwnd),
                // In eighths of a microsecond there.
                srtt: own.filter(|own| own.srtt > 0).map(|own| u64::from(own.srtt) * (MICROSECOND / 8)),
                state: own.map(|own| own.state),
                optimum: None,
            });
        }
    }
}
