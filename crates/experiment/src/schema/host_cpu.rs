//! What packets cost the cores of a host: `fabric.host_cpu`.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use tresse_fabric::Service;
use tresse_units::Duration;

/// What packets cost the cores of a host: a table, or the file that `tresse calibrate` has written, relative to the
/// experiment's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum HostCpu {
    /// The file.
    File(String),
    /// The costs.
    Costs(Costs),
}

/// What packets cost: one core sends, another one receives, and each takes its packets one by one. At most 1s each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { send = { packet = \"1us\", byte = \"50ps\" }, receive = { packet = \"1us\" } }"
)]
pub struct Costs {
    /// From the arrival of a packet until a receiving core that was idle begins. Default: no time.
    #[serde(default = "none")]
    pub wake: Duration,
    /// What a packet costs the core that sends it.
    #[serde(default)]
    pub send: Cost,
    /// What a packet costs the core that receives it.
    #[serde(default)]
    pub receive: Cost,
}

/// What a packet costs a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// The packet. Default: no time.
    #[serde(default = "none")]
    pub packet: Duration,
    /// Each of its bytes, with headers. Default: no time.
    #[serde(default = "none")]
    pub byte: Duration,
}

fn none() -> Duration {
    Duration(0)
}

impl Default for Cost {
    fn default() -> Self {
        Self { packet: none(), byte: none() }
    }
}

/// The longest of these times, ps.
const LONGEST: u64 = 1_000_000_000_000;

impl Costs {
    /// The cores as the fabric takes them: of the host that sends, and of the one that receives.
    ///
    /// # Errors
    /// If a time is too long.
    pub(crate) fn cores(&self) -> Result<[Service; 2], String> {
        let Self { wake, send, receive } = self;
        let times = [wake, &send.packet, &send.byte, &receive.packet, &receive.byte];
        match times.into_iter().find(|time| time.0 > LONGEST) {
            Some(time) => Err(format!("{time}: at most 1s")),
            None => Ok([
                Service { wake: 0, packet: send.packet.0, byte: send.byte.0 },
                Service { wake: wake.0, packet: receive.packet.0, byte: receive.byte.0 },
            ]),
        }
    }
}

impl<'de> Deserialize<'de> for HostCpu {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Shape;
        impl<'de> Visitor<'de> for Shape {
            type Value = HostCpu;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a file such as \"host.toml\", or a table such as { send = { packet = \"1us\" }, receive = \
                     { packet = \"1us\" } }",
                )
            }
            fn visit_str<E: Error>(self, v: &str) -> Result<HostCpu, E> {
                Ok(HostCpu::File(v.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<HostCpu, A::Error> {
                Costs::deserialize(MapAccessDeserializer::new(map)).map(HostCpu::Costs)
            }
        }
        d.deserialize_any(Shape)
    }
}
