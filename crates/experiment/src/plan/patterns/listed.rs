//! Flows one by one: in the experiment or from a file, of a collective operation, of a trace.

use std::fs;
use std::sync::Arc;

use tresse_fabric::{Path, Topology};
use tresse_units::{Duration, Time};
use tresse_workload as workload;
use tresse_workload::{CollectiveError, Goal, GraphError, MOST_FLOWS, Operation, Tasks};

use crate::diagnostic::Diagnostic;
use crate::keys::bounds::LONGEST;
use crate::keys::host_names::Host;
use crate::keys::workload::{Collective, FlowKey, FlowSize, Pattern as Kind, Workload};
use crate::plan::applications::App;
use crate::plan::case_builder::{Builder, Building};
use crate::plan::flow_sizes::{beside, quoted, unreadable};
use crate::plan::host_sets::HostSets;
use crate::plan::network::Routing;
use crate::plan::parts::{Make, Member, Own};
use crate::plan::patterns::At;
use crate::read::flow_file::{self, FlowError};

/// The tasks of a pattern of tasks.
///
/// # Errors
/// The first thing that is wrong, with its place in the file.
pub(crate) fn tasks(at: &At) -> Result<Tasks, Diagnostic> {
    match at.kind {
        Kind::Flows if at.w.flow.is_empty() == at.w.file.is_none() => {
            Err(at.wrong("pattern", "either `file`, or the flows one by one: [[workloads.NAME.flow]]"))
        }
        Kind::Flows => match &at.w.file {
            Some(name) => file(at, name),
            None => flows(at),
        },
        _ => trace(at),
    }
}

/// A collective operation.
///
/// # Errors
/// The first thing that is wrong, with its place in the file.
pub(crate) fn collective(at: &At) -> Result<Make, Diagnostic> {
    let w = at.w;
    let operation = match at.needed("collective", &w.collective, "collective = \"ring-all-reduce\"")? {
        Collective::RingAllReduce => Operation::RingAllReduce,
        Collective::TreeAllReduce => Operation::TreeAllReduce,
        Collective::AllGather => Operation::AllGather,
        Collective::ReduceScatter => Operation::ReduceScatter,
        Collective::AllToAll => Operation::AllToAll,
        Collective::Broadcast => Operation::Broadcast,
    };
    let bytes = match at.needed("size", &w.size, "size = \"100MB\"")? {
        FlowSize::Fixed(bytes) => bytes.0,
        _ => return Err(at.wrong("size", "what a rank holds: one size, such as \"100MB\"")),
    };
    let mut ranks = at.set("ranks", &w.ranks)?.unwrap_or_else(|| (0..at.b.fabric().hosts()).collect());
    if let Some(stride) = w.stride {
        let stride = at.number("stride", Some(stride), 1, ranks.len() as u32)?;
        let places = workload::strided(ranks.len() as u32, stride);
        ranks = places.into_iter().map(|place| ranks[place as usize]).collect();
    }
    let collective = workload::Collective {
        operation,
        ranks,
        bytes,
        chunks: w.chunks.unwrap_or(1),
        parallel: w.parallel,
        iterations: w.iterations.unwrap_or(1),
        compute: w.compute.map_or(0, |t| t.0),
    };
    if collective.compute > LONGEST {
        return Err(at.wrong("compute", "at most 1000s"));
    }
    let messages = collective.messages().saturating_mul(collective.iterations.into());
    if messages > u128::from(MOST_FLOWS) {
        let message = format!("{messages} messages: at most {MOST_FLOWS}");
        return Err(at.wrong("collective", &message));
    }
    let tasks = collective.tasks().map_err(|e| {
        let key = match e {
            CollectiveError::Alone | CollectiveError::Twice(_) => "ranks",
            CollectiveError::NoChunks | CollectiveError::Chunks => "chunks",
            CollectiveError::NoParallel | CollectiveError::Parallel(_) => "parallel",
            CollectiveError::TooSmall { .. } => "size",
            CollectiveError::Graph(GraphError::NoIterations) => "iterations",
            CollectiveError::Graph(_) => "collective",
        };
        at.wrong(key, &e.to_string())
    })?;
    if w.shuffle != Some(true) {
        return Ok(Arc::new(move |_| Box::new(tasks.clone())));
    }
    Ok(Arc::new(move |seed| {
        let ranks = workload::shuffled(collective.ranks.clone(), seed);
        let shuffled = workload::Collective { ranks, ..collective.clone() };
        Box::new(shuffled.tasks().expect("another order is as good"))
    }))
}

