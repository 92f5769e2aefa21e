//! The optimum of an experiment's flows: beside what was simulated, and by itself.

mod beside;
mod report;
mod round;
mod steps;
mod together;
mod words;

pub use beside::{KEYS, Optima, summary};
pub use report::{
    ClaimEntry, FluidEntry, LinkEntry, OptimumCase, OptimumEntry, OptimumReport, RatesEntry, optimum,
};
pub use steps::{NoOptimum, Steps};
