//! The bisection bandwidth, by maximum flow.

use tresse_units::BitsPerSecond;

use crate::topology::Topology;

/// The rate at which the first half of the hosts, in their order, can send to the other half at once, if all
/// links are used as well as possible: the maximum flow between the halves, or the narrowest cut that
/// separates them, including the hosts' own links. With an odd number of hosts, the middle one is in the
/// second half. Bit/s; a sum beyond 2^64 - 1 is capped there.
///
/// For a fat tree with one rate it is half its hosts' rates; for a leaf-spine with an even number of leaves
/// it is half the rate from its leaves to the spines, if that is less.
pub fn bisection(topology: &Topology) -> BitsPerSecond {
    let network = &topology.network;
    let nodes = network.nodes as usize;
    let mut touching = vec![Vec::new(); nodes];
    for (port, &[from, to]) in network.ends.iter().enumerate() {
        touching[from as usize].push(port);
        touching[to as usize].push(port);
    }
    let half = topology.hosts() / 2 * (network.hosts / topology.hosts());
    let mut flow = Flow {
        ends: &network.ends,
        rates: topology.configs.iter().map(|c| c.rate).collect(),
        carried: vec![0; network.ends.len()],
        touching,
        sources: 0..half,
        sinks: half..network.hosts,
    };
    let mut total = 0u64;
    while let Some(levels) = flow.levels() {
        total = total.saturating_add(flow.block(&levels));
    }
    total
}

/// A flow that grows, after Dinic (1970).
struct Flow<'a> {
    ends: &'a [[u32; 2]],
    rates: Vec<u64>,
    /// By port: the flow over it.
    carried: Vec<u64>,
    /// By node: the ports that leave it and those that lead to it.
    touching: Vec<Vec<usize>>,
    sources: std::ops::Range<u32>,
    sinks: std::ops::Range<u32>,
}

impl Flow<'_> {
    /// Where a port leads from `node`, and how much more may flow there: forward along the port, or back
    /// against the flow that it carries.
    fn step(&self, node: u32, port: usize) -> (u32, u64) {
        match self.ends[port] {
            [from, to] if from == node => (to, self.rates[port] - self.carried[port]),
            [from, _] => (from, self.carried[port]),
        }
    }

    /// By node, its distance from the sources over ports with room; none if no sink is reached.
    fn levels(&self) -> Option<Vec<u32>> {
        let mut levels = vec![u32::MAX; self.touching.len()];
        let mut nearest: Vec<u32> = self.sources.clone().collect();
        nearest.iter().for_each(|&node| levels[node as usize] = 0);
        for level in 1.. {
            let mut next = Vec::new();
            for node in nearest {
                for &port in &self.touching[node as usize] {
                    let (to, room) = self.step(node, port);
                    if room > 0 && levels[to as usize] == u32::MAX {
                        levels[to as usize] = level;
                        next.push(to);
                    }
                }
            }
            if next.iter().any(|node| self.sinks.contains(node)) {
                return Some(levels);
            }
            if next.is_empty() {
                return None;
            }
            nearest = next;
        }
        None
    }

    /// Fills the paths that rise level by level. Returns how much more flows then.
    fn block(&mut self, levels: &[u32]) -> u64 {
        let mut tried = vec![0; self.touching.len()];
        let mut more = 0u64;
        for source in self.sources.clone() {
            let mut path: Vec<usize> = Vec::new();
            let mut nodes = vec![source];
            while let Some(&node) = nodes.last() {
                if self.sinks.contains(&node) {
                    let rooms = nodes.iter().zip(&path).map(|(&node, &port)| self.step(node, port).1);
                    let room = rooms.min().unwrap_or(0);
                    for (&node, &port) in nodes.iter().zip(&path) {
                        if self.ends[port][0] == node {
                            self.carried[port] += room;
                        } else {
                            self.carried[port] -= room;
                        }
                    }
                    more = more.saturating_add(room);
                    // Back to the source: the next walk skips the ports that are full now.
                    path.clear();
                    nodes.truncate(1);
                    continue;
                }
                match self.touching[node as usize].get(tried[node as usize]) {
                    Some(&port) => {
                        let (to, room) = self.step(node, port);
                        if room > 0 && levels[to as usize] == levels[node as usize].saturating_add(1) {
                            path.push(port);
                            nodes.push(to);
                        } else {
                            tried[node as usize] += 1;
                        }
                    }
                    None => {
                        // A dead end: not to be tried again from the previous node.
                        nodes.pop();
                        path.pop();
                        if let Some(&before) = nodes.last() {
                            tried[before as usize] += 1;
                        }
                    }
                }
            }
        }
        more
    }
}
