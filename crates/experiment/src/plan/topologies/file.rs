//! A network from a file (`tresse explain file`).

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_fabric::Topology;

use crate::diagnostic::{Wrong, wrong};
use crate::plan::topologies::kind::{Kind, OwnRoutes, drawn};
use crate::schema::fabric::Fabric;
use crate::schema::link_events::ChangeKey;

pub(super) const FILE: Kind = Kind {
    name: "file",
    meaning: "The network in `file`.",
    whose: "that of topology = \"file\"",
    has: "this topology has a `file` that says how large it is",
    routing: "shortest",
    keys: Kind::keys_of::<Keys>(),
    build,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Keys {
    /// For topology "file", the network as node-link JSON (networkx) or GraphML. The path is relative to
    /// the experiment's file.
    #[expect(dead_code, reason = "the network is read with the experiment")]
    file: Option<String>,
}

/// The file was already read together with the experiment.
fn build(f: &Fabric, _: &[ChangeKey]) -> Result<(Topology, OwnRoutes), Wrong> {
    match &f.graph {
        Some(graph) => drawn(graph),
        None => Err(wrong("topology", "topology = \"file\" needs `file`, such as file = \"net.json\"")),
    }
}
