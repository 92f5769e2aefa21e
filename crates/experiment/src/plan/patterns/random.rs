//! The pattern `random`.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_workload::{RandomConfig, RandomPattern};

use crate::diagnostic::Diagnostic;
use crate::plan::patterns::kind::Keys;
use crate::plan::patterns::workload_context::WorkloadContext;
use crate::plan::patterns::{FlowCounts, Pattern};
use crate::schema::workload::{FlowSize, Pairs};

/// Every host sends one flow after another, to hosts that receive few others (XMP §5.2.1).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Random {
    /// The size of a flow.
    size: Option<FlowSize>,
    /// Who may send to whom. Default: `any`.
    pairs: Option<Pairs>,
    /// The maximum number of flows that a host receives at a time. Default: 4.
    at_most: Option<u32>,
    /// How many flows a host sends at a time. Default: 1.
    per_host: Option<u32>,
    /// The total number of flows. Default: flows continue as long as the case.
    flows: Option<u64>,
}

impl Keys for Random {
    const NAME: &'static str = "random";

    fn build(self, at: &WorkloadContext) -> Result<Pattern, Diagnostic> {
        let (hosts, size) = (at.fabric.hosts(), at.sized(self.size)?);
        let flows = self.flows.map(|n| at.flows("flows", n)).transpose()?;
        let at_most = at.number("at_most", self.at_most, 4, u32::MAX)?;
        let per_host = at.number("per_host", self.per_host, 1, 256)?;
        let racks = at.racks(self.pairs)?;
        let pattern = Pattern::new(move |seed| {
            let (racks, size) = (racks.clone(), size.clone());
            RandomPattern::new(RandomConfig { hosts, racks, size, per_host, at_most, flows, seed })
        });
        let at_once = u64::from(hosts) * u64::from(per_host);
        let flow_counts = FlowCounts::new(at_once, flows.unwrap_or(at_once));
        Ok(Pattern { endless: flows.is_none(), flow_counts, ..pattern })
    }
}
