//! Common code for patterns of rounds: pairs of hosts that send at the same time, round after round.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_units::Rate;
use tresse_workload::{Pairing, Rounds, RoundsConfig, Size};

use crate::diagnostic::Diagnostic;
use crate::plan::patterns::workload_context::WorkloadContext;
use crate::plan::patterns::{FlowCounts, Pattern};
use crate::schema::workload::FlowSize;

/// The keys of a pattern of rounds.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(crate) struct RoundKeys {
    /// The size of a flow. Default: flows send until the case ends.
    size: Option<FlowSize>,
    /// How many connections carry each transfer at the same time, each with its own message of `size`. Default: 1.
    connections: Option<u32>,
    /// How many times the pattern is drawn; the next round begins when every flow of the previous one has finished.
    /// Default: 1.
    rounds: Option<u32>,
    /// Instead of connections, datagrams with this payload rate, without congestion control. For flows without a
    /// size.
    datagrams: Option<Rate>,
}

impl RoundKeys {
    /// The pattern of these pairs.
    pub(crate) fn pattern(self, at: &WorkloadContext, pairing: Pairing) -> Result<Pattern, Diagnostic> {
        let size = self.size.as_ref().map(|size| at.size(size)).transpose()?;
        let connections = at.connections(self.connections)?;
        let rounds = self.rounds.unwrap_or(1);
        if rounds == 0 {
            return Err(at.wrong("rounds", "at least one round"));
        }
        if size.is_none() && self.rounds.is_some() {
            return Err(at.wrong("rounds", "flows without a `size` never finish, so there is one round"));
        }
        let senders = match &pairing {
            Pairing::Permutation(hosts) | Pairing::RackToRack(hosts) => u64::from(*hosts),
            Pairing::Listed(pairs) => pairs.len() as u64,
        };
        let at_once = senders * u64::from(connections);
        let in_all = at.flows("rounds", at_once * u64::from(rounds))?;
        let datagrams = at.datagrams(self.datagrams, size.is_some())?;
        let (endless, mean_bytes) = (size.is_none(), size.as_ref().map(Size::exact_mean));
        let pattern = Pattern::new(move |seed| {
            let (pairing, size) = (pairing.clone(), size.clone());
            Rounds::new(RoundsConfig { pairing, size, connections, rounds, seed })
        });
        let flow_counts = FlowCounts::new(at_once, in_all);
        Ok(Pattern { endless, datagrams, flow_counts, mean_bytes, connections, ..pattern })
    }
}
