//! `[workloads.NAME]`: who sends how much to whom, when. These are the keys of every pattern, and the types that
//! several patterns use; a pattern's own keys are in its file, `plan/patterns/NAME.rs`.

use std::fmt;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};
use tresse_units::{Bytes, Duration, Rate};

/// Who sends how much to whom, when (`tresse list workloads`): one pattern with its own keys, or several `parts` at
/// the same time.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Workload {
    /// The pattern.
    pub pattern: Option<String>,
    /// Instead of a pattern: workloads that run at the same time, by name. Each part is a group of the results.
    #[serde(default)]
    pub parts: IndexMap<String, Workload>,
    /// When the case ends; flows that have not finished are stopped. Default: when everything that ends on its own
    /// is over.
    pub duration: Option<Duration>,
    /// The scheme of its flows. Default: the case's.
    pub scheme: Option<String>,
    /// Schemes that run alongside the case's own: the sending hosts are divided at random into equal parts, one for
    /// each scheme. Each scheme is a group of the results.
    #[serde(default)]
    pub mix: Vec<String>,
    /// The class of its packets in `fabric.classes`, from 0.
    #[serde(default)]
    pub class: u8,
    /// Whether connections persist: all messages from one host to another share one connection, one after the
    /// other, so that only the first begins with a handshake and the initial window. Default: every message has its
    /// own connection.
    #[serde(default)]
    pub persistent: bool,
    /// How the application writes to the connections. Default: a whole message at once.
    pub application: Option<Application>,
    /// The keys of its pattern, which are read by the code for that pattern.
    #[serde(flatten)]
    #[schemars(skip)]
    pub own: Table,
}

// By hand, because serde's `flatten` forgets where a value stands.
impl<'de> Deserialize<'de> for Workload {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Workload;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table such as { pattern = \"permutation\", size = \"64MB\" }")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Workload, A::Error> {
                let mut workload = Workload::default();
                while let Some(key) = map.next_key::<String>()? {
                    match &*key {
                        "pattern" => workload.pattern = Some(map.next_value()?),
                        "parts" => workload.parts = map.next_value()?,
                        "duration" => workload.duration = Some(map.next_value()?),
                        "scheme" => workload.scheme = Some(map.next_value()?),
                        "mix" => workload.mix = map.next_value()?,
                        "class" => workload.class = map.next_value()?,
                        "persistent" => workload.persistent = map.next_value()?,
                        "application" => workload.application = Some(map.next_value()?),
                        _ => {
                            let value: Value = map.next_value()?;
                            workload.own.insert(key, value);
                        }
                    }
                }
                Ok(workload)
            }
        }
        d.deserialize_map(Keys)
    }
}

/// The size of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum FlowSize {
    /// Every flow has this size.
    Fixed(Bytes),
    /// Sizes are uniform between the two.
    Uniform(Bytes, Bytes),
    /// Sizes are drawn from a distribution.
    Drawn(SizeTable),
}

/// A distribution of sizes: a Pareto distribution, a built-in one, or one from a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeTable {
    /// The shape of a Pareto distribution, above 1.
    pub pareto: Option<f64>,
    /// The mean of a Pareto distribution, without the bound.
    pub mean: Option<Bytes>,
    /// The largest size of a Pareto distribution.
    pub bound: Option<Bytes>,
    /// What happens to a size above the bound of a Pareto distribution. Default: `resample`.
    pub beyond: Option<Beyond>,
    /// One of the distributions in `tresse list distributions`.
    pub distribution: Option<String>,
    /// A file with lines `SIZE_IN_BYTES CUMULATIVE_PROBABILITY`; the path is relative to the experiment's folder.
    pub file: Option<String>,
}

/// What happens to a size above the bound (catalogue A6.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Beyond {
    /// Another size is drawn, as in ns-3.
    Resample,
    /// The size becomes the bound.
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

/// Hosts, each by name (`"host 3"`), as a whole rack or pod (`"rack 0"`), or by numbers (`"0..50"` or `"host 0..50"`,
/// excluding the last).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum HostSet {
    /// One of these.
    One(String),
    /// A list of these, in this order.
    Several(Vec<String>),
}

/// A time, or how times are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Draw {
    /// Always the same.
    Fixed(Duration),
    /// Drawn with this mean.
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

/// How an application writes to its connection (the classes of THESIS §2.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { rate = \"1Mbps\" }")]
pub struct Application {
    /// A constant rate of payload, whatever the network does (hard real time, and with a buffer delay-adaptive).
    pub rate: Option<Rate>,
    /// Rates to choose among, the lowest first (rate-adaptive, such as video). The application uses the highest
    /// rate that the network delivered in the last `period`, and goes up one step at a time while nothing waits.
    #[serde(default)]
    pub levels: Vec<Rate>,
    /// How often a rate-adaptive application chooses. Default: 1s.
    pub period: Option<Duration>,
}
