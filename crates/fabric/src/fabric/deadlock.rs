//! Deadlocks: ports that are paused forever, because each waits for the next in a ring (cyclic buffer dependency).
//!
//! A switch ends a pause of port p when it holds no more than XON of the bytes from p. If more than this
//! waits in ports that are paused themselves and will never continue, neither will p. So the deadlocked ports
//! are the largest set of paused ports in which each waits like this for others in the set. A paused port
//! outside the set will continue as soon as others do. Only a link failure ends a deadlock.

use std::collections::BTreeMap;

use tresse_units::Time;

use super::Fabric;

/// Ports that wait for each other forever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadlock {
    /// Each waits for the next, and the last for the first; the lowest number comes first.
    pub ring: Vec<u32>,
    /// When the last of them was paused.
    pub since: Time,
    /// How many ports are paused forever, including those that only wait for the ring.
    pub ports: usize,
}

/// The state of a paused port.
#[derive(Debug)]
struct Waits {
    port: u32,
    since: Time,
    /// The paused ports at the other ends of links whose packets wait here, and the bytes of each.
    held: BTreeMap<u32, u64>,
}

impl<P: Copy> Fabric<P> {
    /// The paused ports that wait for each other forever, if there are any. The fabrics are the parts of one
    /// network, and have all reached the same time.
    pub fn deadlock<'a>(parts: impl Iterator<Item = &'a Self> + Clone) -> Option<Deadlock>
    where
        P: 'a,
    {
        let mut waits: BTreeMap<u32, Waits> =
            parts.clone().flat_map(Self::waits).map(|own| (own.port, own)).collect();
        let xon = |port: u32| parts.clone().find_map(|part| part.stopped_until(port));
        loop {
            let mut held: BTreeMap<u32, u64> = BTreeMap::new();
            for (&port, &bytes) in waits.values().flat_map(|own| &own.held) {
                *held.entry(port).or_default() += bytes;
            }
            let before = waits.len();
            waits.retain(|&port, _| xon(port).is_some_and(|xon| held.get(&port).is_some_and(|&h| h > xon)));
            if waits.len() == before {
                break;
            }
        }
        // Any walk in the set ends in a ring.
        let next = |port: u32| waits.values().find(|own| own.held.contains_key(&port)).map(|own| own.port);
        let mut walk = vec![*waits.keys().next()?];
        let ring = loop {
            let port = next(*walk.last()?)?;
            if let Some(start) = walk.iter().position(|&p| p == port) {
                break walk.split_off(start);
            }
            walk.push(port);
        };
        let first = ring.iter().enumerate().min_by_key(|(_, port)| **port).map_or(0, |(place, _)| place);
        let ring = [&ring[first..], &ring[..first]].concat();
        let since = ring.iter().map(|port| waits[port].since).max().unwrap_or(0);
        Some(Deadlock { ring, since, ports: waits.len() })
    }

    /// The paused ports of this part.
    fn waits(&self) -> Vec<Waits> {
        let Some(pfc) = &self.pfc else { return Vec::new() };
        let waits = |port: u32| {
            let queued = &self.queued_ports[self.ports[port as usize].queued()?];
            let since = pfc.ports[port as usize].since;
            let mut held = BTreeMap::new();
            for packet in queued.paused()? {
                if let Some(ingress) = pfc.ingress(port, packet) {
                    *held.entry(ingress).or_default() += u64::from(packet.carried.header.bytes());
                }
            }
            Some(Waits { port, since, held })
        };
        (0..self.ports.len() as u32).filter_map(waits).collect()
    }

    /// The XON of a port, if the switch at its far end, in this part, last told it to pause and the frame has
    /// arrived.
    fn stopped_until(&self, port: u32) -> Option<u64> {
        let link = &self.pfc.as_ref()?.links[port as usize];
        (link.stopped && link.heard <= self.now).then_some(link.xon)
    }
}
