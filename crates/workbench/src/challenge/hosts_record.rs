//! What is kept of a challenge on real hosts: `on-hosts.json`.

use serde::{Deserialize, Serialize};

/// The schema of `on-hosts.json`.
pub const SCHEMA: &str = "tresse/challenge-on-hosts/1";

/// What a failure measures on real hosts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OnHosts {
    pub file: String,
    /// SHA-256 of the experiment that hosts ran.
    pub sha256: String,
    pub goal: String,
    /// The median in the simulator, when it was found.
    pub simulated: f64,
    /// On hosts, by seed; empty if they cannot run it.
    pub real: Vec<f64>,
    /// The same with the plain controller that the challenge ran in its place, if it did.
    pub beside: Vec<f64>,
    /// Whether the median on hosts is a failure too; `None` if they cannot run it.
    pub stays: Option<bool>,
    /// How fast the experiment's time passed.
    pub scale: Option<String>,
    /// How late one packet in a hundred was written to its host, us: the largest of the controller's runs.
    pub late_p99_us: Option<u64>,
    /// Why hosts cannot run it, or in what the network that they saw was another one.
    pub why: Option<String>,
}

/// What all failures of a folder measure on real hosts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReplayedOnHosts {
    /// The version of this format.
    pub schema: String,
    pub controller: String,
    pub kernel: String,
    pub failures: Vec<OnHosts>,
}
