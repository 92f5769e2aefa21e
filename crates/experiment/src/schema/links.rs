//! `[[fabric.links]]`: single links that differ from their layer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tresse_fabric::Probability as PortProbability;
use tresse_units::{Duration, Mark, Probability, Queue, Rate};

use crate::schema::bounds::{LONGEST, RATES};

/// A link that differs from its layer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSetting {
    /// The names of the nodes at its ends, such as `["leaf 0", "spine 3"]`; for several links, with
    /// a range that excludes its last number: `["leaf 0", "spine 0..8"]`.
    #[serde(deserialize_with = "crate::schema::untagged::pair")]
    pub ends: [String; 2],
    /// Whether only the direction from the first node to the second is meant. Default: both directions.
    #[serde(default)]
    pub one_way: bool,
    /// Its rate.
    pub rate: Option<Rate>,
    /// Its one-way delay.
    pub delay: Option<Duration>,
    /// The size of the queues in its switches' ports; a host's NIC has `fabric.host_queue`.
    pub queue: Option<Queue>,
    /// K in its switches' ports.
    pub mark: Option<Mark>,
    /// RED's thresholds in its switches' ports; everything else about RED is as in `fabric.red`.
    pub red: Option<RedRange>,
    /// The probability that its ports lose an arriving packet: 0 to less than 1.
    pub loss: Option<Probability>,
    /// Whether the link is missing.
    #[serde(default)]
    pub failed: bool,
}

/// The range in which RED's probability rises.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { min = \"5pkt\", max = \"15pkt\" }")]
pub struct RedRange {
    /// As `fabric.red.min`.
    pub min: Queue,
    /// As `fabric.red.max`.
    pub max: Queue,
}

/// Checks that a link may have this rate.
pub(crate) fn check_rate(rate: Rate) -> Result<(), String> {
    if RATES.contains(&rate.0) { Ok(()) } else { Err(format!("{rate}: a link's rate is 1kbps to 100Tbps")) }
}

/// Checks that a link may have this delay.
pub(crate) fn check_delay(delay: Duration) -> Result<(), String> {
    if delay.0 <= LONGEST { Ok(()) } else { Err(format!("{delay}: a link's delay is at most 1000s")) }
}

/// Checks that a link may have this loss probability.
pub(crate) fn check_loss(loss: Probability) -> Result<(), String> {
    if PortProbability::from(loss) < PortProbability::ONE {
        return Ok(());
    }
    Err(format!("{loss}: no flow would ever finish"))
}
