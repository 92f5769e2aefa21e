//! `[[figures]]`: the figures on the page of a run, such as those of a paper in their original form.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tresse_experiment::diagnostic::Wrong;
use tresse_experiment::schema::Experiment;
use tresse_experiment::{OwnedKeys, Owner};

mod check;
#[cfg(test)]
mod tests;

/// This key, for those who read experiments.
pub const OWNER: Owner = Owner { keys: OwnedKeys::of::<Figures>().only_for_people(), check: check::check };

/// The key, at the top of a file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
struct Figures {
    /// The figures that its page shows.
    #[serde(default)]
    figures: Vec<Figure>,
}

/// The figures of an experiment.
///
/// # Errors
/// If it was read without [`OWNER`], the first key or value of them that is wrong.
pub fn of(experiment: &Experiment) -> Result<Vec<Figure>, Wrong> {
    let figures = experiment.owned.get("figures").cloned().map(|figures| figures.try_into());
    Ok(figures.transpose()?.unwrap_or_default())
}

/// A figure. What divides it (`x` of bars, `series`, `panels`) is a *dimension*. A dimension is an axis of the
/// cases (`scheme`, with its number of subflows; `subflows`, `pattern`, `variant`, or a key with a list of values),
/// or divides a case: `group`, `distance`, `size`, `layer`, `window`. `tresse explain figures` describes the
/// charts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its name in the paper, such as `fig8`, or a name of your own; unique in the experiment.
    pub id: String,
    /// What it shows, in one line.
    pub title: String,
    /// What a reader needs to know to understand it; follows the title in the caption.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caption: Option<String>,
    /// The kind of chart.
    pub chart: Chart,
    /// For `time`, `bars`, `matrix`, `lines`, `boxes` and `scatter`: the quantity on the y axis, or in the cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
    /// For `cdf`, a quantity; for `bars`, `matrix`, `boxes` and `lines`, a dimension; for `scatter`, a metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// The dimension whose values each have a colour. Default: `scheme`; for `time`, the subflows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// The dimension whose values each have a panel. Default: one panel; for `time`, one for all schemes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panels: Option<String>,
    /// Which cases and parts it shows: the value of a dimension, or a list of them. Default: all.
    #[serde(default, rename = "where", skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub only: IndexMap<String, toml::Value>,
    /// The axes that are logarithmic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<Direction>,
    /// The range of the x axis, in the unit at the end of the quantity's name. Default: the range of the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x_range: Option<[f64; 2]>,
    /// The same for the y axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y_range: Option<[f64; 2]>,
    /// Points that the paper prints and that are not `[published]` values; they are shown next to ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Point>,
}

/// The kind of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Chart {
    /// A sampled quantity against time.
    Time,
    /// The cumulative distribution of a quantity.
    Cdf,
    /// A metric for each value of a dimension.
    Bars,
    /// A metric for each value of a dimension and each of the series: a table whose cells are coloured, each column
    /// with its own scale.
    Matrix,
    /// A metric against a dimension whose values are numbers, or end in one.
    Lines,
    /// The 10th, 50th and 90th percentiles of a quantity, its minimum and its maximum.
    Boxes,
    /// One metric against another, a point for each case.
    Scatter,
}

/// An axis of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The horizontal axis.
    X,
    /// The vertical axis.
    Y,
}

/// A point that a paper prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The series that it belongs to: a value of that dimension.
    pub series: String,
    /// The panel that it belongs to, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<String>,
    /// Its position: a number, or a value of the dimension.
    #[schemars(with = "serde_json::Value")]
    pub x: toml::Value,
    /// Its value, in the unit of the figure's quantity.
    pub y: f64,
}

/// The quantities with a distribution: name, what they belong to, and the key of `[measure]` that they need, if
/// any.
pub const QUANTITIES: &[(&str, &str, Needs)] = &[
    ("goodput_bps", "flows", Needs::Nothing),
    ("fct_s", "flows", Needs::Nothing),
    ("slowdown_ratio", "flows", Needs::Nothing),
    ("size_bytes", "flows", Needs::Nothing),
    ("retransmissions_pkts", "flows", Needs::Nothing),
    ("timeouts", "flows", Needs::Nothing),
    ("cwnd_pkts", "flows", Needs::Nothing),
    ("jct_s", "jobs", Needs::Jobs),
    ("rtt_s", "ACKs", Needs::Rtt),
    ("queue_pkts", "observations of queues", Needs::Queues),
    ("utilisation_ratio", "links", Needs::Links),
    ("drops_pkts", "links", Needs::Links),
    ("marks_pkts", "links", Needs::Links),
    ("convergence_s", "subflows", Needs::Convergence),
];

/// The quantities that are sampled over time.
pub const SAMPLED: &[(&str, Needs)] = &[
    ("goodput_bps", Needs::Samples),
    ("cwnd_pkts", Needs::Samples),
    ("srtt_s", Needs::Samples),
    ("waiting_pkts", Needs::SampledLinks),
    ("utilisation_ratio", Needs::SampledLinks),
    ("share_ratio", Needs::SampledShares),
];

/// What a figure needs from `[measure]` or from the workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: it is always available.
    Nothing,
    /// A pattern with jobs.
    Jobs,
    /// `rtt = true`.
    Rtt,
    /// `queues = "…"`.
    Queues,
    /// `links`, which is on unless it is switched off.
    Links,
    /// `convergence = {}`.
    Convergence,
    /// `samples = "…"`.
    Samples,
    /// `samples = "…"`, and `links`.
    SampledLinks,
    /// The same, and a balancer with shares.
    SampledShares,
}

/// What divides a case into parts.
pub const PARTS: [&str; 5] = ["group", "distance", "size", "layer", "window"];

/// What the lines of a chart over time may stand for, in addition to the dimensions.
pub const TIME_SERIES: [&str; 4] = ["subflow", "flow", "group", "port"];
