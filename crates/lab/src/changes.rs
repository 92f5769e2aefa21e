//! Links that change during a run: `[[changes]]`, and what has become of the links.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tresse_fabric::{BitsPerSecond, ServerConfig, Time, Topology};
use tresse_sim::World;

use crate::network::{RATES, Wrong, ports_between};
use crate::port_options::PortConfigs;
use crate::resolve::LONGEST;
use crate::units::{Duration, Rate};

/// A link that changes, both directions at once.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeKey {
    /// When, from the start of each case and seed.
    pub at: Duration,
    /// The names of the nodes at its ends, such as `["leaf 0", "spine 3"]`.
    pub link: [String; 2],
    /// Its rate from then on. A packet in transmission goes on at the old one.
    pub rate: Option<Rate>,
    /// Whether it fails or is back. What waits for it or is on it when it fails is lost.
    pub failed: Option<bool>,
    /// How long after that the switches further away learn of it; never if it is not said. The two at its ends
    /// know at once.
    pub reroute_after: Option<Duration>,
}

/// Something that happens to the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    at: Time,
    what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    /// Ports have another rate.
    Rate(Vec<u32>, BitsPerSecond),
    /// The link of ports is up, or down.
    Up(Vec<u32>, bool),
    /// The nodes find their ways anew.
    Reroute,
}

/// The changes that `keys` describe, in their order; `fixed` says that no node ever decides.
///
/// # Errors
/// The first thing that is wrong.
pub(crate) fn resolve(keys: &[ChangeKey], topology: &Topology, fixed: bool) -> Result<Vec<Change>, Wrong> {
    let (mut changes, mut reroutes) = (Vec::new(), Vec::new());
    let mut seen = Vec::new();
    for (i, key) in keys.iter().enumerate() {
        let at = |name: &str, message: String| {
            (["changes", &i.to_string(), name].map(str::to_owned).to_vec(), message)
        };
        if key.at.0 > LONGEST {
            return Err(at("at", format!("{}: at most 1000s", key.at)));
        }
        let ports = ports_between(topology, &key.link).map_err(|e| at("link", e))?;
        if seen.contains(&(key.at, ports.clone())) {
            let link = key.link.join(" and ");
            return Err(at("at", format!("the link of {link} changes twice at {}", key.at)));
        }
        seen.push((key.at, ports.clone()));
        let what = match (key.rate, key.failed) {
            (Some(rate), None) if !RATES.contains(&rate.0) => {
                let hint =
                    if rate.0 == 0 { "; for a link that carries nothing write failed = true" } else { "" };
                return Err(at("rate", format!("{rate}: a link has 1kbps to 100Tbps{hint}")));
            }
            (Some(rate), None) => What::Rate(ports, rate.0),
            (None, Some(failed)) => What::Up(ports, !failed),
            (None, None) => return Err(at("link", "nothing changes: `rate` or `failed`".into())),
            (Some(_), Some(_)) => {
                return Err(at("rate", "either the rate changes or the link fails or is back".into()));
            }
        };
        if let Some(after) = key.reroute_after {
            let wrong = |message: &str| Err(at("reroute_after", message.to_owned()));
            match &what {
                What::Rate(..) => return wrong("the shortest ways do not depend on rates"),
                _ if fixed => {
                    return wrong("fixed routes stay; a load balancer finds other ways");
                }
                _ if after.0 > LONGEST => return wrong("at most 1000s"),
                _ => reroutes.push(Change { at: key.at.0 + after.0, what: What::Reroute }),
            }
        }
        changes.push(Change { at: key.at.0, what });
    }
    // Ways are found after the links of the same instant have changed.
    changes.append(&mut reroutes);
    changes.sort_by_key(|c| c.at);
    Ok(changes)
}

/// Gives every port that will change a real server.
pub(crate) fn serve(changes: &[Change], configs: &mut PortConfigs) {
    let mut ports: Vec<u32> = changes.iter().flat_map(|c| c.what.ports()).copied().collect();
    ports.sort_unstable();
    ports.dedup();
    ports.retain(|port| configs.servers.iter().all(|(p, _)| p != port));
    let server = |port: u32| (port, ServerConfig::plain(&configs.ports[port as usize]));
    let more: Vec<_> = ports.into_iter().map(server).collect();
    configs.servers.extend(more);
}

impl What {
    fn ports(&self) -> &[u32] {
        match self {
            Self::Rate(ports, _) | Self::Up(ports, _) => ports,
            Self::Reroute => &[],
        }
    }
}

/// The links as they are, and what will become of them.
#[derive(Debug)]
pub(crate) struct Links<'a> {
    changes: &'a [Change],
    /// By port: its rate when the link is up.
    rates: Vec<BitsPerSecond>,
    /// By port.
    up: Vec<bool>,
}

impl<'a> Links<'a> {
    /// As they are before anything changes.
    pub fn new(topology: &Topology, changes: &'a [Change]) -> Self {
        let rates: Vec<_> = topology.configs.iter().map(|c| c.rate).collect();
        Self { changes, up: vec![true; rates.len()], rates }
    }

    /// When the next change comes.
    pub fn next(&self) -> Option<Time> {
        self.changes.first().map(|c| c.at)
    }

    /// What a port's link can carry, bit/s: nothing while it is down.
    pub fn capacity(&self, port: u32) -> BitsPerSecond {
        if self.up[port as usize] { self.rates[port as usize] } else { 0 }
    }

    /// Makes the changes that are due. Whether there were any.
    pub fn apply(&mut self, world: &mut World) -> bool {
        let now = world.now();
        let due = self.changes.iter().take_while(|c| c.at <= now).count();
        let (due, rest) = self.changes.split_at(due);
        self.changes = rest;
        for change in due {
            match &change.what {
                What::Rate(ports, rate) => ports.iter().for_each(|&port| {
                    world.set_rate(port, *rate);
                    self.rates[port as usize] = *rate;
                }),
                What::Up(ports, up) => ports.iter().for_each(|&port| {
                    world.set_link(port, *up);
                    self.up[port as usize] = *up;
                }),
                What::Reroute => world.reroute(),
            }
        }
        !due.is_empty()
    }
}
