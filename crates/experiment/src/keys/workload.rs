//! `[workloads.NAME]`: who sends how much to whom, when.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tresse_units::{Bytes, Duration, Rate};

use crate::keys::host_names::Host;

/// Who sends how much to whom, when (`tresse list workloads`). It is one pattern with keys of its own, or has
/// several `parts` at the same time.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// The pattern.
    pub pattern: Option<Pattern>,
    /// Instead of a pattern: what runs at the same time, by name. Each is a workload of its own, and a group of
    /// the results.
    #[serde(default)]
    pub parts: IndexMap<String, Workload>,
    /// The case ends then, and what has not finished is stopped. Without it, it ends when all is over that ends
    /// by itself.
    pub duration: Option<Duration>,
    /// The scheme of its flows; that of the case if it is not said.
    pub scheme: Option<String>,
    /// Schemes that run beside the case's own: the sending hosts are divided at random into as many equal parts.
    /// Each scheme is a group of the results.
    #[serde(default)]
    pub mix: Vec<String>,
    /// Which of `fabric.classes` its packets are in, from 0.
    #[serde(default)]
    pub class: u8,
    /// The size of a flow; without it flows send until the case ends.
    pub size: Option<FlowSize>,
    /// How many flows there are in all.
    pub flows: Option<u64>,
    /// Who may send to whom; `any` if it is not said.
    pub pairs: Option<Pairs>,
    /// The hosts that send; all if it is not said.
    pub senders: Option<HostSet>,
    /// The hosts that receive; all if it is not said.
    pub receivers: Option<HostSet>,
    /// When a flow, or a job, is to have finished, from its start.
    pub deadline: Option<Draw>,
    /// What the application gives the connections to send; all of the message at once if it is not said.
    pub application: Option<Application>,
    /// Instead of connections: datagrams at this rate (payload), that know no congestion. For flows without a
    /// size.
    pub datagrams: Option<Rate>,
    /// Of `permutation`, `rack-to-rack` and `incast`: how many connections carry each transfer at the same time,
    /// each of them a message of its own `size`.
    pub connections: Option<u32>,
    /// Of `permutation`, `rack-to-rack` and `incast`: how many times the pattern is drawn; the next begins when
    /// every flow of the last has finished.
    pub rounds: Option<u32>,
    /// Of `random`: how many flows a host receives at most; 4 if it is not said.
    pub at_most: Option<u32>,
    /// Of `random`: how many flows a host sends at a time; 1 if it is not said.
    pub per_host: Option<u32>,
    /// Of `jobs`: how many run side by side.
    pub jobs: Option<u32>,
    /// Of `jobs`: how many there are in all; without it they go on as long as the other parts.
    pub total: Option<u64>,
    /// Of `jobs`: the servers that a client asks; of `incast`: the senders.
    pub servers: Option<u32>,
    /// Of `jobs`: the size of a request.
    pub request: Option<Bytes>,
    /// Of `jobs`: the size of a response.
    pub response: Option<Bytes>,
    /// Of `jobs`: from the end of one to the start of the next; nothing if it is not said.
    pub gap: Option<Draw>,
    /// Of `poisson`: the offered load, as a share of what `load_on` says; above 0, at most 1.
    pub load: Option<f64>,
    /// Of `poisson`: what `load` is a share of; `bisection` if it is not said.
    pub load_on: Option<LoadOn>,
    /// Of `spread`: the flows start at random times in it; all at once if it is not said.
    pub window: Option<Duration>,
    /// Of `on-off`: how long a flow sends.
    pub on: Option<Draw>,
    /// Of `on-off`: how long it pauses.
    pub off: Option<Draw>,
    /// Of `on-off`: when the first flow begins.
    pub start: Option<Duration>,
    /// Of `on-off`: when all end.
    pub stop: Option<Duration>,
    /// Of `flows`: the flows, one by one.
    #[serde(default)]
    pub flow: Vec<FlowKey>,
    /// Of `flows` and `goal`: the file, seen from the experiment's.
    pub file: Option<String>,
    /// Of `collective`: which one.
    pub collective: Option<Collective>,
    /// Of `collective`: the hosts that are the ranks, in this order; all if it is not said.
    pub ranks: Option<HostSet>,
    /// Of `collective`: ranks in steps of so many hosts, such as 0, 4, 8, … then 1, 5, …
    pub stride: Option<u32>,
    /// Of `collective`: ranks in a random order, by the seed.
    pub shuffle: Option<bool>,
    /// Of `collective`: in how many chunks the data is pipelined; 1 if it is not said.
    pub chunks: Option<u32>,
    /// Of `collective`: how many times; 1 if it is not said.
    pub iterations: Option<u32>,
    /// Of `collective`: what passes between two iterations.
    pub compute: Option<Duration>,
    /// Of `all-to-all`: how many messages a rank sends at a time; all at once if it is not said.
    pub parallel: Option<u32>,
}

/// A traffic pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Every host sends to one other host, each receives one flow (XMP §5.2.1).
    Permutation,
    /// Every host of the first rack sends to one host of the second, each receives one flow (OPN §Design
    /// motivation).
    RackToRack,
    /// Every host sends one flow after another, to hosts that few others send to (XMP §5.2.1).
    Random,
    /// Clients ask several servers at once, again and again (XMP §5.2.1).
    Jobs,
    /// Several hosts send to one at once.
    Incast,
    /// Flows arrive at random times, at a load.
    Poisson,
    /// A number of flows that start at random times in a window.
    Spread,
    /// Flows that send and pause by turns.
    OnOff,
    /// Flows one by one, in the experiment or from a file.
    Flows,
    /// A collective operation of parallel programs.
    Collective,
    /// A trace of messages that wait for each other (GOAL).
    Goal,
}

