//! A network as a graph of named nodes and links, from which small topologies and the networks in files are built.

mod dumbbell;
mod wiring;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::entity::ARRIVALS;
use crate::loss::Loss;
use crate::network::Network;
use crate::port::PortConfig;
use crate::shortest::ShortestPaths;
use crate::topology::Topology;

pub use wiring::{LinkConfig, Links};

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// It sends and receives, and passes nothing on.
    Host {
        /// The number of its rack; either all hosts have one or none has.
        rack: Option<u32>,
        /// The number of its pod, or 0.
        pod: Option<u32>,
    },
    /// It passes packets on.
    Switch,
}

/// A host or a switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its name, for people and in files; no two nodes have the same name.
    pub name: String,
    /// Its kind.
    pub kind: NodeKind,
}

/// One direction of a link.
#[derive(Debug, Clone)]
pub struct GraphPort {
    /// The node that sends over it and the node that it leads to, as places in [`Graph::nodes`].
    pub ends: [usize; 2],
    /// Its layer, a place in [`Graph::layers`].
    pub layer: u8,
    /// Its rate, delay, queue and losses; a host's port is its NIC. Only the probability of its losses
    /// counts: [`Graph::topology`] gives each port its own random stream.
    pub config: PortConfig,
}

/// Named nodes and links.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    /// Hosts and switches, in any order.
    pub nodes: Vec<Node>,
    /// The layers' names.
    pub layers: Vec<Arc<str>>,
    /// Both directions of every link. The n-th port from one node to another belongs to the link of the n-th port
    /// back. Ports keep their order as numbers in [`Topology`].
    pub ports: Vec<GraphPort>,
}

/// Why a graph is not a network. Nodes are places in [`Graph::nodes`], ports in [`Graph::ports`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// A port leads from or to a node that does not exist.
    #[error("a link to a node that does not exist")]
    NoNode {
        /// The port.
        port: usize,
    },
    /// A link leads from a node to itself.
    #[error("a link from `{name}` to itself")]
    Loop {
        /// The port.
        port: usize,
        /// The node's name.
        name: String,
    },
    /// Two nodes have the same name.
    #[error("two nodes are called `{name}`")]
    Twice {
        /// The second of them.
        node: usize,
        /// Their name.
        name: String,
    },
    /// A port has no port back.
    #[error("a link leads from `{from}` to `{to}`, but not back")]
    OneWay {
        /// The port.
        port: usize,
        /// The name of the node that it leaves.
        from: String,
        /// The name of the node that it leads to.
        to: String,
    },
    /// The two directions of a link are in different layers.
    #[error("the link between `{from}` and `{to}` is in different layers in its two directions")]
    Layers {
        /// One of its ports.
        port: usize,
        /// The name of the node that it leaves.
        from: String,
        /// The name of the node that it leads to.
        to: String,
    },
    /// Some hosts have a rack, others have none.
    #[error("`{with}` has a rack, `{without}` has none: give all hosts a rack, or none")]
    Racks {
        /// A host without a rack.
        node: usize,
        /// The name of a host with one.
        with: String,
        /// The name of the one without.
        without: String,
    },
    /// There are fewer than two hosts.
    #[error("number of hosts: {hosts}; a network needs at least two")]
    Hosts {
        /// How many there are.
        hosts: usize,
    },
    /// A host has no link.
    #[error("the host `{name}` has no link")]
    NoLink {
        /// The host.
        node: usize,
        /// Its name.
        name: String,
    },
    /// A host cannot reach another.
    #[error("the host `{from}` cannot reach the host `{to}`: hosts do not forward")]
    Unreachable {
        /// The first host.
        node: usize,
        /// Its name.
        from: String,
        /// The other's name.
        to: String,
    },
    /// There are more ports than fit.
    #[error("{ports} ports: a network has fewer than 2^23")]
    Ports {
        /// How many there are.
        ports: usize,
    },
}

impl Graph {
    /// The network. Its first nodes are the hosts, in the graph's order, then the switches in theirs. If the
    /// hosts have no racks, those whose first link leads to the same node are in one rack, numbered in order
    /// of appearance.
    ///
    /// # Errors
    /// If the graph is not a network in which every host reaches every other.
    pub fn topology(&self) -> Result<Topology, GraphError> {
        self.check_nodes()?;
        self.check_ports()?;
        let is_host = |node: &&usize| matches!(self.nodes[**node].kind, NodeKind::Host { .. });
        let all: Vec<usize> = (0..self.nodes.len()).collect();
        let (hosts, switches): (Vec<usize>, Vec<usize>) = all.iter().partition(is_host);
        let mut numbers = vec![0; all.len()];
        let order: Vec<usize> = hosts.iter().chain(&switches).copied().collect();
        (0..).zip(&order).for_each(|(number, &node)| numbers[node] = number);
        let count = self.ports.len() as u32;
        let topology = Topology {
            network: Network {
                hosts: hosts.len() as u32,
                nodes: all.len() as u32,
                ends: self.ports.iter().map(|p| p.ends.map(|node| numbers[node])).collect(),
            },
            configs: (0..)
                .zip(&self.ports)
                .map(|(n, p)| PortConfig { loss: Loss::new(p.config.loss.probability(), 0, n), ..p.config })
                .collect(),
            streams: (0..count).collect(),
            layers: self.ports.iter().map(|p| p.layer).collect(),
            layer_names: self.layers.clone(),
            node_names: order.iter().map(|&node| self.nodes[node].name.clone()).collect(),
            racks: self.racks(&hosts)?,
            pods: hosts.iter().map(|&h| self.rack_and_pod(h).1.unwrap_or(0)).collect(),
        };
        if !self.joined()
            && let Some((from, to)) = ShortestPaths::new(&topology).unreachable()
        {
            let node = hosts[from as usize];
            let [from, to] = [from, to].map(|h| topology.node_names[h as usize].clone());
            return Err(GraphError::Unreachable { node, from, to });
        }
        Ok(topology)
    }

