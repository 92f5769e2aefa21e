//! Single links, by the names of the nodes at their ends: `[[fabric.links]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tresse_fabric::Topology;

use crate::error::did_you_mean;
use crate::experiment::Fabric;
use crate::network::Wrong;
use crate::units::Rate;

/// A link that differs from its layer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSetting {
    /// The names of the nodes at its ends, such as `["leaf 0", "spine 3"]`.
    pub ends: [String; 2],
    /// Its rate.
    pub rate: Option<Rate>,
    /// It is not there.
    #[serde(default)]
    pub failed: bool,
}

/// Rates at which a packet's transmission is neither nothing nor for ever, bit/s.
pub(crate) const RATES: std::ops::RangeInclusive<u64> = 1_000..=100_000_000_000_000;

/// Makes single links as `[[fabric.links]]` says.
pub(crate) fn links(f: &Fabric, topology: &mut Topology, over_every_link: Option<&str>) -> Result<(), Wrong> {
    let mut seen = Vec::new();
    let mut gone = Vec::new();
    for (i, link) in f.links.iter().enumerate() {
        let at = |key: &str, message: String| {
            let path = ["fabric", "links", &i.to_string(), key].map(str::to_owned);
            (path.to_vec(), message)
        };
        let ports = ports_between(topology, &link.ends).map_err(|e| at("ends", e))?;
        if seen.contains(&ports) {
            return Err(at("ends", format!("the link of {} stands here twice", link.ends.join(" and "))));
        }
        match (link.rate, link.failed) {
            (None, false) => {
                return Err(at("ends", "nothing is said of this link: `rate` or failed = true".into()));
            }
            (Some(_), true) => return Err(at("rate", "a link that is not there has no rate".into())),
            (None, true) => match over_every_link {
                Some(who) => return Err(at("failed", format!("{who} leads around this one"))),
                None => gone.extend(&ports),
            },
            (Some(rate), false) if RATES.contains(&rate.0) => {
                ports.iter().for_each(|&port| topology.configs[port as usize].rate = rate.0);
            }
            (Some(rate), false) => return Err(at("rate", format!("{rate}: a link has 1kbps to 100Tbps"))),
        }
        seen.push(ports);
    }
    topology.remove(&gone);
    Ok(())
}

/// The ports of the link between two nodes, both directions.
pub(crate) fn ports_between(topology: &Topology, ends: &[String; 2]) -> Result<Vec<u32>, String> {
    let nodes = nodes(topology, ends)?;
    let ports = topology.ports_between(nodes[0], nodes[1]);
    if ports.is_empty() {
        let of = |&[from, to]: &[u32; 2]| (from == nodes[0]).then(|| &*topology.node_names[to as usize]);
        let others: Vec<&str> = topology.network.ends.iter().filter_map(of).take(4).collect();
        let [a, b] = ends;
        let others = others.join(", ");
        return Err(format!("there is no link between `{a}` and `{b}` ({a} has links to {others} …)"));
    }
    Ok(ports)
}

/// The nodes of these names.
pub(crate) fn nodes(topology: &Topology, names: &[String; 2]) -> Result<[u32; 2], String> {
    let mut nodes = [0; 2];
    for (node, name) in nodes.iter_mut().zip(names) {
        *node = topology.node(name).ok_or_else(|| {
            let hint = did_you_mean(name, topology.node_names.iter().map(String::as_str));
            format!("there is no node `{name}`{hint}")
        })?;
    }
    Ok(nodes)
}
