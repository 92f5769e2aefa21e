//! What a network can carry of flows between random pairs of hosts: what an offered load is a share of.
//!
//! Every pair of hosts that may exchange flows is equally likely, and flows spread over the shortest paths in
//! proportion to the links' rates. The links between a node and those further from the hosts are a tier, in each
//! direction. The narrowest of them, measured by what passes it of all flows, bounds what the network carries: of a
//! fat tree its core, of an oversubscribed leaf-spine the uplinks of a leaf.

use std::collections::BTreeMap;

use tresse_fabric::Topology;

/// Who may send to whom.
#[derive(Debug, Clone)]
pub struct Allowed<'a> {
    /// Hosts that send.
    pub from: &'a [u32],
    /// Hosts that receive.
    pub to: &'a [u32],
    /// Only between racks.
    pub inter_rack: bool,
}

/// What the network carries of flows between random pairs, all together, bit/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capacity {
    /// At the narrowest tier.
    pub bisection: f64,
    /// At the links of the hosts that send.
    pub access: f64,
}

/// The capacity of `topology` for these pairs; `None` if there is no such pair, or one has no path.
pub fn capacity(topology: &Topology, allowed: &Allowed) -> Option<Capacity> {
    let network = &topology.network;
    let mut ports: Vec<Vec<u32>> = vec![Vec::new(); network.nodes as usize];
    for (port, &[from, _]) in (0..).zip(&network.ends) {
        ports[from as usize].push(port);
    }
    let share = shares(topology, allowed, &ports)?;
    let level = levels(topology, &ports);
    // A tier by its lower node, or by both where no one is lower, and its direction.
    let mut tiers: BTreeMap<(u32, u32, bool), (f64, f64)> = BTreeMap::new();
    for (port, &[from, to]) in network.ends.iter().enumerate().filter(|(port, _)| share[*port] > 0.0) {
        let key = match level[from as usize].cmp(&level[to as usize]) {
            std::cmp::Ordering::Less => (from, u32::MAX, true),
            std::cmp::Ordering::Greater => (to, u32::MAX, false),
            std::cmp::Ordering::Equal => (from, to, true),
        };
        let (passes, rate) = tiers.entry(key).or_default();
        *passes += share[port];
        *rate += topology.rate(port as u32) as f64;
    }
    let narrowest = |tiers: &mut dyn Iterator<Item = (f64, f64)>| {
        tiers.map(|(passes, rate)| rate / passes).fold(f64::INFINITY, f64::min)
    };
    let is_access = |&(node, other, up): &(u32, u32, bool)| up && other == u32::MAX && node < network.hosts;
    Some(Capacity {
        bisection: narrowest(&mut tiers.values().copied()),
        access: narrowest(&mut tiers.iter().filter(|(key, _)| is_access(key)).map(|(_, tier)| *tier)),
    })
}

/// By port, the share of all flows that passes it.
fn shares(topology: &Topology, allowed: &Allowed, ports: &[Vec<u32>]) -> Option<Vec<f64>> {
    let network = &topology.network;
    let racks = u32::from(allowed.inter_rack);
    // How many receivers there are, in each rack, behind each switch; a host with several links is its own.
    let mut behind: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &to in allowed.to {
        for address in topology.addresses(to).take(1) {
            let node = match ports[address as usize][..] {
                [port] => network.ends[port as usize][1],
                _ => address,
            };
            behind.entry(node).or_default().push(to);
        }
    }
    let mut share = vec![0.0; network.ends.len()];
    let mut pairs = 0.0;
    for (&node, receivers) in &behind {
        let distance = distances(topology, ports, node);
        let mut order: Vec<u32> = (0..network.nodes).filter(|&n| distance[n as usize] != u32::MAX).collect();
        order.sort_by_key(|&n| std::cmp::Reverse(distance[n as usize]));
        let mut passes = vec![0.0; network.nodes as usize];
        let mut by_rack: BTreeMap<u32, u32> = BTreeMap::new();
        for &to in receivers {
            *by_rack.entry(topology.racks[to as usize] * racks).or_default() += 1;
        }
        let mut received = vec![0.0; receivers.len()];
        for &from in allowed.from {
            let own = by_rack.get(&(topology.racks[from as usize] * racks)).copied().unwrap_or(0);
            let itself = u32::from(receivers.contains(&from));
            let to = receivers.len() as u32 - if allowed.inter_rack { own } else { itself };
            if to == 0 {
                continue;
            }
            pairs += f64::from(to);
            // Each address of a host that has several carries its part.
            let addresses = topology.addresses(from);
            for address in addresses.clone() {
                if distance[address as usize] == u32::MAX {
                    return None;
                }
                passes[address as usize] += f64::from(to) / addresses.len() as f64;
            }
        }
        for (received, &to) in received.iter_mut().zip(receivers) {
            let alike = |&&from: &&u32| {
                from != to
                    && (!allowed.inter_rack || topology.racks[from as usize] != topology.racks[to as usize])
            };
            *received = allowed.from.iter().filter(alike).count() as f64;
        }
        for &at in order.iter().filter(|&&at| at != node) {
            let nearer = |&&port: &&u32| {
                let next = network.ends[port as usize][1];
                distance[next as usize].saturating_add(1) == distance[at as usize]
                    && (next >= network.hosts || next == node)
            };
            let rate: f64 = ports[at as usize].iter().filter(nearer).map(|&p| topology.rate(p) as f64).sum();
            for &port in ports[at as usize].iter().filter(nearer) {
                let part = passes[at as usize] * topology.rate(port) as f64 / rate;
                share[port as usize] += part;
                passes[network.ends[port as usize][1] as usize] += part;
            }
        }
        if node >= network.hosts {
            for (&to, received) in receivers.iter().zip(&received) {
                let address = topology.addresses(to).start;
                let last = ports[node as usize].iter().find(|&&p| network.ends[p as usize][1] == address);
                share[*last? as usize] += received;
            }
        }
    }
    share.iter_mut().for_each(|s| *s /= pairs);
    (pairs > 0.0).then_some(share)
}

/// By node, the ports on a shortest path to `node`.
fn distances(topology: &Topology, ports: &[Vec<u32>], node: u32) -> Vec<u32> {
    let network = &topology.network;
    let mut distance = vec![u32::MAX; network.nodes as usize];
    distance[node as usize] = 0;
    let mut nearest = vec![node];
    while !nearest.is_empty() {
        let mut next = Vec::new();
        for &near in &nearest {
            // Links lead both ways.
            for &port in &ports[near as usize] {
                let far = network.ends[port as usize][1];
                if distance[far as usize] == u32::MAX {
                    distance[far as usize] = distance[near as usize] + 1;
                    next.extend((far >= network.hosts).then_some(far));
                }
            }
        }
        nearest = next;
    }
    distance
}

/// By node, how far the nearest host is.
fn levels(topology: &Topology, ports: &[Vec<u32>]) -> Vec<u32> {
    let network = &topology.network;
    let mut level = vec![u32::MAX; network.nodes as usize];
    let mut nearest: Vec<u32> = (0..network.hosts).collect();
    nearest.iter().for_each(|&host| level[host as usize] = 0);
    while !nearest.is_empty() {
        let mut next = Vec::new();
        for &near in &nearest {
            for &port in &ports[near as usize] {
                let far = network.ends[port as usize][1] as usize;
                if level[far] == u32::MAX {
                    level[far] = level[near as usize] + 1;
                    next.push(far as u32);
                }
            }
        }
        nearest = next;
    }
    level
}