    fn name(&self, node: usize) -> String {
        self.nodes[node].name.clone()
    }

    fn check_nodes(&self) -> Result<(), GraphError> {
        let mut names = BTreeMap::new();
        for (node, Node { name, .. }) in self.nodes.iter().enumerate() {
            if names.insert(name, node).is_some() {
                return Err(GraphError::Twice { node, name: name.clone() });
            }
        }
        let hosts = self.nodes.iter().filter(|n| n.kind != NodeKind::Switch).count();
        if hosts < 2 { Err(GraphError::Hosts { hosts }) } else { Ok(()) }
    }

    fn check_ports(&self) -> Result<(), GraphError> {
        let ports = self.ports.len();
        if ports >= ARRIVALS as usize {
            return Err(GraphError::Ports { ports });
        }
        let mut between: BTreeMap<[usize; 2], Vec<usize>> = BTreeMap::new();
        for (port, &GraphPort { ends: [from, to], .. }) in self.ports.iter().enumerate() {
            if from.max(to) >= self.nodes.len() {
                return Err(GraphError::NoNode { port });
            }
            if from == to {
                return Err(GraphError::Loop { port, name: self.name(from) });
            }
            between.entry([from, to]).or_default().push(port);
        }
        for (&[from, to], there) in &between {
            let back = between.get(&[to, from]).map_or(&[][..], Vec::as_slice);
            let names = || (self.name(from), self.name(to));
            if let Some(&port) = there.get(back.len()) {
                let (from, to) = names();
                return Err(GraphError::OneWay { port, from, to });
            }
            let differ = |(&a, &b): (&usize, &usize)| self.ports[a].layer != self.ports[b].layer;
            if let Some((&port, _)) = there.iter().zip(back).find(|&pair| differ(pair)) {
                let (from, to) = names();
                return Err(GraphError::Layers { port, from, to });
            }
        }
        Ok(())
    }

    fn rack_and_pod(&self, host: usize) -> (Option<u32>, Option<u32>) {
        match self.nodes[host].kind {
            NodeKind::Host { rack, pod } => (rack, pod),
            NodeKind::Switch => unreachable!("only hosts are asked"),
        }
    }

    /// By host: its rack.
    fn racks(&self, hosts: &[usize]) -> Result<Vec<u32>, GraphError> {
        let mut first = vec![None; self.nodes.len()];
        for &GraphPort { ends: [from, to], .. } in &self.ports {
            first[from].get_or_insert(to);
        }
        if let Some(&node) = hosts.iter().find(|&&host| first[host].is_none()) {
            return Err(GraphError::NoLink { node, name: self.name(node) });
        }
        let said: Vec<Option<u32>> = hosts.iter().map(|&h| self.rack_and_pod(h).0).collect();
        let place = |has: bool| said.iter().position(|rack| rack.is_some() == has).map(|i| hosts[i]);
        match (place(true), place(false)) {
            (Some(with), Some(without)) => {
                let [with, name] = [with, without].map(|node| self.name(node));
                Err(GraphError::Racks { node: without, with, without: name })
            }
            (Some(_), None) => Ok(said.into_iter().flatten().collect()),
            (None, _) => {
                let mut numbers = BTreeMap::new();
                let number = |&host: &usize| {
                    let next = numbers.len() as u32;
                    *numbers.entry(first[host]).or_insert(next)
                };
                Ok(hosts.iter().map(number).collect())
            }
        }
    }

    /// Whether all hosts are attached to one group of switches that reach each other, so that every
    /// host reaches every other.
    fn joined(&self) -> bool {
        let mut neighbours = vec![Vec::new(); self.nodes.len()];
        for &GraphPort { ends: [from, to], .. } in &self.ports {
            neighbours[from].push(to);
        }
        let is_switch = |node: usize| self.nodes[node].kind == NodeKind::Switch;
        let hosts = (0..self.nodes.len()).filter(|&n| !is_switch(n)).count();
        let mut seen = vec![false; self.nodes.len()];
        // By host: the last group that reached it, identified by the switch where the search began.
        let mut met = vec![usize::MAX; self.nodes.len()];
        for start in (0..self.nodes.len()).filter(|&n| is_switch(n)) {
            let (mut open, mut reached) = (vec![start], 0);
            while let Some(node) = open.pop() {
                if std::mem::replace(&mut seen[node], true) {
                    continue;
                }
                for &next in &neighbours[node] {
                    if is_switch(next) {
                        open.push(next);
                    } else if std::mem::replace(&mut met[next], start) != start {
                        reached += 1;
                    }
                }
            }
            if reached == hosts {
                return true;
            }
        }
        false
    }
}
