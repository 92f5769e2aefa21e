//! Where packets go: the fabric, and the paths of the known flows.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use tresse_fabric::{Arrival, Ecn, Fabric, RouteId};
use tresse_units::Time;

use crate::ip::{self, PacketFields};

/// A packet's place in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    slot: u32,
    to: u32,
}

/// The two directions of a path: from the connecting to the listening host, and back.
pub type Way = [RouteId; 2];

/// The paths of the subflows of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ways {
    /// By the number of the subflow's source address, then by that of its destination address. After the last
    /// they begin again.
    pub ways: Vec<Way>,
    /// The number of destination addresses, at least 1.
    pub remotes: u16,
}

impl Ways {
    fn of(&self, local: u16, remote: u16) -> Way {
        let remotes = usize::from(self.remotes);
        let locals = self.ways.len() / remotes;
        self.ways[usize::from(local) % locals * remotes + usize::from(remote) % remotes]
    }
}

/// The largest packet that a host may send, bytes: no host has a larger MTU.
pub(crate) const LARGEST: usize = 1600;

/// The fabric with the packets in it.
#[derive(Debug)]
pub struct Switch {
    /// The ports, routes and links.
    pub fabric: Fabric<Frame>,
    /// By the listening host and its port: the paths of the connections to it.
    flows: BTreeMap<(u32, u16), Ways>,
    /// By address: its host, and its number among the host's addresses.
    addresses: BTreeMap<Ipv4Addr, (u32, u16)>,
    /// Between two hosts, for packets of no known flow.
    usual: BTreeMap<[u32; 2], RouteId>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    lost: u64,
    strays: u64,
}

#[derive(Debug, Clone)]
struct Slot {
    bytes: [u8; LARGEST],
    length: u16,
}

/// A packet that left the fabric.
#[derive(Debug)]
pub(crate) struct Delivered {
    /// Its destination host.
    pub host: u32,
    slot: u32,
    /// When it was due there.
    pub due: Time,
}

impl Switch {
    /// A fabric without packets; `addresses` are those of the hosts, by host.
    pub fn new(fabric: Fabric<Frame>, addresses: &[Vec<Ipv4Addr>]) -> Self {
        let of_host = |(host, own): (u32, &Vec<Ipv4Addr>)| {
            let numbered = own.iter().zip(0..).map(move |(address, number)| (*address, (host, number)));
            numbered.collect::<Vec<_>>()
        };
        Self {
            fabric,
            flows: BTreeMap::new(),
            addresses: (0..).zip(addresses).flat_map(of_host).collect(),
            usual: BTreeMap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            lost: 0,
            strays: 0,
        }
    }

    /// Packets of no known flow take this route between two hosts. Without one they are lost.
    pub fn set_usual(&mut self, hosts: [u32; 2], route: RouteId) {
        self.usual.insert(hosts, route);
    }

    /// Connections to this host and port take these paths.
    ///
    /// # Panics
    /// If there are none.
    pub fn add_flow(&mut self, listens: (u32, u16), ways: Ways) {
        assert!(ways.ways.len() >= usize::from(ways.remotes.max(1)), "a flow has a way");
        self.flows.insert(listens, ways);
    }

    /// Forgets a flow: its later packets are strays.
    pub fn remove_flow(&mut self, listens: (u32, u16)) {
        self.flows.remove(&listens);
    }

    /// Packets that the fabric dropped or lost.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Packets that were not IPv4 packets, or had no path.
    pub fn strays(&self) -> u64 {
        self.strays
    }

    /// A host sends a packet now.
    pub(crate) fn enter(&mut self, now: Time, packet: &[u8]) {
        let Some((seen, route, to)) = ip::read(packet).and_then(|seen| self.route(&seen)) else {
            self.strays += 1;
            return;
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { bytes: [0; LARGEST], length: 0 });
            self.slots.len() as u32 - 1
        });
        let own = &mut self.slots[slot as usize];
        own.bytes[..packet.len()].copy_from_slice(packet);
        own.length = packet.len() as u16;
        self.fabric.set_now(now);
        if !self.fabric.send(route, seen.header, Frame { slot, to }) {
            self.free.push(slot);
            self.lost += 1;
        }
    }

    fn route(&self, seen: &PacketFields) -> Option<(PacketFields, RouteId, u32)> {
        let [from, to] = seen.addresses;
        let (&(from_host, from_number), &(to_host, to_number)) =
            (self.addresses.get(&from)?, self.addresses.get(&to)?);
        let there = || Some(self.flows.get(&(to_host, seen.ports[1]))?.of(from_number, to_number)[0]);
        let back = || Some(self.flows.get(&(from_host, seen.ports[0]))?.of(to_number, from_number)[1]);
        let usual = || self.usual.get(&[from_host, to_host]).copied();
        Some((*seen, there().or_else(back).or_else(usual)?, to_host))
    }

    /// The next packet that has left the fabric by `now`.
    pub(crate) fn leave(&mut self, now: Time) -> Option<Delivered> {
        loop {
            match self.fabric.advance(now, &())? {
                Arrival::Dropped(packet) => {
                    self.free.push(packet.payload.slot);
                    self.lost += 1;
                }
                Arrival::Delivered(packet) => {
                    let Frame { slot, to } = packet.payload;
                    let own = &mut self.slots[slot as usize];
                    if packet.header.ecn == Ecn::Ce {
                        ip::set_ce(&mut own.bytes[..usize::from(own.length)]);
                    }
                    return Some(Delivered { host: to, slot, due: self.fabric.now() });
                }
            }
        }
    }

    /// The packet itself; its place is free from now on.
    pub(crate) fn take(&mut self, delivered: &Delivered) -> &[u8] {
        self.free.push(delivered.slot);
        let own = &self.slots[delivered.slot as usize];
        &own.bytes[..usize::from(own.length)]
    }
}