impl Pattern {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Permutation => "permutation",
            Self::RackToRack => "rack-to-rack",
            Self::Random => "random",
            Self::Jobs => "jobs",
            Self::Incast => "incast",
            Self::Poisson => "poisson",
            Self::Spread => "spread",
            Self::OnOff => "on-off",
            Self::Flows => "flows",
            Self::Collective => "collective",
            Self::Goal => "goal",
        }
    }
}

/// The size of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum FlowSize {
    /// Always the same.
    Fixed(Bytes),
    /// Uniform between the two.
    Uniform(Bytes, Bytes),
    /// From a distribution.
    Drawn(SizeTable),
}

/// A distribution of sizes: Pareto's, one that is built in, or one from a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeTable {
    /// The shape of a Pareto distribution, above 1.
    pub pareto: Option<f64>,
    /// Of a Pareto distribution without the bound: its mean.
    pub mean: Option<Bytes>,
    /// Of a Pareto distribution: no size is above it.
    pub bound: Option<Bytes>,
    /// Of a Pareto distribution: what becomes of a size above the bound.
    pub beyond: Option<Beyond>,
    /// One of `tresse list distributions`.
    pub distribution: Option<String>,
    /// A file of lines `SIZE_IN_BYTES CUMULATIVE_PROBABILITY`, seen from the experiment's.
    pub file: Option<String>,
}

/// What becomes of a size above the bound (catalogue A6.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Beyond {
    /// Another one is drawn, as ns-3 does.
    Resample,
    /// It is the bound.
    Clip,
}

/// Who may send to whom.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pairs {
    /// Any two different hosts.
    #[default]
    Any,
    /// Hosts of different racks.
    InterRack,
}

/// Hosts, each by its name (`"host 3"`), as a whole rack or pod (`"rack 0"`), or by numbers (`"0..50"`, without the
/// last).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum HostSet {
    /// One of these.
    One(String),
    /// Several of these, in this order.
    Several(Vec<String>),
}

/// A time, or how times are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Draw {
    /// Always the same.
    Fixed(Duration),
    /// With this mean.
    Mean(DrawTable),
}

/// How times are drawn, by their mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DrawTable {
    /// Exponentially distributed.
    Exponential(Duration),
    /// Log-normally distributed, with sigma = 1.
    Lognormal(Duration),
}

/// What the offered load is a share of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadOn {
    /// What the narrowest tier of the network carries of these flows.
    #[default]
    Bisection,
    /// What the links of the sending hosts carry.
    Access,
}

/// What an application gives its connection to send (the classes of THESIS §2.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Application {
    /// A constant rate of payload, whatever the network does (hard real time, and with a buffer delay-adaptive).
    pub rate: Option<Rate>,
    /// Rates to choose among, the lowest first: the highest that the network delivered in the last `period`, one
    /// step up at a time while nothing waits (rate-adaptive, such as video).
    #[serde(default)]
    pub levels: Vec<Rate>,
    /// How often a rate-adaptive application chooses; 1 s if it is not said.
    pub period: Option<Duration>,
}

/// A flow.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowKey {
    /// What others call it in `after`.
    pub id: Option<String>,
    /// The sending host: its name, or its number.
    pub from: Host,
    /// The receiving host.
    pub to: Host,
    /// Its size; without it, it sends until it is stopped.
    pub size: Option<Bytes>,
    /// When it starts; at the beginning if it is not said. With `after`, from when those flows are done.
    pub start: Option<Duration>,
    /// The flows that it waits for: their ids with spaces between them, or "2 of a b c".
    pub after: Option<String>,
    /// When it is stopped, if it has not finished, counted as `start`; when the case ends if it is not said.
    pub stop: Option<Duration>,
    /// When it is to have finished, from its start.
    pub deadline: Option<Duration>,
    /// The number of the job that it belongs to, which ends when the last of its flows does.
    pub job: Option<u32>,
    /// The group of the results that it belongs to; that of its workload if it is not said.
    pub name: Option<String>,
    /// Its scheme; that of the workload, or of the case, if it is not said.
    pub scheme: Option<String>,
    /// How many subflows it has; as many as its scheme says if it is not said. Not for schemes whose path manager
    /// decides.
    pub subflows: Option<u32>,
    /// By subflow: nodes that its path passes, in this order, such as `[["DN1 in"], ["DN2 in"]]`; any path if it is not
    /// said. For fixed routes.
    #[serde(default)]
    pub via: Vec<Vec<String>>,
    /// By subflow: when it is opened, from the start of the flow.
    #[serde(default)]
    pub subflow_starts: Vec<Duration>,
    /// So many flows like this one; 1 if it is not said.
    pub count: Option<u32>,
    /// What its application gives it to send.
    pub application: Option<Application>,
    /// Instead of a connection: datagrams at this rate.
    pub datagrams: Option<Rate>,
}

/// A collective operation of parallel programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Collective {
    /// Reduce-scatter and all-gather around a ring.
    RingAllReduce,
    /// Up a binary tree and down again.
    TreeAllReduce,
    /// Around a ring, every rank's part to all.
    AllGather,
    /// Around a ring, the sum of every part to one rank.
    ReduceScatter,
    /// Every rank a part of its own to every other.
    AllToAll,
    /// One rank's data to all, down a binary tree.
    Broadcast,
}
