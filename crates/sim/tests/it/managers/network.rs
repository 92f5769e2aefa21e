//! Random small leaf-spine networks, with every kind of port, whose links change.

use std::ops::Range;

use tresse_fabric::{
    Balancing, ClassMark, Fabric, Feedback, FlagConfig, HolnetConfig, Loss, Network, NonEct, Path,
    PoolConfig, PortConfig, Probability, Processing, QueuedPortConfig, RedConfig, Threshold,
};
use tresse_sim::World;
use tresse_units::{MICROSECOND, MILLISECOND, NEVER, Stream, Time};

/// What happens to links, the last first.
pub struct Changes(Vec<(Time, Change)>);

#[derive(Clone, Copy)]
enum Change {
    Rate(u32, u64),
    Link(u32, bool),
    Reroute,
}

impl Changes {
    /// When the next one is due.
    pub fn next(&self) -> Time {
        self.0.last().map_or(NEVER, |c| c.0)
    }

    /// Makes those that are due.
    pub fn make(&mut self, world: &mut World) {
        while self.next() <= world.now() {
            match self.0.pop().expect("one is due").1 {
                Change::Rate(port, rate) => world.set_rate(port, rate),
                Change::Link(port, up) => world.set_link(port, up),
                Change::Reroute => world.reroute(),
            }
        }
    }
}

/// Those that follow congestion flags only `if_flags`.
fn balancing(random: &mut Stream, if_flags: bool) -> Balancing {
    let holnet = HolnetConfig {
        r_min: 100,
        r_max: 1500,
        kappa: 50,
        period: 40 * MICROSECOND,
        flowlet_gap: (random.below(2) == 0).then_some(50 * MICROSECOND),
    };
    [
        Balancing::Ecmp,
        Balancing::Spray,
        Balancing::Drill { samples: 2, memory: 1 },
        Balancing::HolnetPercentage(holnet),
        Balancing::HolnetRate(holnet),
    ][random.below(if if_flags { 5 } else { 3 }) as usize]
}

/// What the ports of a network are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ports {
    /// Anything that a port may be; links change.
    Drawn,
    /// One-event ports only: FIFO, marks above a threshold; nothing changes.
    Plain,
    /// The same with a queued port in each.
    Served,
}

const LEAVES: u32 = 2;
const SPINES: u32 = 3;
/// Hosts in all.
pub const HOSTS: u32 = 8;

/// Two leaves with four hosts each, three spines.
pub struct Drawn {
    pub world: World,
    /// What happens to the links between the leaves and the spines: all of them are whole in the end.
    pub changes: Changes,
    /// Nodes do not choose: a subflow has a fixed route.
    pub fixed: bool,
    /// Something in it signals by RED.
    pub red: bool,
    /// Its switches have shared buffers.
    pub shared: bool,
    /// The most classes that a port of it has.
    pub classes: u8,
}

fn leaf(l: u32) -> u32 {
    HOSTS + l
}

fn leaf_of(host: u32) -> u32 {
    host / (HOSTS / LEAVES)
}

/// The port from a leaf to a spine; the next one is that of the spine to the leaf.
fn up(l: u32, spine: u32) -> u32 {
    2 * HOSTS + 2 * (l * SPINES + spine)
}

/// From a host over a spine to a host of the other leaf, and back.
pub fn path(from: u32, to: u32, spine: u32) -> Path {
    let way =
        |from: u32, to: u32| vec![2 * from, up(leaf_of(from), spine), up(leaf_of(to), spine) + 1, 2 * to + 1];
    Path { there: way(from, to), back: way(to, from) }
}

/// The nodes before and after each port.
fn ends() -> Vec<[u32; 2]> {
    let mut ends: Vec<[u32; 2]> =
        (0..HOSTS).flat_map(|h| [[h, leaf(leaf_of(h))], [leaf(leaf_of(h)), h]]).collect();
    for l in 0..LEAVES {
        ends.extend((0..SPINES).map(|s| HOSTS + LEAVES + s).flat_map(|s| [[leaf(l), s], [s, leaf(l)]]));
    }
    ends
}

fn red(random: &mut Stream, seed: u64) -> Option<RedConfig> {
    let min = random.below(20);
    let max = min + 1 + random.below(20);
    let of = [Threshold::packets, |n| Threshold::bytes(1500 * n)][random.below(2) as usize];
    let red = RedConfig {
        min: of(min),
        max: of(max),
        probability: 1 + random.below(1 << 15) as u32,
        weight: random.below(10) as u32,
        gentle: random.below(2) == 0,
        uniform: random.below(2) == 0,
        stream: (seed, 0),
    };
    (random.below(3) == 0).then_some(red)
}

