//! What a replication leaves behind, and what it passes on while it runs.

use std::sync::Arc;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use tresse_controllers::sandbox::CrashReport;
use tresse_fabric::Histogram;
use tresse_sim::Mechanisms;
use tresse_units::Time;
use tresse_workload::Job;

use crate::record::convergence::Converged;
use crate::record::flow::{Flow, Link};
use crate::record::lengths::Lengths;
use crate::record::optima::Optima;
use crate::record::packed_flows::PackedFlows;
use crate::record::packet::Packet;
use crate::record::recovery::Recoveries;
use crate::record::results::WindowResult;
use crate::record::sample::Interval;

/// What a replication leaves behind.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Outcome {
    pub seed: u64,
    /// Whether it ran to its end.
    pub complete: bool,
    /// Why it gave up, if flows wait forever.
    pub stuck: Option<String>,
    /// The controller that ended its worker, if one did.
    #[serde(skip)]
    pub died: Option<CrashReport>,
    /// Simulated time, ps.
    pub simulated: Time,
    /// Packet-hops.
    pub hops: u64,
    /// Packets that ports lost by their loss probability, or with a link that failed.
    pub lost: u64,
    /// Packets that were marked, each at its first port above K.
    pub marks: u64,
    /// Packets that ports cut to their header.
    #[serde(default)]
    pub trims: u64,
    /// How often mechanisms have acted.
    #[serde(default)]
    pub mechanisms: Mechanisms,
    /// The flows that finished or were stopped: by round, in each by part and name.
    pub flows: PackedFlows,
    /// The jobs that ended, each with its part.
    pub jobs: Vec<(usize, Job)>,
    /// Every port.
    pub links: Vec<Link>,
    /// How long the queues of each layer were, if they were looked at.
    pub queues: Vec<(Arc<str>, Lengths)>,
    /// By group: the RTTs, ps, if they were recorded.
    pub rtts: Vec<Histogram>,
    /// What flows got in the windows of time.
    pub windows: IndexMap<String, WindowResult>,
    /// What converged after which event, if that was asked.
    pub converged: Vec<Converged>,
    /// How goodput recovered from changes of links, if that was asked.
    #[serde(default)]
    pub recoveries: Recoveries,
    /// The optima of the whole rounds.
    pub optima: Optima,
    /// When there were more packets than are recorded, ps: that of the first one that is missing.
    #[serde(default)]
    pub packets_end: Option<Time>,
}

/// What a replication measures while it runs.
#[derive(Debug, Clone, Copy)]
pub enum Rows<'a> {
    /// Flows that finished or were stopped, and the optimal goodput of each, bit/s, if there is one.
    Flows(&'a [Flow], Option<&'a [f64]>),
    /// Jobs that ended.
    Jobs(&'a [(usize, Job)]),
    /// An interval.
    Samples(&'a Interval),
    /// Subflows that converged, or did not; once, at the end.
    Converged(&'a [Converged]),
    /// Packets of recorded hosts, in their order.
    Packets(&'a [Packet]),
}
