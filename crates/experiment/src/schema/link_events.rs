//! `[[changes]]`: links that change during a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tresse_units::{Duration, Rate};

/// A link that changes, in both directions at once, or a virtual NIC that is remapped.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeKey {
    /// When, from the start of each case and seed.
    pub at: Duration,
    /// The names of the nodes at its ends, such as `["leaf 0", "spine 3"]`.
    #[serde(
        default,
        deserialize_with = "crate::schema::untagged::some_pair",
        skip_serializing_if = "Option::is_none"
    )]
    pub link: Option<[String; 2]>,
    /// Instead of a link: a virtual NIC and the bridge that it is mapped to from then on, such as `["vnic 0.3.1",
    /// "bridge 0.1"]`. A bridge of another host means that its machine moves. Packets that wait for the virtual NIC
    /// are lost.
    #[serde(
        default,
        deserialize_with = "crate::schema::untagged::some_pair",
        skip_serializing_if = "Option::is_none"
    )]
    pub remap: Option<[String; 2]>,
    /// Its rate from then on. A packet in transmission continues at the old rate.
    pub rate: Option<Rate>,
    /// Whether it fails (true) or comes back (false). Packets that wait for it or are on it when it fails are lost.
    pub failed: Option<bool>,
    /// How long after that the switches further away learn of it. The two at its ends know at once.
    /// Default: never; for a remapping, at once.
    pub reroute_after: Option<Duration>,
}
