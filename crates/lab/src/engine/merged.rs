//! A network with its twins merged: switches that have the same links to the same neighbours are one, such as the core
//! switches of a group in a fat tree, or the spines of a leaf-spine fabric. Shortest paths cross twins alike, so the
//! merged network has the same distances, the same fastest paths and the same rates, with far fewer links to go through.

use std::collections::BTreeMap;

use tresse_fabric::Topology;
use tresse_units::Time;

/// The links of each node, alike links to the same or to merged nodes being one.
#[derive(Debug)]
pub struct Merged {
    /// By node: the first of its twins, which has the links of all of them.
    firsts: Vec<u32>,
    /// The index in `links` at which each node's begin, and one more entry for the end.
    starts: Vec<u32>,
    /// The port of a link, the first of those that it stands for, and the node that it leads to.
    links: Vec<(u32, u32)>,
    /// By port: the rate of all the links that it stands for together, bit/s.
    rates: Vec<u64>,
}

/// What links must have in common, other than their ends, to be one: their rate and their delay.
type Kind = (u64, Time);

/// The neighbours to which packets leave a node, and those from which they come, each with its link. Sorted.
type Links = [Vec<(u32, Kind)>; 2];

impl Merged {
    /// Merges the twins of a network. No link leads to nodes that are `left_out`.
    pub fn new(topology: &Topology, left_out: impl Fn(u32) -> bool) -> Self {
        let network = &topology.network;
        let kind = |port: u32| {
            let config = &topology.configs[port as usize];
            (config.rate, config.delay)
        };
        let mut outgoing = vec![Vec::new(); network.nodes as usize];
        for (port, &[from, _]) in (0..).zip(&network.ends) {
            outgoing[from as usize].push(port);
        }
        let (firsts, twins) = firsts(topology, kind);
        let mut rates: Vec<u64> = topology.configs.iter().map(|config| config.rate).collect();
        let (mut starts, mut links) = (vec![0], Vec::new());
        for (node, ports) in (0..).zip(&outgoing) {
            // In the order of ports, in which a search meets them.
            let mut merged: BTreeMap<(u32, Kind), u32> = BTreeMap::new();
            let is_first = firsts[node as usize] == node;
            for &port in ports.iter().filter(|_| is_first) {
                let far = firsts[network.ends[port as usize][1] as usize];
                if left_out(far) {
                    continue;
                }
                let rate = kind(port).0.saturating_mul(twins[node as usize]);
                match merged.get(&(far, kind(port))) {
                    Some(&first) => {
                        let all = &mut rates[first as usize];
                        *all = all.saturating_add(rate);
                    }
                    None => {
                        merged.insert((far, kind(port)), port);
                        rates[port as usize] = rate;
                        links.push((port, far));
                    }
                }
            }
            starts.push(links.len() as u32);
        }
        Self { firsts, starts, links, rates }
    }

    /// The node that has the links of this one: itself, or its first twin.
    pub fn first(&self, node: u32) -> u32 {
        self.firsts[node as usize]
    }

    /// The links of the first of its twins: their ports, and the nodes to which they lead, first of their twins too.
    pub fn links(&self, first: u32) -> impl Iterator<Item = (u32, u32)> {
        let [start, end] = [first, first + 1].map(|n| self.starts[n as usize] as usize);
        self.links[start..end].iter().copied()
    }

    /// The rate of all the links together that this one stands for, bit/s; of any other link, its own rate.
    pub fn rate(&self, port: u32) -> u64 {
        self.rates[port as usize]
    }
}

/// By node: the first of its twins, and how many they are. A host has none but itself.
fn firsts(topology: &Topology, kind: impl Fn(u32) -> Kind) -> (Vec<u32>, Vec<u64>) {
    let network = &topology.network;
    let mut all: Vec<Links> = vec![[Vec::new(), Vec::new()]; network.nodes as usize];
    for (port, &[from, to]) in (0..).zip(&network.ends) {
        all[from as usize][0].push((to, kind(port)));
        all[to as usize][1].push((from, kind(port)));
    }
    let mut firsts: Vec<u32> = (0..network.nodes).collect();
    let mut twins = vec![1; network.nodes as usize];
    let mut known: BTreeMap<Links, u32> = BTreeMap::new();
    for switch in network.hosts..network.nodes {
        let mut links = std::mem::take(&mut all[switch as usize]);
        links.iter_mut().for_each(|way| way.sort_unstable());
        let first = *known.entry(links).or_insert(switch);
        if first != switch {
            firsts[switch as usize] = first;
            twins[first as usize] += 1;
        }
    }
    (firsts, twins)
}
