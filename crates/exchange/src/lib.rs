//! Exchange with other tools: their files as experiments, and networks and results as their files.

pub mod export;
pub mod import;
