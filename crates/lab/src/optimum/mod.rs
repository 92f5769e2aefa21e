//! The optimum of an experiment's flows: beside what was simulated, and by itself.

pub mod beside;
pub mod report;
pub mod round;
mod schemes;
pub mod steps;
pub mod together;
mod words;
