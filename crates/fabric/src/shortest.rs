//! Fixed paths over the fewest links, for topologies without their own routing.
//!
//! The paths from one host to another that are as short as any are numbered in the order of their ports'
//! numbers, so that the k-th of them can be found without the others. Hosts that are attached to one
//! switch by one link are one destination until the last hop, as in the switches' own tables.

use std::ops::Range;
use std::sync::Arc;

use crate::fixed_paths::Path;
use crate::topology::Topology;

/// The shortest paths of a network.
#[derive(Debug, Clone)]
pub struct ShortestPaths {
    ends: Vec<[u32; 2]>,
    /// By port: the port of the same link in the other direction.
    twins: Vec<u32>,
    /// By node: the ports by which packets leave it.
    outgoing: Vec<Vec<u32>>,
    /// By host: its destination, and the port that leads from there to the host, unless the host is the
    /// destination.
    last: Vec<(usize, Option<u32>)>,
    /// By destination and node. Copies share it: with 8192 hosts it takes 40 MB.
    counts: Arc<[Vec<ShortestTo>]>,
}

/// The known shortest paths of a node to a destination.
#[derive(Debug, Clone, Copy, Default)]
struct ShortestTo {
    /// Ports on each.
    length: u32,
    /// How many there are; 0 if there is none. Capped at 2^32 - 1.
    count: u32,
}

impl ShortestPaths {
    /// The shortest paths of `topology`.
    pub fn new(topology: &Topology) -> Self {
        let network = &topology.network;
        let mut paths = Self {
            ends: network.ends.clone(),
            twins: topology.twins(),
            outgoing: network.outgoing(),
            last: Vec::new(),
            counts: Arc::new([]),
        };
        let mut counts = Vec::new();
        let mut place = vec![None; network.nodes as usize];
        for host in 0..network.hosts {
            let (node, last) = match paths.outgoing[host as usize][..] {
                [port] if network.ends[port as usize][1] >= network.hosts => {
                    (network.ends[port as usize][1], Some(paths.twins[port as usize]))
                }
                _ => (host, None),
            };
            let destination = *place[node as usize].get_or_insert_with(|| {
                counts.push(paths.counts_to(node, network.hosts));
                counts.len() - 1
            });
            paths.last.push((destination, last));
        }
        paths.counts = counts.into();
        paths
    }

    /// How many shortest paths there are from one host to another; capped at 2^32 - 1.
    pub fn count(&self, from: u32, to: u32) -> u32 {
        if from == to { 0 } else { self.counts[self.last[to as usize].0][from as usize].count }
    }

    /// The numbers of the paths from one host to another, by the port that they leave `from` by.
    pub(crate) fn by_first_port(&self, from: u32, to: u32) -> Vec<Range<u32>> {
        let counts = &self.counts[self.last[to as usize].0];
        let mut start = 0;
        let ports = self.towards(counts, from).map(|port| {
            let end = counts[self.ends[port as usize][1] as usize].count.saturating_add(start);
            std::mem::replace(&mut start, end)..end
        });
        ports.collect()
    }

    /// The number of paths between the two hosts that have the most; at least 1.
    pub fn most(&self) -> u32 {
        self.between_hosts(|paths| paths.count)
    }

    /// An upper bound of the ports of the longest path.
    pub fn longest(&self) -> usize {
        // One more for the last hop.
        self.between_hosts(|paths| paths.length) as usize + 1
    }

    /// Two hosts without a path from the first to the second; `None` if every host reaches every other.
    pub fn unreachable(&self) -> Option<(u32, u32)> {
        // By destination, of which there are far fewer than hosts. A host reaches its own.
        let hosts = self.last.len();
        let apart =
            self.counts.iter().filter_map(|counts| counts[..hosts].iter().position(|paths| paths.count == 0));
        let from = apart.min()? as u32;
        let to = (0..hosts as u32).find(|&to| to != from && self.count(from, to) == 0)?;
        Some((from, to))
    }

    /// The shortest path number `k` from `from` to `to`, below [`ShortestPaths::count`], and back over the same
    /// links.
    pub fn path(&self, from: u32, to: u32, k: u32) -> Path {
        let (destination, last) = self.last[to as usize];
        let counts = &self.counts[destination];
        let (mut node, mut k, mut there) = (from, k, Vec::new());
        while counts[node as usize].length > 0 {
            let port = self.towards(counts, node).find(|&port| {
                let count = counts[self.ends[port as usize][1] as usize].count;
                let here = k < count;
                k -= if here { 0 } else { count };
                here
            });
            let port = port.expect("a path has a number below the count of its node's");
            there.push(port);
            node = self.ends[port as usize][1];
        }
        there.extend(last);
        let back = there.iter().rev().map(|&port| self.twins[port as usize]).collect();
        Path { there, back }
    }

