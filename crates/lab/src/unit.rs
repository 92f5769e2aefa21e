//! One unit of work: a case under one seed, from an empty network to its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use indexmap::IndexMap;
use tresse_fabric::{Fabric, Histogram, Locality, Topology};
use tresse_path_manager::By;
use tresse_sim::{FlowRecord, FlowSpec, Manager, Paths, World};
use tresse_units::Time;
use tresse_workload::{Action, Job, Start};

use crate::carriers::Carrier;
use crate::changes;
use crate::convergence::Converged;
use crate::engine::Engine;
use crate::layers::Lengths;
use crate::network::Routing;
use crate::optimum::Optima;
use crate::port_options::PortConfigs;
use crate::resolve::Case;
use crate::sample::Interval;
use crate::summary::WindowResult;
use crate::workloads::{Member, Own, Part};

/// How far a unit is; written by the unit, read by whoever shows progress.
#[derive(Debug, Default)]
pub struct Progress {
    /// Simulated time, ps.
    pub now: AtomicU64,
    /// Packet-hops so far.
    pub hops: AtomicU64,
    /// Payload that has arrived, bytes.
    pub bytes: AtomicU64,
    /// Payload that there is to carry on the average of all seeds, bytes; 0 before the unit begins, and if it ends
    /// at a time.
    pub expected_bytes: AtomicU64,
    /// When it ends at the latest, ps; 0 if that is not known.
    pub expected_ps: AtomicU64,
    /// The unit has ended.
    pub done: AtomicBool,
}

/// A flow that has begun, and what the workload knows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begun {
    /// Which part of its case started it.
    pub part: usize,
    /// Who carries it.
    pub(crate) member: Member,
    /// What the part says of it.
    pub start: Start,
}

/// A flow that has finished, or was stopped, with what the workload knows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// What it was when it began.
    pub begun: Begun,
    /// How far apart its hosts are.
    pub locality: Locality,
    /// Whether two of its subflows shared a port that they could have avoided, if its path manager was to detect
    /// that and routes are fixed.
    pub shares: Option<bool>,
    /// What its completion takes on an empty network, ps: see [`Ideals`](crate::ideal::Ideals). `None` if it has no end,
    /// or an application that writes it bit by bit, or if no path was there at the start of the run.
    pub ideal: Option<Time>,
    /// What the simulator measured.
    pub record: FlowRecord,
}

impl Flow {
    /// How long it took; `None` if it was stopped before it had finished.
    pub fn completion(&self) -> Option<Time> {
        self.record.complete.then(|| self.record.end - self.record.start)
    }

    /// How many times as long as ideally it took; at least 1, for what beats its ideal does so by rounding, or by a
    /// packet a hop.
    pub fn slowdown(&self) -> Option<f64> {
        let ideal = self.ideal.filter(|ideal| *ideal > 0)?;
        Some((self.completion()? as f64 / ideal as f64).max(1.0))
    }

    /// Whether it missed its deadline, if it has one. Of one that was stopped in time that is not known.
    pub fn missed(&self) -> Option<bool> {
        let late = self.record.end > self.begun.start.deadline?;
        (self.record.complete || late).then_some(late)
    }
}

/// A port's totals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Its number.
    pub port: u32,
    /// The name of its layer.
    pub layer: Arc<str>,
    /// Bit/s.
    pub rate: u64,
    /// Bytes that it let in.
    pub bytes: u64,
    /// Packets that it dropped: its queue had no room, or it could not mark them.
    pub drops: u64,
    /// Packets that it lost by its loss probability, or with a link that failed.
    pub lost: u64,
    /// Packets that it marked.
    pub marks: u64,
}

/// What a unit leaves behind.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The seed.
    pub seed: u64,
    /// Whether it came to its end.
    pub complete: bool,
    /// Why it gave up, if flows wait for ever.
    pub stuck: Option<String>,
    /// Simulated time, ps.
    pub simulated: Time,
    /// Packet-hops.
    pub hops: u64,
    /// Packets that ports lost by their loss probability, or with a link that failed.
    pub lost: u64,
    /// Packets that were marked, each at its first port above K.
    pub marks: u64,
    /// The flows that finished or were stopped: by round, in each by part and name.
    pub flows: Vec<Flow>,
    /// The jobs that ended, each with its part.
    pub jobs: Vec<(usize, Job)>,
    /// Every port.
    pub links: Vec<Link>,
    /// How long the queues of each layer were, if they were looked at.
    pub queues: Vec<(Arc<str>, Lengths)>,
    /// By group: the RTTs, ps, if they were recorded.
    pub rtts: Vec<Histogram>,
    /// What flows got in the windows of time.
    pub windows: IndexMap<String, WindowResult>,
    /// What converged after which event, if that was asked.
    pub converged: Vec<Converged>,
    /// The optima of the whole rounds.
    pub optima: Optima,
}

