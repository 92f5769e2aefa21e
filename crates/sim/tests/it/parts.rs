//! A world whose windows are gone through site by site, whole or cut into parts, does what one does that advances in the
//! order of time, to the last packet.

use std::collections::VecDeque;
use std::iter;
use std::sync::Arc;

use tresse_controllers::ConfiguredController;
use tresse_fabric::{
    Balancing, Cut, Exclusive, Fabric, FatTree, FatTreeConfig, Feedback, FixedPaths, FlagConfig,
    HolnetConfig, LeafSpine, Network, NonEct, PfcConfig, PfcCounters, PortConfig, PortCounters, Probability,
    QueuedPortConfig, ShortestPaths, Sites, Threshold, Topology, Uncut,
};
use tresse_sim::{Ahead, FlowRecord, FlowSpec, Manager, Packets, Paths, Step, World};
use tresse_transport::{Blocked, BufferRule, Config, ReceiveBuffer, Recovery, Wire};
use tresse_units::{MICROSECOND, MILLISECOND, SECOND, SplitMix, Stream};

use crate::common::{Acking, GIGABIT, UNBOUNDED, first_of, scheme, sprayed, transport};

/// Who finds the way.
#[derive(Debug, Clone, Copy)]
enum Routes {
    Fixed,
    Nodes(Balancing),
}

/// What ports do.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Ports {
    Plain,
    /// Every port has a real server, and trims packets of sprayed connections.
    Trim,
    /// Every port has a real server, and switches pause those that send to them.
    Pause,
}

/// A network, and connections that follow each other.
struct Scenario {
    topology: Topology,
    routes: Routes,
    ports: Ports,
    schemes: [Arc<ConfiguredController>; 3],
    /// What nodes report to each other.
    flags: Option<Feedback>,
    /// Links fail and come back, and their rates change.
    changes: bool,
    seed: u64,
}

#[derive(Debug, PartialEq)]
struct Outcome {
    records: Vec<FlowRecord>,
    packets: Packets,
    ports: Vec<PortCounters>,
    busy: Vec<u64>,
    pauses: Vec<PfcCounters>,
    rtts: Vec<tresse_fabric::Histogram>,
    received: Vec<Option<u64>>,
    hops: u64,
    delivered: u64,
    share_moves: Option<u64>,
    end: u64,
    /// The switches as they were when somebody looked.
    looks: Vec<(u64, usize, Vec<u64>)>,
}

fn lossy(random: &mut Stream) -> Probability {
    [Probability::ZERO, Probability::from_parts(1 << 23)][random.below(2) as usize]
}

fn fat_tree(k: u32, random: &mut Stream) -> FatTree {
    let queue = Threshold::packets(20 + random.below(60));
    let mark = Threshold::packets(5 + random.below(20));
    FatTree::new(FatTreeConfig {
        k,
        rate: [GIGABIT; 3],
        delay: [20, 30, 40].map(|delay| delay * MICROSECOND),
        limit: [queue; 3],
        mark: [mark; 3],
        host: (queue, mark),
        non_ect: NonEct::Queue,
        loss: [lossy(random), Probability::ZERO, Probability::ZERO],
    })
    .expect("a fat tree")
}

fn leaf_spine(random: &mut Stream) -> Topology {
    let queue = Threshold::packets(20 + random.below(60));
    LeafSpine {
        leaves: 4,
        spines: 3,
        hosts_per_leaf: 4,
        rate: [GIGABIT; 2],
        delay: [10 * MICROSECOND, (1 + random.below(20)) * MICROSECOND],
        limit: [queue; 2],
        mark: [Threshold::packets(10); 2],
        host: (queue, Threshold::UNLIMITED),
        non_ect: NonEct::Drop,
        loss: [lossy(random), lossy(random)],
    }
    .topology()
    .expect("a leaf-spine")
}

