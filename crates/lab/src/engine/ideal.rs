//! The ideal completion time of a flow: the reference of slowdowns.
//!
//! It is the time that the message takes alone on an empty network, with a window that never limits it and without
//! a handshake:
//!
//! - the one-way propagation over a shortest path (fewest links; of these, the fastest),
//! - the transmission of the first packet at every hop: a full one, or less if the message is shorter,
//! - the transmission of all other bytes, their headers included, at the rate of the narrowest tier.
//!
//! A tier is the set of links at one distance on the shortest paths between the two hosts, with their rates summed.
//! Each tier has to be crossed, so whatever subflows and switches choose among these paths, they do not beat the
//! ideal by more than the transmission of a packet at every hop. A flow on a single path takes exactly its ideal
//! time if the last link is among the slowest, or if every packet is full.

use std::collections::BTreeMap;

use tresse_fabric::Topology;
use tresse_units::{SECOND, Time};

use crate::engine::merged::{Link, Merged};

/// The ideal completion times on a network. Results are kept for each pair of switches that hosts are attached to,
/// and for each switch the distances to it; switches that are alike are one.
#[derive(Debug)]
pub struct Ideals<'a> {
    topology: &'a Topology,
    mss: u32,
    header: u32,
    /// By address: its link to a switch, if it has only one link.
    access: Vec<Option<Access>>,
    /// All other links.
    merged: Merged,
    /// By destination.
    distances: BTreeMap<u32, Distances>,
    /// By pair of different switches, each the first of its twins, or of hosts of which one has several links.
    ways: BTreeMap<[u32; 2], Option<Way>>,
    /// By node: the step of the search that last reached it, and the fastest path to it.
    met: Vec<(u64, Way)>,
    /// The number of steps of all searches.
    steps: u64,
}

/// The number of links from each switch to a destination; [`FAR`] if there is no path.
type Distances = Vec<u16>;

const FAR: u16 = u16::MAX;

/// The maximum number of distances to keep: 64 MB.
const KEPT: usize = 1 << 25;

#[derive(Debug, Clone, Copy)]
struct Access {
    switch: u32,
    /// The port to the switch, and the port from there.
    up: u32,
    down: u32,
}

/// The shortest paths between two nodes.
struct Paths {
    /// Their links, by distance from the first node.
    tiers: Vec<Vec<Links>>,
    /// The fastest one for a full packet.
    fastest: Way,
}

/// Links of one kind between two switches and their twins: the first port, and the rate of all of them, bit/s.
type Links = (u32, u64);

/// The connection between two nodes.
#[derive(Debug, Clone, Copy)]
struct Way {
    /// The propagation delay of the fastest shortest path, ps.
    delay: Time,
    /// The time that a byte takes over it, summed over its hops, in 2^-16 ps.
    byte_time: u64,
    /// The rate of the narrowest tier, bit/s.
    narrowest: u64,
}

impl Way {
    /// From a node to itself.
    const NONE: Self = Self { delay: 0, byte_time: 0, narrowest: u64::MAX };

    fn then(self, next: Self) -> Self {
        Self {
            delay: self.delay + next.delay,
            byte_time: self.byte_time.saturating_add(next.byte_time),
            narrowest: self.narrowest.min(next.narrowest),
        }
    }

    /// The time that a packet takes.
    fn time(&self, bytes: u64) -> Time {
        self.delay + ((u128::from(bytes) * u128::from(self.byte_time)) >> 16) as Time
    }
}

impl<'a> Ideals<'a> {
    /// For packets with `header` bytes and at most `mss` bytes of payload. Links that are down must have been
    /// removed from `topology`.
    pub fn new(topology: &'a Topology, mss: u32, header: u32) -> Self {
        let access = access(topology);
        let hangs_on_one = |node: u32| access.get(node as usize).is_some_and(Option::is_some);
        let merged = Merged::new(topology, hangs_on_one);
        Self {
            topology,
            mss,
            header,
            access,
            merged,
            distances: BTreeMap::new(),
            ways: BTreeMap::new(),
            met: vec![(0, Way::NONE); topology.network.nodes as usize],
            steps: 0,
        }
    }

