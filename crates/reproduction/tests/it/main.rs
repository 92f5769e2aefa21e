//! Published numbers, claims and the experiments of the papers.

mod claims;
mod experiments;

#[path = "../../../lab/tests/it/reading/mod.rs"]
mod reading;
mod references;
mod reproduction;
mod rows;

use tresse_experiment::Owners;

/// How experiments are read here: with their published numbers and claims.
const OWNERS: Owners = Owners::some(&[tresse_reproduction::OWNER]);