/// What a unit measures while it runs.
#[derive(Debug, Clone, Copy)]
pub enum Rows<'a> {
    /// Flows that finished or were stopped, and the optimal goodput of each, bit/s, if there is one.
    Flows(&'a [Flow], Option<&'a [f64]>),
    /// Jobs that ended.
    Jobs(&'a [(usize, Job)]),
    /// An interval.
    Samples(&'a Interval),
    /// Subflows that converged, or did not; once, at the end.
    Converged(&'a [Converged]),
}

/// Runs `case` under `seed`. `measured` gets the flows of each round as it ends, or as many as there are now and
/// then, and the samples of each interval.
///
/// # Errors
/// What `measured` returned.
pub fn run<E>(
    case: &Case,
    seed: u64,
    stop: &AtomicBool,
    progress: &Progress,
    measured: impl FnMut(Rows) -> Result<(), E>,
) -> Result<Outcome, E> {
    let empty = changes::at_start(&case.setting.fabric, &case.setting.changes);
    let mut engine = Engine::new(&empty, case, seed, progress, measured);
    engine.turn(stop)?;
    let outcome = engine.finish()?;
    progress.done.store(true, Ordering::Relaxed);
    Ok(outcome)
}

/// The flows that start at once, at time 0.
pub(crate) fn first(case: &Case, seed: u64) -> Vec<Begun> {
    let mut begun = Vec::new();
    for (place, part) in case.parts.iter().enumerate() {
        let mut source = part.source(seed);
        let halves = part.halves(seed, case.setting.fabric.hosts());
        while source.next() == 0 {
            let Some(action) = source.poll(0) else { break };
            if let Action::Start(start) = action {
                begun.push(Begun { part: place, member: part.member(&start, &halves), start });
            }
        }
    }
    begun
}

/// The network of `case` under `seed`, without connections.
pub(crate) fn world(case: &Case, seed: u64) -> World {
    let mut configs = case.setting.options.apply(&case.setting.fabric, seed);
    changes::serve(&case.setting.changes, &mut configs);
    let PortConfigs { ports, servers, pools } = configs;
    let longest = case.carriers.iter().map(|c| c.routing.longest()).max().unwrap_or(0);
    let fabric = Fabric::new(&ports, longest).with_queued_ports(&servers, &pools);
    let fabric = match case.nodes() {
        Some(Routing::Nodes { balancing, .. }) => {
            fabric.with_forwarding(case.setting.fabric.network.clone(), *balancing, seed)
        }
        Some(Routing::Fixed(_)) | None => fabric,
    };
    let world = World::on(match case.carriers.iter().find_map(|c| c.flags) {
        Some(flags) => fabric.with_flags(flags),
        None => fabric,
    });
    if case.setting.rtt { world.with_rtts(case.groups.len()) } else { world }
}

/// The ways of a flow: what is random of them comes from its own stream.
pub(crate) fn ways(case: &Case, seed: u64, flow: &Begun) -> Paths {
    let (part, carrier, start) = (&case.parts[flow.part], &case.carriers[flow.member.carrier], &flow.start);
    if let Some(Own { paths: Some(paths), .. }) = part.own(start) {
        return Paths::Fixed(paths.clone());
    }
    let mut stream = if carrier.names_paths {
        // What one connection learns of a path is to hold for the others of the two hosts.
        tresse_units::Stream::new(seed, "paths", u64::from(start.from) << 32 | u64::from(start.to))
    } else {
        part.stream(seed, "addresses", start)
    };
    let first = |host| case.setting.fabric.addresses(host).start;
    match &*carrier.routing {
        Routing::Fixed(routes) => {
            let drawn = routes.draw(start.from, start.to, carrier.paths, |n| stream.below(n.into()) as u32);
            Paths::Fixed(drawn)
        }
        Routing::Nodes { paths, .. } => Paths::Forwarded {
            from: match case.setting.fabric.addresses(start.from) {
                // Aliases, one for each subflow.
                one if one.len() == 1 => one.cycle().take(carrier.paths as usize).collect(),
                several => several.collect(),
            },
            to: case.setting.fabric.addresses(start.to).collect(),
            paths: paths.count(first(start.from), first(start.to)).min(u16::MAX.into()) as u16,
            stream: stream.below(u64::MAX),
        },
    }
}

/// What the simulator is to know of a flow that it calls `id`.
pub(crate) fn spec(case: &Case, seed: u64, id: u64, flow: &Begun) -> FlowSpec {
    let (part, carrier, start) = (&case.parts[flow.part], &case.carriers[flow.member.carrier], &flow.start);
    let mut config = carrier.transport;
    if let Some(plb) = &mut config.plb {
        plb.seed = part.stream(seed, "plb", start).below(u64::MAX);
    }
    FlowSpec {
        id,
        hosts: [start.from, start.to],
        config,
        scheme: Arc::clone(&carrier.controllers),
        bytes: start.bytes.unwrap_or(u64::from(u32::MAX) * u64::from(config.mss)),
        paths: ways(case, seed, flow),
        manager: manager(carrier, part.own(start)),
        stream: part.stream(seed, "path manager", start).below(u64::MAX),
        class: carrier.class,
        group: flow.member.group as u32,
    }
}

fn manager(carrier: &Carrier, own: Option<&Own>) -> Manager {
    match own {
        Some(own) if !own.subflow_starts.is_empty() => {
            let by = match &*carrier.routing {
                Routing::Fixed(_) => By::Address,
                Routing::Nodes { .. } => By::Port,
            };
            Manager::timed(carrier.paths as usize, by, own.subflow_starts.clone())
        }
        _ => carrier.manager.clone(),
    }
}

/// What flows a part has that carry datagrams: their rate.
pub(crate) fn datagrams(part: &Part, start: &Start) -> Option<u64> {
    match part.own(start) {
        Some(own) => own.datagrams,
        None => part.datagrams,
    }
}

pub(crate) fn totals(world: &World, fabric: &Topology) -> Vec<Link> {
    let ports = world.fabric().ports().iter().zip(0..);
    ports
        .map(|(p, port)| {
            let c = p.counters();
            Link {
                port,
                layer: fabric.layer(port),
                rate: p.config().rate,
                bytes: c.bytes,
                drops: c.drops,
                lost: c.lost,
                marks: c.marks,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow from 5 to `end`, whose message has arrived then or which was stopped.
    fn flow(end: Time, complete: bool, deadline: Option<Time>, ideal: Option<Time>) -> Flow {
        let start = Start { name: 0, from: 0, to: 1, bytes: Some(1), round: 0, job: None, deadline };
        let begun = Begun { part: 0, member: Member { carrier: 0, group: 0 }, start };
        let counters = Default::default();
        let record = FlowRecord { id: 0, bytes: 1, complete, start: 5, end, opened: 1, closed: 0, counters };
        Flow { begun, locality: Locality::InnerRack, shares: None, ideal, record }
    }

    #[test]
    fn in_time_is_at_the_deadline_or_before() {
        for (end, complete, deadline, missed) in [
            (9, true, Some(10), Some(false)),
            (10, true, Some(10), Some(false)),
            (11, true, Some(10), Some(true)),
            (11, true, None, None),
            // Stopped when it was too late for it, or when it had time still.
            (11, false, Some(10), Some(true)),
            (9, false, Some(10), None),
        ] {
            assert_eq!(flow(end, complete, deadline, None).missed(), missed, "{end} {complete} {deadline:?}");
        }
    }

    #[test]
    fn a_slowdown_is_over_the_ideal_and_at_least_one() {
        let slowdown = |end, complete, ideal| flow(end, complete, None, ideal).slowdown();
        assert_eq!([35, 25, 24].map(|end| slowdown(end, true, Some(20))), [1.5, 1.0, 1.0].map(Some));
        assert_eq!((slowdown(35, false, Some(20)), slowdown(35, true, None)), (None, None));
    }
}
