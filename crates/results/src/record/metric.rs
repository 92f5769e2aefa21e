//! The value of a metric.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Metrics by their names in the program.
pub type NamedMetrics = IndexMap<&'static str, Metric>;

/// Metrics of parts, by division and by the part's name.
pub type By = IndexMap<&'static str, IndexMap<String, NamedMetrics>>;

/// A value; counts stay whole numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Metric {
    Count(u64),
    /// A mean, or a time.
    Real(f64),
}

impl Metric {
    /// The value as a number to compute with.
    pub fn value(self) -> f64 {
        match self {
            Self::Count(n) => n as f64,
            Self::Real(x) => x,
        }
    }
}

/// The smallest value that at least `percent` per cent of the values do not exceed.
pub fn percentile<T: Copy>(sorted: &[T], percent: usize) -> T {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted[rank - 1]
}
