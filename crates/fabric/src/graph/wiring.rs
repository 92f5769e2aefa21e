//! Links in layers, for topologies that are wired by hand.

use std::sync::Arc;

use tresse_units::{BitsPerSecond, Time};

use super::{Graph, GraphPort, Node, NodeKind};
use crate::loss::{Loss, Probability};
use crate::port::{NonEct, PortConfig, Processing};
use crate::threshold::Threshold;

/// The parameters of a layer's links; both directions are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkConfig {
    /// Its rate, bit/s.
    pub rate: BitsPerSecond,
    /// Its one-way delay, ps.
    pub delay: Time,
    /// The queue of a switch's port: its size.
    pub limit: Threshold,
    /// And its marking threshold.
    pub mark: Threshold,
    /// How likely a port loses a packet, including a host's NIC.
    pub loss: Probability,
}

/// The parameters of the links of a network with `N` layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Links<const N: usize> {
    /// By layer.
    pub layers: [LinkConfig; N],
    /// The queue in a host's NIC: size and marking threshold.
    pub host: (Threshold, Threshold),
    /// The treatment of packets above a threshold that cannot be marked.
    pub non_ect: NonEct,
}

impl LinkConfig {
    /// A port of such a link: a switch's, or that of a host with this queue in its NIC, size and marking threshold.
    pub fn port(self, nic: Option<(Threshold, Threshold)>, non_ect: NonEct) -> PortConfig {
        let (limit, mark) = nic.unwrap_or((self.limit, self.mark));
        PortConfig {
            rate: self.rate,
            delay: self.delay,
            limit,
            mark,
            non_ect,
            drop_until: None,
            processing: Processing::NONE,
            red: None,
            loss: Loss::new(self.loss, 0, 0),
        }
    }
}

/// A graph under construction.
pub(super) struct Wiring<'a, const N: usize> {
    graph: Graph,
    links: &'a Links<N>,
}

impl<'a, const N: usize> Wiring<'a, N> {
    /// An empty graph, with layers of these names.
    pub fn new(links: &'a Links<N>, layers: [&str; N]) -> Self {
        let layers = layers.map(Arc::from).to_vec();
        Self { graph: Graph { layers, ..Graph::default() }, links }
    }

    /// Adds a host with this name.
    pub fn host(&mut self, name: impl Into<String>) -> usize {
        self.node(name.into(), NodeKind::Host { rack: None, pod: None })
    }

    /// Adds a switch with this name.
    pub fn switch(&mut self, name: impl Into<String>) -> usize {
        self.node(name.into(), NodeKind::Switch)
    }

    /// A link of this layer.
    pub fn join(&mut self, a: usize, b: usize, layer: usize) {
        for ends in [[a, b], [b, a]] {
            let is_nic = self.graph.nodes[ends[0]].kind != NodeKind::Switch;
            let config = self.links.layers[layer].port(is_nic.then_some(self.links.host), self.links.non_ect);
            self.graph.ports.push(GraphPort { ends, layer: layer as u8, config });
        }
    }

    /// The finished graph.
    pub fn graph(self) -> Graph {
        self.graph
    }

    fn node(&mut self, name: String, kind: NodeKind) -> usize {
        self.graph.nodes.push(Node { name, kind });
        self.graph.nodes.len() - 1
    }
}
