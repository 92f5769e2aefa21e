//! What an experiment file says: fabric, transport, schemes, workloads, what to measure, what was
//! published.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tresse_fabric::Graph;

use crate::changes::ChangeKey;
pub use crate::claim_keys::{
    ByProfile, Claim, Expected, Jumps, Kind, Order, Published, PublishedValue, Selector, Selectors, Verdict,
};
use crate::convergence::Criterion;
use crate::port_options::{Buffer, Class, Red};
use crate::replications::Replications;
use crate::routing_keys::RoutingKey;
use crate::scheme::Scheme;
use crate::single_links::LinkSetting;
use crate::transport::Transport;
use crate::units::{Duration, Probability, Queue, Rate};
use crate::variants::Variant;
use crate::virtual_hosts::VirtualHosts;
use crate::workload_keys::Workload;

/// One experiment: a fabric, a transport, and the axes scheme, subflows, pattern and variant.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// What it shows, in one line.
    pub title: String,
    /// Where it comes from: paper and place.
    #[serde(default)]
    pub source: String,
    /// What a reader should know before running it.
    #[serde(default)]
    pub about: String,
    /// The tables and figures of the paper that it is, such as `["table1", "fig8"]`; if it is not said, its file's
    /// name. Empty if it is none.
    pub rows: Option<Vec<String>>,
    /// How many seeds are run, if the command line does not say.
    #[serde(default)]
    pub replications: Replications,
    /// The network.
    pub fabric: Fabric,
    /// Links that change during a run.
    #[serde(default)]
    pub changes: Vec<ChangeKey>,
    /// What all schemes have in common, where they do not say otherwise.
    pub transport: Transport,
    /// The schemes to compare, by name.
    pub schemes: IndexMap<String, Scheme>,
    /// The workloads, by the name of the pattern's axis.
    pub workloads: IndexMap<String, Workload>,
    /// What to write down.
    #[serde(default)]
    pub measure: Measure,
    /// The variants, by the name of the variant's axis. If there are any, the cases are theirs.
    #[serde(default)]
    pub variants: IndexMap<String, Variant>,
    /// What the profiles change.
    #[serde(default)]
    pub profile: Profiles,
    /// The published numbers.
    #[serde(default)]
    pub published: Published,
    /// What the paper claims, checked against the results.
    #[serde(default)]
    pub claims: Vec<Claim>,
}

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

/// What to write down and to show.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// `links.parquet`: bytes, drops, losses and marks of every port, by case and seed.
    #[serde(default = "yes")]
    pub links: bool,
    /// `samples.parquet`: what every subflow got in each interval of this length, by case and seed, and what
    /// the flow could have had; with `links` also `queues.parquet`, the ports in the same intervals. No
    /// samples if it is not said.
    pub samples: Option<Duration>,
    /// How often the queue of every port is looked at, for the metrics `queue_…` of the case and of its layers: 1us to
    /// 1000s. Nobody looks if it is not said.
    pub queues: Option<Duration>,
    /// Whether the RTT of every ACK is recorded, for the metrics `rtt_…` of the case and of its groups.
    #[serde(default)]
    pub rtt: bool,
    /// `convergence.parquet`, and the metrics of convergence: how long every subflow took until its goodput stayed near
    /// its final mean, after its start and after every event. From `samples`; of runs with at most 64 flows.
    pub convergence: Option<Convergence>,
    /// Windows of time, by name: from when to when, such as `["12s", "20s"]`, counted from the start of the run. What
    /// every flow got in them, from `samples`, is told beside the metrics of the whole run.
    #[serde(default)]
    pub windows: IndexMap<String, [Duration; 2]>,
    /// The metrics that the table of `tresse run` shows, each a column (`tresse explain results`). If it is not
    /// said: goodput beside the published numbers and the optimum, timeouts, what was sent again.
    pub table: Option<Vec<String>>,
}

fn yes() -> bool {
    true
}

impl Default for Measure {
    fn default() -> Self {
        Self {
            links: true,
            samples: None,
            queues: None,
            rtt: false,
            convergence: None,
            windows: IndexMap::new(),
            table: None,
        }
    }
}

/// What it means to have converged.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Convergence {
    /// How far the goodput may be from its final mean, as a share of that: above 0 and below 1.
    #[serde(default = "a_tenth")]
    pub within: f64,
    /// How long it has to stay there, 1us to 1000s. The final mean is over twice this time.
    #[serde(default = "a_second", rename = "for")]
    pub hold: Duration,
}

fn a_tenth() -> f64 {
    Criterion::default().within
}

fn a_second() -> Duration {
    Duration(Criterion::default().hold)
}

/// What the profiles change: tables in the shape of the experiment.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profiles {
    /// For a first look: fewer flows, rounds or seconds. The file itself is the full experiment.
    #[serde(default)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub quick: toml::Table,
}
