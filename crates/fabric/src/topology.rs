//! A network as data: the result of building any topology, and all that the rest of the program knows about
//! it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tresse_units::{BitsPerSecond, SECOND, Time};

use crate::entity::ARRIVALS;
use crate::loss::{Loss, Probability};
use crate::network::Network;
use crate::port::PortConfig;

/// How far apart two hosts are (XMP §5.2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Locality {
    /// In one rack.
    InnerRack,
    /// In one pod, in different racks.
    InterRack,
    /// In different pods.
    InterPod,
}

impl Locality {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::InnerRack => "inner-rack",
            Self::InterRack => "inter-rack",
            Self::InterPod => "inter-pod",
        }
    }
}

/// A network: its nodes, its ports and what they are made of, and what people call them.
///
/// Every link has two ports, one for each direction; the n-th port from one node to another is the twin of
/// the n-th port back.
#[derive(Debug, Clone)]
pub struct Topology {
    /// The nodes, and which ports lead from one to another.
    pub network: Network,
    /// Every port, by number. Its losses are drawn anew for each seed: see [`Topology::ports`].
    pub configs: Vec<PortConfig>,
    /// By port: its name in random streams, the number that it was built with. It keeps this name when other
    /// ports are removed, so that their removal changes no draws (design rule 4).
    pub streams: Vec<u32>,
    /// By port: the layer of its link, a place in `layer_names`. A host's NIC is in the layer of its link.
    pub layers: Vec<u8>,
    /// The layers' names, from the hosts up.
    pub layer_names: Vec<Arc<str>>,
    /// By node: its name, for people and in files: `host 3`.
    pub node_names: Vec<String>,
    /// By host: the number of its rack. A host may have several addresses, each a separate node: see
    /// [`Topology::addresses`].
    pub racks: Vec<u32>,
    /// By host: the number of its pod.
    pub pods: Vec<u32>,
}

impl Topology {
    /// The number of hosts, each of which may send and receive.
    pub fn hosts(&self) -> u32 {
        self.racks.len() as u32
    }

    /// The nodes that are addresses of a host: the same number for each host, and contiguous. For most
    /// topologies, the host itself.
    pub fn addresses(&self, host: u32) -> Range<u32> {
        let each = self.network.hosts / self.hosts();
        host * each..(host + 1) * each
    }

    /// Every port, by number; `seed` decides which packets they lose.
    pub fn ports(&self, seed: u64) -> Vec<PortConfig> {
        let seeded = |(config, &stream): (&PortConfig, &u32)| PortConfig {
            loss: Loss::new(config.loss.probability(), seed, stream),
            ..*config
        };
        self.configs.iter().zip(&self.streams).map(seeded).collect()
    }

    /// How far apart two hosts are.
    pub fn locality(&self, from: u32, to: u32) -> Locality {
        let alike = |of: &[u32]| of[from as usize] == of[to as usize];
        if alike(&self.racks) {
            Locality::InnerRack
        } else if alike(&self.pods) {
            Locality::InterRack
        } else {
            Locality::InterPod
        }
    }

    /// The name of a port's layer.
    pub fn layer_name(&self, port: u32) -> &str {
        &self.layer_names[usize::from(self.layers[port as usize])]
    }

    /// The same, for callers that keep it longer than the network.
    pub fn layer(&self, port: u32) -> Arc<str> {
        Arc::clone(&self.layer_names[usize::from(self.layers[port as usize])])
    }

    /// The rate of a port.
    pub fn rate(&self, port: u32) -> BitsPerSecond {
        self.configs[port as usize].rate
    }

    /// How likely a port loses a packet, whatever its queue.
    pub fn loss(&self, port: u32) -> Probability {
        self.configs[port as usize].loss.probability()
    }

    /// The names of the nodes at the two ends of a port's link: the one that sends, and the one that it leads
    /// to.
    pub fn end_names(&self, port: u32) -> [&str; 2] {
        self.network.ends[port as usize].map(|n| &*self.node_names[n as usize])
    }

    /// The RTT of an empty path of these ports, back over the same links, as if their two directions were alike:
    /// propagation both ways, and the transmission of a packet of `data` bytes there and of `ack` bytes back at every
    /// hop.
    pub fn base_rtt(&self, route: &[u32], data: u32, ack: u32) -> Time {
        let hop = |&port: &u32| {
            let PortConfig { delay, rate, .. } = self.configs[port as usize];
            2 * delay + u64::from(data + ack) * 8 * SECOND / rate
        };
        route.iter().map(hop).sum()
    }

