//! A scheme of an experiment: a controller, its parameters, its subflows and the paths of its packets.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tresse_units::Rate;

use crate::schema::host_balancer::HostBalancer;
use crate::schema::path_manager::PathManager;
use crate::schema::routing::RoutingKey;
use crate::schema::transport::Transport;

/// A scheme: a controller, its parameters, and how many subflows.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scheme {
    /// Its controller (`tresse list controllers`).
    #[serde(default)]
    pub controller: String,
    /// A row of HOLNET's design space instead of a controller (`tresse explain holnet`).
    pub preset: Option<String>,
    /// How a preset's hosts detect congestion. Default: from losses.
    pub detection: Option<Detection>,
    /// How the paths of its packets are chosen. Default: `fabric.routing`.
    pub routing: Option<RoutingKey>,
    /// The number of subflows, or several numbers: each is a case. Default: the default of `path_manager`, or 1
    /// without one.
    pub subflows: Option<Counts>,
    /// What opens and closes the subflows (`tresse list path-managers`). Default: `fixed`. `subflows` says how
    /// many, if the path manager takes a number; other path managers decide themselves.
    pub path_manager: Option<PathManager>,
    /// How the path of each packet is chosen, with `profile = "spray"` (`tresse list host-balancers`). Default:
    /// `"reps"`.
    pub balancer: Option<HostBalancer>,
    /// How many paths the balancer picks among, with `profile = "spray"`: entropy values if switches hash, at most
    /// 4096. Default: 256, or all paths if routes are fixed.
    pub paths: Option<u32>,
    /// Values for the controller's parameters.
    #[serde(default)]
    pub parameters: BTreeMap<String, u64>,
    /// The utility of its users, instead of the parameter `weight` (THESIS (2.3), (2.9)).
    pub utility: Option<UserUtility>,
    /// Whether packets are ECN-capable. Default: only if the controller needs it.
    pub ecn: Option<bool>,
    /// How the receiver reports CE marks, if packets are ECN-capable. Default: `dctcp`.
    pub echo: Option<Echo>,
    /// The class of its packets in `fabric.classes`, from 0. Default: the workload's.
    pub class: Option<u8>,
    /// Whether it is a value of the axis `scheme`. If not, it is used only where a workload names
    /// it. Default: true.
    pub axis: Option<bool>,
    /// The keys of `[transport]` in which this scheme differs (`tresse explain hosts`).
    pub transport: Option<Transport>,
}

/// How the receiver reports CE marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Echo {
    /// ECE until CWR (RFC 3168): one signal per window, no count.
    Rfc3168,
    /// Every packet's mark, ACKed at once when it changes (RFC 8257).
    Dctcp,
    /// Up to three marks per ACK in the bits ECE and CWR (XMP §2.1).
    TwoBit,
}

/// How a host of HOLNET detects congestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Detection {
    /// From losses, which it infers itself.
    Source,
    /// From marks too.
    Ecn,
}

/// A user's utility, and the flow that it is weighed against.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { points = [[\"0bps\", 0], [\"1Gbps\", 1]], base = \"1Gbps\" }"
)]
pub struct UserUtility {
    /// Rates and their utility, in any unit, with straight lines between them: from rate 0 to the rate
    /// beyond which more has no value.
    pub points: Vec<(Rate, f64)>,
    /// The rate up to which a flow of weight 1 has the controller's own alpha-fair utility.
    pub base: Rate,
}

/// A number, or several numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Counts {
    /// One number.
    One(u32),
    /// Several numbers: an axis.
    Several(Vec<u32>),
}

impl Counts {
    /// The numbers.
    pub fn values(&self) -> &[u32] {
        match self {
            Self::One(n) => std::slice::from_ref(n),
            Self::Several(all) => all,
        }
    }
}