    /// For every two nodes `0..hosts` with a path from the first to the second: calls `each` with them and
    /// with the least and the greatest sum of the ports' `cost` on any of their shortest paths.
    pub fn spans(&self, cost: impl Fn(u32) -> u64, mut each: impl FnMut(u32, u32, [u64; 2])) {
        let hosts = self.last.len() as u32;
        let mut members = vec![Vec::new(); self.counts.len()];
        for (to, &(destination, last)) in (0..).zip(&self.last) {
            members[destination].push((to, last.map_or(0, &cost)));
        }
        for (counts, members) in self.counts.iter().zip(&members) {
            let mut spans = vec![[0; 2]; counts.len()];
            let mut nodes: Vec<u32> =
                (0..).zip(counts).filter(|(_, w)| w.length > 0).map(|(n, _)| n).collect();
            nodes.sort_by_key(|&node| counts[node as usize].length);
            for node in nodes {
                let next = |port: u32| {
                    spans[self.ends[port as usize][1] as usize].map(|span: u64| span + cost(port))
                };
                let widest = |a: [u64; 2], b: [u64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
                spans[node as usize] =
                    self.towards(counts, node).map(next).reduce(widest).expect("a path has a first port");
            }
            for from in (0..hosts).filter(|&from| counts[from as usize].count > 0) {
                for &(to, last) in members.iter().filter(|(to, _)| *to != from) {
                    each(from, to, spans[from as usize].map(|span| span + last));
                }
            }
        }
    }

    /// The load of each port, and the number of units, if every pair of nodes `0..hosts` for which
    /// `talks(from, to)` sends one unit evenly over all its shortest paths. Pairs without a path send
    /// nothing.
    pub(crate) fn loads(&self, talks: impl Fn(u32, u32) -> bool) -> (Vec<f64>, f64) {
        let hosts = self.last.len() as u32;
        let mut members = vec![Vec::new(); self.counts.len()];
        for (host, &(destination, last)) in (0..).zip(&self.last) {
            members[destination].push((host, last));
        }
        let (mut loads, mut total) = (vec![0.0; self.ends.len()], 0.0);
        for (counts, members) in self.counts.iter().zip(&members) {
            let mut at = vec![0.0; counts.len()];
            for from in (0..hosts).filter(|&from| counts[from as usize].count > 0) {
                for &(_, last) in members.iter().filter(|&&(to, _)| to != from && talks(from, to)) {
                    at[from as usize] += 1.0;
                    last.iter().for_each(|&port| loads[port as usize] += 1.0);
                    total += 1.0;
                }
            }
            let mut nodes: Vec<u32> =
                (0..).zip(counts).filter(|(_, w)| w.length > 0).map(|(n, _)| n).collect();
            nodes.sort_by_key(|&node| std::cmp::Reverse(counts[node as usize].length));
            for node in nodes {
                if at[node as usize] == 0.0 {
                    continue;
                }
                let paths = |port: u32| f64::from(counts[self.ends[port as usize][1] as usize].count);
                let all: f64 = self.towards(counts, node).map(paths).sum();
                for port in self.towards(counts, node) {
                    let part = at[node as usize] * paths(port) / all;
                    loads[port as usize] += part;
                    at[self.ends[port as usize][1] as usize] += part;
                }
            }
        }
        (loads, total)
    }

    /// The ports of `node` that lead nearer to the destination of `counts`.
    fn towards<'a>(&'a self, counts: &'a [ShortestTo], node: u32) -> impl Iterator<Item = u32> + 'a {
        let own = counts[node as usize];
        self.outgoing[node as usize].iter().copied().filter(move |&port| {
            let next = self.ends[port as usize][1];
            // A host passes nothing on, unless it is the destination.
            let passes = next as usize >= self.last.len() || counts[next as usize].length == 0;
            passes && counts[next as usize].count > 0 && counts[next as usize].length + 1 == own.length
        })
    }

    /// By node: its shortest paths to `node`.
    fn counts_to(&self, node: u32, hosts: u32) -> Vec<ShortestTo> {
        let mut counts = vec![ShortestTo::default(); self.outgoing.len()];
        counts[node as usize].count = 1;
        let mut nearest = vec![node];
        while !nearest.is_empty() {
            let mut next = Vec::new();
            for &near in &nearest {
                let ShortestTo { length, count } = counts[near as usize];
                for &port in &self.outgoing[near as usize] {
                    let far = self.ends[port as usize][1];
                    let paths = &mut counts[far as usize];
                    if paths.count == 0 {
                        paths.length = length + 1;
                        // A host passes nothing on.
                        next.extend((far >= hosts).then_some(far));
                    }
                    if paths.length == length + 1 {
                        paths.count = paths.count.saturating_add(count);
                    }
                }
            }
            nearest = next;
        }
        counts
    }

    /// The largest value of `of` over all pairs of hosts.
    fn between_hosts(&self, of: impl Fn(&ShortestTo) -> u32) -> u32 {
        let hosts = self.last.len();
        let values = self.counts.iter().flat_map(|counts| &counts[..hosts]).map(of);
        values.max().unwrap_or(0)
    }
}
