//! Slices: flows of a group, a size and a distance at once, and the names of their metrics.

use std::fmt;
use std::str::FromStr;

use indexmap::{IndexMap, IndexSet};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tresse_units::{Bytes, Duration};

use crate::diagnostic::{Wrong, known};
use crate::schema::metrics::{DISTANCES, METRICS, find};

/// Flows that have all of these properties.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { group = \"web\", size = \"up to 100kB\" }")]
pub struct Slice {
    /// Only this group: a part of the workload, a scheme of a mix such as `xmp-2`, or a group named in a list of flows.
    pub group: Option<String>,
    /// Only flows of these sizes: `up to 100kB`, `10kB to 1MB`, `above 1MB`.
    pub size: Option<Sizes>,
    /// Only flows over this distance: `inner-rack`, `inter-rack` or `inter-pod`.
    pub distance: Option<String>,
    /// Only flows that start in this window of time, from the start of the run: `["5ms", "20ms"]` leaves out a warm-up of
    /// 5 ms and the time after the arrivals.
    pub starts: Option<[Duration; 2]>,
}

/// The sizes above one size and up to another, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// A flow is larger than this.
    pub above: u64,
    /// And not larger than this; `u64::MAX` if there is no largest size.
    pub most: u64,
}

impl Sizes {
    /// Whether a flow of `bytes` is one of these sizes.
    pub fn has(self, bytes: u64) -> bool {
        self.above < bytes && bytes <= self.most
    }
}

const EXAMPLES: &str = "`up to 100kB`, `10kB to 1MB` or `above 1MB`";

impl FromStr for Sizes {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let bytes = |text: &str| text.trim().parse().map(|Bytes(own)| own);
        let sizes = if let Some(most) = text.strip_prefix("up to ") {
            Self { above: 0, most: bytes(most)? }
        } else if let Some(above) = text.strip_prefix("above ") {
            Self { above: bytes(above)?, most: u64::MAX }
        } else if let Some((above, most)) = text.split_once(" to ") {
            Self { above: bytes(above)?, most: bytes(most)? }
        } else {
            return Err(format!("\"{text}\" is not a range of sizes such as {EXAMPLES}"));
        };
        if sizes.above < sizes.most { Ok(sizes) } else { Err(format!("\"{text}\" has no sizes")) }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (Bytes(self.above), Bytes(self.most)) {
            (Bytes(0), most) => write!(f, "up to {most}"),
            (above, Bytes(u64::MAX)) => write!(f, "above {above}"),
            (above, most) => write!(f, "{above} to {most}"),
        }
    }
}

impl Serialize for Sizes {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Sizes {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for Sizes {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Sizes".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^(up to|above) .+$|^.+ to .+$", "examples": ["up to 100kB"] })
    }
}

/// Checks the slices of an experiment whose cases have these groups.
///
/// # Errors
/// The slice and key, and what is wrong with it.
pub(crate) fn check(slices: &IndexMap<String, Slice>, groups: &IndexSet<&str>) -> Result<(), Wrong> {
    for (name, slice) in slices {
        let wrong = |key: &str, message| Err(Wrong::new(["measure", "slices", name, key], message));
        if name.is_empty() || name.contains('.') || name == "optimum" {
            let message =
                format!("`{name}` cannot be a slice's name: `{name}.fct_p99_s` means something else");
            return Err(Wrong::new(["measure", "slices", name], message));
        }
        let Slice { group, size, distance, starts } = slice;
        if group.is_none() && size.is_none() && distance.is_none() && starts.is_none() {
            let message = "which flows? Set `group`, `size`, `distance` or `starts`";
            return Err(Wrong::new(["measure", "slices", name], message));
        }
        if starts.is_some_and(|[from, to]| from >= to) {
            let message = "two times, the earlier one first, such as [\"5ms\", \"20ms\"]";
            return wrong("starts", message.to_owned());
        }
        if let Some(group) = group {
            match groups.is_empty() {
                true => return wrong("group", "all flows are in one group".to_owned()),
                false => known("group", group, groups).or_else(|e| wrong("group", e))?,
            }
        }
        if let Some(distance) = distance {
            known("distance", distance, DISTANCES.map(|own| own.name())).or_else(|e| wrong("distance", e))?;
        }
    }
    Ok(())
}

/// Checks that `metric` is one of cases, such as `fct_p99_s`, or one of a slice, such as `small-web.fct_p99_s`.
///
/// # Errors
/// If it is not, with the available names.
pub fn check_metric(metric: &str, slices: &IndexMap<String, Slice>) -> Result<(), String> {
    let Some((slice, own)) = metric.split_once('.') else { return known("metric", metric, METRICS) };
    if slices.is_empty() {
        return Err(format!("there is no slice `{slice}`: define it in [measure.slices]"));
    }
    known("slice", slice, slices.keys())?;
    known("metric of slices", own, METRICS.iter().filter(|row| row.of.has("slice")))
}

/// The name of a metric without that of its slice.
pub fn without_slice(metric: &str) -> &str {
    metric.rsplit_once('.').map_or(metric, |(_, own)| own)
}

/// The name of a slice's metric in results.
pub fn metric_of(slice: &str, metric: &str) -> String {
    format!("{slice}.{metric}")
}

/// Whether the value of a metric of a case, or of a slice of it, is the sum of the values of its seeds.
pub fn is_total(metric: &str) -> bool {
    find(METRICS, without_slice(metric)).is_some_and(|row| row.is_total)
}
