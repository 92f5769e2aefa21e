//! The pattern `incast`.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_fabric::AllowedPairs;
use tresse_units::{Duration, SECOND};
use tresse_workload::{Incast as Closed, IncastConfig, OpenIncast, OpenIncastConfig, Size};

use crate::diagnostic::Diagnostic;
use crate::plan::patterns::arrivals::{ArrivalKeys, Arrivals};
use crate::plan::patterns::kind::Keys;
use crate::plan::patterns::workload_context::WorkloadContext;
use crate::plan::patterns::{FlowCounts, Offered, Pattern};
use crate::schema::workload::{FlowSize, HostSet};

/// Several hosts send to one at the same time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Incast {
    /// The size of a flow.
    size: Option<FlowSize>,
    /// How many connections carry each transfer at the same time, each with its own message of `size`. Default: 1.
    connections: Option<u32>,
    /// How many times they send, by default once; the next round begins when every flow of the previous one has
    /// finished. For incasts that arrive, their number; default: they arrive until the last flow of the other parts has
    /// arrived, or until `duration`.
    rounds: Option<u32>,
    /// How many of the senders send. Default: all.
    servers: Option<u32>,
    /// The hosts that send. Default: all but the receiver.
    senders: Option<HostSet>,
    /// The host that receives; default: host 0. If incasts arrive, the hosts of which each draws one; default: all.
    receivers: Option<HostSet>,
    /// Incasts arrive, at this mean time from each other, whether or not earlier ones have ended.
    every: Option<Duration>,
    /// Incasts arrive, at a rate at which their payload takes this share of the receivers' links: above 0, at most 1.
    load: Option<f64>,
    /// How incasts arrive. Default: `poisson`.
    arrivals: Option<Arrivals>,
}

impl Keys for Incast {
    const NAME: &'static str = "incast";

    fn build(self, at: &WorkloadContext) -> Result<Pattern, Diagnostic> {
        let size = at.sized(self.size.clone())?;
        if self.every.is_some() || self.load.is_some() {
            return self.open(at, size);
        }
        if self.arrivals.is_some() {
            return Err(at.wrong("arrivals", "incasts arrive with `every` or `load`: set one of them"));
        }
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
        let mean_bytes = Some(size.exact_mean());
        let pattern = Pattern::new(move |seed| {
            let (senders, size) = (senders.clone(), size.clone());
            Closed::new(IncastConfig { senders, receiver, size, rounds, seed })
        });
        let flow_counts = FlowCounts::new(at_once, in_all);
        Ok(Pattern { has_jobs: true, flow_counts, mean_bytes, connections, ..pattern })
    }
}

impl Incast {
    /// Incasts that arrive.
    fn open(self, at: &WorkloadContext, size: Size) -> Result<Pattern, Diagnostic> {
        let senders = at.hosts("senders", self.senders.as_ref())?;
        let receivers = at.hosts("receivers", self.receivers.as_ref())?;
        let others = |to: &u32| senders.iter().filter(|from| *from != to).count();
        let most = receivers.iter().map(others).min().unwrap_or(0);
        if most == 0 {
            return Err(at.wrong("senders", "no host is left to send to some of the receivers"));
        }
        let servers = at.number("servers", self.servers, most as u32, most as u32)?;
        let connections = at.connections(self.connections)?;
        let at_once = u64::from(servers) * u64::from(connections);
        let mean_bytes = size.exact_mean();
        let bits = mean_bytes * 8.0 * at_once as f64;
        let pairs = AllowedPairs { from: &senders, to: &receivers, inter_rack: false };
        let back = AllowedPairs { from: &receivers, to: &senders, inter_rack: false };
        let no_path = || at.wrong("pattern", "a sender has no path to its receiver");
        let capacity = at.capacities.between(at.fabric, &pairs).ok_or_else(no_path)?;
        let links = at.capacities.between(at.fabric, &back).ok_or_else(no_path)?.access;
        let keys = ArrivalKeys {
            every: self.every,
            load: self.load,
            arrivals: self.arrivals,
            count: ("rounds", self.rounds.map(u64::from)),
            bits,
            links,
            whose: "the receivers'",
        };
        let (arrivals, incasts) = keys.resolve(at)?;
        let in_all = at.flows("rounds", (incasts * at_once as f64) as u64)?;
        let pattern = Pattern::new(move |seed| {
            let (senders, receivers, size) = (senders.clone(), receivers.clone(), size.clone());
            OpenIncast::new(OpenIncastConfig {
                senders,
                receivers,
                servers,
                connections,
                size,
                arrivals,
                seed,
            })
        });
        let endless = self.rounds.is_none() && at.duration.is_none();
        let offered = Some(Offered { rate: bits * SECOND as f64 / arrivals.interval, capacity });
        let flow_counts = FlowCounts::new(at_once, in_all);
        let pattern = Pattern { mean_bytes: Some(mean_bytes), connections, ..pattern };
        Ok(Pattern { endless, has_jobs: true, arrivals: true, offered, flow_counts, ..pattern })
    }
}
