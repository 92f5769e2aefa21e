//! Individual schemes, paths and applications of flows that are listed one by one.

use tresse_fabric::{Path, Topology};
use tresse_units::Time;

use crate::diagnostic::Diagnostic;
use crate::plan::applications::App;
use crate::plan::case_builder::{Builder, Building};
use crate::plan::host_sets::HostSets;
use crate::plan::network::Routing;
use crate::plan::parts::{FlowSettings, Member};
use crate::plan::patterns::flows::Flow;
use crate::schema::host_names::Host;
use crate::schema::workload::Workload;

/// The individual properties of each of `flows`; `name` is that of their part.
///
/// # Errors
/// The first thing that is wrong, with its place in the file.
pub(crate) fn own<'a>(
    b: &Builder<'a>,
    (path, name): (&[&str], &str),
    w: &Workload,
    flows: &[Flow],
    building: &mut Building<'a>,
) -> Result<Vec<FlowSettings>, Diagnostic> {
    let mut all = Vec::new();
    for (i, flow) in flows.iter().enumerate() {
        let number = i.to_string();
        let path = [path, &["flow", &number]].concat();
        let scheme = flow.scheme.as_deref().or(w.scheme.as_deref());
        let bound_scheme = match flow.subflows {
            None => b.named(&path, "scheme", scheme, w, building)?,
            Some(n) => b.with_subflows(&path, scheme, n, w, building)?,
        };
        let group = building.group(flow.name.as_deref().unwrap_or(name));
        let application = flow.application.as_ref().or(w.application.as_ref());
        let application = application
            .map(App::new)
            .transpose()
            .map_err(|e| b.loaded.error(e.below("application").below_all(&path[..])))?;
        let datagrams = flow.datagrams.map(|r| r.0);
        if datagrams.is_some() && (flow.size.is_some() || application.is_some() || datagrams == Some(0)) {
            let message = "datagrams have a rate above 0, and neither a `size` nor an `application`";
            return Err(b.wrong(&path, "datagrams", message));
        }
        let subflows = building.bound_schemes()[bound_scheme].paths as usize;
        if flow.subflow_starts.len() > subflows {
            let message = format!("{} times for {subflows} subflows", flow.subflow_starts.len());
            return Err(b.wrong(&path, "subflow_starts", &message));
        }
        if flow.subflow_starts.first().is_some_and(|t| t.0 > 0) {
            let message = "the first subflow is opened with the flow: use \"0s\" (`start` sets the time)";
            return Err(b.wrong(&path, "subflow_starts", message));
        }
        let paths = match &flow.via[..] {
            [] => None,
            via => Some(paths(b, &path, flow, via, bound_scheme, building)?),
        };
        let own = FlowSettings {
            member: Member { bound_scheme, group },
            paths,
            subflow_starts: flow.subflow_starts.iter().map(|t| t.0).collect::<Vec<Time>>(),
            application,
            datagrams,
        };
        all.extend(std::iter::repeat_n(own, flow.count.unwrap_or(1) as usize));
    }
    Ok(all)
}

/// The paths of a flow that names the nodes on them.
fn paths(
    b: &Builder,
    at: &[&str],
    flow: &Flow,
    via: &[Vec<String>],
    bound_scheme: usize,
    building: &Building,
) -> Result<Vec<Path>, Diagnostic> {
    let wrong = |message: &str| b.wrong(at, "via", message);
    let bound_scheme = &building.bound_schemes()[bound_scheme];
    let Routing::Fixed(routes) = &*bound_scheme.routing else {
        return Err(wrong(
            "here the switches choose the paths: use fixed routes (`tresse explain shortest`)",
        ));
    };
    if via.len() != bound_scheme.paths as usize {
        let message = format!("{} paths for {} subflows", via.len(), bound_scheme.paths);
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

/// How many of the shortest paths are examined.
const MOST_PATHS: u32 = 65_536;

/// Whether a route passes these nodes, in this order.
fn passes(fabric: &Topology, route: &Path, nodes: &[u32]) -> bool {
    let mut passed = route.there.iter().map(|&port| fabric.network.ends[port as usize][1]);
    nodes.iter().all(|node| passed.any(|p| p == *node))
}
