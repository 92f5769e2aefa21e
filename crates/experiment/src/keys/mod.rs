//! The keys of an experiment file: fabric, transport, schemes, workloads, what to measure, what was
//! published.

pub mod bounds;
pub mod claim_forms;
mod claim_schema;
pub mod claims;
pub mod declared;
pub mod fabric;
pub mod figures;
pub mod host_balancer;
pub mod host_names;
pub mod link_events;
pub mod links;
pub mod measure;
mod metric_schema;
pub mod metrics;
pub mod path_manager;
pub mod ports;
pub mod routing;
pub mod scheme;
pub mod stopping_rule;
pub mod transport;
pub mod untagged;
pub mod variant;
pub mod wanted;
pub mod workload;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::keys::claims::{
    ByProfile, Claim, Expected, Jumps, Kind, Order, Published, PublishedValue, Selector, Selectors, Verdict,
};
use crate::keys::fabric::Fabric;
use crate::keys::figures::Figure;
use crate::keys::link_events::ChangeKey;
use crate::keys::measure::Measure;
use crate::keys::scheme::Scheme;
use crate::keys::stopping_rule::Replications;
use crate::keys::transport::Transport;
use crate::keys::variant::Variant;
use crate::keys::workload::Workload;

/// The keys of an experiment that are only for people.
pub const FOR_PEOPLE: [&str; 5] = ["title", "source", "about", "rows", "figures"];

/// One experiment: a fabric, a transport, and the axes scheme, subflows, pattern and variant.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// What it shows, in one line.
    pub title: String,
    /// Where it comes from: the paper, and the place in it.
    #[serde(default)]
    pub source: String,
    /// What a reader should know before running it.
    #[serde(default)]
    pub about: String,
    /// The tables and figures of the paper that it reproduces, such as `["table1", "fig8"]`; empty
    /// if none. Default: its file's name.
    pub rows: Option<Vec<String>>,
    /// How many seeds to run, unless the command line says otherwise.
    #[serde(default)]
    pub replications: Replications,
    /// The network.
    pub fabric: Fabric,
    /// Links that change during a run.
    #[serde(default)]
    pub changes: Vec<ChangeKey>,
    /// The transport of all schemes, unless they override it.
    pub transport: Transport,
    /// The schemes to compare, by name.
    pub schemes: IndexMap<String, Scheme>,
    /// The workloads, by name: the values of the axis `pattern`.
    pub workloads: IndexMap<String, Workload>,
    /// What to record.
    #[serde(default)]
    pub measure: Measure,
    /// The variants, by name: the values of the axis `variant`. If there are any, every case belongs to one.
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
    /// The figures that its page shows.
    #[serde(default)]
    pub figures: Vec<Figure>,
}

/// What the profiles change: tables with the structure of the experiment.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profiles {
    /// For a first look: fewer flows, rounds or seconds. The file itself describes the full experiment.
    #[serde(default)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub quick: toml::Table,
}
