//! Exchange with other tools: their files as experiments, and networks and results as their files.

#![forbid(unsafe_code)]

mod capture;
pub mod export;
pub mod import;
mod key;
