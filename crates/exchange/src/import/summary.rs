//! What was imported, in numbers that a person can check against the files.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use tresse_units::{Bytes, Duration, Rate, SECOND};

use super::draft::{Draft, Traffic};
use super::graph::Graph;

/// The totals of an import.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The network; none if the files do not describe one.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkSummary>,
    /// The flows; none if the files have none.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub flows: Option<FlowsSummary>,
    /// The sizes; none if the file is no distribution.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SizesSummary>,
}

/// The network of an import.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct NetworkSummary {
    /// How many hosts.
    pub hosts: usize,
    /// How many switches.
    pub switches: usize,
    /// How many links, each with two directions.
    pub links: usize,
    /// The links by their speed, the slowest first.
    pub links_by_rate: Vec<LinksOfRate>,
    /// Links that are among these, but have failed.
    pub failed_links: usize,
}

/// The links of one speed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinksOfRate {
    /// Their rate, bit/s.
    pub rate_bps: u64,
    /// How many.
    pub links: usize,
}

/// The flows of an import.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FlowsSummary {
    /// How many.
    pub flows: usize,
    /// Those that have no end.
    pub endless_flows: usize,
    /// Those that wait for others, so that the file does not say when they start.
    pub waiting_flows: usize,
    /// The bytes of all flows that have an end.
    pub size_bytes: u64,
    /// When the first flow starts that waits for no other, ns; none if all wait.
    pub first_start_ns: Option<f64>,
    /// The time from the first start to the last, ns.
    pub span_ns: Option<f64>,
    /// The bytes over this time, divided by the rates of all links of hosts; none if it is 0, or if flows wait or have
    /// no end.
    pub load: Option<f64>,
}

/// The flow sizes of an import.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SizesSummary {
    /// Their mean, bytes.
    pub mean_size_bytes: f64,
    /// The largest, bytes.
    pub largest_size_bytes: u64,
}

impl Summary {
    pub(super) fn of(draft: &Draft) -> Self {
        let sizes = match &draft.traffic {
            Traffic::Sizes(_, sizes) => {
                let (mean, largest) = (sizes.mean(), sizes.largest());
                Some(SizesSummary { mean_size_bytes: mean, largest_size_bytes: largest })
            }
            Traffic::Flows(..) | Traffic::Permutation => None,
        };
        let flows = match &draft.traffic {
            Traffic::Flows(..) => Some(FlowsSummary::of(draft)),
            Traffic::Sizes(..) | Traffic::Permutation => None,
        };
        // The network of a distribution is ours.
        let network = sizes.is_none().then(|| NetworkSummary::of(&draft.graph, draft.failed.len()));
        Self { network, flows, sizes }
    }
}

impl NetworkSummary {
    fn of(graph: &Graph, failed: usize) -> Self {
        let hosts = graph.nodes.iter().filter(|node| node.host).count();
        let mut rates: BTreeMap<u64, usize> = BTreeMap::new();
        graph.links.iter().for_each(|link| *rates.entry(link.rate.0).or_default() += 1);
        Self {
            hosts,
            switches: graph.nodes.len() - hosts,
            links: graph.links.len(),
            links_by_rate: rates
                .into_iter()
                .map(|(rate_bps, links)| LinksOfRate { rate_bps, links })
                .collect(),
            failed_links: failed,
        }
    }
}

impl FlowsSummary {
    fn of(draft: &Draft) -> Self {
        let Traffic::Flows(flows, _) = &draft.traffic else { return Self::default() };
        let endless_flows = flows.iter().filter(|flow| flow.size.is_none()).count();
        let waiting_flows = flows.iter().filter(|flow| flow.after.is_some()).count();
        let starts = || flows.iter().filter(|flow| flow.after.is_none()).map(|flow| flow.start.0);
        let (first, last) = (starts().min(), starts().max());
        let span = first.zip(last).map(|(first, last)| last - first);
        let sizes = flows.iter().filter_map(|flow| flow.size);
        let size_bytes = sizes.fold(0u64, |sum, size| sum.saturating_add(size.0));
        let is_host = |node: usize| draft.graph.nodes[node].host;
        let links = draft.graph.links.iter().filter(|link| link.ends.iter().any(|&end| is_host(end)));
        let rates: f64 = links.map(|link| link.rate.0 as f64).sum();
        let load = span.filter(|&span| span > 0 && waiting_flows == 0 && endless_flows == 0).map(|span| {
            let seconds = span as f64 / SECOND as f64;
            size_bytes as f64 * 8.0 / seconds / rates
        });
        let ns = |ps: u64| ps as f64 / 1000.0;
        Self {
            flows: flows.len(),
            endless_flows,
            waiting_flows,
            size_bytes,
            first_start_ns: first.map(ns),
            span_ns: span.map(ns),
            load,
        }
    }
}

impl fmt::Display for Summary {
    /// A line for the network, one for the flows, one for the sizes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        lines.extend(self.network.as_ref().map(|n| n.to_string()));
        lines.extend(self.flows.as_ref().map(|n| n.to_string()));
        if let Some(SizesSummary { mean_size_bytes, largest_size_bytes }) = &self.sizes {
            lines.push(format!("sizes: mean {mean_size_bytes:.0} B, at most {largest_size_bytes} B"));
        }
        f.write_str(&lines.join("\n"))
    }
}

fn several(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

impl fmt::Display for NetworkSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rates: Vec<String> =
            self.links_by_rate.iter().map(|of| format!("{} of {}", of.links, Rate(of.rate_bps))).collect();
        let [hosts, switches] =
            [several(self.hosts, "host", "hosts"), several(self.switches, "switch", "switches")];
        write!(f, "network: {hosts}, {switches}, {}", several(self.links, "link", "links"))?;
        write!(f, " ({})", rates.join(", "))?;
        match self.failed_links {
            0 => Ok(()),
            failed => write!(f, ", {failed} of them failed"),
        }
    }
}

impl fmt::Display for FlowsSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = Bytes(self.size_bytes);
        write!(f, "flows: {}, {bytes} in all", self.flows)?;
        if self.endless_flows > 0 {
            write!(f, ", {} without an end", self.endless_flows)?;
        }
        if self.waiting_flows > 0 {
            write!(f, ", {} after others", self.waiting_flows)?;
        }
        let time = |ns: f64| Duration((ns * 1000.0) as u64);
        match (self.first_start_ns, self.span_ns) {
            (Some(first), Some(0.0)) => write!(f, ", starts at {}", time(first))?,
            (Some(first), Some(span)) => write!(f, ", starts from {} over {}", time(first), time(span))?,
            _ => {}
        }
        self.load.map_or(Ok(()), |load| write!(f, ", load {load:.3} of the hosts' links"))
    }
}
