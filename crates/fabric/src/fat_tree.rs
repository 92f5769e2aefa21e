//! The k-ary fat tree (Al-Fares et al., SIGCOMM 2008) with two-level routing.
//!
//! k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 core switches, k^3/4 hosts. The core
//! switch c is attached to the aggregation switch c / (k/2) of every pod.
//!
//! Two-Level Routing chooses the way up by the suffix of the destination's address: one digit at
//! the edge switch, one at the aggregation switch. So an address of a host represents one core
//! switch, and a host with (k/2)^2 addresses can be reached over each of them. A subflow uses the
//! same address number at both ends: data and ACKs pass the same core switch.

use std::sync::Arc;

use tresse_units::{BitsPerSecond, Time};

use crate::loss::{Loss, Probability};
use crate::network::Network;
use crate::port::{NonEct, PortConfig, Processing};
use crate::threshold::Threshold;
use crate::topology::Topology;

/// The parts that the paths of one connection must not share (catalogue 0.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// No core switch; two of them may be attached to one aggregation switch.
    Core,
    /// No aggregation switch either.
    Aggregation,
}

/// The parameters of a fat tree. Layers are `rack` (between hosts and edge switches), `aggregation` (between edge
/// and aggregation switches) and `core`; both directions of a link are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FatTreeConfig {
    /// Ports a switch; even.
    pub k: u32,
    /// Rates by layer, rack first.
    pub rate: [BitsPerSecond; 3],
    /// One-way delays by layer.
    pub delay: [Time; 3],
    /// Queue sizes by layer.
    pub limit: [Threshold; 3],
    /// Marking thresholds by layer.
    pub mark: [Threshold; 3],
    /// The queue in a host's NIC: size and marking threshold.
    pub host: (Threshold, Threshold),
    /// The treatment of packets above the threshold that cannot be marked.
    pub non_ect: NonEct,
    /// How likely a port loses a packet, by layer; a host's NIC is in the first.
    pub loss: [Probability; 3],
}

/// Why a fat tree cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("k = {k}: a fat tree needs an even number of ports per switch, from 2 to 128")]
pub struct FatTreeError {
    /// The requested k.
    pub k: u32,
}

/// A fat tree: which port leads where, and its two-level routing.
#[derive(Debug, Clone)]
pub struct FatTree {
    config: FatTreeConfig,
    half: u32,
}

/// The ports of a fat tree are numbered group by group; within a group, by switch and then by link.
enum Group {
    HostUp,
    EdgeDown,
    EdgeUp,
    AggregationDown,
    AggregationUp,
    CoreDown,
}

impl FatTree {
    /// A fat tree.
    ///
    /// # Errors
    /// If k is odd, 0 or above 128.
    pub fn new(config: FatTreeConfig) -> Result<Self, FatTreeError> {
        let k = config.k;
        if k == 0 || !k.is_multiple_of(2) || k > 128 {
            return Err(FatTreeError { k });
        }
        Ok(Self { config, half: k / 2 })
    }

    /// The number of hosts, k^3/4.
    pub fn hosts(&self) -> u32 {
        self.config.k * self.half * self.half
    }

    /// The number of switches, 5 k^2/4.
    pub fn switches(&self) -> u32 {
        5 * self.half * self.half
    }

    /// The longest route, ports.
    pub const LONGEST_ROUTE: usize = 6;

    /// How many paths there are from `from` to `to`: the core switches between pods, the
    /// aggregation switches within a pod, one in a rack.
    pub fn paths(&self, from: u32, to: u32) -> u32 {
        if self.edge(from) == self.edge(to) {
            1
        } else if self.pod(from) == self.pod(to) {
            self.half
        } else {
            self.half * self.half
        }
    }

    /// How many addresses of a host a connection can use at once.
    pub fn addresses(&self, spread: Spread) -> u32 {
        match spread {
            Spread::Core => self.half * self.half,
            Spread::Aggregation => self.half,
        }
    }

    /// `count` addresses for the subflows of one connection, as `spread` asks; `draw(n)` gives a
    /// random number below n. An address is the number of a core switch.
    pub fn draw_addresses(&self, count: u32, spread: Spread, mut draw: impl FnMut(u32) -> u32) -> Vec<u32> {
        // The first `count` places of a random permutation (Fisher and Yates).
        let mut pool: Vec<u32> = (0..self.addresses(spread)).collect();
        for i in 0..count.min(pool.len() as u32) {
            let j = i + draw(pool.len() as u32 - i);
            pool.swap(i as usize, j as usize);
        }
        pool.truncate(count as usize);
        if spread == Spread::Aggregation {
            for address in &mut pool {
                *address = *address * self.half + draw(self.half);
            }
        }
        pool
    }

