//! The thesis's networks with users: multipath flows that share a link with TCP flows.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_fabric::{Graph, Links, Topology};

use crate::diagnostic::Wrong;
use crate::keys::fabric::Fabric;
use crate::plan::topologies::kind::{Kind, OwnRoutes, drawn, within};
use crate::plan::topologies::layers::links;

pub(super) const THESIS_3_2: Kind = Kind {
    name: "thesis-3.2",
    meaning: "THESIS Fig. 3.2: multipath flows with a private link and one that they share with TCP flows.",
    whose: "those of the thesis's networks with users",
    has: "this network has `multipath_users` and `tcp_users`",
    routing: "shortest",
    keys: Kind::keys_of::<Keys>(),
    build: |f, _| build(f, Graph::thesis_3_2),
};

pub(super) const THESIS_4_2: Kind = Kind {
    name: "thesis-4.2",
    meaning: "THESIS Fig. 4.2: the same, with other names.",
    whose: "those of the thesis's networks with users",
    has: "this network has `multipath_users` and `tcp_users`",
    routing: "shortest",
    keys: Kind::keys_of::<Keys>(),
    build: |f, _| build(f, Graph::thesis_4_2),
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Keys {
    /// For `thesis-3.2` and `thesis-4.2`, the number of hosts with multipath flows, the thesis's N1: 1 to 10000.
    /// Default: 1.
    multipath_users: Option<u32>,
    /// For `thesis-3.2` and `thesis-4.2`, the number of hosts with TCP flows, the thesis's N2: 1 to 10000. Default:
    /// 1.
    tcp_users: Option<u32>,
}

type Draw = fn(u32, u32, &Links<{ Graph::PRIVATE_LAYERS.len() }>) -> Graph;

fn build(f: &Fabric, draw: Draw) -> Result<(Topology, OwnRoutes), Wrong> {
    let keys: Keys = f.own_keys()?;
    let users = |key, users: Option<u32>| within(key, users.unwrap_or(1), 10_000);
    let multipath = users("multipath_users", keys.multipath_users)?;
    let tcp = users("tcp_users", keys.tcp_users)?;
    drawn(&draw(multipath, tcp, &links(f, Graph::PRIVATE_LAYERS)?))
}