fn trace(at: &At) -> Result<Tasks, Diagnostic> {
    let file = at.needed("file", &at.w.file, "file = \"trace.goal\"")?;
    let path = beside(&at.b.loaded.source, &file);
    let text = fs::read_to_string(&path).map_err(|e| at.wrong("file", &unreadable(&path, &e)))?;
    let goal = Goal::read(&text).map_err(|e| {
        let line = text.lines().nth(e.line - 1).unwrap_or("");
        at.wrong("file", &quoted(&path, (e.line, e.column), &e.message, line))
    })?;
    let hosts = at.b.fabric().hosts();
    if goal.ranks > hosts {
        let message = format!("{} has {} ranks, and the fabric {hosts} hosts", path.display(), goal.ranks);
        return Err(at.wrong("file", &message));
    }
    Ok(goal.tasks)
}

fn flows(at: &At) -> Result<Tasks, Diagnostic> {
    let mut flows = Vec::new();
    // By flow, the entry that it is of.
    let mut entries = Vec::new();
    let wrong = |entry: usize, key: &str, message: &str| {
        let number = entry.to_string();
        let path = [at.path, &["flow", &number, key]].concat();
        at.b.loaded.error_at(&path, message)
    };
    for (i, flow) in at.w.flow.iter().enumerate() {
        let times = [("start", flow.start), ("stop", flow.stop), ("deadline", flow.deadline)];
        if let Some((key, _)) = times.iter().find(|(_, t)| t.is_some_and(|t| t.0 > LONGEST)) {
            return Err(wrong(i, key, "at most 1000s"));
        }
        let count = flow.count.unwrap_or(1);
        if count == 0 || u64::from(count) + flows.len() as u64 > MOST_FLOWS {
            return Err(wrong(i, "count", &format!("1 to {MOST_FLOWS} flows")));
        }
        if count > 1 && flow.id.is_some() {
            return Err(wrong(i, "id", "this names one flow, and `count` makes several"));
        }
        let flow = flow_file::Flow {
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
        flows.extend(std::iter::repeat_n(flow, count as usize));
        entries.extend(std::iter::repeat_n(i, count as usize));
    }
    let error = |e: FlowError| wrong(entries[e.flow], e.key, &e.message);
    flow_file::tasks(flows, &HostSets { fabric: at.b.fabric() }.names()).map_err(error)
}

/// The flows of a file.
fn file(at: &At, file: &str) -> Result<Tasks, Diagnostic> {
    let path = beside(&at.b.loaded.source, file);
    let text = fs::read_to_string(&path).map_err(|e| at.wrong("file", &unreadable(&path, &e)))?;
    let hosts = HostSets { fabric: at.b.fabric() }.names();
    flow_file::read(&path.display().to_string(), &text, &hosts)
}

/// What each flow of a list has of its own.
///
/// # Errors
/// The first thing that is wrong, with its place in the file.
pub(crate) fn own<'a>(
    b: &Builder<'a>,
    path: &[&str],
    name: &str,
    w: &Workload,
    building: &mut Building<'a>,
) -> Result<Vec<Own>, Diagnostic> {
    let mut all = Vec::new();
    for (i, flow) in w.flow.iter().enumerate() {
        let number = i.to_string();
        let path = [path, &["flow", &number]].concat();
        let scheme = flow.scheme.as_deref().or(w.scheme.as_deref());
        let carrier = match flow.subflows {
            None => b.named(&path, "scheme", scheme, w, building)?,
            Some(n) => b.with_subflows(&path, scheme, n, w, building)?,
        };
        let group = building.group(flow.name.as_deref().unwrap_or(name));
        let application = flow.application.as_ref().or(w.application.as_ref());
        let application = application
            .map(App::new)
            .transpose()
            .map_err(|e| b.loaded.error(e.below("application").below_all(&path[..])))?;
        let datagrams = flow.datagrams.or(w.datagrams).map(|r| r.0);
        if datagrams.is_some() && (flow.size.is_some() || application.is_some() || datagrams == Some(0)) {
            let message = "datagrams have a rate above 0, and neither a `size` nor an `application`";
            return Err(b.wrong(&path, "datagrams", message));
        }
        let subflows = building.carriers()[carrier].paths as usize;
        if flow.subflow_starts.len() > subflows {
            let message = format!("{} times for {subflows} subflows", flow.subflow_starts.len());
            return Err(b.wrong(&path, "subflow_starts", &message));
        }
        if flow.subflow_starts.first().is_some_and(|t| t.0 > 0) {
            let message = "the first subflow is opened with the flow: \"0s\" (`start` says when)";
            return Err(b.wrong(&path, "subflow_starts", message));
        }
        let paths = match &flow.via[..] {
            [] => None,
            via => Some(paths(b, &path, flow, via, carrier, building)?),
        };
        let own = Own {
            member: Member { carrier, group },
            paths,
            subflow_starts: flow.subflow_starts.iter().map(|t| t.0).collect::<Vec<Time>>(),
            application,
            datagrams,
        };
        all.extend(std::iter::repeat_n(own, flow.count.unwrap_or(1) as usize));
    }
    Ok(all)
}

