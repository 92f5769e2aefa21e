//! `[[figures]]`: the pictures that the page of a run shows, those of a paper in its own form.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A figure. What divides it (`x` of bars, `series`, `panels`) is a *dimension*: an axis of the cases (`scheme`, with its
/// number of subflows; `subflows`, `pattern`, `variant`, or an axis that a list of values makes), or what divides a case:
/// `group`, `distance`, `size`, `layer`, `window`. `tresse explain figures` has the charts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its name in the paper, such as `fig8`, or one of your own; unique in the experiment.
    pub id: String,
    /// What it shows, in one line.
    pub title: String,
    /// What a reader must know to read it; follows the title in the caption.
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
    /// The dimension whose values each have a colour. Default: `scheme`; for `time`, each subflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// The dimension whose values each have a panel. Default: one panel; for `time`, one for each case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panels: Option<String>,
    /// Which cases and parts it shows: the value of a dimension, or a list of them. Default: all.
    #[serde(default, rename = "where", skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub only: IndexMap<String, toml::Value>,
    /// The axes that are logarithmic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<Direction>,
    /// The range of the axis, in the unit of its name. Default: the range of the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x_range: Option<[f64; 2]>,
    /// The same for the other axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y_range: Option<[f64; 2]>,
    /// Points that the paper printed and that are not `[published]` values; they are shown beside ours.
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
    /// A metric for each value of a dimension and each of the series: a table whose cells are coloured, each column by
    /// itself.
    Matrix,
    /// A metric against a dimension whose values are numbers, or end in one.
    Lines,
    /// The 10th, 50th and 90th percentile of a quantity, its minimum and its maximum.
    Boxes,
    /// One metric against another, a point for each case.
    Scatter,
}

/// An axis of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From left to right.
    X,
    /// Upwards.
    Y,
}

/// A point that a paper printed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The value of the dimension of the series that it belongs to.
    pub series: String,
    /// The panel that it belongs to, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel: Option<String>,
    /// Its position: a number, or a value of the dimension.
    #[schemars(with = "serde_json::Value")]
    pub x: toml::Value,
    /// Its value, in the unit of the figure's name for it.
    pub y: f64,
}

/// What has a distribution: the name, of what, and the key of `[measure]` that it needs, if any.
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
    ("queue_pkts", "looks at queues", Needs::Queues),
    ("utilisation_ratio", "links", Needs::Links),
    ("drops_pkts", "links", Needs::Links),
    ("marks_pkts", "links", Needs::Links),
    ("convergence_s", "subflows", Needs::Convergence),
];

/// What is sampled over time.
pub const SAMPLED: &[(&str, Needs)] = &[
    ("goodput_bps", Needs::Samples),
    ("cwnd_pkts", Needs::Samples),
    ("srtt_s", Needs::Samples),
    ("waiting_pkts", Needs::SampledLinks),
    ("utilisation_ratio", Needs::SampledLinks),
];

/// What a figure needs of `[measure]` or of the workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// It is always there.
    Nothing,
    /// A pattern with jobs.
    Jobs,
    /// `rtt = true`.
    Rtt,
    /// `queues = "…"`.
    Queues,
    /// `links`, which is there unless it is switched off.
    Links,
    /// `convergence = {}`.
    Convergence,
    /// `samples = "…"`.
    Samples,
    /// `samples = "…"`, and `links`.
    SampledLinks,
}

/// What divides a case into parts.
pub const PARTS: [&str; 5] = ["group", "distance", "size", "layer", "window"];

/// What the lines of a chart over time may be of, beside the dimensions.
pub const TIME_SERIES: [&str; 4] = ["subflow", "flow", "group", "port"];
