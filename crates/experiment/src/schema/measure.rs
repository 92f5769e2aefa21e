//! `[measure]`: what to record and to show.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tresse_units::{Duration, SECOND, Time};

use crate::schema::host_names::Host;
use crate::schema::metric_schema::CaseMetric;
use crate::schema::slice::Slice;

/// What to record and to show.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// `links.parquet`: bytes, drops, losses and marks of every port, by case and seed.
    #[serde(default = "yes")]
    pub links: bool,
    /// `samples.parquet`: what every subflow got in each interval of this length, by case and seed, and what
    /// the flow could have had; with `links` also `queues.parquet`, the state of ports in the same intervals.
    /// Default: no samples.
    pub samples: Option<Duration>,
    /// How often the queue of every port is observed, for the metrics `queue_…` of the case and of its layers:
    /// every 1us to 1000s. Default: never.
    pub queues: Option<Duration>,
    /// Whether the RTT of every ACK is recorded, for the metrics `rtt_…` of the case and of its groups.
    #[serde(default)]
    pub rtt: bool,
    /// `convergence.parquet`, and the metrics of convergence: how long every subflow took until its goodput stayed near
    /// its final mean, after its start and after every event. From `samples`; for runs with at most 64 flows.
    pub convergence: Option<Convergence>,
    /// The metrics of recovery: after each change of links (`[[changes]]`), how long until the goodput is again what it
    /// was before. From `samples`.
    pub recovery: Option<GoodputRecovery>,
    /// `packets.parquet`: every packet that the given hosts send or receive, by case and seed; `tresse export
    /// --format
    /// pcapng` makes a capture from it. Default: no packets.
    pub packets: Option<Packets>,
    /// Windows of time, by name: start and end, such as `["12s", "20s"]`, counted from the start of the run. What
    /// every flow got in them, from `samples`, is reported next to the metrics of the whole run.
    #[serde(default, deserialize_with = "crate::schema::untagged::pairs")]
    pub windows: IndexMap<String, [Duration; 2]>,
    /// Slices of the flows, by name: those of a group, a size and a distance at once, such as `{ group = "web", size =
    /// "up to 100kB" }`. Their metrics are named after them, such as `small-web.fct_p99_s`, wherever a metric is named.
    #[serde(default)]
    pub slices: IndexMap<String, Slice>,
    /// The metrics that the table of `tresse run` shows, one per column (`tresse explain metrics`). Default:
    /// completion times and slowdowns by size if flows come one by one; otherwise goodput next to the published
    /// numbers and the optimum, timeouts, and retransmissions.
    #[schemars(with = "Option<Vec<CaseMetric>>")]
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
            recovery: None,
            packets: None,
            windows: IndexMap::new(),
            slices: IndexMap::new(),
            table: None,
        }
    }
}

/// Which packets are recorded.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { hosts = [0, 3] }")]
pub struct Packets {
    /// The hosts, by number or name: what they send and receive is recorded.
    pub hosts: Vec<Host>,
    /// When recording begins.
    #[serde(default = "at_once")]
    pub from: Duration,
    /// When it ends. Default: at the end of the run.
    pub to: Option<Duration>,
    /// The maximum number of packets of a case and seed, 1 to 100000000: the first ones. A run with more packets
    /// says so.
    #[serde(default = "a_million")]
    pub limit: u64,
}

fn at_once() -> Duration {
    Duration(0)
}

fn a_million() -> u64 {
    1_000_000
}

/// What it means to have converged.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { within = 0.1, for = \"1s\" }")]
pub struct Convergence {
    /// How far the goodput may be from its final mean, as a share of the mean: above 0 and below 1.
    #[serde(default = "a_tenth")]
    pub within: f64,
    /// How long it has to stay there, 1us to 1000s. The final mean is taken over twice this time.
    #[serde(default = "a_second", rename = "for")]
    pub hold: Duration,
}

fn a_tenth() -> f64 {
    Criterion::default().within
}

fn a_second() -> Duration {
    Duration(Criterion::default().hold)
}

/// What it means to have converged. The default is the catalogue's: within 10 % for 1 s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Criterion {
    /// How far a rate may be from the final mean, as a share of the mean: above 0 and below 1.
    pub within: f64,
    /// How long it has to stay there, ps. The final mean is taken over twice this time.
    pub hold: Time,
}

impl Default for Criterion {
    fn default() -> Self {
        Self { within: 0.1, hold: SECOND }
    }
}

/// What it means to have recovered from a change of links.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { share = 0.9, for = \"10ms\" }")]
pub struct GoodputRecovery {
    /// The share of the former goodput that has to be there again: above 0, at most 1.
    #[serde(default = "nine_tenths")]
    pub share: f64,
    /// How long it has to stay there, 1us to 1000s. The former goodput is the mean over as long before the change.
    /// Default: ten intervals of `samples`.
    #[serde(rename = "for")]
    pub hold: Option<Duration>,
}

fn nine_tenths() -> f64 {
    0.9
}

/// What it means to have recovered.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecoveryCriterion {
    /// The share of the former goodput that has to be there again: above 0, at most 1.
    pub share: f64,
    /// How long it has to stay there, ps. The former goodput is the mean over as long before the change.
    pub hold: Time,
}