    /// The ideal completion time of a message of `bytes` from one host to another, ps; `None` if no path leads there.
    /// The links of all of a host's addresses count.
    pub fn time(&mut self, from: u32, to: u32, bytes: u64) -> Option<Time> {
        let way = self.way(from, to)?;
        let (mss, header) = (u64::from(self.mss), u64::from(self.header));
        let first = bytes.min(mss) + header;
        let all = bytes + bytes.div_ceil(mss).max(1) * header;
        let rest = u128::from(all - first) * u128::from(8 * SECOND) / u128::from(way.narrowest);
        Some(way.time(first) + rest as Time)
    }

    fn way(&mut self, from: u32, to: u32) -> Option<Way> {
        if let Some((own, other)) = self.only(from).zip(self.only(to)) {
            let pair = [own.switch, other.switch];
            let key = pair.map(|switch| self.merged.first(switch));
            let between = match self.ways.get(&key) {
                _ if own.switch == other.switch => Some(Way::NONE),
                Some(known) => *known,
                None => {
                    let found = self.paths(pair).map(|paths| self.narrowed(&[paths]));
                    *self.ways.entry(key).or_insert(found)
                }
            };
            return Some(self.link(own.up).then(between?).then(self.link(other.down)));
        }
        if let Some(known) = self.ways.get(&[from, to]) {
            return *known;
        }
        let (own, other) = (self.topology.addresses(from), self.topology.addresses(to));
        let pairs = own.flat_map(|a| other.clone().map(move |b| [a, b]));
        let all: Vec<Paths> = pairs.filter_map(|pair| self.paths(pair)).collect();
        let found = (!all.is_empty()).then(|| self.narrowed(&all));
        *self.ways.entry([from, to]).or_insert(found)
    }

    /// The link of a host to a switch, if it has only one link.
    fn only(&self, host: u32) -> Option<Access> {
        let addresses = self.topology.addresses(host);
        self.access[addresses.start as usize].filter(|_| addresses.len() == 1)
    }

    /// The fastest of all these paths, with the narrowest tier of all of them. Some may be longer than others: a
    /// tier consists of their links at one distance, and of the last links of shorter paths.
    fn narrowed(&self, all: &[Paths]) -> Way {
        let longest = all.iter().map(|paths| paths.tiers.len()).max().unwrap_or(0);
        let rate = |distance: usize| {
            let tiers = all.iter().flat_map(|Paths { tiers, .. }| &tiers[distance.min(tiers.len() - 1)]);
            let mut links: Vec<Links> = tiers.copied().collect();
            links.sort_unstable();
            links.dedup();
            links.iter().fold(0, |sum, &(_, rate)| u64::saturating_add(sum, rate))
        };
        let full = u64::from(self.mss + self.header);
        let ways = all.iter().map(|paths| paths.fastest);
        let fastest = ways.min_by_key(|way| way.time(full)).unwrap_or(Way::NONE);
        Way { narrowest: (0..longest).map(rate).min().unwrap_or(u64::MAX), ..fastest }
    }

