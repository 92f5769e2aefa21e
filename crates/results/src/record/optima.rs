//! The optima of the rounds that were simulated.

use serde::{Deserialize, Serialize};
use tresse_optimum::distance::Distance;

/// The optimum of one round, and how far its flows were from it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Beside {
    /// The optimal goodput of each flow, bit/s.
    pub goodput: Vec<f64>,
    /// The distance from there to the measured goodputs.
    pub distance: Distance,
}

/// The optima of a case's rounds under one seed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Optima {
    /// Those of the rounds that have one.
    pub rounds: Vec<Beside>,
    /// Why a round has no optimum.
    pub why_none: Option<String>,
}