/// Links between nodes, with these delays in microseconds.
fn network(hosts: u32, links: &[[u32; 2]], delays: &[u64], random: &mut Stream) -> Topology {
    let tree = fat_tree(4, random).topology();
    let nodes = links.iter().flatten().max().expect("there are links") + 1;
    let both = || links.iter().flat_map(|&[a, b]| [[a, b], [b, a]]);
    let delays = delays.iter().flat_map(|delay| [delay * MICROSECOND; 2]);
    let ports = both().count();
    Topology {
        network: Network { hosts, nodes, ends: both().collect() },
        configs: delays.map(|delay| PortConfig { delay, ..tree.configs[0] }).collect(),
        streams: (0..ports as u32).collect(),
        layers: vec![0; ports],
        layer_names: tree.layer_names,
        node_names: (0..nodes).map(|node| format!("node {node}")).collect(),
        racks: (0..hosts).collect(),
        pods: vec![0; hosts as usize],
    }
}

/// A port that trims packets of sprayed connections.
fn trimming(port: QueuedPortConfig) -> QueuedPortConfig {
    QueuedPortConfig { count: 2, priority: true, trim: Some(64), ..port }
}

/// A port whose data may pause, and of which nothing is dropped.
fn lossless(port: QueuedPortConfig) -> QueuedPortConfig {
    let mut port = QueuedPortConfig { count: 2, priority: true, ..port };
    port.classes[0].limit = Threshold::UNLIMITED;
    port
}

impl Scenario {
    fn draw(seed: u64) -> Self {
        let mut random = Stream::new(seed, "scenario", 0);
        let routes = match random.below(4) {
            0 => Routes::Nodes(Balancing::Ecmp),
            1 => Routes::Nodes(Balancing::Spray),
            2 => Routes::Nodes(Balancing::Drill { samples: 2, memory: 1 }),
            _ => Routes::Fixed,
        };
        let topology = match random.below(2) {
            0 => fat_tree(4, &mut random).topology(),
            _ => leaf_spine(&mut random),
        };
        let schemes = ["xmp", "lia", "dctcp"].map(|name| scheme(name, &[]));
        let ports = if random.below(4) == 0 { Ports::Trim } else { Ports::Plain };
        Self { topology, routes, ports, schemes, flags: None, changes: false, seed }
    }

    /// One that knows its sites, or not: then it advances in the order of time.
    fn fabric(&self, by_sites: bool) -> Fabric<Wire> {
        let ports = self.topology.ports(self.seed);
        let fabric = Fabric::new(&ports, 6, self.seed);
        let chooses = matches!(self.routes, Routes::Nodes(balancing) if !balancing.is_known_ahead());
        let whole_nodes = chooses || self.ports == Ports::Pause;
        let sites = Sites::new(&self.topology, whole_nodes);
        assert!(sites.are_several(), "links with delays");
        let fabric = if by_sites { fabric.with_sites(Arc::new(sites)) } else { fabric };
        let queued = |of: fn(QueuedPortConfig) -> QueuedPortConfig| -> Vec<_> {
            (0..).zip(&ports).map(|(port, config)| (port, of(QueuedPortConfig::plain(config)))).collect()
        };
        let fabric = match self.ports {
            Ports::Plain => fabric,
            Ports::Trim => fabric.with_queued_ports(&queued(trimming), &[]),
            Ports::Pause => fabric.with_queued_ports(&queued(lossless), &[]).with_pfc(&self.pfc()),
        };
        let fabric = match self.flags {
            None => fabric,
            Some(feedback) => {
                fabric.with_flags(FlagConfig { fraction: 500, unlimited: Threshold::packets(20), feedback })
            }
        };
        match self.routes {
            Routes::Fixed => fabric,
            Routes::Nodes(balancing) => {
                fabric.with_forwarding(self.topology.network.clone(), balancing, self.seed)
            }
        }
    }

    /// Every link to a switch.
    fn pfc(&self) -> Vec<PfcConfig> {
        let hosts = self.topology.network.hosts;
        let twins = self.topology.twins();
        let links = (0..).zip(&self.topology.network.ends).filter(|(_, [_, to])| *to >= hosts);
        links
            .map(|(port, _)| PfcConfig {
                port,
                twin: twins[port as usize],
                xoff: 9_000,
                xon: 6_000,
                // Now and then it is used up.
                headroom: 9_000,
                reaction: 0,
            })
            .collect()
    }

