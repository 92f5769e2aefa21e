//! A network with its twins merged: switches that have the same links to the same neighbours are one, such as the core
//! switches of a group in a fat tree, the edge switches of a pod, or the leaves and the spines of a leaf-spine fabric.
//! Shortest paths cross twins alike, so the merged network has the same distances, the same fastest paths and the same
//! rates, with far fewer links to go through. A path from one twin to another leads over any of their neighbours.

use std::collections::BTreeMap;

use tresse_fabric::Topology;
use tresse_units::Time;

/// The links of each node, alike links to the same or to merged nodes being one.
#[derive(Debug)]
pub struct Merged {
    /// By node: the first of its twins, which has the links of all of them.
    firsts: Vec<u32>,
    /// By node that is the first of its twins: how many they are.
    twins: Vec<u32>,
    /// The index in `links` at which each node's begin, and one more entry for the end.
    starts: Vec<u32>,
    links: Vec<Link>,
}

/// Links of one kind between two nodes of a merged network.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    /// The port of the first one.
    pub port: u32,
    /// The node that they lead to, the first of its twins.
    pub far: u32,
    /// The rate of those from one twin to another, bit/s.
    pub rate: u64,
}

/// What links must have in common, other than their ends, to be one: their rate and their delay.
type Kind = (u64, Time);

/// The neighbours to which packets leave a node, and those from which they come, each with its link. Sorted.
type Links = [Vec<(u32, Kind)>; 2];

impl Merged {
    /// Merges the twins of a network. Links to and from nodes that are `left_out` count for nothing there.
    pub fn new(topology: &Topology, left_out: impl Fn(u32) -> bool) -> Self {
        let network = &topology.network;
        // A host that has several addresses reaches several switches at once, which are then not alike for it.
        let is_alike_without = |node: u32| topology.hosts() == network.hosts && left_out(node);
        let (firsts, twins) = firsts(topology, is_alike_without);
        let mut outgoing = vec![Vec::new(); network.nodes as usize];
        for (port, &[from, _]) in (0..).zip(&network.ends) {
            outgoing[from as usize].push(port);
        }
        let (mut starts, mut links) = (vec![0], Vec::<Link>::new());
        for (node, ports) in (0..).zip(&outgoing) {
            // In the order of ports, in which a search meets them.
            let mut merged: BTreeMap<(u32, Kind), usize> = BTreeMap::new();
            let is_first = firsts[node as usize] == node;
            for &port in ports.iter().filter(|_| is_first) {
                let [_, to] = network.ends[port as usize];
                let far = firsts[to as usize];
                if left_out(far) {
                    continue;
                }
                let place = *merged.entry((far, kind(topology, port))).or_insert(links.len());
                if place == links.len() {
                    links.push(Link { port, far, rate: 0 });
                }
                // The other twins there have as many links of this kind.
                if far == to {
                    links[place].rate = links[place].rate.saturating_add(topology.rate(port));
                }
            }
            starts.push(links.len() as u32);
        }
        Self { firsts, twins, starts, links }
    }

    /// The node that has the links of this one: itself, or its first twin.
    pub fn first(&self, node: u32) -> u32 {
        self.firsts[node as usize]
    }

    /// How many twins a node is, which is the first of them.
    pub fn twins(&self, first: u32) -> u32 {
        self.twins[first as usize]
    }

    /// The links of the first of its twins.
    pub fn links(&self, first: u32) -> &[Link] {
        let [start, end] = [first, first + 1].map(|n| self.starts[n as usize] as usize);
        &self.links[start..end]
    }
}

fn kind(topology: &Topology, port: u32) -> Kind {
    let config = &topology.configs[port as usize];
    (config.rate, config.delay)
}

/// By node: the first of its twins, and how many they are. A host has none but itself. Links to and from nodes that are
/// `left_out` make no difference.
fn firsts(topology: &Topology, left_out: impl Fn(u32) -> bool) -> (Vec<u32>, Vec<u32>) {
    let network = &topology.network;
    let mut all: Vec<Links> = vec![[Vec::new(), Vec::new()]; network.nodes as usize];
    for (port, &[from, to]) in (0..).zip(&network.ends) {
        if !left_out(from) && !left_out(to) {
            all[from as usize][0].push((to, kind(topology, port)));
            all[to as usize][1].push((from, kind(topology, port)));
        }
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
