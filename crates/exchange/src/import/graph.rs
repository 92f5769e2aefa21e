//! A network that no key of `[fabric]` describes: nodes and links, and their file.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;

use tresse_units::{Duration, Rate, SECOND};

/// A node: hosts come first, in their order.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub host: bool,
    pub name: String,
}

#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub ends: [usize; 2],
    pub rate: Rate,
    pub delay: Duration,
    /// As in the file; empty if it loses nothing.
    pub loss: String,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    pub nodes: Vec<Node>,
    pub links: Vec<Link>,
}

/// The shape that follows from the links.
struct Shape {
    /// By node: the distance to the nearest host; 0 for hosts.
    levels: Vec<usize>,
    /// By node: the number of its group of switches that are joined below the highest level; for a host, its
    /// switch's.
    pods: Vec<usize>,
    /// By node: the number of a host's first switch, in order of appearance.
    racks: Vec<usize>,
}

const FAR: usize = usize::MAX;

impl Graph {
    fn neighbours(&self) -> Vec<Vec<(usize, usize)>> {
        let mut neighbours = vec![Vec::new(); self.nodes.len()];
        for (i, link) in self.links.iter().enumerate() {
            let [a, b] = link.ends;
            neighbours[a].push((b, i));
            neighbours[b].push((a, i));
        }
        neighbours
    }

    /// Two hosts without a path between them over switches, if there are any.
    pub fn apart(&self) -> Option<[usize; 2]> {
        let neighbours = self.neighbours();
        let mut seen = vec![false; self.nodes.len()];
        let mut waiting = VecDeque::from([0]);
        seen[0] = true;
        while let Some(node) = waiting.pop_front() {
            for &(next, _) in &neighbours[node] {
                // Hosts forward nothing.
                if !seen[next] && (node == 0 || !self.nodes[node].host) {
                    seen[next] = true;
                    waiting.push_back(next);
                }
            }
        }
        let far = self.nodes.iter().zip(&seen).position(|(node, seen)| node.host && !seen)?;
        Some([0, far])
    }

    fn shape(&self) -> Shape {
        let neighbours = self.neighbours();
        let hosts = self.nodes.iter().filter(|n| n.host).count();
        let mut levels = vec![FAR; self.nodes.len()];
        let mut waiting: VecDeque<usize> = (0..hosts).collect();
        levels[..hosts].fill(0);
        while let Some(node) = waiting.pop_front() {
            for &(next, _) in &neighbours[node] {
                if levels[next] == FAR {
                    levels[next] = levels[node] + 1;
                    waiting.push_back(next);
                }
            }
        }
        let top = levels.iter().copied().filter(|&l| l != FAR).max().unwrap_or(0);
        // Below three levels of switches everything is one pod.
        let highest = if top > 2 { top } else { FAR };
        let mut pods = vec![FAR; self.nodes.len()];
        let mut count = 0;
        for start in 0..self.nodes.len() {
            if pods[start] != FAR || levels[start] >= highest {
                continue;
            }
            pods[start] = count;
            let mut waiting = vec![start];
            while let Some(node) = waiting.pop() {
                for &(next, _) in &neighbours[node] {
                    if pods[next] == FAR && levels[next] < highest {
                        pods[next] = count;
                        waiting.push(next);
                    }
                }
            }
            count += 1;
        }
        let mut numbers = BTreeMap::new();
        let racks = (0..hosts).map(|host| {
            let switch = neighbours[host].first().map_or(FAR, |n| n.0);
            let count = numbers.len();
            *numbers.entry(switch).or_insert(count)
        });
        Shape { racks: racks.collect(), levels, pods }
    }

    /// The name of a link's layer: that of the higher of its ends.
    fn layer(link: &Link, levels: &[usize], top: usize) -> String {
        let [a, b] = link.ends.map(|n| levels[n]);
        match (a.min(b), a.max(b), top) {
            (0, ..) => "rack".to_owned(),
            (low, high, _) if low == high => "trunk".to_owned(),
            (_, 2, 2) => "spine".to_owned(),
            (_, 2, 3) => "aggregation".to_owned(),
            (_, 3, 3) => "core".to_owned(),
            (_, high, _) => format!("level {high}"),
        }
    }

