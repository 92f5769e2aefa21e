//! `[fabric]`: the network. These keys apply to every topology.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};
use tresse_fabric::{Graph, Threshold};
use tresse_units::{Bytes, Duration, HostQueue, Mark, Probability, Queue, Rate};

use crate::schema::host_cpu::HostCpu;
use crate::schema::links::LinkSetting;
use crate::schema::ports::{Buffer, Class, MarkAt, Pfc, Red};
use crate::schema::routing::RoutingKey;

/// The network.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Fabric {
    /// Its shape.
    pub topology: String,
    /// The network in `file`, for topology "file".
    #[serde(skip)]
    pub graph: Option<Arc<Graph>>,
    /// Every host has a link to each of this many planes, which are separate networks of switches of this
    /// shape. Rates apply to one plane, and a switch is called "plane 0 core 3". 1 to 64; default: 1.
    pub planes: Option<u32>,
    /// Link rate, one for all layers or one for each. Required, unless the links of a file set their own.
    pub rate: Option<Layered<Rate>>,
    /// One-way propagation delay of a link. Required, unless the links of a file set their own.
    pub delay: Option<Layered<Duration>>,
    /// An arriving packet is dropped if the queue of its port has reached this length. Required, unless the links
    /// of a file set their own.
    pub queue: Option<Layered<Queue>>,
    /// Once the queue of a switch's port is full, every arriving packet is dropped until the queue is shorter than
    /// this. Above 0 and below `queue`, in its unit. Default: a packet is dropped only if it finds the queue full.
    /// The same applies to layers that a table leaves out.
    pub drop_until: Option<Layered<Queue>>,
    /// K: an arriving ECN-capable packet is marked if the queue is longer than this. In packets, in bytes, or as a
    /// multiple of the network's bandwidth-delay product, such as "0.17BDP".
    #[serde(default = "unlimited")]
    pub mark: Layered<Mark>,
    /// The queue in a host's NIC: "fq", one for each subflow, served in turn, which hold back a subflow when it has
    /// enough packets there (`port_limit`); or the limit of one queue for all. Default with the profiles "linux" and
    /// "spray": "fq"; otherwise it is required.
    pub host_queue: Option<HostQueue>,
    /// With congestion flags and an unlimited `host_queue`: the queue length from which on a host's own port counts
    /// as congested; for ports with a limit, a share of the limit decides.
    #[serde(default = "unlimited_queue")]
    pub host_flag: Queue,
    /// K in a host's NIC, for one queue.
    #[serde(default = "unlimited_mark")]
    pub host_mark: Mark,
    /// A host spends a random time on each packet that it sends, uniform from 0 to less than this; no
    /// packet overtakes another. At most 1000s. Default: no time.
    pub host_processing: Option<Duration>,
    /// What packets cost the cores of a host, each of which takes them one by one: a table, or the file that `tresse
    /// calibrate` has written. Not with `pfc`. Default: nothing.
    pub host_cpu: Option<HostCpu>,
    /// What happens above K to a packet that is not ECN-capable.
    #[serde(default)]
    pub non_ect: NonEct,
    /// Whether `mark` and `red` of switches mark by the queue that a packet finds on arrival, or by the queue that
    /// it leaves behind on departure. Default: arrival.
    #[serde(default)]
    pub mark_at: MarkAt,
    /// The probability that a port loses an arriving packet, whatever its queue: 0 to less than 1.
    /// ACKs are lost too.
    #[serde(default = "lossless")]
    pub loss: Layered<Probability>,
    /// Random early detection in the ports of switches, in addition to `mark`.
    pub red: Option<Red>,
    /// The classes of a switch's port. Default: one class, with `queue` and `mark`.
    #[serde(default)]
    pub classes: Vec<Class>,
    /// A switch port that has no room for a packet of a sprayed transport keeps only this much of it: the header,
    /// which goes before all data, as ACKs do. ACKs then go first in hosts too. Default: such a packet is dropped.
    pub trim: Option<Bytes>,
    /// Switches pause the ports that send to them, including those of hosts, instead of dropping data. `queue` then
    /// limits only what goes before all data, such as the ACKs of sprayed transports. Default: switches drop.
    pub pfc: Option<Pfc>,
    /// A buffer in each switch, shared by its ports.
    pub buffer: Option<Buffer>,
    /// Congestion flags that the ports keep and report, for controllers that need signals from the next hop.
    /// HOLNET's load balancers have their own flags, as parameters, and cannot be combined with these.
    pub flags: Option<Flags>,
    /// How the paths of packets are chosen. Default: two-level routing in a fat tree, fixed shortest paths
    /// elsewhere.
    pub routing: Option<RoutingKey>,
    /// What the subflows of one connection must not share: with two-level routing a core or an aggregation switch, with
    /// "shortest" a link of their host. Default: a core switch, or a path.
    pub distinct: Option<Distinct>,
    /// Single links that differ from their layer, in both directions.
    #[serde(default)]
    pub links: Vec<LinkSetting>,
    /// The keys that are specific to its topology; they are in `plan/topologies`.
    #[serde(flatten)]
    #[schemars(skip)]
    pub own: Table,
}

