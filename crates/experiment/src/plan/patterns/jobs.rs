//! The pattern `jobs`.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_units::{Bytes, Duration};
use tresse_workload::{Jobs as Source, JobsConfig};

use crate::diagnostic::Diagnostic;
use crate::plan::patterns::kind::Keys;
use crate::plan::patterns::workload_context::WorkloadContext;
use crate::plan::patterns::{FlowCounts, Pattern};
use crate::schema::workload::Draw;

/// Clients send requests to several servers at once, again and again (XMP §5.2.1).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Jobs {
    /// How many jobs run at the same time. Default: 1.
    jobs: Option<u32>,
    /// How many servers a client sends requests to.
    servers: Option<u32>,
    /// The size of a request.
    request: Option<Bytes>,
    /// The size of a response.
    response: Option<Bytes>,
    /// The time from the end of a job to the start of the next. Default: 0s.
    gap: Option<Draw>,
    /// The deadline of a job, counted from its start.
    deadline: Option<Draw>,
    /// The total number of jobs. Default: jobs continue as long as the other parts.
    total: Option<u64>,
}

impl Keys for Jobs {
    const NAME: &'static str = "jobs";

    fn build(self, at: &WorkloadContext) -> Result<Pattern, Diagnostic> {
        let hosts = at.fabric.hosts();
        let jobs = at.number("jobs", self.jobs, 1, 65_536)?;
        let servers = at.needed("servers", self.servers, "servers = 8")?;
        if servers == 0 || servers >= hosts {
            let message = format!("{servers} servers and a client of {hosts} hosts: 1 to {}", hosts - 1);
            return Err(at.wrong("servers", &message));
        }
        let request = at.needed("request", self.request, "request = \"2kB\"")?;
        let response = at.needed("response", self.response, "response = \"64kB\"")?;
        let (request, response) = (at.message("request", request)?, at.message("response", response)?);
        let gap = at.span("gap", self.gap.unwrap_or(Draw::Fixed(Duration(0))), 0)?;
        let deadline = at.deadline(self.deadline)?;
        let at_once = u64::from(jobs) * u64::from(servers);
        let in_all = match self.total {
            Some(total) => at.flows("total", total.saturating_mul(2 * u64::from(servers)))?,
            None => at_once,
        };
        let flow_counts = FlowCounts::new(at_once, in_all);
        let count = self.total.map(|total| total as u32);
        let pattern = Pattern::new(move |seed| {
            Source::new(JobsConfig { hosts, jobs, servers, request, response, gap, deadline, count, seed })
        });
        Ok(Pattern { has_jobs: true, endless: count.is_none(), flow_counts, ..pattern })
    }
}
