//! From a case and a seed to the simulator's input: the network and the flows.

use std::sync::Arc;

use tresse_controllers::Signal;
use tresse_experiment::plan::bound_scheme::BoundScheme;
use tresse_experiment::plan::network::Routing;
use tresse_experiment::plan::parts::{FlowSettings, Part};
use tresse_experiment::plan::port_options::PortConfigs;
use tresse_experiment::plan::{Case, link_events};
use tresse_fabric::{Cut, Fabric, Sites, Topology, Uncut};
use tresse_path_manager::{By, Scope};
use tresse_rounds::Rounds;
use tresse_sim::{FlowSpec, Manager, Paths, Sprayed, World};
use tresse_units::Stream;
use tresse_workload::{Action, Start};

use crate::network::Network;
use tresse_results::clock::seconds;
use tresse_results::record::flow::{Begun, Link};

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

/// The network of `case` under `seed`, without connections; on up to `threads` threads, if it can be cut.
pub(crate) fn world(case: &Case, seed: u64, threads: usize) -> World {
    let world = match cut(case, threads) {
        Ok(cut) => World::in_parts(cut, seconds, || fabric(case, seed)),
        Err(_) => World::on(fabric(case, seed)),
    };
    let fair_ports = case.setting.options.fair_ports(&case.setting.fabric);
    let world = if fair_ports.is_empty() { world } else { world.with_fair_ports(&fair_ports) };
    if case.setting.rtt { world.with_rtts(case.groups.len()) } else { world }
}

/// The network of `case` by rounds, without connections.
pub(crate) fn rounds(case: &Case, seed: u64) -> Rounds {
    let packets = case.bound_schemes.iter().map(|c| c.transport.mss + c.transport.header);
    let rounds = Rounds::new(fabric(case, seed), packets.max().unwrap_or(1500), seed);
    let rounds = rounds.with_fair_ports(&case.setting.options.fair_ports(&case.setting.fabric));
    if case.setting.rtt { rounds.with_rtts(case.groups.len()) } else { rounds }
}

/// The parts of a case's network that threads work on.
pub(crate) fn cut(case: &Case, threads: usize) -> Result<Cut, Undivided> {
    if threads < 2 {
        return Err(Undivided::Asked);
    }
    if !case.setting.changes.is_empty() {
        return Err(Undivided::Changes);
    }
    if case.bound_schemes.iter().any(|c| c.flags.is_some()) {
        return Err(Undivided::Flags);
    }
    if case.setting.options.shares_buffers() {
        return Err(Undivided::Pools);
    }
    if reads_hops(case) {
        return Err(Undivided::Telemetry);
    }
    // A switch chooses among its ports, or counts over all of them what came over a link.
    let whole_nodes = case.nodes().is_some() || case.setting.options.pauses();
    if !Sites::new(&case.setting.fabric, whole_nodes).know_deliveries() {
        return Err(Undivided::AtOnce);
    }
    let cut = Cut::new(&case.setting.fabric, threads, whole_nodes).map_err(Undivided::Network)?;
    Ok(cut)
}

/// Why a case runs on one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Undivided {
    /// It was requested.
    #[error("one thread was requested")]
    Asked,
    /// All nodes learn of it at once.
    #[error("its links change")]
    Changes,
    /// Hosts and switches learn of congestion elsewhere.
    #[error("its switches signal congestion to each other")]
    Flags,
    /// What is written into packets is kept outside of them.
    #[error("its switches write into packets")]
    Telemetry,
    /// Ports of several parts may share one.
    #[error("its ports share buffers")]
    Pools,
    /// What happens at a host in a window of time is not known before.
    #[error("a link of a host has no delay")]
    AtOnce,
    /// A controller or balancer from a user's file runs in a separate process, which has one thread.
    #[error("its controller or balancer is a user's file")]
    Apart,
    /// There is nothing to cut.
    #[error("{0}")]
    Network(Uncut),
}

/// The network of `case` under `seed`, without packets.
pub fn fabric<P: Copy>(case: &Case, seed: u64) -> Fabric<P> {
    let mut configs = case.setting.options.apply(&case.setting.fabric, seed);
    link_events::serve(&case.setting.changes, &mut configs);
    if reads_hops(case) {
        case.setting.options.queue_switches(&case.setting.fabric, &mut configs);
    }
    let PortConfigs { ports, servers, pools, pfc } = configs;
    let telemetry = reads_hops(case);
    let longest = case.bound_schemes.iter().map(|c| c.routing.longest()).max().unwrap_or(0);
    // A switch chooses among its ports when a packet is there, or several of them share something.
    let chooses =
        matches!(case.nodes(), Some(Routing::Nodes { balancing, .. }) if !balancing.is_known_ahead());
    let whole_nodes = chooses || !pools.is_empty() || !pfc.is_empty();
    let sites = Sites::new(&case.setting.fabric, whole_nodes);
    let sites = if case.setting.options.has_cores() { sites.with_bursts() } else { sites };
    let fabric =
        Fabric::new(&ports, longest, seed).with_sites(Arc::new(sites)).with_queued_ports(&servers, &pools);
    let fabric = match case.nodes() {
        Some(Routing::Nodes { balancing, .. }) => {
            fabric.with_forwarding(case.setting.fabric.network.clone(), *balancing, seed)
        }
        Some(Routing::Fixed(_)) | None => fabric,
    };
    let fabric = if pfc.is_empty() { fabric } else { fabric.with_pfc(&pfc) };
    let fabric = if telemetry { fabric.with_telemetry() } else { fabric };
    match case.bound_schemes.iter().find_map(|c| c.flags) {
        Some(flags) => fabric.with_flags(flags),
        None => fabric,
    }
}