    /// The file: JSON as networkx's `node_link_data` writes it, with a unit in every value.
    pub fn json(&self) -> String {
        let Shape { levels, pods, racks } = self.shape();
        let top = levels.iter().copied().filter(|&l| l != FAR).max().unwrap_or(0);
        let mut seen = BTreeMap::new();
        let keys: Vec<u32> = self
            .links
            .iter()
            .map(|link| {
                let mut ends = link.ends;
                ends.sort_unstable();
                let count = seen.entry(ends).or_insert(0);
                *count += 1;
                *count - 1
            })
            .collect();
        let parallel = keys.iter().any(|&key| key > 0);
        let mut out =
            format!("{{\"directed\": false, \"multigraph\": {parallel}, \"graph\": {{}},\n\"nodes\": [\n");
        for (i, node) in self.nodes.iter().enumerate() {
            let kind = if node.host { "host" } else { "switch" };
            let name = serde_json::Value::from(&*node.name);
            let _ = write!(out, "{{\"id\": {i}, \"kind\": \"{kind}\", \"name\": {name}");
            if node.host {
                let _ = write!(out, ", \"rack\": {}, \"pod\": {}", racks[i], pods[i]);
            }
            out.push_str(if i + 1 < self.nodes.len() { "},\n" } else { "}\n" });
        }
        out.push_str("],\n\"links\": [\n");
        for (i, (link, key)) in self.links.iter().zip(&keys).enumerate() {
            let Link { ends: [a, b], rate, delay, loss } = link;
            let layer = Self::layer(link, &levels, top);
            let _ = write!(out, "{{\"source\": {a}, \"target\": {b}");
            if parallel {
                let _ = write!(out, ", \"key\": {key}");
            }
            let _ = write!(out, ", \"layer\": \"{layer}\", \"rate\": \"{rate}\", \"delay\": \"{delay}\"");
            if !loss.is_empty() {
                let _ = write!(out, ", \"loss\": {loss}");
            }
            out.push_str(if i + 1 < self.links.len() { "},\n" } else { "}\n" });
        }
        out.push_str("]}\n");
        out
    }

    /// The longest base RTT (ps) among the paths from some hosts to all, for packets of `data` and ACKs of
    /// `ack` bytes, and the rate of the slowest link of a host.
    pub fn scale(&self, data: u64, ack: u64) -> (u64, u64) {
        /// With more hosts, not every one begins a search: in a regular network the first ones see all
        /// distances.
        const SEARCHES: usize = 32;
        let neighbours = self.neighbours();
        let hosts = self.nodes.iter().filter(|n| n.host).count();
        let mut longest = 0;
        for host in (0..hosts).step_by(hosts.div_ceil(SEARCHES).max(1)) {
            let mut rtt = vec![None; self.nodes.len()];
            rtt[host] = Some(0);
            let mut waiting = VecDeque::from([host]);
            while let Some(node) = waiting.pop_front() {
                let so_far = rtt[node].unwrap_or(0);
                for &(next, link) in &neighbours[node] {
                    if rtt[next].is_none() && (node == host || !self.nodes[node].host) {
                        let Link { rate, delay, .. } = &self.links[link];
                        rtt[next] = Some(so_far + 2 * delay.0 + (data + ack) * 8 * SECOND / rate.0);
                        waiting.push_back(next);
                    }
                }
            }
            longest = longest.max(rtt[..hosts].iter().flatten().copied().max().unwrap_or(0));
        }
        let slowest = self.links.iter().filter(|l| l.ends.iter().any(|&n| n < hosts)).map(|l| l.rate.0).min();
        (longest, slowest.unwrap_or(0))
    }
}
