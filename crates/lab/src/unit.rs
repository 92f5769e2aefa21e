//! One unit of work: a case under one seed, from an empty network to its last flow.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tresse_fabric::{Fabric, Locality, NEVER, Route, Time, Topology};
use tresse_sim::{FlowRecord, FlowSpec, Path, Step, Ways, World};
use tresse_workload::{Stream, Transfer};

use crate::changes::{self, Links};
use crate::network::Routing;
use crate::optimum::Optima;
use crate::patience::{self, Patience};
use crate::port_options::PortConfigs;
use crate::resolve::{Case, Plan};
use crate::round::Connection;
use crate::sample::{Interval, Sampler};
use crate::sharing::share_a_port;

/// How far a unit is; written by the unit, read by whoever shows progress.
#[derive(Debug, Default)]
pub struct Progress {
    /// Simulated time, ps.
    pub now: AtomicU64,
    /// Packet-hops so far.
    pub hops: AtomicU64,
    /// Payload that has arrived, bytes.
    pub bytes: AtomicU64,
    /// Payload that there is to carry on the average of all seeds, bytes; 0 before the unit begins.
    pub expected_bytes: AtomicU64,
    /// The unit has ended.
    pub done: AtomicBool,
}

/// A finished flow with what the workload knows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    /// The round of the pattern, from 0.
    pub round: u32,
    /// The sending host.
    pub from: u32,
    /// The receiving host.
    pub to: u32,
    /// How far apart they are.
    pub locality: Locality,
    /// Whether two of its subflows shared a port that they could have avoided, if its path manager was to detect
    /// that and routes are fixed.
    pub shares: Option<bool>,
    /// What the simulator measured.
    pub record: FlowRecord,
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
    /// Whether every flow has finished.
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
    /// The flows that finished, in the order of round and sending host.
    pub flows: Vec<Flow>,
    /// Every port.
    pub links: Vec<Link>,
    /// The optima of the whole rounds.
    pub optima: Optima,
}

/// What a unit measures while it runs.
#[derive(Debug, Clone, Copy)]
pub enum Rows<'a> {
    /// The flows of a round that finished, and the optimal goodput of each, bit/s, if there is one.
    Flows(&'a [Flow], Option<&'a [f64]>),
    /// An interval.
    Samples(&'a Interval),
}

/// Packet-hops between two looks at the stop flag: a few milliseconds of work.
const BUDGET: u64 = 1 << 16;

/// Runs `case` under `seed`. `measured` gets the flows of each round as it ends, also of the last
/// one that `stop` cut short, and the samples of each interval.
///
/// # Errors
/// What `measured` returned.
pub fn run<E>(
    plan: &Plan,
    case: &Case,
    seed: u64,
    stop: &AtomicBool,
    progress: &Progress,
    mut measured: impl FnMut(Rows) -> Result<(), E>,
) -> Result<Outcome, E> {
    let fabric = &plan.fabric;
    let flows = case.round(fabric, seed, 0).len() as u64 * u64::from(case.rounds);
    let expected = case.size.mean().saturating_mul(flows);
    progress.expected_bytes.store(expected, Ordering::Relaxed);

    let mut world = world(plan, case, seed);
    let mut links = Links::new(fabric, &plan.changes);
    links.apply(&mut world);
    let mut flows: Vec<Flow> = Vec::new();
    let mut optima = Optima::default();
    let mut complete = true;
    let mut stuck = None;
    let mut patience = Patience::new(&world);
    for round in 0..case.rounds {
        let connections = case.round(fabric, seed, round);
        for (place, connection) in (0..).zip(&connections) {
            world.start(spec(plan, case, seed, place, connection));
        }
        let first = flows.len();
        let mut sampler = Sampler::new(plan, case, seed, round, &connections, &world, &links);
        while world.live() > 0 && complete {
            let next = patience.next().min(links.next().unwrap_or(NEVER));
            let until = sampler.as_ref().map_or(NEVER, Sampler::until).min(next);
            let step = world.advance(until, BUDGET);
            publish(&world, progress);
            complete = !stop.load(Ordering::Relaxed);
            match step {
                Step::Finished(record) => {
                    let connection = &connections[record.id as u32 as usize];
                    let Transfer { from, to, .. } = connection.transfer;
                    if let Some(sampler) = &mut sampler {
                        sampler.end(&world, from);
                    }
                    let locality = fabric.locality(from, to);
                    let shares = match &*case.routing {
                        Routing::Fixed(routes) if case.detects => {
                            let ways = ways(plan, case, seed, connection);
                            let opened = &ways.paths()[..record.opened as usize];
                            Some(share_a_port(opened, &routes.unavoidable(from, to)))
                        }
                        Routing::Fixed(_) | Routing::Nodes { .. } => None,
                    };
                    flows.push(Flow { round, from, to, locality, shares, record });
                }
                Step::Budget => {}
                Step::Reached => {
                    if let Some(why) = patience.look(&world) {
                        complete = false;
                        let finished = &flows[first..];
                        let waits = |place: u32| finished.iter().all(|f| f.record.id as u32 != place);
                        let waiting = (0..).zip(&connections).filter(|(place, _)| waits(*place));
                        let waiting: Vec<&Transfer> = waiting.map(|(_, c)| &c.transfer).collect();
                        stuck = Some(patience::describe(why, fabric, &links, round, &waiting));
                    }
                    let changed = links.apply(&mut world);
                    if let Some(sampler) = &mut sampler {
                        if changed {
                            sampler.change(&world, &links);
                        }
                        if sampler.until() == until {
                            measured(Rows::Samples(&sampler.take(&world, fabric)))?;
                        }
                    }
                }
            }
        }
        if let Some(sampler) = &mut sampler {
            measured(Rows::Samples(&sampler.take(&world, fabric)))?;
        }
        flows[first..].sort_by_key(|f| f.record.id);
        let optimum = if complete { optima.add(plan, case, seed, &flows[first..]) } else { None };
        measured(Rows::Flows(&flows[first..], optimum))?;
        if !complete {
            break;
        }
    }
    publish(&world, progress);
    progress.done.store(true, Ordering::Relaxed);
    Ok(Outcome {
        complete,
        stuck,
        simulated: world.now(),
        hops: world.fabric().hops(),
        lost: world.fabric().ports().iter().map(|p| p.counters().lost).sum(),
        marks: world.fabric().ports().iter().map(|p| p.counters().marks).sum(),
        flows,
        links: totals(&world, fabric),
        optima,
    })
}

