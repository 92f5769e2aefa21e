//! The pattern `spread`.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_units::Duration;
use tresse_workload::{Spread as Source, SpreadConfig};

use crate::diagnostic::Diagnostic;
use crate::plan::patterns::kind::Keys;
use crate::plan::patterns::workload_context::WorkloadContext;
use crate::plan::patterns::{FlowCounts, Pattern};
use crate::schema::bounds::LONGEST;
use crate::schema::workload::{FlowSize, HostSet, Pairs};

/// A number of flows that start at random times in a window.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spread {
    /// The size of a flow.
    size: Option<FlowSize>,
    /// The total number of flows.
    flows: Option<u64>,
    /// The window in which flows start at random times. Default: all start at once.
    window: Option<Duration>,
    /// Who may send to whom. Default: `any`.
    pairs: Option<Pairs>,
    /// The hosts that send. Default: all.
    senders: Option<HostSet>,
    /// The hosts that receive. Default: all.
    receivers: Option<HostSet>,
}

impl Keys for Spread {
    const NAME: &'static str = "spread";

    fn build(self, at: &WorkloadContext) -> Result<Pattern, Diagnostic> {
        let size = at.sized(self.size)?;
        let flows = at.needed("flows", self.flows, "flows = 1000")?;
        let flows = at.flows("flows", flows)? as u32;
        let window = self.window.map_or(0, |window| window.0);
        if window > LONGEST {
            return Err(at.wrong("window", "at most 1000s"));
        }
        let at_once = if window == 0 { flows } else { flows.min(at.fabric.hosts()) };
        let flow_counts = FlowCounts::new(at_once.into(), flows.into());
        let pairs = at.pairs(self.senders.as_ref(), self.receivers.as_ref(), self.pairs)?.pairs;
        let pattern = Pattern::new(move |seed| {
            let (pairs, size) = (pairs.clone(), size.clone());
            Source::new(SpreadConfig { pairs, size, flows, window, seed })
        });
        Ok(Pattern { arrivals: true, flow_counts, ..pattern })
    }
}
