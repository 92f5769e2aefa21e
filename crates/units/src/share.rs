//! Numbers without a unit: probabilities and factors.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer};
use serde::{Serialize, Serializer};

/// A probability, from 0 to 1: a number without a unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Probability(f64);

impl Probability {
    /// Never.
    pub const ZERO: Self = Self(0.0);

    /// Parts of 2^32, so that no float decides.
    pub fn parts(self) -> u64 {
        (self.0 * (1u64 << 32) as f64).round() as u64
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(d)?;
        if !(0.0..=1.0).contains(&value) {
            return Err(de::Error::custom(format!("{value} is not a probability: 0 to 1, such as 0.001")));
        }
        if value > 0.0 && Self(value).parts() == 0 {
            return Err(de::Error::custom(format!(
                "{value} is too small: probabilities are multiples of 2^-32"
            )));
        }
        Ok(Self(value))
    }
}

impl JsonSchema for Probability {
    fn schema_name() -> Cow<'static, str> {
        "Probability".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1, "examples": [0.001] })
    }
}

/// A factor above 0, at most 1000, with three decimals: a number without a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Factor(u32);

impl Factor {
    /// In parts of 1000; at least 1.
    pub fn thousandths(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (f64::from(self.0) / 1000.0).fmt(f)
    }
}

impl Serialize for Factor {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_f64(f64::from(self.0) / 1000.0)
    }
}

impl<'de> Deserialize<'de> for Factor {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(d)?;
        let parts = (value * 1000.0).round();
        // Three decimals are not exact in binary.
        if !(1.0..=1e6).contains(&parts) || (value * 1000.0 - parts).abs() > 1e-6 {
            let message =
                format!("{value}: expected 0.001 to 1000 with at most three decimals, such as 0.17");
            return Err(de::Error::custom(message));
        }
        Ok(Self(parts as u32))
    }
}

impl JsonSchema for Factor {
    fn schema_name() -> Cow<'static, str> {
        "Factor".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0.001, "maximum": 1000, "examples": [0.17] })
    }
}
