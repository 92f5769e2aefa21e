//! How long goodput took to recover from changes of links.

use serde::{Deserialize, Serialize};
use tresse_units::Time;

/// The recovery of a goodput from a change of links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    /// When the links changed, ps.
    pub at: Time,
    /// How long after that it was back, ps; `None` if it was not before the end.
    pub time: Option<Time>,
    /// What it was before the change, bit/s.
    pub before: u64,
    /// What it was when that was decided: over the time in which it stayed, or the last time before the end, bit/s.
    pub after: u64,
}

/// The recovery of a run from the changes of its links.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recoveries {
    /// Of all flows together, from one change after another.
    pub total: Vec<Recovery>,
    /// When links changed with too little goodput before or too little time after it to judge, ps.
    pub unjudged: Vec<Time>,
    /// How long the slowest flow took that recovered, ps; `None` if none did.
    pub slowest_flow: Option<Time>,
    /// How often a flow did not recover.
    pub unrecovered_flows: u64,
}
