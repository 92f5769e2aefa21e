//! `balancer` of a scheme: a name, or a table with the name and values of its parameters.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A host balancer with values for some of its parameters (`tresse list host-balancers`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a balancer such as \"reps\" or { name = \"reps\", explore = 16 }")]
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

impl HostBalancer {
    /// Its name.
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
