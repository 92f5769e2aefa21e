//! The results of a case, as `run.json` keeps them.

use std::borrow::Cow;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tresse_experiment::schema::wanted::Wanted;

use crate::record::metric::Metric;

/// Metrics by name.
pub type Metrics = IndexMap<String, Metric>;

/// A value for every part of a case, by division (`group`, …) and by the part's name.
pub type Parts<T> = IndexMap<String, IndexMap<String, T>>;

/// A value of an axis, for the schema of what has axes as JSON.
#[derive(JsonSchema)]
#[serde(untagged)]
pub enum AxisValue {
    Name(String),
    Number(f64),
    Switch(bool),
    None,
}

/// The results of one case over its replications.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CaseResult {
    #[schemars(with = "IndexMap<String, AxisValue>")]
    pub case: IndexMap<String, Value>,
    /// A fingerprint of its own results, under all its seeds.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// Whether its flows have sizes and come one by one: `tresse run` then shows completion times by size.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub arrivals: bool,
    /// The measured values of [`metric::METRICS`](tresse_experiment::schema::metrics::METRICS).
    pub metrics: Metrics,
    /// The same for parts of the flows, by `group` (a part of the workload, or a scheme of a mix), `distance` and
    /// `size`, and for the ports by `layer`; divisions with only one part are left out.
    pub by: Parts<Metrics>,
    /// The metrics of flows in the windows of time, the mean over seeds.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub windows: IndexMap<String, WindowResult>,
    /// The jumps in the completion times of its jobs, by the claims about them.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub jumps: IndexMap<String, JumpsFound>,
    /// Half the width of the 95 % confidence interval of a metric; for a count, of the sum over all seeds.
    pub ci95: IndexMap<String, f64>,
    /// The same for the metrics of parts; over seeds only.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub ci95_by: Parts<IndexMap<String, f64>>,
    /// What the interval is over: `seeds`, or `rounds` if there is only one seed.
    pub ci95_over: String,
    /// What was measured under each seed, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<SeedResult>,
    /// The published numbers.
    pub published: IndexMap<String, f64>,
    /// The published numbers for parts of it, as in `by`.
    pub published_by: Parts<IndexMap<String, f64>>,
    /// The rates that the controller claims to reach, and how far the flows were from them; empty if it
    /// claims none. `docs/optimum.md` describes the keys.
    pub optimum: IndexMap<String, f64>,
    /// The flows of the optimum: those at the start of each round, none of which has finished.
    pub optimum_of: String,
    /// Why there is no optimum, or why some rounds have none.
    pub no_optimum: Option<String>,
    /// Why there are no convergence times; `None` if there are, or if they were not requested.
    pub no_convergence: Option<String>,
    /// Why recovery times are missing, or are not those of all changes; `None` if none is missing, or if they were not
    /// requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_recovery: Option<String>,
    /// Why path-sharing detection has no score; `None` if it has one, or if nothing detects.
    pub no_sharing_score: Option<String>,
}

/// Whether the case with these axes is one of the wanted ones.
pub fn is(case: &IndexMap<String, Value>, wanted: &Wanted) -> bool {
    wanted.matches(|axis| match case.get(axis)? {
        Value::String(name) => Some(Cow::from(name)),
        value @ (Value::Number(_) | Value::Bool(_)) => Some(Cow::from(value.to_string())),
        _ => None, // the path manager decides on the number of subflows
    })
}

/// Where something is true: `in a; b`, the cases with these labels, or how many they are of `all` if they are more than a
/// reader wants to read.
pub fn in_cases(labels: &[impl AsRef<str>], all: usize) -> String {
    const MOST: usize = 3;
    match labels.len() {
        n if n > MOST => format!("in {n} of {all} cases"),
        _ => format!("in {}", labels.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join("; ")),
    }
}

impl CaseResult {
    /// Its scheme with the number of subflows, if it has one: `xmp-2`.
    pub fn scheme(&self) -> String {
        scheme(&self.case)
    }

    /// A readable name: `xmp-2 permutation`, as in `Case::label`.
    pub fn label(&self) -> String {
        let other = |(axis, value): (&String, &Value)| match (&**axis, value) {
            ("scheme" | "subflows", _) | (_, Value::Null) => None,
            ("pattern" | "variant", value) => Some(format!(" {}", value.as_str().unwrap_or_default())),
            (axis, Value::String(text)) => Some(format!(" {axis}={text}")),
            (axis, value) => Some(format!(" {axis}={value}")),
        };
        self.scheme() + &self.case.iter().filter_map(other).collect::<String>()
    }
}

/// The scheme of a case with these axes, with the number of subflows if it has one: `xmp-2`.
pub fn scheme(case: &IndexMap<String, Value>) -> String {
    let scheme = case.get("scheme").and_then(Value::as_str).unwrap_or_default();
    match case.get("subflows").and_then(Value::as_u64) {
        Some(n) => format!("{scheme}-{n}"),
        None => scheme.to_owned(),
    }
}

/// What was measured of a case under one seed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SeedResult {
    pub seed: u64,
    /// As in [`CaseResult`].
    pub metrics: Metrics,
    /// As in [`CaseResult`].
    pub by: Parts<Metrics>,
    /// As in [`CaseResult`].
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub windows: IndexMap<String, WindowResult>,
    /// As in [`CaseResult`].
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub optimum: IndexMap<String, f64>,
}

/// What flows got in a window of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WindowResult {
    /// Metrics of all flows that were active.
    pub metrics: Metrics,
    /// Metrics of the flows of each group, by its name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub groups: IndexMap<String, WindowGroup>,
}

/// What the flows of a group got in a window of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WindowGroup {
    /// Metrics of all its flows.
    pub metrics: Metrics,
    /// Metrics of each subflow, if the group is one flow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subflows: Vec<Metrics>,
}

/// The two most frequent classes of completion times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JumpsFound {
    /// How far they are apart, s.
    pub apart_s: f64,
    /// The median of each, s, the shorter one first.
    pub at_s: [f64; 2],
    /// The share of the jobs in each.
    pub shares: [f64; 2],
}
