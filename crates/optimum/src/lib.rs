//! What a congestion controller ought to reach, worked out without a simulation: fluid models, and
//! analytical models of throughput.

pub mod fluid;
pub mod opn;