/// The network of `case` under `seed`, without connections.
pub(crate) fn world(plan: &Plan, case: &Case, seed: u64) -> World {
    let mut configs = plan.options.apply(&plan.fabric, seed);
    changes::serve(&plan.changes, &mut configs);
    let PortConfigs { ports, servers, pools } = configs;
    let fabric = Fabric::new(&ports, case.routing.longest()).with_servers(&servers, &pools);
    let fabric = match &*case.routing {
        Routing::Fixed(_) => fabric,
        Routing::Nodes { balancing, .. } => {
            fabric.with_forwarding(plan.fabric.network.clone(), *balancing, seed)
        }
    };
    World::on(match case.flags {
        Some(flags) => fabric.with_flags(flags),
        None => fabric,
    })
}

/// The ways of a connection: what is random of them comes from its own stream.
pub(crate) fn ways(plan: &Plan, case: &Case, seed: u64, connection: &Connection) -> Ways {
    let t = connection.transfer;
    let mut stream = if case.names_paths {
        // What one connection learns of a path is to hold for the others of the two hosts.
        Stream::new(seed, "paths", u64::from(t.from) << 32 | u64::from(t.to))
    } else {
        connection.stream(seed, "addresses")
    };
    let first = |host| plan.fabric.addresses(host).start;
    match &*case.routing {
        Routing::Fixed(routes) => {
            let drawn = routes.draw(t.from, t.to, case.paths, |n| stream.below(n.into()) as u32);
            Ways::Fixed(drawn.into_iter().map(|Route { there, back }| Path { there, back }).collect())
        }
        Routing::Nodes { paths, .. } => Ways::Forwarded {
            from: match plan.fabric.addresses(t.from) {
                // Aliases, one for each subflow.
                one if one.len() == 1 => one.cycle().take(case.paths as usize).collect(),
                several => several.collect(),
            },
            to: plan.fabric.addresses(t.to).collect(),
            paths: paths.count(first(t.from), first(t.to)).min(u16::MAX.into()) as u16,
            stream: stream.below(u64::MAX),
        },
    }
}

/// What the simulator is to know of `connection`, the one at `place` in its round.
pub(crate) fn spec(plan: &Plan, case: &Case, seed: u64, place: u32, connection: &Connection) -> FlowSpec {
    let t = connection.transfer;
    let mut config = case.transport;
    if let Some(plb) = &mut config.plb {
        plb.seed = connection.stream(seed, "plb").below(u64::MAX);
    }
    FlowSpec {
        id: flow_id(connection.round, place),
        hosts: [t.from, t.to],
        config,
        scheme: Arc::clone(&case.controllers),
        bytes: t.bytes,
        ways: ways(plan, case, seed, connection),
        manager: case.manager.clone(),
        stream: connection.stream(seed, "path manager").below(u64::MAX),
        class: case.class,
    }
}

/// What the simulator calls the flow at `place` in its round. Nothing is drawn by it.
pub(crate) fn flow_id(round: u32, place: u32) -> u64 {
    u64::from(round) << 32 | u64::from(place)
}

fn publish(world: &World, progress: &Progress) {
    progress.now.store(world.now(), Ordering::Relaxed);
    progress.hops.store(world.fabric().hops(), Ordering::Relaxed);
    progress.bytes.store(world.delivered_bytes(), Ordering::Relaxed);
}

fn totals(world: &World, fabric: &Topology) -> Vec<Link> {
    world
        .fabric()
        .ports()
        .iter()
        .zip(0..)
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
