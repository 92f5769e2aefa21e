//! The papers' small networks of fixed size, each a file in `papers/networks`.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_fabric::{NodeKind, Topology};

use crate::diagnostic::Wrong;
use crate::plan::topologies::kind::{Kind, OwnRoutes, drawn};
use crate::plan::topologies::layers;
use crate::read::{graph_file, paper_networks};
use crate::schema::fabric::Fabric;
use crate::schema::link_events::ChangeKey;

/// All of them, in the order of lists.
pub(super) fn kinds() -> impl Iterator<Item = Kind> {
    paper_networks::all().iter().map(|network| Kind {
        name: network.name,
        meaning: &network.about.meaning,
        whose: "",
        has: "this network is as large as the paper's",
        routing: "shortest",
        keys: Kind::keys_of::<Keys>(),
        build,
    })
}

/// No keys: only the links of these networks can be chosen.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Keys {}

fn build(f: &Fabric, _: &[ChangeKey]) -> Result<(Topology, OwnRoutes), Wrong> {
    let network = paper_networks::find(&f.topology).expect("the topology was found by this name");
    let mut graph = graph_file::layout(network.text)?;
    let names: Vec<&str> = graph.layers.iter().map(|name| &**name).collect();
    let links = layers::each(f, &names)?;
    let nic = f.host_port();
    for port in &mut graph.ports {
        let is_nic = graph.nodes[port.ends[0]].kind != NodeKind::Switch;
        port.config = links[usize::from(port.layer)].port(is_nic.then_some(nic), f.non_ect.into());
    }
    drawn(&graph)
}