    /// The world in this many parts, or in the order of time with none, in which the hosts of every other scenario serve their subflows in turn.
    fn world(&self, parts: usize) -> World {
        let world = self.world_of_plain_hosts(parts);
        let ends = (0..).zip(&self.topology.network.ends);
        let hosts = ends.filter(|(_, [from, _])| *from < self.topology.network.hosts).map(|(port, _)| port);
        if self.seed.is_multiple_of(2) { world } else { world.with_fair_ports(&hosts.collect::<Vec<_>>()) }
    }

    fn world_of_plain_hosts(&self, parts: usize) -> World {
        if parts <= 1 {
            return World::on(self.fabric(parts == 1));
        }
        let whole_nodes = matches!(self.routes, Routes::Nodes(_)) || self.ports == Ports::Pause;
        let cut = Cut::new(&self.topology, parts, whole_nodes);
        World::in_parts(cut.expect("a network with several parts"), || 0.0, || self.fabric(true))
    }

    /// Connection `id` between random hosts.
    fn spec(&self, id: u64, paths: &ShortestPaths) -> FlowSpec {
        let mut random = Stream::new(self.seed, "flow", id);
        let hosts = self.topology.hosts();
        let from = random.below(hosts.into()) as u32;
        let to = (from + 1 + random.below(u64::from(hosts) - 1) as u32) % hosts;
        let subflows = 1 + random.below(3) as u32;
        let scheme = &self.schemes[random.below(3) as usize];
        let config = Config {
            handshake: random.below(2) == 0,
            recovery: [Recovery::Sack, Recovery::NewReno, Recovery::Rack][random.below(3) as usize],
            rto_min: 10 * MILLISECOND,
            rto_initial: 20 * MILLISECOND,
            port_limit: 1 + id % 5 * 1500,
            receive_buffer: id.is_multiple_of(3).then(|| ReceiveBuffer {
                bytes: 1 + id % 40 * 1500,
                rule: [BufferRule::Fixed, BufferRule::Linux { most: 90_000 }][id as usize / 2 % 2],
                blocked: [Blocked::Wait, Blocked::Reinject][id as usize % 2],
            }),
            ..transport(scheme, Acking::Delayed)
        };
        let bytes = [1, 3_000, 40_000, 400_000][random.below(4) as usize] + random.below(5_000);
        let paths = match self.routes {
            Routes::Fixed => {
                let all = FixedPaths::Shortest(paths.clone(), Exclusive::Path);
                Paths::Fixed(all.draw(from, to, subflows, |n| random.below(n.into()) as u32))
            }
            Routes::Nodes(_) => Paths::Forwarded { from: vec![from], to: vec![to], paths: 2, stream: id },
        };
        let manager = Manager::fixed(subflows as usize);
        let base = FlowSpec::on_paths(id, config, scheme.clone(), bytes, Vec::new());
        let spec = FlowSpec { hosts: [from, to], paths, manager, group: (id % 2) as u32, ..base };
        if random.below(4) == 0 { sprayed(spec, &mut random) } else { spec }
    }

    /// Every third tick the link of a port fails until the next one, and another one is slow.
    fn change(&self, world: &mut World, tick: u64) {
        let ports = self.topology.configs.len() as u64;
        let (failing, slow) = ((tick / 3 * 7 % ports) as u32, (tick / 3 * 5 % ports) as u32);
        let is_third = tick.is_multiple_of(3);
        world.set_link(failing, !is_third);
        world.set_rate(slow, if is_third { GIGABIT / 4 } else { GIGABIT });
        world.reroute();
    }

