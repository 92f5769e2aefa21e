//! What an experiment file says about a paper's results: published numbers, and claims.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use tresse_experiment::schema::wanted::Wanted;
use tresse_results::record::claim::Verdict;
use tresse_units::{Duration, Rate};

use crate::schema::metric_names::{ClaimMetric, Numbers};

/// The published numbers.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Where they were published.
    #[serde(default)]
    pub source: String,
    /// What they were measured on.
    #[serde(default)]
    pub kind: Kind,
    /// The numbers, each for one case. A number that is given in several experiments of a paper, or for
    /// several variants, counts once.
    #[serde(default)]
    pub values: Vec<PublishedValue>,
}

/// What published numbers were measured on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A simulator: ours should be within 20 %.
    #[default]
    Simulation,
    /// Real machines: shown next to ours, but compared only as ratios, in claims.
    Testbed,
}

/// What was published for a case, or for a part of it: at most one of `group`, `distance`, `size`
/// and `layer`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedValue {
    /// The scheme.
    pub scheme: String,
    /// The number of subflows, if the scheme has several.
    pub subflows: Option<u32>,
    /// The pattern.
    pub pattern: String,
    /// The variant, if there are any.
    pub variant: Option<String>,
    /// Only this group: a part of the workload, a scheme of a mix such as `xmp-2`, or a group named in a list of
    /// flows.
    pub group: Option<String>,
    /// Only flows over this distance: `inner-rack`, `inter-rack` or `inter-pod`.
    pub distance: Option<String>,
    /// Only flows in this size class, such as `up to 10kB` (`tresse explain measurement`).
    pub size: Option<String>,
    /// Only the ports of this layer.
    pub layer: Option<String>,
    /// Only this window of time, defined in `[measure.windows]`; may be combined with a `group`.
    pub window: Option<String>,
    /// Only this subflow, from 0, of the one flow in `group`, in the window.
    pub subflow: Option<u32>,
    /// Mean goodput of the flows.
    pub goodput_mean: Option<Rate>,
    /// Other metrics, by name (`tresse explain metrics`).
    #[serde(default)]
    #[schemars(with = "Numbers")]
    pub metrics: BTreeMap<String, f64>,
    /// Why ours is more than 20 % off, if it is: the mechanism, in one sentence.
    pub differs: Option<String>,
}

impl PublishedValue {
    /// The cases that it refers to.
    pub fn selector(&self) -> Selector {
        Selector {
            scheme: Some(self.scheme.clone()),
            subflows: self.subflows,
            pattern: Some(self.pattern.clone()),
            variant: self.variant.clone(),
            group: self.group.clone(),
            distance: self.distance.clone(),
            size: self.size.clone(),
            layer: self.layer.clone(),
            window: self.window.clone(),
            subflow: self.subflow,
        }
    }

    /// Its numbers, by metric.
    pub fn numbers(&self) -> impl Iterator<Item = (&str, f64)> {
        let goodput = self.goodput_mean.map(|rate| ("goodput_mean_bps", rate.0 as f64));
        goodput.into_iter().chain(self.metrics.iter().map(|(metric, &number)| (metric.as_str(), number)))
    }
}

/// A claim of the paper: a metric of cases, within bounds, compared with other cases, or in order. A claim has
/// exactly one of the forms in `tresse explain claims`. A file may write several claims at once with `for_each`,
/// and a claim about several cases with `for_all`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = crate::schema::json::claim)]
pub struct Claim {
    /// A short name.
    pub id: String,
    /// The claim in words.
    pub text: String,
    /// Where the paper says it.
    pub source: Option<String>,
    /// The claim that says the same sentence under another reading of what the paper leaves open: its id, or, for a
    /// claim of another experiment, as in `xmp/table1 xmp2-beats-lia2`.
    pub reading_of: Option<String>,
    /// The metric to compare; `optimum.KEY` is a key of the case's `optimum`, and `jct_s` is for `jumps`.
    #[schemars(with = "ClaimMetric")]
    pub metric: String,
    /// The case to compare.
    pub left: Option<Selector>,
    /// What to compare it with: a case, or each of several cases.
    pub right: Option<Selectors>,
    /// The claim holds if left / right is above this.
    pub ratio_above: Option<f64>,
    /// And if it is below this.
    pub ratio_below: Option<f64>,
    /// The claim holds if left is this share more than right, or less if it is negative, give or take `within`: an
    /// effect is judged by itself, not by a total of which it is a small part. Not 0.
    pub excess: Option<f64>,
    /// With `excess`: the share of it by which ours may differ, above 0 and below 1. Default: 0.2.
    pub within: Option<f64>,
    /// The claim holds if left - right is above this, in the metric's unit.
    pub difference_above: Option<f64>,
    /// And if it is below this.
    pub difference_below: Option<f64>,
    /// The cases, if the claim does not compare cases with each other.
    pub of: Option<Selectors>,
    /// The claim holds if the metric of each case is above this, in the metric's unit.
    pub above: Option<f64>,
    /// And if it is below this.
    pub below: Option<f64>,
    /// The claim holds if the metric falls, or rises, from each case to the next.
    pub order: Option<Order>,
    /// With `order`: a step may go the wrong way by less than this share of the larger value, from 0 to less than 0.5, if
    /// the last case is beyond the first.
    pub slack: Option<f64>,
    /// The claim holds if the job completion times have two jumps this far apart.
    pub jumps: Option<Jumps>,
    /// The expected verdict. Default: `holds`.
    #[serde(default)]
    pub expected: Expected,
    /// Why it is not expected to hold: the mechanism, and the evidence for it, in one sentence.
    pub because: Option<String>,
    /// The proof that it contradicts its own paper, with the place in the paper. Such a claim is judged and shown,
    /// but counted separately.
    pub contradicts: Option<String>,
    /// With `for_all`: the claim holds if it holds in this many cases. Default: in all of them.
    pub at_least: Option<usize>,
    /// The expansion of `for_all`: a claim for each case, with the name of the case as its text. The claim itself
    /// then has no form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<Claim>,
}

