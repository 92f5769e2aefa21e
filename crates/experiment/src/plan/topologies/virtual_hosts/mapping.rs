//! The mapping of virtual NICs to physical ones.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IntoDeserializer, SeqAccess, Visitor};
use tresse_fabric as fabric;

/// The physical NIC of its host that a virtual NIC is mapped to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Mapping {
    /// The i-th virtual NIC of each machine to the i-th physical NIC.
    Disjoint,
    /// All NICs of a machine to one physical NIC; the machines take turns.
    Shared,
    /// Every other machine as with `disjoint`, starting with the first; those in between as with `shared`.
    HalfShared,
    /// Chosen by a hash of its address.
    Hashed,
}

/// One mapping for all physical hosts, or one for each.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[serde(untagged)]
pub(super) enum Mappings {
    /// The same on all hosts.
    All(Mapping),
    /// One for each host.
    Each(Vec<Mapping>),
}

impl Mappings {
    /// In the form that the fabric takes.
    pub(super) fn of(&self, hosts: u32) -> Vec<fabric::Mapping> {
        let one = |mapping: &Mapping| match mapping {
            Mapping::Disjoint => fabric::Mapping::Disjoint,
            Mapping::Shared => fabric::Mapping::Shared,
            Mapping::HalfShared => fabric::Mapping::HalfShared,
            Mapping::Hashed => fabric::Mapping::Hashed,
        };
        match self {
            // Too many hosts are refused later.
            Self::All(mapping) => vec![one(mapping); hosts.min(1 << 16) as usize],
            Self::Each(all) => all.iter().map(one).collect(),
        }
    }
}

impl<'de> Deserialize<'de> for Mappings {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Shape;
        impl<'de> Visitor<'de> for Shape {
            type Value = Mappings;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "\"disjoint\", \"shared\", \"half-shared\" or \"hashed\", or a list of them, one for each physical \
                     host",
                )
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<Mappings, E> {
                Mapping::deserialize(v.into_deserializer()).map(Mappings::All)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Mappings, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Mappings::Each)
            }
        }
        d.deserialize_any(Shape)
    }
}
