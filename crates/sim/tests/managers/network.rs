//! Random small leaf-spine networks whose links change.

use tresse_fabric::{
    Balancing, Fabric, Feedback, FlagConfig, HolnetConfig, Loss, MICROSECOND, MILLISECOND, NEVER, Network,
    NonEct, PortConfig, Probability, ServerConfig, Threshold, Time,
};
use tresse_sim::World;
use tresse_workload::Stream;

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

fn balancing(random: &mut Stream) -> Balancing {
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
    ][random.below(5) as usize]
}

/// Two leaves, three spines, eight hosts, the number of hosts, and what happens to the links between the leaves
/// and the spines: all of them are whole in the end.
pub fn leaf_spine_world(random: &mut Stream, seed: u64) -> (World, u32, Changes) {
    const LEAVES: u32 = 2;
    const SPINES: u32 = 3;
    const HOSTS: u32 = 8;
    let (leaf, spine) = (|l: u32| HOSTS + l, |s: u32| HOSTS + LEAVES + s);
    let leaf_of = |h: u32| leaf(h / (HOSTS / LEAVES));
    let mut ends: Vec<[u32; 2]> = (0..HOSTS).flat_map(|h| [[h, leaf_of(h)], [leaf_of(h), h]]).collect();
    for l in 0..LEAVES {
        ends.extend((0..SPINES).flat_map(|s| [[leaf(l), spine(s)], [spine(s), leaf(l)]]));
    }
    let mark = [Threshold::UNLIMITED, Threshold::packets(10)][random.below(2) as usize];
    let limit = Threshold::packets(5 + random.below(60));
    let probability = Probability::from_parts([0, random.below(1 << 26)][random.below(2) as usize]);
    let ports: Vec<PortConfig> = (0..ends.len() as u32)
        .map(|port| PortConfig {
            rate: 1_000_000_000,
            delay: 10 * MICROSECOND,
            limit,
            mark,
            non_ect: NonEct::Queue,
            red: None,
            loss: Loss::new(probability, seed, port),
        })
        .collect();
    let core = 2 * HOSTS..ends.len() as u32;
    let servers: Vec<_> = core.clone().map(|p| (p, ServerConfig::plain(&ports[p as usize]))).collect();
    let mut changes = Vec::new();
    for _ in 0..random.below(8) {
        let port = core.start + random.below((core.end - core.start).into()) as u32;
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
    changes.extend(core.clone().map(|port| (over, Change::Link(port, true))));
    changes.push((over, Change::Reroute));
    changes.sort_by_key(|c| std::cmp::Reverse(c.0));
    // Those of one instant in the order in which they were made.
    changes.reverse();
    changes.sort_by_key(|c| c.0);
    changes.reverse();
    let network = Network { hosts: HOSTS, nodes: HOSTS + LEAVES + SPINES, ends };
    let fabric = Fabric::new(&ports, 4)
        .with_forwarding(network, balancing(random), seed)
        .with_servers(&servers, &[])
        .with_flags(FlagConfig {
            fraction: 800,
            feedback: [Feedback::OneHop, Feedback::Backward][random.below(2) as usize],
        });
    (World::on(fabric), HOSTS, Changes(changes))
}
