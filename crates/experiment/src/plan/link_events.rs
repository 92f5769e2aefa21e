//! Links that change during a run: the meaning of `[[changes]]` on a network.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tresse_fabric::{QueuedPortConfig, Topology};
use tresse_units::{BitsPerSecond, Duration, Time};

use crate::diagnostic::Wrong;
use crate::plan::port_options::PortConfigs;
use crate::plan::single_links::ports_between;
use crate::schema::bounds::{LONGEST, RATES};
use crate::schema::link_events::ChangeKey;

/// Something that happens to the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// When, ps from the start.
    pub at: Time,
    /// What happens.
    pub what: LinkEvent,
}

/// What a change does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkEvent {
    /// Ports get another rate.
    Rate(Vec<u32>, BitsPerSecond),
    /// The link of ports goes up or down.
    Up(Vec<u32>, bool),
    /// The nodes recompute their paths.
    Reroute,
}

/// The changes that `keys` describe, in their order. `schemes` has the name of each scheme, and whether its routes
/// are fixed.
///
/// # Errors
/// The first thing that is wrong.
pub(crate) fn resolve(
    keys: &[ChangeKey],
    topology: &Topology,
    schemes: &[(&str, bool)],
) -> Result<Vec<Change>, Wrong> {
    let fixed = schemes.iter().all(|(_, fixed)| *fixed);
    let (mut changes, mut reroutes) = (Vec::new(), Vec::new());
    let mut seen = Vec::new();
    for (i, key) in keys.iter().enumerate() {
        let at = |name: &str, message: String| Wrong::new(["changes", &i.to_string(), name], message);
        if key.at.0 > LONGEST {
            return Err(at("at", format!("{}: at most 1000s", key.at)));
        }
        let link = match (&key.link, &key.remap) {
            (Some(link), None) => link,
            (None, Some(_)) if key.rate.is_some() || key.failed.is_some() => {
                return Err(at(
                    "remap",
                    "a remapping must stand alone: leave out `rate` and `failed`".into(),
                ));
            }
            (None, Some(_)) => {
                if let Some(after) = key.reroute_after {
                    bounded(after).map_err(|e| at("reroute_after", e))?;
                }
                continue;
            }
            _ => {
                return Err(at(
                    "at",
                    "it must say what changes: give a `link`, or `remap` for a virtual NIC".into(),
                ));
            }
        };
        let ports = ports_between(topology, link).map_err(|e| at("link", e))?;
        if seen.contains(&(key.at, ports.clone())) {
            let link = link.join(" and ");
            return Err(at("at", format!("the link of {link} changes twice at {}", key.at)));
        }
        seen.push((key.at, ports.clone()));
        let what = match (key.rate, key.failed) {
            (Some(rate), None) if !RATES.contains(&rate.0) => {
                let hint =
                    if rate.0 == 0 { "; for a link that carries nothing write failed = true" } else { "" };
                return Err(at("rate", format!("{rate}: a link's rate is 1kbps to 100Tbps{hint}")));
            }
            (Some(rate), None) => LinkEvent::Rate(ports, rate.0),
            (None, Some(failed)) => LinkEvent::Up(ports, !failed),
            (None, None) => return Err(at("link", "nothing changes: set `rate` or `failed`".into())),
            (Some(_), Some(_)) => {
                return Err(at("rate", "either the rate changes, or the link fails or comes back".into()));
            }
        };
        if let Some(after) = key.reroute_after {
            let wrong = |message: &str| Err(at("reroute_after", message.to_owned()));
            match &what {
                LinkEvent::Rate(..) => {
                    return wrong(
                        "`reroute_after` is for links that fail: the shortest paths do not depend on rates",
                    );
                }
                _ if fixed => {
                    return wrong(
                        "`reroute_after` needs paths that can change, but fixed routes stay the same: set `routing` in \
                         [fabric] to a load balancer, such as routing = \"ecmp\"",
                    );
                }
                _ => {
                    bounded(after).map_err(|e| at("reroute_after", e))?;
                    reroutes.push(Change { at: key.at.0 + after.0, what: LinkEvent::Reroute });
                }
            }
        }
        changes.push(Change { at: key.at.0, what });
    }
    let fixed = schemes.iter().find(|(_, fixed)| *fixed).map(|(name, _)| *name);
    remap(keys, topology, fixed, &mut changes, &mut reroutes)?;
    // Ways are found after the links of the same instant have changed.
    changes.append(&mut reroutes);
    changes.sort_by_key(|c| c.at);
    Ok(changes)
}

