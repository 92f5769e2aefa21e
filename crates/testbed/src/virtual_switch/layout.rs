//! A case's network as interfaces and bridges: what each port holds and marks, and by which port a bridge reaches
//! an interface of a machine.

use std::collections::VecDeque;

use tresse_experiment::plan::Case;
use tresse_fabric::{ClassConfig, ClassMark, NonEct, Probability, Threshold, Topology};
use tresse_units::{BitsPerSecond, SECOND};

use crate::namespace::Error;

/// The most interfaces of machines: each has its place in every bridge and every machine's table.
const MOST: u32 = 512;

/// The least threshold of a share, bytes: two packets, as in the simulator (`ClassMark::Share`).
const FLOOR: u64 = 3000;

/// A network of bridges in which each interface is reached in one way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layout {
    /// Interfaces of machines: the nodes below this.
    pub nics: u32,
    /// All nodes; the others are bridges.
    pub nodes: u32,
    pub ports: Vec<Port>,
    /// By node, then by interface: the port to it, which is `None` at itself.
    ways: Vec<Vec<Option<u32>>>,
}

/// A port: the outgoing side of a link.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Port {
    pub ends: [u32; 2],
    /// The other direction of its link.
    pub back: u32,
    pub rate: BitsPerSecond,
    /// Its classes of service, at least one; a packet's class is its DSCP.
    pub classes: Vec<Class>,
    /// Whether more can arrive than leave. If not, there is never a queue.
    pub can_fill: bool,
}

/// A queue of a port.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Class {
    /// Busy classes share the rate in proportion to this.
    pub quantum: u32,
    pub limit: Threshold,
    pub mark: Option<Mark>,
}

/// When a class marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Above this.
    Above(Threshold),
    /// Above its share of what a queue with the whole link has as its threshold, bytes (vMCC eq. (1)).
    Share(u64),
}

impl Mark {
    fn above(threshold: Threshold) -> Option<Self> {
        (threshold != Threshold::UNLIMITED).then_some(Self::Above(threshold))
    }
}

impl Layout {
    /// The layout of a case's network; `seed` is that of its run.
    ///
    /// # Errors
    /// A part of it that bridges do not have.
    pub fn of(case: &Case, seed: u64) -> Result<Self, Error> {
        let wrong = |why: String| Err(Error(format!("{}: {why}", case.label())));
        let (setting, topology) = (&case.setting, &case.setting.fabric);
        if let Some(what) = setting.options.beyond_queues() {
            return wrong(format!(
                "the kernel's switches have queues with a limit and a threshold, not {what}"
            ));
        }
        if !setting.changes.is_empty() {
            return wrong("`[[changes]]` need the emulated fabric: leave out `--switch`".to_owned());
        }
        let configs = setting.options.apply(topology, seed);
        let mut ports = Vec::new();
        for (config, &ends) in configs.ports.iter().zip(&topology.network.ends) {
            if config.loss.probability() != Probability::ZERO || config.red.is_some() {
                return wrong("the kernel's switches lose packets in full queues only".to_owned());
            }
            if config.non_ect != NonEct::Queue && config.mark != Threshold::UNLIMITED {
                return wrong("a marker drops nothing: leave out `non_ect`".to_owned());
            }
            let Some(back) = topology.network.ends.iter().position(|other| *other == [ends[1], ends[0]])
            else {
                return wrong("a link has two directions".to_owned());
            };
            let only = Class { quantum: 1500, limit: config.limit, mark: Mark::above(config.mark) };
            let (back, rate) = (back as u32, config.rate);
            ports.push(Port { ends, back, rate, classes: vec![only], can_fill: true });
        }
        for (number, server) in &configs.servers {
            let port = &mut ports[*number as usize];
            let own = &server.classes[..usize::from(server.count)];
            port.classes = own.iter().map(|class| Class::of(class, port.rate)).collect();
        }
        let shares = |port: &Port| {
            port.classes.iter().filter(|class| matches!(class.mark, Some(Mark::Share(_)))).count()
        };
        if ports.iter().any(|port| ![0, port.classes.len()].contains(&shares(port))) {
            return wrong("either all classes mark at their `share` or none".to_owned());
        }
        Self::new(topology, ports).or_else(wrong)
    }

    fn new(topology: &Topology, mut ports: Vec<Port>) -> Result<Self, String> {
        let (nics, nodes) = (topology.network.hosts, topology.network.nodes);
        if nics > MOST {
            return Err(format!("{nics} interfaces of machines: at most {MOST} fit on one machine"));
        }
        // All that machines can send together.
        let own = ports.iter().filter(|port| port.ends[0] < nics);
        let all: u128 = own.map(|port| u128::from(port.rate)).sum();
        for port in &mut ports {
            port.can_fill = port.ends[0] < nics || u128::from(port.rate) < all;
        }
        let mut ways = vec![vec![None; nics as usize]; nodes as usize];
        for nic in 0..nics {
            for (node, way) in ways_to(nic, nics, nodes as usize, &ports).into_iter().enumerate() {
                let name = |node: usize| &topology.node_names[node];
                ways[node][nic as usize] = match way[..] {
                    [] if node == nic as usize => None,
                    [] => return Err(format!("{} cannot reach {}", name(node), name(nic as usize))),
                    [port] => Some(port),
                    _ => {
                        return Err(format!(
                            "{} has several ways to {}, but a bridge has one to each address: `--switch` is for \
                             networks without loops, such as topology = \"virtual-hosts\"",
                            name(node),
                            name(nic as usize)
                        ));
                    }
                };
            }
        }
        Ok(Self { nics, nodes, ports, ways })
    }

