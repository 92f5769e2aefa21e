//! Fixed paths over the fewest links, for topologies without their own routing.
//!
//! The paths from one host to another that are as short as any are numbered in the order of their ports'
//! numbers, so that the k-th of them can be found without the others. Hosts that are attached to one
//! switch by one link are one destination until the last hop, as in the switches' own tables.

mod destinations;
mod traffic;

use std::ops::Range;
use std::sync::Arc;

use self::destinations::{Destinations, ShortestTo};
use crate::path::Path;
use crate::topology::Topology;

pub(crate) use traffic::loads;

/// The shortest paths of a network.
#[derive(Debug, Clone)]
pub struct ShortestPaths {
    to: Destinations,
    /// By destination, and by place there. Copies share it: with 8192 hosts it takes 5 MB.
    counts: Arc<[Vec<ShortestTo>]>,
}

impl ShortestPaths {
    /// The shortest paths of `topology`.
    pub fn new(topology: &Topology) -> Self {
        let to = Destinations::of(topology);
        let counts = (0..to.len()).map(|destination| to.counts(destination)).collect();
        Self { to, counts }
    }

    /// How many shortest paths there are from one host to another; capped at 2^32 - 1.
    pub fn count(&self, from: u32, to: u32) -> u32 {
        if from == to { 0 } else { self.to.from(&self.counts[self.to.last[to as usize].0], from).count }
    }

    /// The numbers of the paths from one host to another, by the port that they leave `from` by.
    pub(crate) fn by_first_port(&self, from: u32, to: u32) -> Vec<Range<u32>> {
        let counts = &self.counts[self.to.last[to as usize].0];
        let mut start = 0;
        let ports = self.to.towards(counts, from).map(|(_, next)| {
            let end = next.count.saturating_add(start);
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
        let hosts = self.to.last.len() as u32;
        let apart = self
            .counts
            .iter()
            .filter_map(|counts| (0..hosts).find(|&host| self.to.from(counts, host).count == 0));
        let from = apart.min()?;
        let to = (0..hosts).find(|&to| to != from && self.count(from, to) == 0)?;
        Some((from, to))
    }

    /// The shortest path number `k` from `from` to `to`, below [`ShortestPaths::count`], and back over the same
    /// links.
    pub fn path(&self, from: u32, to: u32, k: u32) -> Path {
        let (destination, last) = self.to.last[to as usize];
        let counts = &self.counts[destination];
        let (mut node, mut k, mut there) = (from, k, Vec::new());
        while self.to.from(counts, node).length > 0 {
            let port = self.to.towards(counts, node).find(|(_, next)| {
                let here = k < next.count;
                k -= if here { 0 } else { next.count };
                here
            });
            let (port, _) = port.expect("a path has a number below the count of its node's");
            there.push(port);
            node = self.to.ends[port as usize][1];
        }
        there.extend(last);
        let back = there.iter().rev().map(|&port| self.to.twins[port as usize]).collect();
        Path { there, back }
    }

    /// For every address, calls `each` with it, another host's address, the number of pairs that these two stand for,
    /// and the least and the greatest sum of the ports' `cost` on any of their shortest paths. Two pairs with the same
    /// first address may be one if the hosts of the second have the same `class`.
    pub fn spans(
        &self,
        cost: impl Fn(u32) -> u64,
        class: impl Fn(u32) -> u32,
        mut each: impl FnMut(u32, u32, u64, [u64; 2]),
    ) {
        for (destination, counts) in self.counts.iter().enumerate() {
            let spans = self.spans_to(counts, &cost);
            let to = |address: u32, last: Option<u32>| (class(self.to.host(address)), last.map_or(0, &cost));
            let members = self.to.members(destination, to);
            for from in 0..self.to.last.len() as u32 {
                if self.to.from(counts, from).count == 0 {
                    continue;
                }
                for (group, pairs) in members.of_others(&self.to, from) {
                    let span = spans[from as usize].map(|span| span + group.key.1);
                    each(from, group.first, pairs, span);
                }
            }
        }
    }

    /// The greatest sum of the `costs`, by port, on any shortest path from one host to another; 0 if there is no path.
    pub fn longest_span(&self, costs: &[u64]) -> u64 {
        let mut longest = 0;
        self.spans(|port| costs[port as usize], |_| 0, |_, _, _, [_, most]| longest = longest.max(most));
        longest
    }

    /// By node: the least and the greatest cost of its paths to the destination of `counts`.
    fn spans_to(&self, counts: &[ShortestTo], cost: impl Fn(u32) -> u64) -> Vec<[u64; 2]> {
        let mut spans = vec![[0; 2]; self.to.outgoing.len()];
        for node in self.to.by_length(counts).into_iter().map(|place| self.to.node(place)) {
            let next = |(port, _): (u32, _)| {
                spans[self.to.ends[port as usize][1] as usize].map(|span: u64| span + cost(port))
            };
            let widest = |a: [u64; 2], b: [u64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
            let paths = self.to.towards(counts, node).map(next);
            spans[node as usize] = paths.reduce(widest).expect("a path has a first port");
        }
        for (node, leaf) in self.to.leaves() {
            let port = self.to.outgoing[leaf as usize][0];
            spans[leaf as usize] = spans[node as usize].map(|span| span + cost(port));
        }
        spans
    }

    /// The largest value of `of` over all pairs of hosts.
    fn between_hosts(&self, of: impl Fn(&ShortestTo) -> u32) -> u32 {
        let hosts = 0..self.to.last.len() as u32;
        let most = |counts: &Vec<ShortestTo>| hosts.clone().map(|host| of(&self.to.from(counts, host))).max();
        self.counts.iter().filter_map(most).max().unwrap_or(0)
    }
}