    /// By port: the port of the same link in the other direction.
    ///
    /// # Panics
    /// If a link leads only one way.
    pub fn twins(&self) -> Vec<u32> {
        let mut links: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
        let mut places = Vec::new();
        for (port, &ends) in (0..).zip(&self.network.ends) {
            let link = links.entry(ends).or_default();
            places.push(link.len());
            link.push(port);
        }
        let twin = |(&[from, to], &place): (&[u32; 2], &usize)| links[&[to, from]][place];
        self.network.ends.iter().zip(&places).map(twin).collect()
    }

    /// By node: how many links it is away from the nearest host.
    pub fn heights(&self) -> Vec<u32> {
        let network = &self.network;
        let incoming = network.incoming();
        let mut heights = vec![u32::MAX; network.nodes as usize];
        let mut nearest: Vec<u32> = (0..network.hosts).collect();
        for height in 0.. {
            nearest.retain(|&node| std::mem::replace(&mut heights[node as usize], height) == u32::MAX);
            let below = |&node: &u32| incoming[node as usize].iter().map(|&p| network.ends[p as usize][0]);
            let above = nearest.iter().flat_map(below).filter(|&node| heights[node as usize] == u32::MAX);
            nearest = above.collect();
            if nearest.is_empty() {
                break;
            }
        }
        heights
    }

    /// The node of this name.
    pub fn node(&self, name: &str) -> Option<u32> {
        self.node_names.iter().position(|n| n == name).map(|n| n as u32)
    }

    /// The ports of all links between two nodes, both directions.
    pub fn ports_between(&self, a: u32, b: u32) -> Vec<u32> {
        let joins = |ends: &[u32; 2]| *ends == [a, b] || *ends == [b, a];
        (0..).zip(&self.network.ends).filter(|(_, ends)| joins(ends)).map(|(port, _)| port).collect()
    }

    /// Hosts with a link to each of this many planes: separate networks of switches, each like this one's.
    /// `None` if there are 2^23 ports, or no planes.
    pub fn in_planes(self, planes: u32) -> Option<Self> {
        let Network { hosts, nodes, ends } = &self.network;
        let (switches, ports) = (nodes - hosts, ends.len() as u32);
        if planes == 0 || u64::from(ports) * u64::from(planes) >= u64::from(ARRIVALS) {
            return None;
        }
        let node = |plane: u32, node: u32| if node < *hosts { node } else { node + plane * switches };
        let all = |plane: u32| ends.iter().map(move |ends| ends.map(|n| node(plane, n)));
        let name = |plane| move |name: &String| format!("plane {plane} {name}");
        let (host_names, switch_names) = self.node_names.split_at(*hosts as usize);
        let names = (0..planes).flat_map(|plane| switch_names.iter().map(name(plane)));
        Some(Self {
            network: Network {
                hosts: *hosts,
                nodes: hosts + planes * switches,
                ends: (0..planes).flat_map(all).collect(),
            },
            configs: self.configs.repeat(planes as usize),
            streams: (0..planes)
                .flat_map(|plane| self.streams.iter().map(move |s| s + plane * ports))
                .collect(),
            layers: self.layers.repeat(planes as usize),
            node_names: host_names.iter().cloned().chain(names).collect(),
            layer_names: self.layer_names,
            racks: self.racks,
            pods: self.pods,
        })
    }

    /// Removes ports, and with them their directions of links. The others are renumbered in their order, but
    /// keep their random streams.
    pub fn remove(&mut self, ports: &[u32]) {
        if ports.is_empty() {
            return;
        }
        let mut stays = vec![true; self.configs.len()];
        ports.iter().for_each(|&port| stays[port as usize] = false);
        let kept: Vec<usize> = (0..self.configs.len()).filter(|&port| stays[port]).collect();
        self.network.ends = kept.iter().map(|&p| self.network.ends[p]).collect();
        self.configs = kept.iter().map(|&p| self.configs[p]).collect();
        self.streams = kept.iter().map(|&p| self.streams[p]).collect();
        self.layers = kept.iter().map(|&p| self.layers[p]).collect();
    }
}
