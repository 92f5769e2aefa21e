//! The optimum of an experiment's flows, for comparison with a simulation and on its own.

pub mod agreement;
pub mod beside;
pub mod report;
pub mod round;
mod schemes;
pub mod steps;
pub mod together;
mod words;