/// One to three classes.
fn queued_port(random: &mut Stream, port: &PortConfig, pool: Option<u32>) -> QueuedPortConfig {
    let mut config = QueuedPortConfig { pool, ..QueuedPortConfig::plain(port) };
    config.count = 1 + random.below(3) as u8;
    config.priority = random.below(2) == 0;
    config.trim = (random.below(2) == 0).then_some(64);
    for class in &mut config.classes[1..] {
        class.quantum = 100 + random.below(5000) as u32;
        if random.below(2) == 0 {
            class.mark = ClassMark::Share { rtt: 100 * MICROSECOND, lambda: 1 + random.below(1000) as u32 };
        }
    }
    config
}

fn changes(random: &mut Stream, core: Range<u32>) -> Changes {
    let mut changes = Vec::new();
    for _ in 0..random.below(8) {
        let port = core.start + random.below(core.len() as u64) as u32;
        let time = random.below(20 * MILLISECOND);
        let end = time + random.below(400 * MILLISECOND);
        if random.below(2) == 0 {
            changes.push((time, Change::Rate(port, [8_000_000, 100_000_000][random.below(2) as usize])));
            changes.push((end, Change::Rate(port, 1_000_000_000)));
        } else {
            changes.push((time, Change::Link(port, false)));
            changes.push((time + random.below(10 * MILLISECOND), Change::Reroute));
            changes.push((end, Change::Link(port, true)));
            changes.push((end, Change::Reroute));
        }
    }
    // Failures of one link may overlap: in the end everything is up.
    let over = changes.iter().map(|c| c.0).max().unwrap_or(0);
    changes.extend(core.map(|port| (over, Change::Link(port, true))));
    changes.push((over, Change::Reroute));
    // Those of one instant in the order in which they were made.
    changes.sort_by_key(|c| c.0);
    changes.reverse();
    Changes(changes)
}

/// A random network.
pub fn leaf_spine(random: &mut Stream, seed: u64, kind: Ports) -> Drawn {
    let ends = ends();
    let any = kind == Ports::Drawn;
    let mark = [Threshold::UNLIMITED, Threshold::packets(10)][random.below(2) as usize];
    let limit = Threshold::packets(5 + random.below(60));
    let probability = Probability::from_parts([0, random.below(1 << 26)][random.below(2) as usize]);
    let non_ect = [NonEct::Queue, NonEct::Queue, NonEct::Drop][random.below(3) as usize];
    let red = red(random, seed).filter(|_| any);
    let ports: Vec<PortConfig> = (0..ends.len() as u32)
        .map(|port| PortConfig {
            rate: 1_000_000_000,
            delay: 10 * MICROSECOND,
            limit,
            mark,
            non_ect,
            drop_until: None,
            processing: Processing::NONE,
            red: red.map(|red| RedConfig { stream: (seed, port), ..red }),
            loss: Loss::new(probability, seed, port),
        })
        .collect();
    let core = 2 * HOSTS..ends.len() as u32;
    let shared = any && random.below(3) == 0;
    let pool = PoolConfig { bytes: 3000 + random.below(300_000), alpha: 100 + random.below(8000) as u32 };
    let pools = if shared { vec![pool; (LEAVES + SPINES) as usize] } else { Vec::new() };
    // Links that change need queued ports; other ports of switches are queued or not.
    let served: Vec<u32> = match kind {
        Ports::Drawn if random.below(2) == 0 => (0..HOSTS).map(|h| 2 * h + 1).chain(core.clone()).collect(),
        Ports::Drawn => core.clone().collect(),
        Ports::Plain => Vec::new(),
        Ports::Served => (0..ends.len() as u32).collect(),
    };
    let queued_ports: Vec<(u32, QueuedPortConfig)> = served
        .into_iter()
        .map(|port| {
            let config = &ports[port as usize];
            let pool = shared.then(|| ends[port as usize][0] - HOSTS);
            (port, if any { queued_port(random, config, pool) } else { QueuedPortConfig::plain(config) })
        })
        .collect();
    let fixed = random.below(4) == 0;
    let mut fabric = Fabric::new(&ports, 4, 1);
    if !fixed {
        let network = Network { hosts: HOSTS, nodes: HOSTS + LEAVES + SPINES, ends };
        fabric = fabric.with_forwarding(network, balancing(random, any), seed);
    }
    fabric = fabric.with_queued_ports(&queued_ports, &pools);
    if any && !fixed {
        fabric = fabric.with_flags(FlagConfig {
            fraction: 800,
            unlimited: Threshold::UNLIMITED,
            feedback: [Feedback::OneHop, Feedback::Backward][random.below(2) as usize],
        });
    }
    let changes = if any { changes(random, core) } else { Changes(Vec::new()) };
    let classes = queued_ports.iter().map(|(_, s)| s.count).max().unwrap_or(1);
    Drawn { world: World::on(fabric), changes, fixed, red: red.is_some(), shared, classes }
}
