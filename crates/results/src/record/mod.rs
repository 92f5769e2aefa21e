//! What is known after a run, and kept of it.

pub mod claim;
pub mod convergence;
pub mod flow;
pub mod inputs;
pub mod lengths;
pub mod mechanism;
pub mod metric;
pub mod optima;
pub mod outcome;
pub mod packed_flows;
pub mod packet;
pub mod progress;
pub mod recovery;
pub mod report;
pub mod results;
pub mod sample;
