//! Networks as files: in the forms that `topology = "file"` reads, and for Graphviz.

use std::fmt::Write;

use serde_json::json;
use tresse_experiment::plan::network;
use tresse_experiment::{Diagnostic, Loaded};
use tresse_fabric::Topology;
use tresse_units::{Duration, Queue, Rate};

/// The file format of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphFormat {
    /// Node-link JSON, which networkx reads, and `topology = "file"`.
    Json,
    /// GraphML, which is read by both too.
    Graphml,
    /// Graphviz.
    Dot,
}

/// The network of an experiment, as the text of a file.
///
/// # Errors
/// An error in `[fabric]`, with its position.
pub fn graph_text(loaded: &Loaded, format: GraphFormat) -> Result<String, Diagnostic> {
    let topology = network::topology(loaded)?;
    Ok(match format {
        GraphFormat::Json => node_link(&topology),
        GraphFormat::Graphml => graphml(&topology),
        GraphFormat::Dot => dot(&topology),
    })
}

/// The values of a port, in the order of [`LINK`].
fn values(topology: &Topology, port: u32) -> [String; 6] {
    let config = topology.configs[port as usize];
    // A fraction of 2^32 is exact.
    let loss = config.loss.probability().parts() as f64 / (1u64 << 32) as f64;
    [
        topology.layer_name(port).to_owned(),
        Rate(config.rate).to_string(),
        Duration(config.delay).to_string(),
        Queue::from(config.limit).to_string(),
        Queue::from(config.mark).to_string(),
        loss.to_string(),
    ]
}

const LINK: [&str; 6] = ["layer", "rate", "delay", "queue", "mark", "loss"];

/// The rack and the pod of a host; `None` for a switch.
fn rack_and_pod(topology: &Topology, node: u32) -> Option<[u32; 2]> {
    let each = topology.network.hosts / topology.hosts();
    let host = (node / each) as usize;
    (node < topology.network.hosts).then(|| [topology.racks[host], topology.pods[host]])
}

fn ports(topology: &Topology) -> std::ops::Range<u32> {
    0..topology.configs.len() as u32
}

/// Node-link JSON of a directed graph, an edge for each port in their order, a line for each node and edge.
pub fn node_link(topology: &Topology) -> String {
    let nodes = (0..).zip(&topology.node_names).map(|(node, name)| match rack_and_pod(topology, node) {
        Some([rack, pod]) => json!({ "id": name, "kind": "host", "rack": rack, "pod": pod }),
        None => json!({ "id": name, "kind": "switch" }),
    });
    let edges = ports(topology).map(|port| {
        let [source, target] = topology.end_names(port);
        let [layer, rate, delay, queue, mark, loss] = values(topology, port);
        let loss: f64 = loss.parse().expect("a number");
        json!({
            "source": source, "target": target, "layer": layer, "rate": rate, "delay": delay, "queue": queue,
            "mark": mark, "loss": loss,
        })
    });
    let lines = |values: &mut dyn Iterator<Item = serde_json::Value>| -> String {
        values.map(|v| v.to_string()).collect::<Vec<_>>().join(",\n")
    };
    let mut pairs = topology.network.ends.clone();
    pairs.sort_unstable();
    let parallel = pairs.windows(2).any(|pair| pair[0] == pair[1]);
    format!(
        "{{\"directed\": true, \"multigraph\": {parallel}, \"graph\": {{}},\n\"nodes\": [\n{}\n],\n\"edges\": \
         [\n{}\n]}}\n",
        lines(&mut nodes.into_iter()),
        lines(&mut edges.into_iter())
    )
}

/// The same as GraphML.
pub fn graphml(topology: &Topology) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<graphml \
                    xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
        .to_owned();
    let node_keys = [("kind", "string"), ("rack", "long"), ("pod", "long")].map(|(n, t)| ("node", n, t));
    let link_keys = LINK.map(|name| ("edge", name, if name == "loss" { "double" } else { "string" }));
    for (of, name, kind) in node_keys.into_iter().chain(link_keys) {
        let _ = writeln!(text, "<key id=\"{name}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>");
    }
    text += "<graph edgedefault=\"directed\">\n";
    let data = |key: &str, value: &str| format!("<data key=\"{key}\">{}</data>", escaped(value));
    for (node, name) in (0..).zip(&topology.node_names) {
        let inner = match rack_and_pod(topology, node) {
            Some([rack, pod]) => {
                data("kind", "host") + &data("rack", &rack.to_string()) + &data("pod", &pod.to_string())
            }
            None => data("kind", "switch"),
        };
        let _ = writeln!(text, "<node id=\"{}\">{inner}</node>", escaped(name));
    }
    for port in ports(topology) {
        let [from, to] = topology.end_names(port).map(escaped);
        let inner: String =
            LINK.iter().zip(values(topology, port)).map(|(key, value)| data(key, &value)).collect();
        let _ = writeln!(text, "<edge source=\"{from}\" target=\"{to}\">{inner}</edge>");
    }
    text + "</graph>\n</graphml>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Graphviz: hosts are ellipses, switches boxes, a link one line with its rate (both, if they differ).
pub fn dot(topology: &Topology) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    let mut text = "graph {\nnode [shape=box]\n".to_owned();
    for (node, name) in (0..).zip(&topology.node_names) {
        let shape = if node < topology.network.hosts { " [shape=ellipse]" } else { "" };
        let _ = writeln!(text, "{}{shape}", quoted(name));
    }
    for (port, twin) in ports(topology).zip(topology.twins()).filter(|(port, twin)| port < twin) {
        let [from, to] = topology.end_names(port).map(quoted);
        let [there, back] = [port, twin].map(|p| Rate(topology.rate(p)));
        let rate = if there == back { there.to_string() } else { format!("{there} / {back}") };
        let _ = writeln!(text, "{from} -- {to} [label=\"{rate}\"]");
    }
    text + "}\n"
}
