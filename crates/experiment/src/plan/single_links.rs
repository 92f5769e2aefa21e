//! Single links, by the names of the nodes at their ends: `[[fabric.links]]`.

use std::collections::BTreeSet;

use tresse_fabric::{Loss, RedConfig, Topology};

use crate::diagnostic::{Wrong, did_you_mean};
use crate::schema::fabric::Fabric;
use crate::schema::links::{LinkSetting, check_delay, check_loss, check_rate};

/// Applies `[[fabric.links]]` to single links.
pub(crate) fn links(f: &Fabric, topology: &mut Topology, over_every_link: Option<&str>) -> Result<(), Wrong> {
    let mut seen = BTreeSet::<u32>::new();
    let mut gone = Vec::new();
    for (i, link) in f.links.iter().enumerate() {
        let at = |key: &str, message: String| Wrong::new(["fabric", "links", &i.to_string(), key], message);
        let mut ports = Vec::new();
        for ends in each(topology, &link.ends).map_err(|e| at("ends", e))? {
            let own = ports_between(topology, &ends).map_err(|e| at("ends", e))?;
            let from = topology.node(&ends[0]);
            let is_meant =
                |port: &u32| !link.one_way || Some(topology.network.ends[*port as usize][0]) == from;
            let own: Vec<u32> = own.into_iter().filter(is_meant).collect();
            if own.iter().any(|port| seen.contains(port)) {
                return Err(at("ends", format!("the link of {} is listed twice", ends.join(" and "))));
            }
            seen.extend(&own);
            ports.extend(own);
        }
        match (link.said(), link.failed) {
            (None, false) => {
                let message = "nothing is set for this link: set `rate`, `delay`, `queue`, `mark`, `red`, \
                `loss`, or failed = true";
                return Err(at("ends", message.into()));
            }
            (Some(key), true) => {
                return Err(at(key, format!("a link that is missing has no {key}")));
            }
            (None, true) if link.one_way => {
                return Err(at("one_way", "a link fails in both directions".into()));
            }
            (None, true) => match over_every_link {
                Some(who) => return Err(at("failed", format!("{who} leads around this one"))),
                None => gone.extend(&ports),
            },
            (Some(_), false) => {
                let red = link.check(f).map_err(|e| e.below(i).below("links").below("fabric"))?;
                ports.iter().for_each(|&port| link.apply(topology, port, red));
            }
        }
    }
    topology.remove(&gone);
    Ok(())
}

impl LinkSetting {
    /// The first property that it sets, which only an existing link can have.
    fn said(&self) -> Option<&'static str> {
        let keys = [
            ("rate", self.rate.is_some()),
            ("delay", self.delay.is_some()),
            ("queue", self.queue.is_some()),
            ("mark", self.mark.is_some()),
            ("red", self.red.is_some()),
            ("loss", self.loss.is_some()),
        ];
        keys.into_iter().find(|(_, is_said)| *is_said).map(|(key, _)| key)
    }

    /// Its RED, if it has its own.
    ///
    /// # Errors
    /// What is wrong with it, and the key.
    fn check(&self, f: &Fabric) -> Result<Option<RedConfig>, Wrong> {
        self.rate.map_or(Ok(()), check_rate).map_err(|e| Wrong::key("rate", e))?;
        self.delay.map_or(Ok(()), check_delay).map_err(|e| Wrong::key("delay", e))?;
        self.loss.map_or(Ok(()), check_loss).map_err(|e| Wrong::key("loss", e))?;
        let queue = [("queue", self.queue.is_some()), ("mark", self.mark.is_some())]
            .into_iter()
            .find(|(_, own)| *own);
        match queue {
            Some((key, _)) if !f.classes.is_empty() => Err(Wrong::key(
                key,
                "the classes of `fabric.classes` have their own queues, which are the same in a whole layer",
            )),
            _ => Ok(()),
        }?;
        let Some(range) = self.red else { return Ok(None) };
        let Some(red) = &f.red else {
            return Err(Wrong::key("red", "these are thresholds for `fabric.red`, which is missing"));
        };
        red.config(range.min, range.max).map(Some).map_err(|e| Wrong::key("red", e))
    }

    fn apply(&self, topology: &mut Topology, port: u32, red: Option<RedConfig>) {
        let is_nic = topology.network.ends[port as usize][0] < topology.network.hosts;
        let stream = topology.streams[port as usize];
        let config = &mut topology.configs[port as usize];
        config.rate = self.rate.map_or(config.rate, |rate| rate.0);
        config.delay = self.delay.map_or(config.delay, |delay| delay.0);
        if let Some(loss) = self.loss {
            config.loss = Loss::new(loss.into(), 0, stream);
        }
        if !is_nic {
            config.limit = self.queue.map_or(config.limit, Into::into);
            config.mark = self.mark.map_or(config.mark, |mark| mark.length().into());
            config.red = red;
        }
    }
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

/// The ends of every link that `ends` names.
fn each(topology: &Topology, ends: &[String; 2]) -> Result<Vec<[String; 2]>, String> {
    let [from, to] = [names(topology, &ends[0])?, names(topology, &ends[1])?];
    let pairs = from.iter().flat_map(|a| to.iter().map(|b| [a.clone(), b.clone()]));
    Ok(pairs.collect())
}

/// The names that `name` stands for: `spine 0..8` stands for `spine 0` to `spine 7`, every other name for itself.
fn names(topology: &Topology, name: &str) -> Result<Vec<String>, String> {
    let range = name.split_once("..").and_then(|(first, end)| {
        let kind = first.trim_end_matches(|c: char| c.is_ascii_digit());
        Some((kind, first[kind.len()..].parse::<u32>().ok()?, end.parse::<u32>().ok()?))
    });
    // Of a file, nodes may be called anything.
    let Some((kind, first, end)) = range.filter(|_| topology.node(name).is_none()) else {
        return Ok(vec![name.to_owned()]);
    };
    if first >= end {
        return Err(format!(
            "`{name}` is not a node: a range ends before its last number, as in `{kind}0..8`"
        ));
    }
    let mut names = Vec::new();
    for number in first..end {
        let name = format!("{kind}{number}");
        if topology.node(&name).is_none() {
            return Err(format!("there is no node `{name}`"));
        }
        names.push(name);
    }
    Ok(names)
}

/// The nodes with these names.
pub fn nodes(topology: &Topology, names: &[String; 2]) -> Result<[u32; 2], String> {
    let mut nodes = [0; 2];
    for (node, name) in nodes.iter_mut().zip(names) {
        *node = topology.node(name).ok_or_else(|| {
            let hint = did_you_mean(name, topology.node_names.iter().map(String::as_str));
            format!("there is no node `{name}`{hint}")
        })?;
    }
    Ok(nodes)
}
