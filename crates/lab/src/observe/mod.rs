//! What looks at a case while it runs.

pub mod convergence;
pub mod path_sharing_score;
pub mod ports;
pub mod queues;
pub mod sample;
pub mod windows;