impl Claim {
    /// What is judged individually: the claim, or the expansion of `for_all`.
    pub fn statements(&self) -> &[Self] {
        if self.cases.is_empty() { std::slice::from_ref(self) } else { &self.cases }
    }
}

/// The direction in which a metric changes from case to case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Up.
    Rising,
    /// Down.
    Falling,
}

/// Two jumps of a distribution: its two most frequent classes, at least half of `apart` away from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { apart = \"200ms\", within = \"10ms\" }")]
pub struct Jumps {
    /// How far apart they are.
    pub apart: Duration,
    /// The width of a class, and how far off the distance may be.
    pub within: Duration,
}

/// The expected verdict, for both profiles or for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Expected {
    /// The same in both.
    Both(Verdict),
    /// One for each.
    Each(ByProfile),
}

/// A verdict for each profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByProfile {
    /// In the quick profile.
    pub quick: Verdict,
    /// In the full one.
    pub full: Verdict,
}

impl Default for Expected {
    fn default() -> Self {
        Self::Both(Verdict::Holds)
    }
}

impl Expected {
    /// The expected verdict in the profile with this name.
    pub fn of(self, profile: &str) -> Verdict {
        match self {
            Self::Both(verdict) => verdict,
            Self::Each(each) if profile == "quick" => each.quick,
            Self::Each(each) => each.full,
        }
    }

    /// Whether it is expected to hold in both profiles.
    pub fn is_to_hold(self) -> bool {
        ["quick", "full"].iter().all(|profile| self.of(profile) == Verdict::Holds)
    }
}

/// Written by hand, like the next one, because serde's untagged enums do not report what is wrong.
impl<'de> Deserialize<'de> for Expected {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Expected;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("\"holds\", \"does not hold\", \"inconclusive\", or { quick = …, full = … }")
            }
            fn visit_str<E: de::Error>(self, verdict: &str) -> Result<Self::Value, E> {
                Verdict::deserialize(de::value::StrDeserializer::new(verdict)).map(Expected::Both)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                ByProfile::deserialize(MapAccessDeserializer::new(map)).map(Expected::Each)
            }
        }
        d.deserialize_any(Either)
    }
}

impl JsonSchema for Expected {
    fn schema_name() -> Cow<'static, str> {
        "Expected".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (both, each) = (generator.subschema_for::<Verdict>(), generator.subschema_for::<ByProfile>());
        json_schema!({ "anyOf": [both, each] })
    }
}

/// Cases, selected by their axes, and a part of each: at most one of `group`, `distance`, `size` and `layer`.
/// Axes that are left out may have any value (`tresse explain claims`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = crate::schema::json::placeholders)]
pub struct Selector {
    /// The scheme; may be left out if there is only one.
    pub scheme: Option<String>,
    /// The number of subflows, if the scheme has several.
    pub subflows: Option<u32>,
    /// The pattern, if there are several.
    pub pattern: Option<String>,
    /// The variant, if there are any.
    pub variant: Option<String>,
    /// Only this group: a part of the workload, a scheme of a mix such as `xmp-2`, or a group named in a list of
    /// flows.
    pub group: Option<String>,
    /// Only flows over this distance: `inner-rack`, `inter-rack` or `inter-pod`.
    pub distance: Option<String>,
    /// Only flows in this size class, such as `up to 10kB` (`tresse explain measurement`).
    pub size: Option<String>,
    /// Only the ports of this layer.
    pub layer: Option<String>,
    /// Only this window of time, defined in `[measure.windows]`; may be combined with a `group`.
    pub window: Option<String>,
    /// Only this subflow, from 0, of the one flow in `group`, in the window.
    pub subflow: Option<u32>,
}

impl Selector {
    /// The cases that it selects.
    pub fn wanted(&self) -> Wanted {
        Wanted::default()
            .on("scheme", self.scheme.as_ref())
            .on("subflows", self.subflows.as_ref())
            .on("pattern", self.pattern.as_ref())
            .on("variant", self.variant.as_ref())
    }

    /// The part of a case that it refers to: what divides the case, and the part's name; none for the whole case.
    pub fn part(&self) -> Vec<(&'static str, String)> {
        let names = [
            ("window", self.window.clone()),
            ("group", self.group.clone()),
            ("subflow", self.subflow.map(|n| n.to_string())),
            ("distance", self.distance.clone()),
            ("size", self.size.clone()),
            ("layer", self.layer.clone()),
        ];
        names.into_iter().filter_map(|(what, name)| Some((what, name?))).collect()
    }
}

/// One selector, or a list.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Selectors {
    /// One.
    One(Selector),
    /// Several, in this order.
    List(Vec<Selector>),
}

impl Selectors {
    /// All selectors.
    pub fn all(&self) -> &[Selector] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::List(list) => list,
        }
    }
}

impl<'de> Deserialize<'de> for Selectors {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Selectors;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("cases such as { scheme = \"xmp\", subflows = 2 }, or a list of them")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Selector::deserialize(MapAccessDeserializer::new(map)).map(Selectors::One)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Selectors::List)
            }
        }
        d.deserialize_any(Either)
    }
}

impl JsonSchema for Selectors {
    fn schema_name() -> Cow<'static, str> {
        "Selectors".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<Selector>();
        json_schema!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
    }
}