    /// Some connections at first, and the next one wherever one ends, at that instant. Some are stopped, some stay and
    /// get further messages, and there are datagrams.
    fn run(&self, parts: usize, connections: u64, disturbed: bool) -> Outcome {
        let paths = ShortestPaths::new(&self.topology);
        let mut world = self.world(parts).with_rtts(2);
        let mut next = 0;
        let mut stops: VecDeque<u64> = VecDeque::new();
        let mut records: Vec<FlowRecord> = Vec::new();
        let datagrams: Vec<u64> = (0..3).map(|n| connections + n).collect();
        for &id in &datagrams {
            world.start_datagrams(FlowSpec { manager: Manager::fixed(1), ..self.spec(id, &paths) });
        }
        let start = |world: &mut World, next: &mut u64, stops: &mut VecDeque<u64>| {
            if *next < connections {
                let spec = self.spec(*next, &paths);
                match *next % 5 {
                    0 => world.start_lasting(spec),
                    place @ 1..=2 => world.append(*next - place, *next, spec.bytes),
                    _ => {
                        world.start(spec);
                        if next.is_multiple_of(7) {
                            stops.push_back(*next);
                        }
                    }
                }
                *next += 1;
            }
        };
        (0..20).for_each(|_| start(&mut world, &mut next, &mut stops));
        let mut budgets = SplitMix::new(1);
        let (mut tick, mut over, mut looks) = (0, 0, Vec::new());
        while over < connections {
            assert!(world.now() < 100 * SECOND, "{} connections have not finished", world.live());
            let budget = if disturbed { 1 + budgets.next() % 2000 } else { UNBOUNDED };
            let step = world.advance_ahead(tick, budget);
            records.extend(iter::from_fn(|| world.take_record()));
            match step {
                Ahead::Ended(id, record) => {
                    records.extend(record);
                    stops.retain(|&other| other != id);
                    over += 1;
                    if over.is_multiple_of(3) {
                        looks.push(look(&mut world));
                    }
                    start(&mut world, &mut next, &mut stops);
                }
                Ahead::Budget => {}
                Ahead::Reached => {
                    if tick % (2 * 333 * MICROSECOND) == 0 || self.changes {
                        looks.push(look(&mut world));
                    }
                    tick += 333 * MICROSECOND;
                    datagrams.iter().for_each(|&id| world.send_datagram(id, 1000));
                    if self.changes {
                        self.change(&mut world, tick / (333 * MICROSECOND));
                    }
                    if tick % (4 * 333 * MICROSECOND) == 0
                        && let Some(id) = stops.pop_front()
                    {
                        let record = world.stop(id);
                        records.extend(iter::from_fn(|| world.take_record()));
                        records.push(record);
                        over += 1;
                        start(&mut world, &mut next, &mut stops);
                    }
                }
            }
        }
        self.outcome(world, records, &datagrams, looks)
    }

    /// All that can be seen when the flows have ended and the network is empty.
    fn outcome(
        &self,
        mut world: World,
        mut records: Vec<FlowRecord>,
        datagrams: &[u64],
        looks: Vec<(u64, usize, Vec<u64>)>,
    ) -> Outcome {
        world.settle();
        records.extend(iter::from_fn(|| world.take_record()));
        let received = datagrams.iter().map(|&id| world.received(id)).collect();
        records.extend(datagrams.iter().map(|&id| world.stop(id)));
        let until = world.now() + SECOND;
        while world.advance(until, UNBOUNDED) != Step::Reached {}
        let packets = world.packets();
        assert_eq!(world.in_flight(), 0, "nothing is left after a second");
        assert_eq!(packets.sent, packets.delivered + packets.dropped);
        Outcome {
            records,
            packets,
            ports: world.ports().map(|p| p.counters()).collect(),
            busy: (0..self.topology.configs.len() as u32).map(|p| world.busy(p)).collect(),
            pauses: (0..self.topology.configs.len() as u32).map(|p| world.pfc_counters(p)).collect(),
            rtts: world.rtts(),
            received,
            hops: world.hops(),
            delivered: world.delivered_bytes(),
            share_moves: world.mechanisms().share_moves,
            end: world.now(),
            looks,
        }
    }
}