/// Sums of times do not overflow as long as each is short.
fn bounded(after: Duration) -> Result<(), String> {
    if after.0 > LONGEST { Err(format!("{after}: at most 1000s")) } else { Ok(()) }
}

/// The remappings among `keys`. Every bridge that a virtual NIC may be mapped to has a link to it; those that it is
/// not mapped to are down. `fixed` is a scheme whose routes would not follow.
fn remap(
    keys: &[ChangeKey],
    topology: &Topology,
    fixed: Option<&str>,
    changes: &mut Vec<Change>,
    reroutes: &mut Vec<Change>,
) -> Result<(), Wrong> {
    let mut remaps: Vec<_> =
        (0..).zip(keys).filter_map(|(i, key)| Some((i, key, key.remap.as_ref()?))).collect();
    remaps.sort_by_key(|(_, key, _)| key.at);
    let mut mapped: BTreeMap<&str, [String; 2]> = BTreeMap::new();
    let mut last = BTreeMap::new();
    let up = |at, link: &[String; 2], up| {
        let ports = ports_between(topology, link).expect("the network was built with it");
        Change { at, what: LinkEvent::Up(ports, up) }
    };
    for &(i, key, to) in &remaps {
        let wrong = |message: String| Err(Wrong::new(["changes", &usize::to_string(&i), "remap"], message));
        if let Some(scheme) = fixed {
            return wrong(format!(
                "the scheme {scheme} has fixed routes, which stay as they are; a load balancer adapts, such as \
                 routing = \"ecmp\""
            ));
        }
        if last.insert(&to[0], key.at) == Some(key.at) {
            return wrong(format!("{} is remapped twice at {}", to[0], key.at));
        }
        let before = match mapped.get(&*to[0]) {
            Some(link) => link.clone(),
            None => {
                let own = topology.node(&to[0]).expect("the network was built with it");
                let first = topology.network.ends.iter().find(|e| e[0] == own).expect("it hangs on a bridge");
                [to[0].clone(), topology.node_names[first[1] as usize].clone()]
            }
        };
        if before == *to {
            return wrong(format!("{} is already mapped to {}", to[0], to[1]));
        }
        changes.extend([up(key.at.0, &before, false), up(key.at.0, to, true)]);
        let after = key.reroute_after.map_or(0, |d| d.0);
        reroutes.push(Change { at: key.at.0 + after, what: LinkEvent::Reroute });
        mapped.insert(&to[0], to.clone());
    }
    // What is down at the start: all that they come to, but where they begin.
    for (_, _, to) in remaps {
        let own = topology.node(&to[0]).expect("the network was built with it");
        let first = topology.network.ends.iter().find(|e| e[0] == own).expect("it hangs on a bridge");
        if topology.node_names[first[1] as usize] != to[1] {
            changes.insert(0, up(0, to, false));
            reroutes.insert(0, Change { at: 0, what: LinkEvent::Reroute });
        }
    }
    Ok(())
}

/// Gives every port that will change a real server.
pub fn serve(changes: &[Change], configs: &mut PortConfigs) {
    let mut ports: Vec<u32> = changes.iter().flat_map(|c| c.what.ports()).copied().collect();
    ports.sort_unstable();
    ports.dedup();
    ports.retain(|port| configs.servers.iter().all(|(p, _)| p != port));
    let server = |port: u32| (port, QueuedPortConfig::plain(&configs.ports[port as usize]));
    let more: Vec<_> = ports.into_iter().map(server).collect();
    configs.servers.extend(more);
}

impl LinkEvent {
    /// The ports whose links change.
    pub(crate) fn ports(&self) -> &[u32] {
        match self {
            Self::Rate(ports, _) | Self::Up(ports, _) => ports,
            Self::Reroute => &[],
        }
    }
}

/// The network as it is at the start of a run: without the links that are down, and with the rates at that time.
pub fn at_start<'a>(topology: &'a Topology, changes: &[Change]) -> Cow<'a, Topology> {
    let mut topology = Cow::Borrowed(topology);
    let mut down = Vec::new();
    for change in changes.iter().take_while(|c| c.at == 0) {
        match &change.what {
            LinkEvent::Rate(ports, rate) => {
                let configs = &mut topology.to_mut().configs;
                ports.iter().for_each(|&port| configs[port as usize].rate = *rate);
            }
            LinkEvent::Up(ports, false) => down.extend_from_slice(ports),
            LinkEvent::Up(ports, true) => down.retain(|port| !ports.contains(port)),
            LinkEvent::Reroute => {}
        }
    }
    if !down.is_empty() {
        topology.to_mut().remove(&down);
    }
    topology
}