    /// By bridge and interface: the port that leads there.
    pub fn entries(&self) -> impl Iterator<Item = (u32, u32, u32)> {
        let bridges = (self.nics..self.nodes).zip(&self.ways[self.nics as usize..]);
        bridges.flat_map(|(node, ways)| {
            (0..).zip(ways).filter_map(move |(nic, port)| Some((node, nic, (*port)?)))
        })
    }

    /// The ports from one interface to another.
    pub fn route(&self, from: u32, to: u32) -> Vec<u32> {
        let mut route = Vec::new();
        let mut node = from;
        while let Some(port) = self.ways[node as usize][to as usize] {
            route.push(port);
            node = self.ports[port as usize].ends[1];
        }
        route
    }
}

impl Class {
    fn of(class: &ClassConfig, rate: BitsPerSecond) -> Self {
        let mark = match class.mark {
            ClassMark::Above(mark) => Mark::above(mark),
            ClassMark::Share { rtt, lambda } => Some(Mark::Share(share(rate, rtt, lambda))),
        };
        Self { quantum: class.quantum, limit: class.limit, mark }
    }
}

/// K of a queue that has the whole link (vMCC eq. (1)), bytes.
fn share(rate: BitsPerSecond, rtt: u64, lambda: u32) -> u64 {
    let bits = u128::from(rate) * u128::from(rtt) * u128::from(lambda) / (1000 * u128::from(SECOND));
    ((bits / 8) as u64).max(FLOOR)
}

/// By node: its ports on a shortest way to an interface. Other interfaces pass nothing on.
fn ways_to(nic: u32, nics: u32, nodes: usize, ports: &[Port]) -> Vec<Vec<u32>> {
    let mut distance = vec![u32::MAX; nodes];
    distance[nic as usize] = 0;
    let mut next = VecDeque::from([nic]);
    while let Some(node) = next.pop_front() {
        for port in ports.iter().filter(|port| port.ends[1] == node) {
            let from = port.ends[0] as usize;
            if distance[from] == u32::MAX {
                distance[from] = distance[node as usize] + 1;
                if port.ends[0] >= nics {
                    next.push_back(port.ends[0]);
                }
            }
        }
    }
    let mut ways = vec![Vec::new(); nodes];
    for (number, port) in (0..).zip(ports) {
        let [from, to] = port.ends.map(|node| distance[node as usize]);
        if from != u32::MAX && from == to.saturating_add(1) && (port.ends[1] == nic || port.ends[1] >= nics) {
            ways[port.ends[0] as usize].push(number);
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two interfaces each on the bridges 4 and 5, which a link joins.
    fn ports() -> Vec<Port> {
        let ends = [[0, 4], [4, 0], [1, 4], [4, 1], [2, 5], [5, 2], [3, 5], [5, 3], [4, 5], [5, 4]];
        let port = |(number, ends): (u32, [u32; 2])| Port {
            ends,
            back: number ^ 1,
            rate: 1_000_000,
            classes: Vec::new(),
            can_fill: true,
        };
        (0..).zip(ends).map(port).collect()
    }

    #[test]
    fn a_bridge_sends_towards_an_interface_and_interfaces_pass_nothing_on() {
        let ports = ports();
        let ways = ways_to(3, 4, 6, &ports);
        assert_eq!(ways, [vec![0], vec![2], vec![4], vec![], vec![8], vec![7]]);
        // A second interface of a machine on both bridges would be no way between them.
        let mut joined = ports.clone();
        joined.push(Port { ends: [2, 4], back: 11, ..ports[0].clone() });
        joined.push(Port { ends: [4, 2], back: 10, ..ports[0].clone() });
        assert_eq!(ways_to(3, 4, 6, &joined)[4], [8]);
    }

    #[test]
    fn two_links_between_bridges_are_two_ways() {
        let mut ports = ports();
        let second = [[4, 5], [5, 4]].map(|ends| Port { ends, ..ports[8].clone() });
        ports.extend(second);
        assert_eq!(ways_to(3, 4, 6, &ports)[4], [8, 10]);
    }

    #[test]
    fn a_share_of_a_link_is_its_rate_times_rtt_and_lambda_and_two_packets_at_least() {
        let us = SECOND / 1_000_000;
        // 10 Gbit/s x 200 us x 0.17 = 42.5 kB; 300 Mbit/s: 1.3 kB.
        assert_eq!(share(10_000_000_000, 200 * us, 170), 42_500);
        assert_eq!(share(300_000_000, 200 * us, 170), FLOOR);
    }
}
