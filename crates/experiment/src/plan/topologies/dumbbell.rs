//! Pairs of hosts over one bottleneck.

use schemars::JsonSchema;
use serde::Deserialize;
use tresse_fabric::{Graph, Topology};

use crate::diagnostic::Wrong;
use crate::plan::topologies::kind::{Kind, OwnRoutes, drawn, needed, within};
use crate::plan::topologies::layers::links;
use crate::schema::fabric::Fabric;
use crate::schema::link_events::ChangeKey;

pub(super) const DUMBBELL: Kind = Kind {
    name: "dumbbell",
    meaning: "Pairs of hosts over one bottleneck.",
    whose: "a dumbbell's",
    has: "a dumbbell has `pairs`",
    routing: "shortest",
    keys: Kind::keys_of::<Keys>(),
    build,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Keys {
    /// For a dumbbell, the number of pairs of a source and a destination: 1 to 10000.
    pairs: Option<u32>,
}

fn build(f: &Fabric, _: &[ChangeKey]) -> Result<(Topology, OwnRoutes), Wrong> {
    let keys: Keys = f.own_keys()?;
    let pairs = needed(keys.pairs, "a dumbbell needs `pairs`, such as pairs = 4")?;
    drawn(&Graph::dumbbell(within("pairs", pairs, 10_000)?, &links(f, Graph::BOTTLENECK_LAYERS)?))
}
