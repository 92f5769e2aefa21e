//! The pattern `rack-to-rack`.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_workload::Pairing;

use crate::diagnostic::Diagnostic;
use crate::plan::patterns::Pattern;
use crate::plan::patterns::kind::Keys;
use crate::plan::patterns::rounds::RoundKeys;
use crate::plan::patterns::workload_context::WorkloadContext;

/// Every host of the first rack sends to one host of the second, and each receives one flow (OPN §Design motivation).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct RackToRack(RoundKeys);

impl Keys for RackToRack {
    const NAME: &'static str = "rack-to-rack";

    fn build(self, at: &WorkloadContext) -> Result<Pattern, Diagnostic> {
        if at.has_one_rack() {
            return Err(at.wrong("pattern", "this fabric has only one rack"));
        }
        let racks = &at.fabric.racks;
        let hosts = racks.iter().filter(|&&rack| rack == racks[0]).count() as u32;
        self.0.pattern(at, Pairing::RackToRack(hosts))
    }
}
