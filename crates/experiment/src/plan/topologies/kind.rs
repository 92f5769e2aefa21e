//! A topology, independent of which one it is.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use toml::de::Error;
use tresse_fabric::{FatTree, Graph, Topology, VirtualHosts};

use crate::diagnostic::{Wrong, wrong};
use crate::schema::fabric::Fabric;
use crate::schema::link_events::ChangeKey;
use crate::schema::{MakeSchema, names};

/// A topology.
pub(crate) struct Kind {
    /// Its name in files.
    pub name: &'static str,
    /// What it is, in one sentence.
    pub meaning: &'static str,
    /// The owner of its keys, as used in messages.
    pub whose: &'static str,
    /// The keys that it has, as used in messages.
    pub has: &'static str,
    /// Its default routing.
    pub routing: &'static str,
    /// The keys of `[fabric]` that only this topology has.
    pub keys: OwnKeys,
    pub build: Build,
}

/// A network from `[fabric]`, with the links that changes remap virtual NICs to.
pub(super) type Build = fn(&Fabric, &[ChangeKey]) -> Result<(Topology, OwnRoutes), Wrong>;

/// The keys of one topology, with their type erased. All are optional: the profile, a variant or a setting may
/// still add one, or change the topology.
pub(crate) struct OwnKeys {
    pub schema: MakeSchema,
    pub check: fn(toml::Deserializer) -> Result<(), Error>,
}

impl Kind {
    pub(super) const fn keys_of<K: DeserializeOwned + JsonSchema>() -> OwnKeys {
        OwnKeys { schema: K::json_schema, check: |own| K::deserialize(own).map(drop) }
    }

    /// The names of its own keys.
    pub fn key_names(&self) -> &'static [String] {
        names(self.keys.schema)
    }
}

/// The fixed routes that some topologies bring along.
pub(crate) enum OwnRoutes {
    Tree(FatTree),
    Virtual(VirtualHosts),
    None,
}

impl Fabric {
    /// The keys that are specific to its topology.
    pub(super) fn own_keys<K: DeserializeOwned>(&self) -> Result<K, Wrong> {
        self.own.clone().try_into().map_err(|e: Error| wrong("topology", Wrong::from(e).message))
    }
}

/// A network that is built link by link.
pub(super) fn drawn(graph: &Graph) -> Result<(Topology, OwnRoutes), Wrong> {
    let topology = graph.topology().map_err(|e| wrong("topology", e.to_string()))?;
    Ok((topology, OwnRoutes::None))
}

/// The value of a key that its topology needs.
pub(super) fn needed(value: Option<u32>, message: &str) -> Result<u32, Wrong> {
    value.ok_or_else(|| wrong("topology", message))
}

/// A number from 1 to `most`.
pub(super) fn within(key: &str, value: u32, most: u32) -> Result<u32, Wrong> {
    if (1..=most).contains(&value) {
        return Ok(value);
    }
    Err(wrong(key, format!("{key} = {value}: 1 to {most}")))
}
