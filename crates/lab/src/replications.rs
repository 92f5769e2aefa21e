//! How many seeds a case is run with: a number, or as many as a confidence interval takes.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

/// How many seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Replications {
    /// That many.
    Count(u32),
    /// As many as it takes.
    Until(Until),
}

/// As many seeds as it takes until the interval of a metric is narrow enough in every case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// Narrow enough: half the 95 % confidence interval, as a share of the mean; above 0 and below 1.
    pub width: f64,
    /// The metric (`tresse explain results`).
    #[serde(default = "goodput")]
    pub of: String,
    /// The number of seeds to begin with: 2 to 1000.
    #[serde(default = "three")]
    pub least: u32,
    /// The number of seeds at which it ends, narrow or not: `least` to 1000.
    #[serde(default = "twenty")]
    pub most: u32,
}

fn goodput() -> String {
    "goodput_mean_bps".to_owned()
}

fn three() -> u32 {
    3
}

fn twenty() -> u32 {
    20
}

impl Default for Replications {
    fn default() -> Self {
        Self::Count(1)
    }
}

/// Written by hand, for serde's untagged enums tell nothing of what is wrong.
impl<'de> Deserialize<'de> for Replications {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Replications;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number of seeds such as 5, or a width such as { width = 0.05, most = 20 }")
            }
            fn visit_i64<E: de::Error>(self, n: i64) -> Result<Self::Value, E> {
                let count = u32::try_from(n).map_err(|_| E::custom(format!("{n}: 1 to 1000 seeds")))?;
                Ok(Replications::Count(count))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Until::deserialize(MapAccessDeserializer::new(map)).map(Replications::Until)
            }
        }
        d.deserialize_any(Either)
    }
}

impl JsonSchema for Replications {
    fn schema_name() -> Cow<'static, str> {
        "Replications".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let until = generator.subschema_for::<Until>();
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 1000 }, until] })
    }
}
