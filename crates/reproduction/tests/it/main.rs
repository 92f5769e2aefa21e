//! Published numbers, claims and the experiments of the papers.

mod claims;
mod experiments;

#[path = "../../../lab/tests/it/reading/mod.rs"]
mod reading;
mod references;
mod reproduction;
mod rows;
