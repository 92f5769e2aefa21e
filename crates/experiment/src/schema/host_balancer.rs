//! `balancer` of a scheme: a name, or a table with the name and values of its parameters.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A host balancer with values for some of its parameters (`tresse list host-balancers`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum HostBalancer {
    /// With default parameters.
    Name(String),
    /// With values for some of its parameters.
    Table {
        /// Its name.
        name: String,
        /// The values.
        #[serde(flatten)]
        parameters: BTreeMap<String, u64>,
    },
}

/// By hand, because what derives from `untagged` forgets which value is wrong: a list there is an axis.
impl<'de> Deserialize<'de> for HostBalancer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Read)
    }
}

struct Read;

impl<'de> Visitor<'de> for Read {
    type Value = HostBalancer;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a balancer such as \"reps\" or { name = \"reps\", explore = 16 }")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<HostBalancer, E> {
        Ok(HostBalancer::Name(name.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<HostBalancer, A::Error> {
        let (mut name, mut parameters) = (None, BTreeMap::new());
        while let Some(key) = map.next_key::<String>()? {
            if key == "name" {
                name = Some(map.next_value()?);
            } else {
                parameters.insert(key, map.next_value()?);
            }
        }
        Ok(HostBalancer::Table { name: name.ok_or_else(|| Error::missing_field("name"))?, parameters })
    }
}

impl HostBalancer {
    pub fn name(&self) -> &str {
        match self {
            Self::Name(name) | Self::Table { name, .. } => name,
        }
    }

    /// The given values.
    pub fn settings(&self) -> impl Iterator<Item = (&str, u64)> {
        let parameters = match self {
            Self::Name(_) => None,
            Self::Table { parameters, .. } => Some(parameters),
        };
        parameters.into_iter().flatten().map(|(name, &value)| (name.as_str(), value))
    }
}
