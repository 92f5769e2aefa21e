//! Leaves and spines.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_fabric::{LeafSpine, LeafSpineError, Topology};

use crate::diagnostic::{Wrong, wrong};
use crate::plan::topologies::kind::{Kind, OwnRoutes, needed};
use crate::plan::topologies::layers::Layers;
use crate::schema::fabric::Fabric;
use crate::schema::link_events::ChangeKey;

pub(super) const LEAF_SPINE: Kind = Kind {
    name: "leaf-spine",
    meaning: "Every leaf switch has a link to every spine switch, and its own hosts.",
    whose: "a leaf-spine's",
    has: "a leaf-spine has `leaves`, `spines` and `hosts_per_leaf`",
    routing: "shortest",
    keys: Kind::keys_of::<Keys>(),
    build,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Keys {
    /// For a leaf-spine, the number of leaf switches.
    leaves: Option<u32>,
    /// For a leaf-spine, the number of spine switches; each has a link to every leaf.
    spines: Option<u32>,
    /// For a leaf-spine, the number of hosts on each leaf.
    hosts_per_leaf: Option<u32>,
}

fn build(f: &Fabric, _: &[ChangeKey]) -> Result<(Topology, OwnRoutes), Wrong> {
    let keys: Keys = f.own_keys()?;
    let layers = Layers::new(f, ["rack", "spine"])?;
    let config = LeafSpine {
        leaves: needed(keys.leaves, "a leaf-spine needs `leaves`, such as leaves = 4")?,
        spines: needed(keys.spines, "a leaf-spine needs `spines`, such as spines = 4")?,
        hosts_per_leaf: needed(keys.hosts_per_leaf, "a leaf-spine needs `hosts_per_leaf`")?,
        rate: layers.rate,
        delay: layers.delay,
        limit: layers.limit,
        mark: layers.mark,
        host: f.host_port(),
        non_ect: f.non_ect.into(),
        loss: layers.loss,
    };
    let topology = config.topology().map_err(|e| match e {
        LeafSpineError::None(key @ ("leaves" | "spines")) => wrong(key, e.to_string()),
        LeafSpineError::None(_) => wrong("hosts_per_leaf", e.to_string()),
        LeafSpineError::Ports { .. } => wrong("leaves", e.to_string()),
    })?;
    Ok((topology, OwnRoutes::None))
}
