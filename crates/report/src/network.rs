//! The networks of a run, as the page draws them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use tresse_experiment::Plan;
use tresse_experiment::plan::Setting;
use tresse_fabric::Topology;
use tresse_units::Queue;

use crate::cases::Cases;
use crate::head::NetworkHead;

/// A network, and what the page says about it.
#[derive(Debug, Clone)]
pub struct Network {
    /// What the page says about it.
    pub head: NetworkHead,
    /// `Network` of the page's contract, as JSON.
    pub text: String,
}

/// The networks of the cases of `plan`, each once; `topology` is the name of theirs.
pub fn all(plan: &Plan, cases: &mut Cases, topology: &str) -> Vec<Network> {
    let mut known: Vec<(Arc<Setting>, usize)> = Vec::new();
    let mut networks: Vec<Network> = Vec::new();
    for case in &plan.cases {
        let place = cases.of_case(case);
        let same = known.iter().find(|(setting, _)| Arc::ptr_eq(setting, &case.setting)).map(|(_, n)| *n);
        let number = same.unwrap_or_else(|| {
            let text = text(&case.setting.fabric);
            let number = networks.iter().position(|own| own.text == text).unwrap_or_else(|| {
                let fabric = &case.setting.fabric;
                let head = NetworkHead {
                    cases: Vec::new(),
                    topology: topology.to_owned(),
                    hosts: fabric.hosts(),
                    nodes: fabric.network.nodes,
                    ports: fabric.configs.len(),
                };
                networks.push(Network { head, text });
                networks.len() - 1
            });
            known.push((Arc::clone(&case.setting), number));
            number
        });
        networks[number].head.cases.push(place);
    }
    networks
}

/// A network. Nodes are numbered, hosts first; ports are the directions of links, as in the tables `links` and `queues`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Network")]
pub(crate) struct Drawing<'a> {
    nodes: Nodes<'a>,
    hosts: u32,
    /// The node number of each host's first address is `host * addresses`: `from` and `to` of flows are numbers of hosts.
    addresses: u32,
    /// Whether every link joins two neighbouring levels: it can be drawn in layers.
    layered: bool,
    layers: Vec<&'a str>,
    ports: Ports,
}

#[derive(Serialize, JsonSchema)]
struct Nodes<'a> {
    name: &'a [String],
    /// The number of links to the nearest host; 0 for a host.
    level: Vec<u32>,
    /// The hosts' values, in their order.
    rack: &'a [u32],
    /// As `rack`.
    pod: &'a [u32],
}

#[derive(Serialize, JsonSchema)]
struct Ports {
    from: Vec<u32>,
    to: Vec<u32>,
    /// Indexes in `layers`.
    layer: Vec<u8>,
    /// The other direction of its link.
    twin: Vec<u32>,
    rate_bps: Vec<u64>,
    delay_ps: Vec<u64>,
    /// As in a file: "100pkt".
    queue: Vec<String>,
    /// As `queue`.
    mark: Vec<String>,
}

fn text(fabric: &Topology) -> String {
    let level = fabric.heights();
    let layered =
        fabric.network.ends.iter().all(|[a, b]| level[*a as usize].abs_diff(level[*b as usize]) == 1);
    let configs = &fabric.configs;
    let ports = Ports {
        from: fabric.network.ends.iter().map(|ends| ends[0]).collect(),
        to: fabric.network.ends.iter().map(|ends| ends[1]).collect(),
        layer: fabric.layers.clone(),
        twin: fabric.twins(),
        rate_bps: configs.iter().map(|c| c.rate).collect(),
        delay_ps: configs.iter().map(|c| c.delay).collect(),
        queue: configs.iter().map(|c| Queue::from(c.limit).to_string()).collect(),
        mark: configs.iter().map(|c| Queue::from(c.mark).to_string()).collect(),
    };
    let drawing = Drawing {
        nodes: Nodes { name: &fabric.node_names, level, rack: &fabric.racks, pod: &fabric.pods },
        hosts: fabric.hosts(),
        addresses: fabric.network.hosts / fabric.hosts().max(1),
        layered,
        layers: fabric.layer_names.iter().map(|name| &**name).collect(),
        ports,
    };
    serde_json::to_string(&drawing).expect("plain data")
}
