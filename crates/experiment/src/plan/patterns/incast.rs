//! The pattern `incast`.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_workload::{Incast as Source, IncastConfig};

use crate::diagnostic::Diagnostic;
use crate::plan::patterns::kind::Keys;
use crate::plan::patterns::workload_context::WorkloadContext;
use crate::plan::patterns::{FlowCounts, Pattern};
use crate::schema::workload::{FlowSize, HostSet};

/// Several hosts send to one at the same time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Incast {
    /// The size of a flow.
    size: Option<FlowSize>,
    /// How many connections carry each transfer at the same time, each with its own message of `size`. Default: 1.
    connections: Option<u32>,
    /// How many times they send; the next round begins when every flow of the previous one has finished. Default:
    /// 1.
    rounds: Option<u32>,
    /// How many of the senders send. Default: all.
    servers: Option<u32>,
    /// The hosts that send. Default: all but the receiver.
    senders: Option<HostSet>,
    /// The host that receives. Default: host 0.
    receivers: Option<HostSet>,
}

impl Keys for Incast {
    const NAME: &'static str = "incast";

    fn build(self, at: &WorkloadContext) -> Result<Pattern, Diagnostic> {
        let size = at.sized(self.size)?;
        let receivers = match &self.receivers {
            Some(receivers) => at.hosts("receivers", Some(receivers))?,
            None => vec![0],
        };
        let [receiver] = receivers[..] else {
            return Err(at.wrong("receivers", "an incast has one receiver"));
        };
        let mut senders = at.hosts("senders", self.senders.as_ref())?;
        senders.retain(|&host| host != receiver);
        if let Some(servers) = self.servers {
            let (hosts, most) = (at.fabric.hosts(), senders.len());
            let wrong = |message: String| Err(at.wrong("servers", &message));
            match (servers as usize, &self.senders) {
                (0, _) => return wrong("0 servers: at least 1 must send".to_owned()),
                (n, None) if n > most => {
                    return wrong(format!("{n} servers: this fabric has {hosts} hosts, so at most {most}"));
                }
                (n, Some(_)) if n > most => {
                    return wrong(format!("{n} servers: `senders` has only {most}"));
                }
                (n, _) => senders.truncate(n),
            }
        }
        if senders.is_empty() {
            return Err(at.wrong("senders", "no host is left to send"));
        }
        let connections = at.connections(self.connections)?;
        let senders: Vec<u32> =
            senders.into_iter().flat_map(|s| std::iter::repeat_n(s, connections as usize)).collect();
        let rounds = at.number("rounds", self.rounds, 1, u32::MAX)?;
        let at_once = senders.len() as u64;
        let in_all = at.flows("rounds", at_once * u64::from(rounds))?;
        let pattern = Pattern::new(move |seed| {
            let (senders, size) = (senders.clone(), size.clone());
            Source::new(IncastConfig { senders, receiver, size, rounds, seed })
        });
        let flow_counts = FlowCounts::new(at_once, in_all);
        Ok(Pattern { has_jobs: true, flow_counts, connections, ..pattern })
    }
}
