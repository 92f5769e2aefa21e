//! The pattern `poisson`.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_fabric::AllowedPairs;
use tresse_units::NEVER;
use tresse_workload::{Limit, Poisson as Source, PoissonConfig};

use crate::diagnostic::Diagnostic;
use crate::plan::patterns::kind::Keys;
use crate::plan::patterns::workload_context::{Between, WorkloadContext};
use crate::plan::patterns::{FlowCounts, Offered, Pattern};
use crate::schema::workload::{Draw, FlowSize, HostSet, Pairs};

/// Flows arrive at random times, at a load.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Poisson {
    /// The size of a flow.
    size: Option<FlowSize>,
    /// The offered load, as a share of the capacity that `load_on` selects: above 0, at most 1.
    load: Option<f64>,
    /// What `load` is a share of. Default: `bisection`.
    load_on: Option<LoadOn>,
    /// The total number of flows. Default: flows arrive until the last flow of the other parts has arrived, or until
    /// `duration`.
    flows: Option<u64>,
    /// Who may send to whom. Default: `any`.
    pairs: Option<Pairs>,
    /// The hosts that send. Default: all.
    senders: Option<HostSet>,
    /// The hosts that receive. Default: all.
    receivers: Option<HostSet>,
    /// The deadline of a flow, counted from its start.
    deadline: Option<Draw>,
}

/// What the offered load is a share of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LoadOn {
    /// What the narrowest tier of the network carries of these flows.
    #[default]
    Bisection,
    /// What the links of the sending hosts carry.
    Access,
}

impl Keys for Poisson {
    const NAME: &'static str = "poisson";

    fn build(self, at: &WorkloadContext) -> Result<Pattern, Diagnostic> {
        let size = at.sized(self.size)?;
        let load = at.needed("load", self.load, "load = 0.5")?;
        if !(load > 0.0 && load <= 1.0) {
            let message =
                format!("{load}: must be above 0 and at most 1, the share of what the network carries");
            return Err(at.wrong("load", &message));
        }
        let Between { pairs, from, to } =
            at.pairs(self.senders.as_ref(), self.receivers.as_ref(), self.pairs)?;
        let inter_rack = self.pairs == Some(Pairs::InterRack);
        let allowed = AllowedPairs { from: &from, to: &to, inter_rack };
        let Some(capacity) = at.capacities.between(at.fabric, &allowed) else {
            return Err(at.wrong("pattern", "a sender has no path to its receiver"));
        };
        let of = match self.load_on.unwrap_or_default() {
            LoadOn::Bisection => capacity.bisection,
            LoadOn::Access => capacity.access,
        };
        let rate = load * of;
        let interval = PoissonConfig::interval(&size, load, of as u64);
        let hosts = u64::from(at.fabric.hosts());
        let (limit, in_all) = match (self.flows, at.duration) {
            (Some(flows), _) => (Limit::Flows(at.flows("flows", flows)?), flows),
            (None, Some(until)) => {
                let flows = at.flows("load", (until as f64 / interval) as u64 + 1)?;
                (Limit::Until(until), flows)
            }
            (None, None) => (Limit::Until(NEVER), hosts),
        };
        let flow_counts = FlowCounts::new(in_all.min(hosts), in_all);
        let deadline = at.deadline(self.deadline)?;
        let mean_bytes = Some(size.exact_mean());
        let pattern = Pattern::new(move |seed| {
            let (pairs, size) = (pairs.clone(), size.clone());
            Source::new(PoissonConfig { pairs, size, interval, limit, deadline, seed })
        });
        let endless = self.flows.is_none() && at.duration.is_none();
        let offered = Some(Offered { rate, capacity });
        Ok(Pattern { endless, arrivals: true, flow_counts, mean_bytes, offered, ..pattern })
    }
}
