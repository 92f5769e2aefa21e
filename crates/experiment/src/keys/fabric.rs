//! `[fabric]`: the network.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tresse_fabric::Graph;
use tresse_units::{Duration, Probability, Queue, Rate};

use crate::keys::links::LinkSetting;
use crate::keys::ports::{Buffer, Class, Red};
use crate::keys::routing::RoutingKey;
use crate::keys::virtual_hosts::VirtualHosts;

/// The network.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fabric {
    /// Its shape.
    pub topology: Topology,
    /// Of a fat tree, ports a switch: even, 2 to 128. k^3/4 hosts.
    pub k: Option<u32>,
    /// Of a leaf-spine, leaf switches.
    pub leaves: Option<u32>,
    /// Of a leaf-spine, spine switches; each has a link to every leaf.
    pub spines: Option<u32>,
    /// Of a leaf-spine, hosts of each leaf.
    pub hosts_per_leaf: Option<u32>,
    /// Of virtual hosts, what they are.
    pub virtual_hosts: Option<VirtualHosts>,
    /// Of a dumbbell, pairs of a source and a destination: 1 to 10000.
    pub pairs: Option<u32>,
    /// Of a parking lot, bottlenecks in a row: 1 to 1000.
    pub hops: Option<u32>,
    /// Of `thesis-3.2` and `thesis-4.2`, hosts with multipath flows, the thesis's N1: 1 to 10000; 1 if it is not said.
    pub multipath_users: Option<u32>,
    /// Of `thesis-3.2` and `thesis-4.2`, hosts with TCP flows, the thesis's N2: 1 to 10000; 1 if it is not said.
    pub tcp_users: Option<u32>,
    /// Of topology "file", the network: node-link JSON (networkx) or GraphML. Its path starts at the experiment's file.
    pub file: Option<String>,
    /// What that file says.
    #[serde(skip)]
    pub graph: Option<Arc<Graph>>,
    /// Link rate, one for all layers or one for each. Only the links of a file may say their own instead.
    pub rate: Option<Layered<Rate>>,
    /// One-way propagation delay of a link. Only the links of a file may say their own instead.
    pub delay: Option<Layered<Duration>>,
    /// An arriving packet is dropped if the queue of its port is this long. Only the links of a file may say their own
    /// instead.
    pub queue: Option<Layered<Queue>>,
    /// K: an arriving ECN-capable packet is marked if the queue is longer than this.
    #[serde(default = "unlimited")]
    pub mark: Layered<Queue>,
    /// The queue in a host's NIC.
    pub host_queue: Queue,
    /// K in a host's NIC.
    #[serde(default = "unlimited_queue")]
    pub host_mark: Queue,
    /// What a packet that is not ECN-capable meets above K.
    #[serde(default)]
    pub non_ect: NonEct,
    /// How likely a port loses an arriving packet, whatever its queue: 0 to less than 1. ACKs are lost too.
    #[serde(default = "lossless")]
    pub loss: Layered<Probability>,
    /// Random early detection in the ports of switches, beside `mark`.
    pub red: Option<Red>,
    /// The classes of a switch's port; one, with `queue` and `mark`, if none is said.
    #[serde(default)]
    pub classes: Vec<Class>,
    /// A buffer in each switch that its ports share.
    pub buffer: Option<Buffer>,
    /// Congestion flags that the ports keep and tell of, for controllers that ask for what the next hop says.
    /// HOLNET's load balancers bring their own, which are parameters of theirs, and go with no others.
    pub flags: Option<Flags>,
    /// Who chooses the ways of packets; if it is not said, a fat tree's two-level routing, or else fixed
    /// shortest paths.
    pub routing: Option<RoutingKey>,
    /// Speaks of two-level routing only, and of no other: what the subflows of one connection must not share; a core
    /// switch if it is not said.
    pub distinct: Option<Distinct>,
    /// Single links that differ from their layer, both directions.
    #[serde(default)]
    pub links: Vec<LinkSetting>,
}

fn lossless() -> Layered<Probability> {
    Layered::All(Probability::ZERO)
}

fn unlimited() -> Layered<Queue> {
    Layered::All(Queue::Unlimited)
}

fn unlimited_queue() -> Queue {
    Queue::Unlimited
}

/// The shape of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Topology {
    /// The k-ary fat tree of Al-Fares et al. with two-level routing.
    FatTree,
    /// Every leaf switch has a link to every spine switch, and hosts of its own.
    LeafSpine,
    /// Machines behind the virtual switches of physical hosts (VMCC §III).
    VirtualHosts,
    /// Pairs of hosts over one bottleneck.
    Dumbbell,
    /// Bottlenecks in a row, with a pair of hosts over each and one over all.
    ParkingLot,
    /// XMP Fig. 3(a): two bottlenecks, and a flow that may use both.
    XmpTestbedA,
    /// XMP Fig. 3(b): one bottleneck, four pairs of hosts.
    XmpTestbedB,
    /// XMP Fig. 5: a ring of five bottlenecks, each shared by two neighbouring flows.
    XmpTorus,
    /// THESIS §2.4.1: two pairs of hosts over one link.
    #[serde(rename = "thesis-2.2a")]
    Thesis22a,
    /// THESIS §2.4.2: a flow with a link of its own and one that it shares.
    #[serde(rename = "thesis-2.2b")]
    Thesis22b,
    /// THESIS Fig. 3.2: multipath flows with a link of their own and one that they share with TCP's.
    #[serde(rename = "thesis-3.2")]
    Thesis32,
    /// THESIS Fig. 4.2: the same, with other names.
    #[serde(rename = "thesis-4.2")]
    Thesis42,
    /// What `file` says.
    File,
}

/// One value for every layer of links, or one for each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Layered<T> {
    /// The same everywhere.
    All(T),
    /// One for each layer, by its name: of a fat tree `rack`, `aggregation` and `core`, of a leaf-spine `rack`
    /// and `spine`, of virtual hosts `vnic`, `nic` and `trunk`; `tresse explain` has those of the others.
    Each(BTreeMap<String, T>),
}

/// What happens above K to a packet that cannot be marked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NonEct {
    /// It queues until the queue is full.
    #[default]
    Queue,
    /// It is dropped, as RED does with min = max = K.
    Drop,
}

impl From<NonEct> for tresse_fabric::NonEct {
    fn from(key: NonEct) -> Self {
        match key {
            NonEct::Queue => Self::Queue,
            NonEct::Drop => Self::Drop,
        }
    }
}

/// What the subflows of one connection must not share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distinct {
    /// A core switch.
    #[default]
    Core,
    /// An aggregation switch.
    Aggregation,
}

/// Congestion flags in the ports of switches and hosts (THESIS §2.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flags {
    /// A port is congested from this share of its queue's limit on, percent.
    #[serde(default = "eighty")]
    pub percent: u32,
    /// How far a flag is told.
    #[serde(default)]
    pub feedback: FlagFeedback,
}

/// How far a congestion flag is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlagFeedback {
    /// To the node before the port.
    OneHop,
    /// From node to node, back to the hosts.
    #[default]
    Backward,
}

fn eighty() -> u32 {
    80
}
