//! Bottlenecks in a row.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_fabric::{Graph, Topology};

use crate::diagnostic::Wrong;
use crate::plan::topologies::kind::{Kind, OwnRoutes, drawn, needed, within};
use crate::plan::topologies::layers::links;
use crate::schema::fabric::Fabric;
use crate::schema::link_events::ChangeKey;

pub(super) const PARKING_LOT: Kind = Kind {
    name: "parking-lot",
    meaning: "Bottlenecks in a row, with a pair of hosts over each and one over all.",
    whose: "a parking lot's",
    has: "a parking lot has `hops`",
    routing: "shortest",
    keys: Kind::keys_of::<Keys>(),
    build,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Keys {
    /// For a parking lot, the number of bottlenecks in a row: 1 to 1000.
    hops: Option<u32>,
}

fn build(f: &Fabric, _: &[ChangeKey]) -> Result<(Topology, OwnRoutes), Wrong> {
    let keys: Keys = f.own_keys()?;
    let hops = needed(keys.hops, "a parking lot needs `hops`, such as hops = 3")?;
    drawn(&Graph::parking_lot(within("hops", hops, 1000)?, &links(f, Graph::BOTTLENECK_LAYERS)?))
}
