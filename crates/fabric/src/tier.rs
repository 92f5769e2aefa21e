//! Tiers: the ports that traffic crosses in parallel, and which tier is narrowest for it.
//!
//! The load of an oversubscribed fabric depends on where it is measured (catalogue 0.5), so a load is a share
//! of the narrowest tier's capacity.

use std::sync::Arc;

use tresse_units::BitsPerSecond;

use crate::shortest::loads;
use crate::topology::Topology;

/// Where the ports of a tier lead. A node's height is the length of its shortest path to a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// Away from the hosts.
    Up,
    /// Between switches that are equally far from hosts, as over the bottleneck of a dumbbell.
    Level,
    /// Towards the hosts.
    Down,
}

impl Direction {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Level => "level",
            Self::Down => "down",
        }
    }
}

/// The ports of one layer and direction that some traffic crosses.
#[derive(Debug, Clone, PartialEq)]
pub struct Tier {
    /// The name of the layer.
    pub layer: Arc<str>,
    /// Where the ports lead.
    pub direction: Direction,
    /// How many ports there are that the traffic can use.
    pub ports: u32,
    /// The sum of their rates, bit/s; capped at 2^64 - 1.
    pub capacity: BitsPerSecond,
    /// How many of them a bit of the traffic crosses on average, above 0: 1 if all of it crosses the tier
    /// once.
    pub crossings: f64,
}

impl Tier {
    /// The highest total rate of the traffic that this tier allows, bit/s: at this rate its ports are busy
    /// all the time on average. It is `capacity` if all the traffic crosses the tier once.
    pub fn throughput(&self) -> f64 {
        self.capacity as f64 / self.crossings
    }
}

/// The tiers of `topology` for traffic that is the same between any two hosts with classes that `talks(from, to)` and
/// nothing between others, over all shortest paths evenly: by layer from the hosts up, and by direction.
pub fn tiers(topology: &Topology, class: impl Fn(u32) -> u32, talks: impl Fn(u32, u32) -> bool) -> Vec<Tier> {
    let (loads, total) = loads(topology, class, talks);
    let heights = topology.heights();
    let mut tiers: Vec<Tier> = Vec::new();
    for (layer, name) in topology.layer_names.iter().enumerate() {
        for direction in [Direction::Up, Direction::Level, Direction::Down] {
            let is_in = |port: usize| {
                let [from, to] = topology.network.ends[port].map(|node| heights[node as usize]);
                let leads = match to.cmp(&from) {
                    std::cmp::Ordering::Greater => Direction::Up,
                    std::cmp::Ordering::Equal => Direction::Level,
                    std::cmp::Ordering::Less => Direction::Down,
                };
                usize::from(topology.layers[port]) == layer && leads == direction
            };
            let used: Vec<usize> =
                (0..loads.len()).filter(|&port| loads[port] > 0.0 && is_in(port)).collect();
            if used.is_empty() {
                continue;
            }
            let crossings = used.iter().map(|&port| loads[port]).sum::<f64>() / total;
            tiers.push(Tier {
                layer: Arc::clone(name),
                direction,
                ports: used.len() as u32,
                capacity: used.iter().fold(0, |sum, &port| topology.configs[port].rate.saturating_add(sum)),
                // Sums of such shares as a twentieth are not quite 1.
                crossings: (crossings * 1e9).round() / 1e9,
            });
        }
    }
    tiers
}

/// The tier that fills first as traffic between hosts with classes that `talks(from, to)` grows. A load is a share of
/// its [`Tier::throughput`]. Among equals the first, so the hosts' own links. `None` if nobody sends.
pub fn narrowest_tier(
    topology: &Topology,
    class: impl Fn(u32) -> u32,
    talks: impl Fn(u32, u32) -> bool,
) -> Option<Tier> {
    tiers(topology, class, talks).into_iter().min_by(|a, b| a.throughput().total_cmp(&b.throughput()))
}
