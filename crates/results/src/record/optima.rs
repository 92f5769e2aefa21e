//! The optima of the rounds that were simulated, next to what their flows got.

use serde::{Deserialize, Serialize};
use tresse_optimum::distance::Distance;

/// The optimum of one round, and how far its flows were from it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RoundOptimum {
    /// The optimal goodput of each flow, bit/s.
    pub goodput: Vec<f64>,
    /// The distance from there to the measured goodputs.
    pub distance: Distance,
}

/// The optima of a case's rounds under one seed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Optima {
    /// The rounds that have one, in their order.
    pub rounds: Vec<RoundOptimum>,
    /// Why a round has none.
    pub why_none: Option<String>,
}

impl Optima {
    /// Records why a round has no optimum; the first reason stays.
    pub fn refuse(&mut self, why: &str) {
        self.why_none.get_or_insert_with(|| why.to_owned());
    }

    /// Why a round has no optimum.
    pub fn why_none(&self) -> Option<&str> {
        self.why_none.as_deref()
    }
}