impl Fabric {
    /// Limit and K of the port of a host's NIC; if it serves subflows in turn, packets wait in front of it.
    pub(crate) fn host_port(&self) -> (Threshold, Threshold) {
        (self.host_limit().into(), self.host_mark.length().into())
    }

    /// The limit of the one queue in a host's NIC.
    pub(crate) fn host_limit(&self) -> Queue {
        match self.host_queue {
            Some(HostQueue::Fifo(limit)) => limit,
            Some(HostQueue::Fq) | None => Queue::Unlimited,
        }
    }

    /// Whether hosts serve their subflows in turn.
    pub fn has_fair_hosts(&self) -> bool {
        !matches!(self.host_queue, Some(HostQueue::Fifo(_)))
    }

    /// Every threshold for marks.
    pub(crate) fn marks(&mut self) -> Vec<&mut Mark> {
        let layered = std::iter::once(&mut self.mark);
        let layered = layered.chain(self.classes.iter_mut().filter_map(|class| class.mark.as_mut()));
        let links = self.links.iter_mut().filter_map(|link| link.mark.as_mut());
        layered.flat_map(Layered::values).chain(links).chain([&mut self.host_mark]).collect()
    }

    /// The file with the network, for topology "file".
    pub fn file(&self) -> Option<&str> {
        self.own.get("file").and_then(Value::as_str).filter(|_| self.topology == "file")
    }
}

fn lossless() -> Layered<Probability> {
    Layered::All(Probability::ZERO)
}

fn unlimited() -> Layered<Mark> {
    Layered::All(Mark::UNLIMITED)
}

fn unlimited_mark() -> Mark {
    Mark::UNLIMITED
}

fn unlimited_queue() -> Queue {
    Queue::Unlimited
}

/// One value for every layer of links, or one for each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Layered<T> {
    /// The same everywhere.
    All(T),
    /// One for each layer, by name: `rack`, `aggregation` and `core` in a fat tree, `rack` and `spine` in a
    /// leaf-spine, `vnic`, `nic` and `trunk` with virtual hosts; `tresse explain` has the layers of the others.
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
    /// A link of the sending host, as if it had an address for each of its network cards; with `planes`, a plane.
    HostLink,
}

/// Congestion flags in the ports of switches and hosts (THESIS §2.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { percent = 80 }")]
pub struct Flags {
    /// The share of its queue's limit, in percent, from which on a port counts as congested.
    #[serde(default = "eighty")]
    pub percent: u32,
    /// How far a flag is reported.
    #[serde(default)]
    pub feedback: FlagFeedback,
}

/// How far a congestion flag is reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlagFeedback {
    /// To the node in front of the port.
    OneHop,
    /// From node to node, back to the hosts.
    #[default]
    Backward,
}

fn eighty() -> u32 {
    80
}
