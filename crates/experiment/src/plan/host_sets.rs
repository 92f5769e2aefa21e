//! Sets of hosts, by names and numbers, racks and pods.

use tresse_fabric::Topology;

use crate::schema::host_names::{Host, Hosts};
use crate::schema::workload::HostSet;

/// Reads the sets of hosts of a file.
pub(crate) struct HostSets<'a> {
    pub fabric: &'a Topology,
}

impl HostSets<'_> {
    /// The hosts of a set, in its order, each once.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn hosts(&self, set: &HostSet) -> Result<Vec<u32>, String> {
        let parts = match set {
            HostSet::One(one) => std::slice::from_ref(one),
            HostSet::Several(several) => several,
        };
        let mut hosts = Vec::new();
        for part in parts {
            hosts.extend(self.part(part.trim())?);
        }
        let mut seen = vec![false; self.fabric.hosts() as usize];
        if let Some(&twice) = hosts.iter().find(|&&h| std::mem::replace(&mut seen[h as usize], true)) {
            return Err(format!("{} is listed twice", self.name(twice)));
        }
        if hosts.is_empty() { Err("no host".into()) } else { Ok(hosts) }
    }

    /// All hosts, indexed by name and number.
    pub fn names(&self) -> Hosts {
        Hosts::new((0..self.fabric.hosts()).map(|host| self.name(host)))
    }

    /// The name of a host.
    pub fn name(&self, host: u32) -> &str {
        &self.fabric.node_names[self.fabric.addresses(host).start as usize]
    }

    fn part(&self, text: &str) -> Result<Vec<u32>, String> {
        let of = |kind: &str, numbers: &[u32]| {
            let number: u32 = text.strip_prefix(kind)?.trim().parse().ok()?;
            let hosts = (0..).zip(numbers).filter(|(_, n)| **n == number).map(|(h, _)| h);
            Some((number, hosts.collect::<Vec<u32>>()))
        };
        for (kind, numbers) in [("rack ", &self.fabric.racks), ("pod ", &self.fabric.pods)] {
            match of(kind, numbers) {
                Some((number, hosts)) if hosts.is_empty() => {
                    let most = numbers.iter().max().copied().unwrap_or(0);
                    return Err(format!("there is no {kind}{number}: numbers are 0 to {most}"));
                }
                Some((_, hosts)) => return Ok(hosts),
                None => {}
            }
        }
        if let Some((first, end)) = text.split_once("..") {
            // As links take `spine 0..8`.
            let first = first.trim().strip_prefix("host ").unwrap_or(first);
            let bounds = (first.trim().parse::<u32>(), end.trim().parse::<u32>());
            let n = self.fabric.hosts();
            return match bounds {
                (Ok(first), Ok(end)) if first < end && end <= n => Ok((first..end).collect()),
                (Ok(_), Ok(_)) => Err(format!("{text}: the first host, and one after the last, up to {n}")),
                _ => Err(format!("`{text}`: numbers such as \"0..{n}\"")),
            };
        }
        self.names().find(&Host::from(text)).map(|host| vec![host])
    }
}
