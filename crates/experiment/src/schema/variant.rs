//! `[variants.NAME]`: a fourth axis, along which anything may differ.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Table;

/// What a variant changes: a table with the structure of the experiment, laid over it after the profile.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Variant {
    /// Which of its cases are run, as `--only` takes them, such as `["scheme=lia", "pattern=random"]`;
    /// all by default.
    #[serde(default)]
    pub only: Vec<String>,
    /// The table laid over the experiment. It may only contain what is run: no `claims`, no `profile`.
    #[serde(flatten)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub over: Table,
}
