//! The pattern `jobs`.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_fabric::AllowedPairs;
use tresse_units::{Bytes, Duration, SECOND};
use tresse_workload::{Jobs as Source, JobsConfig, OpenJobs, OpenJobsConfig, Span};

use crate::diagnostic::Diagnostic;
use crate::plan::patterns::arrivals::{ArrivalKeys, Arrivals};
use crate::plan::patterns::kind::Keys;
use crate::plan::patterns::workload_context::WorkloadContext;
use crate::plan::patterns::{FlowCounts, Offered, Pattern};
use crate::schema::workload::Draw;

/// Clients send requests to several servers at once, again and again (XMP §5.2.1).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Jobs {
    /// How many jobs run at the same time. Default: 1. Not for jobs that arrive.
    jobs: Option<u32>,
    /// How many servers a client sends requests to.
    servers: Option<u32>,
    /// The size of a request.
    request: Option<Bytes>,
    /// The size of a response.
    response: Option<Bytes>,
    /// The time from the end of a job to the start of the next. Default: 0s. Not for jobs that arrive.
    gap: Option<Draw>,
    /// The deadline of a job, counted from its start.
    deadline: Option<Draw>,
    /// The total number of jobs. Default: jobs continue until the last flow of the other parts has arrived (where
    /// these do not arrive: until they are over), or until `duration`.
    total: Option<u64>,
    /// Jobs arrive, at this mean time from each other, whether or not earlier ones have ended.
    every: Option<Duration>,
    /// Jobs arrive, at a rate at which their requests and responses take this share of all hosts' links: above 0, at
    /// most 1.
    load: Option<f64>,
    /// How jobs arrive. Default: `poisson`.
    arrivals: Option<Arrivals>,
}

/// A job's flows, checked.
struct OpenSizes {
    servers: u32,
    request: u64,
    response: u64,
    deadline: Option<Span>,
}

impl Keys for Jobs {
    const NAME: &'static str = "jobs";

    fn build(self, at: &WorkloadContext) -> Result<Pattern, Diagnostic> {
        let hosts = at.fabric.hosts();
        let servers = at.needed("servers", self.servers, "servers = 8")?;
        if servers == 0 || servers >= hosts {
            let message = format!("{servers} servers and a client of {hosts} hosts: 1 to {}", hosts - 1);
            return Err(at.wrong("servers", &message));
        }
        let request = at.needed("request", self.request, "request = \"2kB\"")?;
        let response = at.needed("response", self.response, "response = \"64kB\"")?;
        let (request, response) = (at.message("request", request)?, at.message("response", response)?);
        let deadline = at.deadline(self.deadline)?;
        if self.every.is_some() || self.load.is_some() {
            return self.open(at, OpenSizes { servers, request, response, deadline });
        }
        if self.arrivals.is_some() {
            return Err(at.wrong("arrivals", "jobs arrive with `every` or `load`: set one of them"));
        }
        let jobs = at.number("jobs", self.jobs, 1, 65_536)?;
        let gap = at.span("gap", self.gap.unwrap_or(Draw::Fixed(Duration(0))), 0)?;
        let at_once = u64::from(jobs) * u64::from(servers);
        let in_all = match self.total {
            Some(total) => at.flows("total", total.saturating_mul(2 * u64::from(servers)))?,
            None => at_once,
        };
        let flow_counts = FlowCounts::new(at_once, in_all);
        let mean_bytes = Some((request + response) as f64 / 2.0);
        let count = self.total.map(|total| total as u32);
        let pattern = Pattern::new(move |seed| {
            Source::new(JobsConfig { hosts, jobs, servers, request, response, gap, deadline, count, seed })
        });
        Ok(Pattern { has_jobs: true, endless: count.is_none(), flow_counts, mean_bytes, ..pattern })
    }
}

impl Jobs {
    /// Jobs that arrive.
    fn open(self, at: &WorkloadContext, job: OpenSizes) -> Result<Pattern, Diagnostic> {
        for (key, is_set) in [("jobs", self.jobs.is_some()), ("gap", self.gap.is_some())] {
            if is_set {
                let message =
                    "jobs that arrive wait for no other: leave it out, or leave out `every` and `load`";
                return Err(at.wrong(key, message));
            }
        }
        let OpenSizes { servers, request, response, deadline } = job;
        let hosts = at.fabric.hosts();
        let all: Vec<u32> = (0..hosts).collect();
        let pairs = AllowedPairs { from: &all, to: &all, inter_rack: false };
        let no_path = || at.wrong("pattern", "a host has no path to another");
        let capacity = at.capacities.between(at.fabric, &pairs).ok_or_else(no_path)?;
        let bits = f64::from(servers) * (request + response) as f64 * 8.0;
        let keys = ArrivalKeys {
            every: self.every,
            load: self.load,
            arrivals: self.arrivals,
            count: ("total", self.total),
            bits,
            links: capacity.access,
            whose: "all hosts'",
        };
        let (arrivals, jobs) = keys.resolve(at)?;
        let at_once = u64::from(servers);
        let in_all = at.flows("total", (jobs * 2.0 * at_once as f64) as u64)?;
        let pattern = Pattern::new(move |seed| {
            OpenJobs::new(OpenJobsConfig { hosts, servers, request, response, deadline, arrivals, seed })
        });
        let endless = self.total.is_none() && at.duration.is_none();
        let offered = Some(Offered { rate: bits * SECOND as f64 / arrivals.interval, capacity });
        let flow_counts = FlowCounts::new(at_once, in_all);
        let mean_bytes = Some((request + response) as f64 / 2.0);
        Ok(Pattern { endless, has_jobs: true, arrivals: true, offered, flow_counts, mean_bytes, ..pattern })
    }
}
