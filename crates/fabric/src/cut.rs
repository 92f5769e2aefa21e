//! How a network is cut into parts that are simulated side by side.
//!
//! A part owns ports. A packet's arrival belongs to the part that owns the port that it enters next, or its
//! destination host. So between two parts, only the links over which packets go from one to the other matter.
//! A packet takes at least the delay of such a link, so parts that have reached the same time can advance
//! that long without exchanging anything (Chandy and Misra's lookahead). The results do not depend on the
//! cut.

use std::collections::VecDeque;

use tresse_units::{NEVER, Time};

use crate::network::Network;
use crate::topology::Topology;

/// Which part of a network each of its ports belongs to.
#[derive(Debug, Clone)]
pub struct Cut {
    parts: usize,
    lookahead: Time,
    /// By port: the part that it belongs to, and the part of the node at its far end.
    pub(crate) owners: Vec<u8>,
    pub(crate) lands: Vec<u8>,
    /// By port: whether packets that leave it may arrive in another part.
    pub(crate) crosses: Vec<bool>,
    /// By node.
    nodes: Vec<u8>,
    /// Whether a link from one part to another ends at a host.
    ends_at_hosts: bool,
}

/// Why a network is not cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Uncut {
    /// Every node is next to every other, or there is one switch.
    #[error("the network has one part only")]
    OnePart,
    /// A packet may be in another part at once.
    #[error("a link between parts has no delay")]
    NoDelay,
}

impl Cut {
    /// Cuts a network into `parts`, or as many as it has if they are fewer, of about the same capacity: along its
    /// highest switches (pods, leaves with their hosts), or else into neighbourhoods. Hosts stay with a switch, and
    /// the addresses of a host together.
    ///
    /// With `whole_nodes` the ports of a node belong together, as they must where it chooses among them; otherwise
    /// those of the highest switches belong to the parts that they lead to, and only the links up to them cross.
    ///
    /// # Errors
    /// If there is one part only, or no time between two.
    pub fn new(topology: &Topology, parts: usize, whole_nodes: bool) -> Result<Self, Uncut> {
        let network = &topology.network;
        let top = Tops::new(topology);
        let (mut nodes, count) = match regions(topology, |node| top.has(node)) {
            (regions, count) if count > 1 => pack(network, topology, &regions, count, parts),
            _ => pack_neighbours(topology, parts),
        };
        if count < 2 {
            return Err(Uncut::OnePart);
        }
        let of_top = |place: usize| (place * count / top.0.len()) as u8;
        (0..).zip(&top.0).for_each(|(place, &node)| nodes[node as usize] = of_top(place));
        let splits = |node: u32| !whole_nodes && top.has(node);
        let owner = |&[from, to]: &[u32; 2]| nodes[if splits(from) { to } else { from } as usize];
        let owners: Vec<u8> = network.ends.iter().map(owner).collect();
        let lands: Vec<u8> = network.ends.iter().map(|&[_, to]| nodes[to as usize]).collect();
        let outgoing = network.outgoing();
        let leaves = |port: usize| {
            let [from, to] = network.ends[port];
            let onward = outgoing[to as usize].iter().filter(|&&p| network.ends[p as usize][1] != from);
            match splits(to) {
                true => onward.into_iter().any(|&p| owners[p as usize] != owners[port]),
                false => lands[port] != owners[port],
            }
        };
        let crosses: Vec<bool> = (0..owners.len()).map(leaves).collect();
        let delays = topology.configs.iter().zip(&crosses).filter(|(_, crosses)| **crosses);
        let lookahead = delays.map(|(config, _)| config.delay).min().unwrap_or(NEVER);
        if lookahead == 0 {
            return Err(Uncut::NoDelay);
        }
        let mut crossing = network.ends.iter().zip(&crosses).filter(|(_, crosses)| **crosses);
        let ends_at_hosts = crossing.any(|(&[_, to], _)| to < network.hosts);
        Ok(Self { parts: count, lookahead, owners, lands, crosses, nodes, ends_at_hosts })
    }

    /// How many parts there are, at least 2.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// The minimum time that a packet takes from one part to another, ps.
    pub fn lookahead(&self) -> Time {
        self.lookahead
    }

    /// The part of a port.
    pub fn of_port(&self, port: u32) -> usize {
        self.owners[port as usize].into()
    }

    /// The part of a node: of a host, or of a switch that is whole.
    pub fn of_node(&self, node: u32) -> usize {
        self.nodes[node as usize].into()
    }

    /// Whether a packet may come to a host straight from another part.
    pub fn ends_at_hosts(&self) -> bool {
        self.ends_at_hosts
    }
}

/// The switches farthest from any host, in order, unless all are next to one.
struct Tops(Vec<u32>);

impl Tops {
    fn new(topology: &Topology) -> Self {
        let heights = topology.heights();
        let height = heights.iter().copied().filter(|&h| h < u32::MAX).max().unwrap_or(0);
        let all = 0..topology.network.nodes;
        Self(if height < 2 { Vec::new() } else { all.filter(|&n| heights[n as usize] == height).collect() })
    }

    fn has(&self, node: u32) -> bool {
        self.0.binary_search(&node).is_ok()
    }
}

