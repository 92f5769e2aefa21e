//! How closely a network is simulated.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How closely the network is simulated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Fidelity {
    /// Every packet, at every port.
    #[default]
    Packets,
    /// Batches of packets, a few in each round trip of a subflow, over links that are fluids (`tresse explain rounds`).
    Rounds,
}