    /// The route from `from` to the address of `to` that represents core switch `core`.
    pub fn route(&self, from: u32, to: u32, core: u32) -> Vec<u32> {
        let half = self.half;
        let (up, down) = (core / half, core % half); // digit at the edge, digit at the aggregation
        let (edge_from, edge_to) = (self.edge(from), self.edge(to));
        let (pod_from, pod_to) = (self.pod(from), self.pod(to));
        let host_up = self.port(Group::HostUp, from);
        let edge_down = self.port(Group::EdgeDown, to);
        let edge_up = || self.port(Group::EdgeUp, edge_from * half + up);
        // An aggregation switch's port down to edge e of its pod.
        let aggregation_down =
            || self.port(Group::AggregationDown, (pod_to * half + up) * half + edge_to % half);
        if edge_from == edge_to {
            vec![host_up, edge_down]
        } else if pod_from == pod_to {
            vec![host_up, edge_up(), aggregation_down(), edge_down]
        } else {
            vec![
                host_up,
                edge_up(),
                self.port(Group::AggregationUp, (pod_from * half + up) * half + down),
                self.port(Group::CoreDown, core * self.config.k + pod_to),
                aggregation_down(),
                edge_down,
            ]
        }
    }

    /// The network. Nodes are hosts, then edge, aggregation and core switches; edge and aggregation switches are
    /// numbered through all pods.
    pub fn topology(&self) -> Topology {
        let hosts = 0..self.hosts();
        let ports = 0..6 * self.hosts();
        let nodes = 0..self.hosts() + self.switches();
        Topology {
            network: Network {
                hosts: self.hosts(),
                nodes: nodes.end,
                ends: ports.clone().map(|p| self.ends(p)).collect(),
            },
            configs: ports.clone().map(|p| self.config(p)).collect(),
            layers: ports.clone().map(|p| self.layer(p)).collect(),
            streams: ports.collect(),
            layer_names: ["rack", "aggregation", "core"].map(Arc::from).to_vec(),
            node_names: nodes.map(|n| self.node_name(n)).collect(),
            racks: hosts.clone().map(|h| self.edge(h)).collect(),
            pods: hosts.map(|h| self.pod(h)).collect(),
        }
    }

    /// The index of a port's layer in the configuration.
    fn layer(&self, port: u32) -> u8 {
        (port / self.hosts() / 2) as u8
    }

    fn config(&self, port: u32) -> PortConfig {
        let (c, layer) = (&self.config, usize::from(self.layer(port)));
        let (limit, mark) = if port < self.hosts() { c.host } else { (c.limit[layer], c.mark[layer]) };
        PortConfig {
            rate: c.rate[layer],
            delay: c.delay[layer],
            limit,
            mark,
            non_ect: c.non_ect,
            drop_until: None,
            processing: Processing::NONE,
            red: None,
            loss: Loss::new(c.loss[layer], 0, port),
        }
    }

    /// The nodes at the two ends of a port's link: the one that sends, and the one that it leads to.
    fn ends(&self, port: u32) -> [u32; 2] {
        let (half, i) = (self.half, port % self.hosts());
        let switch = i / half;
        let per_layer = self.config.k * half;
        let edge = |n: u32| self.hosts() + n;
        let aggregation = |n: u32| edge(per_layer) + n;
        let core = |n: u32| aggregation(per_layer) + n;
        // The switch of a pod at the far end of a link within it.
        let in_pod = |n: u32| switch / half * half + n;
        match port / self.hosts() {
            0 => [i, edge(self.edge(i))],
            1 => [edge(self.edge(i)), i],
            2 => [edge(switch), aggregation(in_pod(i % half))],
            3 => [aggregation(switch), edge(in_pod(i % half))],
            4 => [aggregation(switch), core(switch % half * half + i % half)],
            _ => {
                let (from, pod) = (i / self.config.k, i % self.config.k);
                [core(from), aggregation(pod * half + from / half)]
            }
        }
    }

    fn node_name(&self, node: u32) -> String {
        let per_layer = self.config.k * self.half;
        match node.checked_sub(self.hosts()) {
            None => format!("host {node}"),
            Some(n) if n < per_layer => format!("edge {n}"),
            Some(n) if n < 2 * per_layer => format!("aggregation {}", n - per_layer),
            Some(n) => format!("core {}", n - 2 * per_layer),
        }
    }

    fn edge(&self, host: u32) -> u32 {
        host / self.half
    }

    fn pod(&self, host: u32) -> u32 {
        host / (self.half * self.half)
    }

    /// Every group has as many ports as there are hosts.
    fn port(&self, group: Group, i: u32) -> u32 {
        group as u32 * self.hosts() + i
    }
}
