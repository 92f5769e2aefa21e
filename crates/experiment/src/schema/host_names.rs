//! Hosts as named in files: by number, or by their name in the topology.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

use crate::diagnostic::did_you_mean;

/// A host, by number or by its name in the topology.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Host {
    /// Its number, from 0.
    Number(u32),
    /// Its name, such as `host 3`.
    Name(String),
}

impl From<&str> for Host {
    fn from(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Number)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl Serialize for Host {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => s.serialize_u32(*number),
            Self::Name(name) => s.serialize_str(name),
        }
    }
}

impl<'de> Deserialize<'de> for Host {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Shape;
        impl Visitor<'_> for Shape {
            type Value = Host;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a host's number such as 3, or its name such as \"host 3\"")
            }
            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Host, E> {
                u32::try_from(v)
                    .map(Host::Number)
                    .map_err(|_| E::custom(format!("{v} is not a host's number")))
            }
            fn visit_str<E: de::Error>(self, v: &str) -> Result<Host, E> {
                Ok(Host::from(v))
            }
        }
        d.deserialize_any(Shape)
    }
}

impl JsonSchema for Host {
    fn schema_name() -> Cow<'static, str> {
        "Host".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string"], "examples": [3, "host 3"] })
    }
}

/// The hosts of a topology.
#[derive(Debug, Clone)]
pub struct Hosts {
    count: u32,
    names: BTreeMap<String, u32>,
}

impl Hosts {
    /// Hosts with these names, numbered from 0.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Vec<_> = names.into_iter().map(str::to_owned).collect();
        Self { count: names.len() as u32, names: names.into_iter().zip(0..).collect() }
    }

    /// The number of a host.
    ///
    /// # Errors
    /// If there is no host with this number or name.
    pub fn find(&self, host: &Host) -> Result<u32, String> {
        let last = self.count.saturating_sub(1);
        match host {
            Host::Number(number) if *number < self.count => Ok(*number),
            Host::Number(number) => Err(format!("there is no host {number}: hosts are 0 to {last}")),
            Host::Name(name) => self.names.get(name).copied().ok_or_else(|| {
                // A host with another number is not what was meant.
                let is_numbered =
                    name.strip_prefix("host ").is_some_and(|number| number.parse::<u32>().is_ok());
                let known = self.names.keys().map(|k| &**k).filter(|_| !is_numbered);
                let hint = did_you_mean(name, known);
                format!("there is no host `{name}`{hint}: hosts are 0 to {last}, or named as in the topology")
            }),
        }
    }
}
