//! The pattern `on-off`.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_units::{Duration, NEVER, Rate};
use tresse_workload::{OnOff as Source, OnOffConfig};

use crate::diagnostic::Diagnostic;
use crate::plan::patterns::kind::Keys;
use crate::plan::patterns::workload_context::WorkloadContext;
use crate::plan::patterns::{FlowCounts, Pattern};
use crate::schema::workload::{Draw, HostSet};

/// Flows that alternate between sending and pausing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OnOff {
    /// The hosts that send.
    senders: Option<HostSet>,
    /// The hosts that receive, one for each sender.
    receivers: Option<HostSet>,
    /// How long a flow sends.
    on: Option<Draw>,
    /// How long it pauses.
    off: Option<Draw>,
    /// When the first flow begins. Default: 0s.
    start: Option<Duration>,
    /// When all flows end. Default: when the case ends.
    stop: Option<Duration>,
    /// Instead of connections, datagrams with this payload rate, without congestion control.
    datagrams: Option<Rate>,
}

impl Keys for OnOff {
    const NAME: &'static str = "on-off";

    fn build(self, at: &WorkloadContext) -> Result<Pattern, Diagnostic> {
        let senders = at.needed("senders", self.senders, "senders = \"host 0\"")?;
        let receivers = at.needed("receivers", self.receivers, "receivers = \"host 1\"")?;
        let from = at.hosts("senders", Some(&senders))?;
        let to = at.hosts("receivers", Some(&receivers))?;
        if from.len() != to.len() {
            let message = format!("{} senders and {} receivers: one each", from.len(), to.len());
            return Err(at.wrong("receivers", &message));
        }
        let flows: Vec<(u32, u32)> = from.into_iter().zip(to).collect();
        if flows.iter().any(|(from, to)| from == to) {
            return Err(at.wrong("receivers", "a host does not send to itself"));
        }
        let on = at.span("on", at.needed("on", self.on, "on = \"5s\"")?, 1)?;
        let off = at.span("off", at.needed("off", self.off, "off = \"5s\"")?, 0)?;
        let (start, stop) = (self.start.map_or(0, |t| t.0), self.stop.map_or(NEVER, |t| t.0));
        if start >= stop {
            return Err(at.wrong("stop", "it ends before it starts"));
        }
        let datagrams = at.datagrams(self.datagrams, false)?;
        let at_once = flows.len() as u64;
        let flow_counts = FlowCounts::new(at_once, at_once);
        let pattern = Pattern::new(move |seed| {
            let flows = flows.clone();
            Source::new(OnOffConfig { flows, on, off, start, stop, seed })
        });
        Ok(Pattern { endless: self.stop.is_none(), datagrams, flow_counts, ..pattern })
    }
}