    /// The shortest paths from one node to another; `None` if there is none.
    fn paths(&mut self, [from, to]: [u32; 2]) -> Option<Paths> {
        // The distances to a host that hangs on one switch are those to that switch.
        if let Some(&Some(Access { switch, down, .. })) = self.access.get(to as usize) {
            let mut paths = self.paths([from, switch])?;
            paths.tiers.push(vec![(down, self.topology.rate(down))]);
            paths.fastest = paths.fastest.then(self.link(down));
            return Some(paths);
        }
        // And from it they lead to that switch first.
        if let Some(&Some(Access { switch, up, .. })) = self.access.get(from as usize) {
            let mut paths = self.paths([switch, to])?;
            paths.tiers.insert(0, vec![(up, self.topology.rate(up))]);
            paths.fastest = self.link(up).then(paths.fastest);
            return Some(paths);
        }
        let is_same = from == to;
        let [from, to] = [from, to].map(|node| self.merged.first(node));
        let are_twins = from == to && !is_same;
        self.find_distances(to);
        let (hosts, distances) = (self.topology.network.hosts, &self.distances[&to]);
        // How far it is from where a link leads to; a host passes nothing on.
        let rest = |node: u32| match node.checked_sub(hosts) {
            _ if node == to => 0,
            Some(switch) => distances[switch as usize],
            None => FAR,
        };
        let mut length = match from.checked_sub(hosts) {
            Some(_) if !are_twins => rest(from),
            _ => self.merged.links(from).iter().map(|link| rest(link.far)).min()?.saturating_add(1),
        };
        if length == FAR {
            return None;
        }
        let full = u64::from(self.mss + self.header);
        let (mut tiers, mut nodes) = (Vec::new(), vec![from]);
        let (mut met, mut steps) = (std::mem::take(&mut self.met), self.steps);
        met[from as usize] = (steps, Way::NONE);
        while length > 0 {
            length -= 1;
            steps += 1;
            // The path is from one of the first switch's twins to one of the last one's.
            let (is_first, is_last) = (tiers.is_empty(), length == 0);
            let twins = |node: u32, is_end: bool| if is_end { 1 } else { u64::from(self.merged.twins(node)) };
            let (mut tier, mut next) = (Vec::new(), Vec::new());
            for &near in &nodes {
                let links = self.merged.links(near).iter();
                for &Link { port, far, rate } in links.filter(|link| rest(link.far) == length) {
                    let alike = twins(near, is_first) * twins(far, is_last);
                    tier.push((port, rate.saturating_mul(alike)));
                    let way = met[near as usize].1.then(self.link(port));
                    let (step, fastest) = &mut met[far as usize];
                    if *step != steps {
                        (*step, *fastest) = (steps, way);
                        next.push(far);
                    } else if way.time(full) < fastest.time(full) {
                        *fastest = way;
                    }
                }
            }
            tiers.push(tier);
            nodes = next;
        }
        let fastest = met[to as usize].1;
        (self.met, self.steps) = (met, steps);
        Some(Paths { tiers, fastest })
    }

    /// Makes sure that the distances to a node are known.
    fn find_distances(&mut self, to: u32) {
        if self.distances.contains_key(&to) {
            return;
        }
        let hosts = self.topology.network.hosts;
        let mut distances = vec![FAR; (self.topology.network.nodes - hosts) as usize];
        if let Some(switch) = to.checked_sub(hosts) {
            distances[switch as usize] = 0;
        }
        let (mut nearest, mut distance) = (vec![to], 0);
        while !nearest.is_empty() {
            distance += 1;
            let mut next = Vec::new();
            // Every link leads both ways.
            for link in nearest.iter().flat_map(|&near| self.merged.links(near)) {
                let far = link.far;
                let Some(switch) = far.checked_sub(hosts) else { continue };
                if distances[switch as usize] == FAR {
                    distances[switch as usize] = distance;
                    next.push(far);
                }
            }
            nearest = next;
        }
        if (self.distances.len() + 1) * distances.len() > KEPT {
            self.distances.clear();
        }
        self.distances.insert(to, distances);
    }

    /// A link as a path.
    fn link(&self, port: u32) -> Way {
        let config = &self.topology.configs[port as usize];
        let byte_time = (u128::from(8 * SECOND) << 16) / u128::from(config.rate);
        Way { delay: config.delay, byte_time: byte_time as u64, narrowest: config.rate }
    }
}

/// By address: its link to a switch, if it has only one link.
fn access(topology: &Topology) -> Vec<Option<Access>> {
    let network = &topology.network;
    let mut ports = vec![[None; 2]; network.hosts as usize];
    let mut links = vec![0; network.hosts as usize];
    for (port, &[from, to]) in (0..).zip(&network.ends) {
        if let Some(own) = ports.get_mut(from as usize) {
            own[0] = Some(port);
            links[from as usize] += 1;
        }
        if let Some(own) = ports.get_mut(to as usize) {
            own[1] = Some(port);
        }
    }
    let access = |(ports, links): ([Option<u32>; 2], u32)| {
        let [up, down] = ports;
        let (up, down) = up.zip(down).filter(|_| links == 1)?;
        let switch = network.ends[up as usize][1];
        (switch >= network.hosts).then_some(Access { switch, up, down })
    };
    ports.into_iter().zip(links).map(access).collect()
}