/// The switches as they are now: packet-hops, packets on their way, and those that wait in each port.
fn look(world: &mut World) -> (u64, usize, Vec<u64>) {
    let steady = world.steady_hops();
    world.settle();
    assert_eq!(world.steady_hops(), steady, "whatever is carried out");
    let waiting = (0..world.ports().count() as u32).map(|port| world.waiting(port)).collect();
    (world.hops(), world.in_flight(), waiting)
}

#[test]
fn a_cut_changes_nothing() {
    let mut crossed = 0;
    for seed in first_of(16) {
        let scenario = Scenario::draw(seed);
        let whole = scenario.run(0, 120, false);
        assert_eq!(whole.records.len(), 123);
        for parts in [1, 2, 3, 4] {
            let cut = scenario.run(parts, 120, seed % 4 < 2);
            crossed += usize::from(scenario.world(parts).parts() == parts);
            assert_eq!(whole, cut, "seed {seed}, {parts} parts, {:?}", scenario.routes);
        }
    }
    assert_eq!(crossed as u64, 4 * first_of(16).end, "as many parts as were asked for");
}

/// Pause frames cross a cut as packets do.
#[test]
fn a_cut_changes_nothing_where_ports_are_paused() {
    let (mut pauses, mut overflows) = (0, 0);
    for seed in first_of(12).map(|n| 100 + n) {
        let scenario = Scenario { ports: Ports::Pause, ..Scenario::draw(seed) };
        let whole = scenario.run(0, 120, false);
        for parts in [1, 2, 3, 4] {
            let cut = scenario.run(parts, 120, seed % 2 == 0);
            assert_eq!(whole, cut, "seed {seed}, {parts} parts, {:?}", scenario.routes);
        }
        pauses += whole.pauses.iter().map(|p| p.pauses).sum::<u64>();
        overflows += whole.pauses.iter().map(|p| p.overflows).sum::<u64>();
    }
    assert!(pauses > 500 && overflows > 0, "{pauses} pauses, {overflows} drops");
}

/// What waits for a link that fails is told before time goes on.
#[test]
fn neither_do_links_that_fail_where_time_goes_site_by_site() {
    let mut drops = 0;
    for (seed, ports) in (200..212).zip([Ports::Trim, Ports::Pause].into_iter().cycle()) {
        let scenario = Scenario { ports, changes: true, ..Scenario::draw(seed) };
        let by_time = scenario.run(0, 120, false);
        assert_eq!(by_time, scenario.run(1, 120, seed % 4 < 2), "seed {seed}, {:?}", scenario.routes);
        drops += by_time.ports.iter().map(|port| port.lost).sum::<u64>();
    }
    assert!(drops > 100, "{drops} packets are lost with a link");
}

/// What nodes and hosts hear of congestion elsewhere is older than a window, and shares move between two windows.
#[test]
fn neither_do_flags_where_time_goes_site_by_site() {
    let (mut moves, mut tells) = (0, 0);
    for seed in 300..316 {
        let schemes = ["holnet_uta", "xmp", "dctcp"].map(|name| scheme(name, &[]));
        let feedback = [Feedback::OneHop, Feedback::Backward][seed as usize / 8 % 2];
        let period = [7, 40, 300][seed as usize % 3] * MICROSECOND;
        let holnet = HolnetConfig { r_min: 100, r_max: 1500, kappa: 50, period, flowlet_gap: None };
        let flowlets = HolnetConfig { flowlet_gap: Some(200 * MICROSECOND), ..holnet };
        let routes = match seed % 4 {
            0 => Routes::Nodes(Balancing::HolnetPercentage(holnet)),
            1 => Routes::Nodes(Balancing::HolnetRate(flowlets)),
            2 => Routes::Nodes(Balancing::Ecmp),
            _ => Routes::Fixed,
        };
        let drawn = Scenario { schemes, routes, changes: seed % 8 < 4, ..Scenario::draw(seed) };
        let ports = if drawn.changes { Ports::Trim } else { drawn.ports };
        let scenario = Scenario { flags: Some(feedback), ports, ..drawn };
        let by_time = scenario.run(0, 120, false);
        assert_eq!(by_time, scenario.run(1, 120, seed % 4 < 2), "seed {seed}, {routes:?}");
        moves += by_time.share_moves.unwrap_or(0);
        let unheard = Scenario { flags: None, ..scenario };
        tells += u64::from(seed % 4 > 1 && unheard.run(0, 120, false) != by_time);
    }
    assert!(moves > 200 && tells > 4, "{moves} updates move shares, {tells} runs differ by what hosts hear");
}

