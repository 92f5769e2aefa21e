//! The pattern `flows`.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_units::{Bytes, Duration, Rate};
use tresse_workload::Tasks;

use crate::diagnostic::Diagnostic;
use crate::plan::flow_sizes::beside;
use crate::plan::host_sets::HostSets;
use crate::plan::patterns::Pattern;
use crate::plan::patterns::kind::Keys;
use crate::plan::patterns::workload_context::WorkloadContext;
use crate::read::files::unreadable;
use crate::read::flow_file::{self, FlowError};
use crate::schema::bounds::LONGEST;
use crate::schema::host_names::Host;
use crate::schema::workload::Application;

/// The most flows of a list in an experiment, with those that `count` makes.
const MOST_LISTED: usize = 1_000_000;

/// Flows one by one, in the experiment or from a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flows {
    /// The flows.
    #[serde(default)]
    flow: Vec<Flow>,
    /// Instead of `flow`, a file of flows; the path is relative to the experiment's folder.
    file: Option<String>,
}

/// A flow.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flow {
    /// Its name in the `after` of other flows.
    pub id: Option<String>,
    /// The sending host: its name, or its number.
    pub from: Host,
    /// The receiving host.
    pub to: Host,
    /// Its size. Default: it sends until it is stopped.
    pub size: Option<Bytes>,
    /// When it starts; with `after`, counted from the end of those flows. Default: 0s.
    pub start: Option<Duration>,
    /// The flows that it waits for: their ids separated by spaces, or "2 of a b c".
    pub after: Option<String>,
    /// When it is stopped if it has not finished, counted like `start`. Default: when the case ends.
    pub stop: Option<Duration>,
    /// Its deadline, counted from its start.
    pub deadline: Option<Duration>,
    /// The number of the job that it belongs to, which ends when the last of its flows does.
    pub job: Option<u32>,
    /// The group of the results that it belongs to. Default: the workload's.
    pub name: Option<String>,
    /// Its scheme. Default: the workload's, otherwise the case's.
    pub scheme: Option<String>,
    /// How many subflows it has. Default: its scheme's number. Not for schemes whose path manager decides.
    pub subflows: Option<u32>,
    /// For each subflow, the nodes on its path, in this order, such as `[["DN1 in"], ["DN2 in"]]`.
    /// Default: any path. Only with fixed routes.
    #[serde(default)]
    pub via: Vec<Vec<String>>,
    /// For each subflow, when it is opened, counted from the start of the flow.
    #[serde(default)]
    pub subflow_starts: Vec<Duration>,
    /// The number of identical flows. Default: 1.
    pub count: Option<u32>,
    /// How its application writes. Default: all at once.
    pub application: Option<Application>,
    /// Instead of a connection, datagrams with this payload rate, without congestion control.
    pub datagrams: Option<Rate>,
}

impl Keys for Flows {
    const NAME: &'static str = "flows";

    fn build(self, at: &WorkloadContext) -> Result<Pattern, Diagnostic> {
        let tasks = match (&self.file, &self.flow[..]) {
            (Some(file), []) => from_file(at, file)?,
            (None, [_, ..]) => listed(at, &self.flow)?,
            _ => {
                let message = "either `file`, or the flows one by one: [[workloads.NAME.flow]]";
                return Err(at.wrong("pattern", message));
            }
        };
        // A file of flows, or flows that all come to an end by themselves.
        let arrivals = self.flow.iter().all(|flow| flow.size.is_some() && flow.datagrams.is_none());
        let stops = self.flow.iter().map(|flow| flow.stop.filter(|_| flow.after.is_none()));
        let stops_by = stops.collect::<Option<Vec<_>>>().and_then(|all| Some(all.into_iter().max()?.0));
        Ok(Pattern { arrivals, stops_by, flows: self.flow, ..Pattern::of_tasks(tasks) })
    }
}

fn listed(at: &WorkloadContext, flows: &[Flow]) -> Result<Tasks, Diagnostic> {
    let mut tasks = Vec::new();
    // By flow: the place of its entry.
    let mut entries = Vec::new();
    let wrong = |entry: usize, key: &str, message: &str| {
        let number = entry.to_string();
        let path = [at.path, &["flow", &number, key]].concat();
        at.loaded.error_at(&path, message)
    };
    for (i, flow) in flows.iter().enumerate() {
        let times = [("start", flow.start), ("stop", flow.stop), ("deadline", flow.deadline)];
        if let Some((key, _)) = times.iter().find(|(_, t)| t.is_some_and(|t| t.0 > LONGEST)) {
            return Err(wrong(i, key, "at most 1000s"));
        }
        let count = flow.count.unwrap_or(1);
        let all = tasks.len() + count as usize;
        if count == 0 {
            return Err(wrong(i, "count", "0: at least 1"));
        }
        if all > MOST_LISTED {
            let message = format!(
                "{all} flows, all of which are known from the start: at most {MOST_LISTED}; patterns such as `poisson` start \
                 theirs one by one"
            );
            return Err(wrong(i, "count", &message));
        }
        if count > 1 && flow.id.is_some() {
            return Err(wrong(i, "id", "this names one flow, but `count` makes several"));
        }
        let task = flow_file::Flow {
            id: flow.id.clone(),
            from: flow.from.clone(),
            to: flow.to.clone(),
            size: flow.size,
            start: flow.start.unwrap_or(Duration(0)),
            after: flow.after.clone(),
            deadline: flow.deadline,
            stop: flow.stop,
            job: flow.job,
        };
        tasks.extend(std::iter::repeat_n(task, count as usize));
        entries.extend(std::iter::repeat_n(i, count as usize));
    }
    let error = |e: FlowError| wrong(entries[e.flow], e.key, &e.message);
    flow_file::tasks(tasks, &HostSets { fabric: at.fabric }.names(), at.most()).map_err(error)
}

fn from_file(at: &WorkloadContext, file: &str) -> Result<Tasks, Diagnostic> {
    let path = beside(&at.loaded.source, file);
    let text = at.loaded.files.read(&path).map_err(|e| at.wrong("file", &unreadable(&path, &e)))?;
    flow_file::read(&path.display().to_string(), &text, &HostSets { fabric: at.fabric }.names(), at.most())
}