/// By node: the number of its region, and how many regions there are. Regions are the nodes that stay
/// connected without those that are `apart`, in the order of their first nodes. Nodes that are apart have
/// none.
fn regions(topology: &Topology, apart: impl Fn(u32) -> bool) -> (Vec<usize>, usize) {
    const NONE: usize = usize::MAX;
    let network = &topology.network;
    let near = neighbours(topology);
    let (mut regions, mut count) = (vec![NONE; network.nodes as usize], 0);
    for first in (0..network.nodes).filter(|&node| !apart(node)) {
        if regions[first as usize] != NONE {
            continue;
        }
        let mut waiting = vec![first];
        while let Some(node) = waiting.pop() {
            if std::mem::replace(&mut regions[node as usize], count) == NONE {
                let next = near[node as usize].iter().copied();
                waiting.extend(next.filter(|&n| !apart(n) && regions[n as usize] == NONE));
            }
        }
        count += 1;
    }
    (regions, count)
}

/// By node: the nodes that it has a link to or from, and the other addresses of its host.
fn neighbours(topology: &Topology) -> Vec<Vec<u32>> {
    let mut near = vec![Vec::new(); topology.network.nodes as usize];
    let addresses = (0..topology.hosts()).flat_map(|host| {
        let first = topology.addresses(host).start;
        topology.addresses(host).skip(1).map(move |other| [first, other])
    });
    for [a, b] in topology.network.ends.iter().copied().chain(addresses) {
        near[a as usize].push(b);
        near[b as usize].push(a);
    }
    near
}

/// The total rate of each node's ports, bit/s.
fn capacities(topology: &Topology) -> Vec<u128> {
    let mut capacities = vec![0; topology.network.nodes as usize];
    for (config, &[from, _]) in topology.configs.iter().zip(&topology.network.ends) {
        capacities[from as usize] += u128::from(config.rate);
    }
    capacities
}

/// Packs regions, in their order, into `parts` of about the same capacity: the part of each node, and how
/// many parts there are.
fn pack(
    network: &Network,
    topology: &Topology,
    regions: &[usize],
    count: usize,
    parts: usize,
) -> (Vec<u8>, usize) {
    let mut weights = vec![0; count];
    for (&region, capacity) in regions.iter().zip(capacities(topology)).filter(|(r, _)| **r < count) {
        weights[region] += capacity;
    }
    let (of, count) = divide(&weights, parts);
    let node = |node: usize| of.get(regions[node]).copied().unwrap_or(0);
    ((0..network.nodes as usize).map(node).collect(), count)
}

/// Packs the nodes, in the order of their distance from the first, into `parts`. Nodes with no delay between
/// them stay together, and so do a host and its switch.
fn pack_neighbours(topology: &Topology, parts: usize) -> (Vec<u8>, usize) {
    let network = &topology.network;
    // Each node's own group, or the group of the node that it stays with.
    let mut group: Vec<u32> = (0..network.nodes).collect();
    let mut join = |a: u32, b: u32| {
        let (keep, gone) = (group[a as usize], group[b as usize]);
        group.iter_mut().filter(|g| **g == gone).for_each(|g| *g = keep);
    };
    let mut placed = vec![false; network.hosts as usize];
    for (config, &[from, to]) in topology.configs.iter().zip(&network.ends) {
        let is_first = from < network.hosts && !std::mem::replace(&mut placed[from as usize], true);
        if is_first || config.delay == 0 {
            join(to, from);
        }
    }
    for host in 0..topology.hosts() {
        let first = topology.addresses(host).start;
        topology.addresses(host).skip(1).for_each(|other| join(first, other));
    }
    let near = neighbours(topology);
    let mut order = Vec::new();
    let mut seen = vec![false; network.nodes as usize];
    let mut waiting = VecDeque::new();
    for first in 0..network.nodes {
        waiting.push_back(first);
        while let Some(node) = waiting.pop_front() {
            if !std::mem::replace(&mut seen[node as usize], true) {
                order.push(group[node as usize]);
                waiting.extend(&near[node as usize]);
            }
        }
    }
    let mut rank = vec![usize::MAX; network.nodes as usize];
    let mut groups = Vec::new();
    for node in order {
        if rank[node as usize] == usize::MAX {
            rank[node as usize] = groups.len();
            groups.push(0);
        }
    }
    for (node, capacity) in capacities(topology).into_iter().enumerate() {
        groups[rank[group[node] as usize]] += capacity;
    }
    let (of, count) = divide(&groups, parts);
    ((0..network.nodes as usize).map(|node| of[rank[group[node] as usize]]).collect(), count)
}

/// Divides weights, in their order, into at most `parts` runs of about the same sum: the run of each, and how many
/// there are.
fn divide(weights: &[u128], parts: usize) -> (Vec<u8>, usize) {
    let parts = parts.min(weights.len()).min(u8::MAX.into());
    let total: u128 = weights.iter().sum::<u128>().max(1);
    let (mut before, mut last) = (0, None::<usize>);
    let mut of = Vec::new();
    let mut runs = 0;
    for &weight in weights {
        // The run in which its middle falls.
        let at = ((2 * before + weight) * parts as u128 / (2 * total)) as usize;
        if last != Some(at) {
            (last, runs) = (Some(at), runs + 1);
        }
        of.push(runs as u8 - 1);
        before += weight;
    }
    (of, runs)
}
