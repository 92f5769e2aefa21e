//! The leaf-spine network: every leaf switch has its own hosts, and a link to every spine switch.
//!
//! Between two hosts of different leaves there is one shortest path over each spine. A leaf's
//! oversubscription is the ratio of its hosts' rates to the rates of its links to spines: hosts x rate /
//! (spines x rate).

use std::sync::Arc;

use tresse_units::{BitsPerSecond, Time};

use crate::entity::ARRIVALS;
use crate::loss::{Loss, Probability};
use crate::network::Network;
use crate::port::{NonEct, PortConfig, Processing};
use crate::threshold::Threshold;
use crate::topology::Topology;

/// The parameters of a leaf-spine network. Layers are `rack` (between hosts and leaves) and `spine` (between leaves and
/// spines); both directions of a link are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeafSpine {
    /// Leaf switches, at least 1.
    pub leaves: u32,
    /// Spine switches, at least 1.
    pub spines: u32,
    /// Hosts of each leaf, at least 1.
    pub hosts_per_leaf: u32,
    /// Rates by layer, rack first.
    pub rate: [BitsPerSecond; 2],
    /// One-way delays by layer.
    pub delay: [Time; 2],
    /// Queue sizes by layer.
    pub limit: [Threshold; 2],
    /// Marking thresholds by layer.
    pub mark: [Threshold; 2],
    /// The queue in a host's NIC: size and marking threshold.
    pub host: (Threshold, Threshold),
    /// The treatment of packets above the threshold that cannot be marked.
    pub non_ect: NonEct,
    /// How likely a port loses a packet, by layer; a host's NIC is in the first.
    pub loss: [Probability; 2],
}

/// Why a leaf-spine cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeafSpineError {
    /// There is none of this.
    #[error("this leaf-spine has no {0}: at least 1 is needed")]
    None(&'static str),
    /// There are more ports than fit.
    #[error("{ports} ports: a network has fewer than 2^23")]
    Ports {
        /// This many.
        ports: u64,
    },
}

impl LeafSpine {
    /// The network. Nodes are hosts, leaves and spines. Ports are numbered group by group: those of the hosts,
    /// then those of the leaves to their hosts, each by host; those of the leaves to the spines, by leaf and
    /// then spine; those of the spines, by spine and then leaf.
    ///
    /// # Errors
    /// If there is no leaf, spine or host, or if there are 2^23 ports.
    pub fn topology(&self) -> Result<Topology, LeafSpineError> {
        let Self { leaves, spines, hosts_per_leaf, .. } = *self;
        let named = [(leaves, "leaves"), (spines, "spines"), (hosts_per_leaf, "hosts")];
        if let Some((_, name)) = named.iter().find(|(n, _)| *n == 0) {
            return Err(LeafSpineError::None(name));
        }
        let ports = 2 * u128::from(leaves) * (u128::from(hosts_per_leaf) + u128::from(spines));
        if ports >= u128::from(ARRIVALS) {
            return Err(LeafSpineError::Ports { ports: u64::try_from(ports).unwrap_or(u64::MAX) });
        }
        let hosts = leaves * hosts_per_leaf;
        let leaf_of = |host: u32| host / hosts_per_leaf;
        let (leaf, spine) = (|n: u32| hosts + n, |n: u32| hosts + leaves + n);
        let up = (0..hosts).map(|h| [h, leaf(leaf_of(h))]);
        let down = (0..hosts).map(|h| [leaf(leaf_of(h)), h]);
        let to_spines = (0..leaves).flat_map(|l| (0..spines).map(move |s| [leaf(l), spine(s)]));
        let to_leaves = (0..spines).flat_map(|s| (0..leaves).map(move |l| [spine(s), leaf(l)]));
        let ends: Vec<[u32; 2]> = up.chain(down).chain(to_spines).chain(to_leaves).collect();
        let layers: Vec<u8> = (0..ends.len() as u32).map(|p| u8::from(p >= 2 * hosts)).collect();
        let names = |kind: &'static str, count| (0..count).map(move |n| format!("{kind} {n}"));
        Ok(Topology {
            configs: (0..).zip(&layers).map(|(p, &layer)| self.config(p, layer, p < hosts)).collect(),
            streams: (0..ends.len() as u32).collect(),
            network: Network { hosts, nodes: hosts + leaves + spines, ends },
            layers,
            layer_names: ["rack", "spine"].map(Arc::from).to_vec(),
            node_names: names("host", hosts)
                .chain(names("leaf", leaves))
                .chain(names("spine", spines))
                .collect(),
            racks: (0..hosts).map(leaf_of).collect(),
            pods: vec![0; hosts as usize],
        })
    }

    fn config(&self, port: u32, layer: u8, is_nic: bool) -> PortConfig {
        let layer = usize::from(layer);
        let (limit, mark) = if is_nic { self.host } else { (self.limit[layer], self.mark[layer]) };
        PortConfig {
            rate: self.rate[layer],
            delay: self.delay[layer],
            limit,
            mark,
            non_ect: self.non_ect,
            drop_until: None,
            processing: Processing::NONE,
            red: None,
            loss: Loss::new(self.loss[layer], 0, port),
        }
    }
}
