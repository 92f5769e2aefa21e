//! A k-ary fat tree.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_fabric::{FatTree, FatTreeConfig, Topology};

use crate::diagnostic::{Wrong, wrong};
use crate::plan::topologies::kind::{Kind, OwnRoutes, needed};
use crate::plan::topologies::layers::Layers;
use crate::schema::fabric::Fabric;
use crate::schema::link_events::ChangeKey;

pub(super) const FAT_TREE: Kind = Kind {
    name: "fat-tree",
    meaning: "The k-ary fat tree of Al-Fares et al. with two-level routing.",
    whose: "a fat tree's",
    has: "a fat tree has `k`",
    routing: "two-level",
    keys: Kind::keys_of::<Keys>(),
    build,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Keys {
    /// For a fat tree, the number of ports per switch: even, 2 to 128. There are k^3/4 hosts.
    k: Option<u32>,
}

fn build(f: &Fabric, _: &[ChangeKey]) -> Result<(Topology, OwnRoutes), Wrong> {
    let keys: Keys = f.own_keys()?;
    let layers = Layers::new(f, ["rack", "aggregation", "core"])?;
    let tree = FatTree::new(FatTreeConfig {
        k: needed(keys.k, "a fat tree needs `k`, the ports of a switch, such as k = 8")?,
        rate: layers.rate,
        delay: layers.delay,
        limit: layers.limit,
        mark: layers.mark,
        host: f.host_port(),
        non_ect: f.non_ect.into(),
        loss: layers.loss,
    });
    let tree = tree.map_err(|e| wrong("k", e.to_string()))?;
    Ok((tree.topology(), OwnRoutes::Tree(tree)))
}
