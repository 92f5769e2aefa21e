//! The keys of an experiment file: fabric, transport, schemes, workloads, what to measure.

pub mod bounds;
pub mod declared;
pub mod fabric;
pub mod fidelity;
pub mod host_balancer;
pub mod host_cpu;
pub mod host_names;
pub mod link_events;
pub mod links;
pub mod measure;
pub mod metric_schema;
pub mod metrics;
pub mod path_manager;
pub mod ports;
pub mod routing;
pub mod scheme;
pub mod slice;
pub mod stopping_rule;
pub mod transport;
pub mod untagged;
pub mod variant;
pub mod wanted;
pub mod workload;

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::schema::fabric::Fabric;
use crate::schema::fidelity::Fidelity;
use crate::schema::link_events::ChangeKey;
use crate::schema::measure::Measure;
use crate::schema::scheme::Scheme;
use crate::schema::stopping_rule::Replications;
use crate::schema::transport::Transport;
use crate::schema::variant::Variant;
use crate::schema::workload::Workload;

/// The keys of an experiment that are only for people.
pub const FOR_PEOPLE: [&str; 4] = ["title", "source", "about", "rows"];

/// The keys that may differ between the variants and cases of an experiment.
pub(crate) const OF_CASES: [&str; 7] =
    ["fidelity", "fabric", "changes", "transport", "schemes", "workloads", "measure"];

/// Whether a key at the top says what is run, once the profile is applied: it is neither only for people, nor about how
/// often it is run, nor another crate's.
pub fn is_run(key: &str) -> bool {
    key == "variants" || OF_CASES.contains(&key)
}

/// One experiment: a fabric, a transport, and the axes scheme, subflows, pattern and variant.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// What it shows, in one line. Default: its file's name.
    #[serde(default)]
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
    /// How closely the network is simulated.
    #[serde(default)]
    pub fidelity: Fidelity,
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
    /// The keys at the top that other crates own ([`Owner`](crate::Owner)), as they are written.
    #[serde(skip)]
    pub owned: Table,
}

/// The names of an experiment's keys, without those that other crates own.
pub(crate) fn of_experiment() -> &'static [String] {
    names(Experiment::json_schema)
}

/// The schema of a table.
pub(crate) type MakeSchema = fn(&mut SchemaGenerator) -> Schema;

/// The names of the keys of a table, in the order of its schema. Each schema is made only once: a file asks for those of
/// all topologies and patterns, and a report reads hundreds of files.
pub(crate) fn names(schema: MakeSchema) -> &'static [String] {
    static KNOWN: LazyLock<Mutex<BTreeMap<MakeSchema, &'static [String]>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(schema).or_insert_with(|| {
        let schema = schema(&mut SchemaGenerator::default());
        let properties = schema.get("properties").and_then(|own| own.as_object());
        Vec::leak(properties.into_iter().flat_map(|own| own.keys().cloned()).collect())
    })
}

/// What the profiles change: tables with the structure of the experiment.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profiles {
    /// For a first look: fewer flows, rounds or seconds. The file itself describes the full experiment.
    #[serde(default)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub quick: Table,
}