/// The paths of a flow that says which nodes they pass.
fn paths(
    b: &Builder,
    at: &[&str],
    flow: &FlowKey,
    via: &[Vec<String>],
    carrier: usize,
    building: &Building,
) -> Result<Vec<Path>, Diagnostic> {
    let wrong = |message: &str| b.wrong(at, "via", message);
    let carrier = &building.carriers()[carrier];
    let Routing::Fixed(routes) = &*carrier.routing else {
        return Err(wrong("here the switches choose the ways: fixed routes (`tresse explain shortest`)"));
    };
    if via.len() != carrier.paths as usize {
        let message = format!("{} paths for {} subflows", via.len(), carrier.paths);
        return Err(wrong(&message));
    }
    let hosts = HostSets { fabric: b.fabric() }.names();
    let end = |host: &Host, key: &str| hosts.find(host).map_err(|e| b.wrong(at, key, &e));
    let (from, to) = (end(&flow.from, "from")?, end(&flow.to, "to")?);
    let all = routes.all(from, to, MOST_PATHS);
    via.iter()
        .map(|nodes| {
            let wanted = nodes.iter().map(|name| {
                b.fabric().node(name).ok_or_else(|| wrong(&format!("there is no node `{name}`")))
            });
            let wanted = wanted.collect::<Result<Vec<u32>, _>>()?;
            let found = all.iter().find(|route| passes(b.fabric(), route, &wanted));
            found.cloned().ok_or_else(|| {
                let names = nodes.join(", ");
                wrong(&format!("no shortest path from {} to {} passes {names}", flow.from, flow.to))
            })
        })
        .collect()
}

/// Of the shortest paths, so many are looked at.
const MOST_PATHS: u32 = 65_536;

/// Whether a route passes these nodes, in this order.
fn passes(fabric: &Topology, route: &Path, nodes: &[u32]) -> bool {
    let mut passed = route.there.iter().map(|&port| fabric.network.ends[port as usize][1]);
    nodes.iter().all(|node| passed.any(|p| p == *node))
}
