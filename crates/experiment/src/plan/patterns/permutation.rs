//! The pattern `permutation`.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_workload::Pairing;

use crate::diagnostic::Diagnostic;
use crate::plan::patterns::Pattern;
use crate::plan::patterns::kind::Keys;
use crate::plan::patterns::rounds::RoundKeys;
use crate::plan::patterns::workload_context::WorkloadContext;

/// Every host sends to one other host, and each receives one flow (XMP §5.2.1).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Permutation(RoundKeys);

impl Keys for Permutation {
    const NAME: &'static str = "permutation";

    fn build(self, at: &WorkloadContext) -> Result<Pattern, Diagnostic> {
        self.0.pattern(at, Pairing::Permutation(at.fabric.hosts()))
    }
}