/// Long enough that parts go on one by one and together.
#[test]
fn neither_does_the_number_of_threads() {
    let mut random = Stream::new(1, "long", 0);
    let tree = fat_tree(8, &mut random);
    let schemes = ["xmp", "lia", "dctcp"].map(|name| scheme(name, &[]));
    for ports in [Ports::Plain, Ports::Pause] {
        let (topology, schemes) = (tree.topology(), schemes.clone());
        let scenario = Scenario {
            topology,
            routes: Routes::Fixed,
            ports,
            schemes,
            flags: None,
            changes: false,
            seed: 5,
        };
        let whole = scenario.run(0, 400, false);
        assert!(whole.hops > 250_000, "{} hops", whole.hops);
        for parts in [2, 8] {
            assert_eq!(whole, scenario.run(parts, 400, false), "{parts} parts, {ports:?}");
        }
    }
}

/// Hosts that are next to each other, and hosts with several links: a message's last packets may come at once.
#[test]
fn a_cut_changes_nothing_where_hosts_have_many_links() {
    // Three hosts at two switches, of which two are next to each other; two hosts at four switches.
    let neighbours = [[0, 3], [1, 3], [2, 4], [3, 4], [0, 1]].as_slice();
    let parallel = [[0, 2], [0, 3], [0, 4], [0, 5], [1, 2], [1, 3], [1, 4], [1, 5]].as_slice();
    for (hosts, links, delays) in [(3, neighbours, [10, 10, 10, 10, 5].as_slice()), (2, parallel, &[1; 8])] {
        for seed in 0..6 {
            let mut random = Stream::new(seed, "scenario", 0);
            let topology = network(hosts, links, delays, &mut random);
            let schemes = ["xmp", "lia", "dctcp"].map(|name| scheme(name, &[]));
            let (routes, ports) = (Routes::Fixed, Ports::Plain);
            let scenario = Scenario { topology, routes, ports, schemes, flags: None, changes: false, seed };
            let whole = scenario.run(0, 150, false);
            for parts in [1, 2] {
                assert_eq!(
                    whole,
                    scenario.run(parts, 150, seed % 4 < 2),
                    "{hosts} hosts, seed {seed}, {parts}"
                );
            }
        }
    }
}

/// What a cut promises: no packet is in another part sooner than the lookahead, every part has hosts, and those of
/// one host lie together.
#[test]
fn a_cut_goes_along_pods_and_leaves() {
    let mut random = Stream::new(1, "cut", 0);
    let tree = fat_tree(8, &mut random).topology();
    let cut = Cut::new(&tree, 4, false).expect("eight pods");
    assert_eq!((cut.parts(), cut.lookahead()), (4, 40 * MICROSECOND));
    for host in 0..tree.hosts() {
        assert_eq!(cut.of_node(host), (tree.pods[host as usize] / 2) as usize, "host {host}");
    }
    let leaves = leaf_spine(&mut random);
    let cut = Cut::new(&leaves, 9, true).expect("four leaves");
    assert_eq!(cut.parts(), 4, "no more than leaves");
    for host in 0..leaves.hosts() {
        assert_eq!(cut.of_node(host), leaves.racks[host as usize] as usize, "host {host}");
    }
    let mut near = leaves;
    near.configs.iter_mut().for_each(|config| config.delay = 0);
    assert_eq!(Cut::new(&near, 2, true).err(), Some(Uncut::NoDelay));
}