/// Whether a controller reads what switches have written into packets.
fn reads_hops(case: &Case) -> bool {
    let reads = |own: &BoundScheme| own.controllers.controller().signals().contains(&Signal::Telemetry);
    case.bound_schemes.iter().any(reads)
}

/// The paths of a flow, drawn from its own random stream.
pub(crate) fn paths(case: &Case, seed: u64, flow: &Begun) -> Paths {
    let (part, bound_scheme, start) =
        (&case.parts[flow.part], &case.bound_schemes[flow.member.bound_scheme], &flow.start);
    if let Some(FlowSettings { paths: Some(paths), .. }) = part.own(start) {
        return Paths::Fixed(paths.clone());
    }
    // What one connection learns of a path is to hold for the others that share what it remembers.
    let shared = |to: u32| Stream::new(seed, "paths", u64::from(start.from) << 32 | u64::from(to));
    let mut stream = match bound_scheme.manager.remembers() {
        Some(Scope::Host) => shared(start.from),
        Some(Scope::Pair) => shared(start.to),
        None => part.stream(seed, "addresses", start),
    };
    let first = |host| case.setting.fabric.addresses(host).start;
    match &*bound_scheme.routing {
        Routing::Fixed(routes) => {
            let drawn =
                routes.draw(start.from, start.to, bound_scheme.paths, |n| stream.below(n.into()) as u32);
            Paths::Fixed(drawn)
        }
        Routing::Nodes { paths, .. } => Paths::Forwarded {
            from: match case.setting.fabric.addresses(start.from) {
                // Aliases, one for each subflow.
                one if one.len() == 1 => one.cycle().take(bound_scheme.paths as usize).collect(),
                several => several.collect(),
            },
            to: case.setting.fabric.addresses(start.to).collect(),
            paths: paths.count(first(start.from), first(start.to)).min(u16::MAX.into()) as u16,
            stream: stream.below(u64::MAX),
        },
    }
}

/// What opens and closes the subflows of each of the case's bound schemes.
pub(crate) fn managers(case: &Case) -> Vec<Manager> {
    case.bound_schemes.iter().map(|bound_scheme| bound_scheme.manager.clone().into()).collect()
}

/// What the simulator needs to know about the flow `id`; `managers` are those of the case's bound schemes.
pub(crate) fn spec(case: &Case, managers: &[Manager], seed: u64, id: u64, flow: &Begun) -> FlowSpec {
    let (part, bound_scheme, start) =
        (&case.parts[flow.part], &case.bound_schemes[flow.member.bound_scheme], &flow.start);
    let mut config = bound_scheme.transport;
    if let Some(plb) = &mut config.plb {
        plb.seed = part.stream(seed, "plb", start).below(u64::MAX);
    }
    FlowSpec {
        id,
        hosts: [start.from, start.to],
        config,
        scheme: Arc::clone(&bound_scheme.controllers),
        bytes: start.bytes.unwrap_or(u64::from(u32::MAX) * u64::from(config.mss)),
        paths: paths(case, seed, flow),
        sprayed: bound_scheme
            .sprayed
            .as_ref()
            .map(|own| Sprayed { balancer: Arc::clone(&own.balancer), paths: own.paths }),
        manager: manager(bound_scheme, &managers[flow.member.bound_scheme], part.own(start)),
        stream: part.stream(seed, "path manager", start).below(u64::MAX),
        class: bound_scheme.class,
        group: flow.member.group as u32,
    }
}

fn manager(bound_scheme: &BoundScheme, usual: &Manager, own: Option<&FlowSettings>) -> Manager {
    match own {
        Some(own) if !own.subflow_starts.is_empty() => {
            let by = match &*bound_scheme.routing {
                Routing::Fixed(_) => By::Address,
                Routing::Nodes { .. } => By::Port,
            };
            Manager::timed(bound_scheme.paths as usize, by, own.subflow_starts.clone())
        }
        _ => usual.clone(),
    }
}

/// The rate of a part's flows that carry datagrams, if any.
pub fn datagrams(part: &Part, start: &Start) -> Option<u64> {
    match part.own(start) {
        Some(own) => own.datagrams,
        None => part.datagrams,
    }
}

pub(crate) fn totals(network: &dyn Network, fabric: &Topology) -> Vec<Link> {
    let ports = network.ports().into_iter().zip(0..);
    ports
        .map(|(p, port)| {
            let c = p.counters;
            Link {
                port,
                layer: fabric.layer(port),
                rate: p.rate,
                bytes: c.bytes,
                drops: c.drops,
                lost: c.lost,
                marks: c.marks,
                pfc: p.pfc,
            }
        })
        .collect()
}
