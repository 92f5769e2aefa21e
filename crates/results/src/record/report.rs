//! The report of a run: `run.json` and `tresse run --json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use tresse_experiment::read::changes::Change;

use crate::record::claim::ClaimResult;
use crate::record::inputs::Inputs;
use crate::record::results::CaseResult;

/// Incremented whenever the same experiment and seed give different results than before.
pub const MODEL_VERSION: u32 = 3;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It has not ended.
    Running,
    /// Every flow of every case finished.
    Complete,
    /// It was interrupted or failed: the results are those until then.
    Partial,
}

/// Real hosts, as `tresse testbed run` sets them up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Testbed {
    /// How fast the experiment's time passed, such as `1/3`.
    pub scale: String,
    /// What moved packets between hosts, if it was not the emulated fabric: `bridge` or `ovs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<String>,
}

/// What `tresse run --json` prints and `run.json` contains.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// `tresse/run/1`.
    pub schema: String,
    /// The experiment's name.
    pub experiment: String,
    pub profile: String,
    /// The first seed.
    pub seed: u64,
    /// How many seeds the case with the most has; while the run is in progress, how many were begun.
    pub replications: u32,
    /// The cases with an interval still wider than requested, although the maximum number of seeds was run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub too_wide: Vec<String>,
    /// How it ended.
    pub status: Status,
    /// The program's version.
    pub version: String,
    /// See [`MODEL_VERSION`].
    pub model_version: u32,
    /// The testbed, if real hosts ran it; none for a simulation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub testbed: Option<Testbed>,
    /// The folder of results.
    pub out: String,
    /// How long it took.
    pub wall_s: f64,
    /// Packets that entered a port, counted once for every port.
    pub packet_hops: u64,
    /// A fingerprint of the results.
    pub digest: String,
    /// What it was made of; none for a run of an earlier program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub inputs: Option<Inputs>,
    /// What `--set` has changed of the published experiment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    pub changed: Vec<Change>,
    /// Whether it is judged by published numbers and claims: a changed run is not, unless requested.
    #[serde(default = "yes")]
    pub judged: bool,
    /// The cases and seeds that gave up, and why: flows waited forever.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// What did not happen or was not recorded although it was requested, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    pub cases: Vec<CaseResult>,
    /// The paper's claims.
    pub claims: Vec<ClaimResult>,
}

fn yes() -> bool {
    true
}

impl Report {
    /// The fewest seeds of any case: fewer than others if no undecided claim was about it.
    pub fn fewest_seeds(&self) -> u32 {
        let seeds = self.cases.iter().map(|case| case.seeds.len() as u32).filter(|&seeds| seeds > 0);
        seeds.min().unwrap_or(self.replications)
    }

    /// The schema of what this version writes and reads.
    pub const SCHEMA: &str = "tresse/run/1";
}
