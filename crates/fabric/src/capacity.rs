//! What a network can carry of flows between random pairs of hosts: the reference of an offered load.

use crate::tier::{Direction, Tier, tiers};
use crate::topology::Topology;

/// Who may send to whom.
#[derive(Debug, Clone)]
pub struct AllowedPairs<'a> {
    /// Hosts that send.
    pub from: &'a [u32],
    /// Hosts that receive.
    pub to: &'a [u32],
    /// Only between racks.
    pub inter_rack: bool,
}

/// The total rate that the network carries of flows between random pairs, bit/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capacity {
    /// At the narrowest tier (catalogue 0.5): the core of a fat tree, the uplinks of the leaves in an
    /// oversubscribed leaf-spine.
    pub bisection: f64,
    /// At the links of the hosts that send.
    pub access: f64,
}

/// The capacity of `topology` for these pairs, all equally likely; `None` if there is no such pair.
pub fn capacity_between(topology: &Topology, allowed: &AllowedPairs) -> Option<Capacity> {
    let is_in = |hosts: &[u32]| {
        let mut is_in = vec![false; topology.hosts() as usize];
        hosts.iter().for_each(|&host| is_in[host as usize] = true);
        is_in
    };
    let (sends, receives) = (is_in(allowed.from), is_in(allowed.to));
    let class = |host: u32| {
        let host = host as usize;
        topology.racks[host] * 4 + u32::from(sends[host]) * 2 + u32::from(receives[host])
    };
    let talks =
        |from: u32, to: u32| from & 2 != 0 && to & 1 != 0 && !(allowed.inter_rack && from / 4 == to / 4);
    let tiers = tiers(topology, class, talks);
    let narrowest =
        |tiers: &mut dyn Iterator<Item = &Tier>| tiers.map(Tier::throughput).min_by(f64::total_cmp);
    let access = |tier: &&Tier| tier.layer == topology.layer_names[0] && tier.direction == Direction::Up;
    Some(Capacity {
        bisection: narrowest(&mut tiers.iter())?,
        access: narrowest(&mut tiers.iter().filter(access))?,
    })
}
