//! How long rates took to converge.

use serde::{Deserialize, Serialize};
use tresse_units::Time;

use crate::record::flow::Begun;

/// The convergence of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Convergence {
    /// How long it took to converge, ps; `None` if it did not, or if the mean is 0.
    pub time: Option<Time>,
    /// The final mean, bit/s.
    pub mean: u64,
}

/// How long a subflow took to converge, after its start or after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Converged {
    pub flow: Begun,
    /// Which subflow, from 0.
    pub subflow: u32,
    /// The event, ps.
    pub after: Time,
    /// The convergence of its rate until the next event.
    pub convergence: Convergence,
}
