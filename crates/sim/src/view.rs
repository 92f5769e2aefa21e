//! The observable state of a world.

use tresse_fabric::{Deadlock, Fabric, PfcCounters, Port};
use tresse_transport::{Incoming, Receiver, Sender, Wire};
use tresse_units::Time;

use crate::world::{Mechanisms, Packets, World};

impl World {
    /// Simulated time.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Where the packets have gone.
    pub fn packets(&self) -> Packets {
        let add = |a: Packets, b: Packets| Packets {
            sent: a.sent + b.sent,
            delivered: a.delivered + b.delivered,
            dropped: a.dropped + b.dropped,
        };
        self.parts.iter().map(|part| part.packets).fold(Packets::default(), add)
    }

    /// How often mechanisms have acted.
    pub fn mechanisms(&self) -> Mechanisms {
        self.assert_settled();
        let parts = self
            .parts
            .iter()
            .map(|part| Mechanisms { share_moves: part.fabric.share_moves(), ..part.mechanisms });
        parts.fold(Mechanisms::default(), std::ops::Add::add)
    }

    /// Payload that has arrived, bytes, including duplicates.
    pub fn delivered_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.delivered_bytes).sum()
    }

    /// The number of packets that have entered a port; each counts once per port. What has yet to be carried out after
    /// [`World::advance_ahead`] is not among them.
    pub fn hops(&self) -> u64 {
        self.parts.iter().map(|part| part.fabric.hops()).sum()
    }

    /// Packets on their way.
    pub fn in_flight(&self) -> usize {
        self.assert_settled();
        self.parts.iter().map(|part| part.fabric.in_flight()).sum()
    }

    /// The ports, by number.
    pub fn ports(&self) -> impl Iterator<Item = &Port> {
        (0..self.parts[0].fabric.ports().len() as u32).map(|port| self.port(port))
    }

    /// A port, by its number.
    pub fn port(&self, port: u32) -> &Port {
        &self.fabric_of(port).ports()[port as usize]
    }

    /// The time that a port has been sending, ps.
    pub fn busy(&self, port: u32) -> Time {
        self.fabric_of(port).busy(port)
    }

    /// Packets now waiting in a port.
    pub fn waiting(&self, port: u32) -> u64 {
        self.assert_settled();
        let part = &self.parts[self.part_of(port)];
        part.fabric.waiting(port) + part.fair_queues.waiting(port)
    }

    /// The effects of flow control on a port.
    pub fn pfc_counters(&self, port: u32) -> PfcCounters {
        self.fabric_of(port).pfc_counters(port)
    }

    /// The ports that wait for each other forever, if flow control has caused such a cycle. Only valid between two
    /// calls of [`World::advance`] that reached their time.
    pub fn deadlock(&self) -> Option<Deadlock> {
        self.assert_settled();
        Fabric::deadlock(self.parts.iter().map(|part| &part.fabric))
    }

    /// The ports by which `node` sends to the host `to`: see [`Fabric::shares`].
    pub fn shares(&self, node: u32, to: u32) -> Vec<(u32, u64)> {
        let part = self.cutting.as_ref().map_or(0, |cutting| cutting.cut().of_node(node));
        self.parts[part].fabric.shares(node, to)
    }

    /// The mean share of each port: see [`Fabric::mean_shares`].
    pub fn mean_shares(&self) -> Vec<Option<u64>> {
        self.assert_settled();
        let parts: Vec<_> = self.parts.iter().map(|part| part.fabric.mean_shares()).collect();
        (0..parts[0].len()).map(|port| parts[self.part_of(port as u32)][port]).collect()
    }

    /// Packet-hops until shortly before now: the same whenever [`World::settle`] was called, and however the network is cut.
    pub fn steady_hops(&self) -> u64 {
        let (window, hops) = self.hops_before;
        if self.parts[0].fabric.window_end(self.now) == window { hops } else { self.hops() }
    }

    fn fabric_of(&self, port: u32) -> &Fabric<Wire> {
        self.assert_settled();
        &self.parts[self.part_of(port)].fabric
    }

    fn part_of(&self, port: u32) -> usize {
        self.cutting.as_ref().map_or(0, |cutting| cutting.cut().of_port(port))
    }

    /// The number of parts; 1 if the world is not divided.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Connections that have not finished.
    pub fn live(&self) -> usize {
        self.live
    }

    /// The sender of a connection that has not finished, by its id; for measurements.
    pub fn sender(&self, id: u64) -> Option<&Sender> {
        self.assert_settled();
        let half = self.sending(*self.halves.get(&id)?);
        (half.is_open && !half.sender.is_datagrams()).then_some(&half.sender)
    }

    /// The ports that the data of a subflow take now, from the sender on, for measurements. `None` if switches
    /// decide packet by packet, or if the connection is gone.
    pub fn path(&self, id: u64, subflow: usize) -> Option<Vec<u32>> {
        self.assert_settled();
        let halves = *self.halves.get(&id)?;
        let way = self.sending(halves).ways.get(subflow).filter(|way| way.sprayed.is_none())?;
        self.parts[halves.sending.0].fabric.path(way.there, way.hashes[0])
    }

    /// Segments of a connection that were delivered in order, by its id; for measurements.
    pub fn delivered_segments(&self, id: u64) -> Option<u32> {
        self.assert_settled();
        let half = self.receiving(*self.halves.get(&id)?);
        half.receiver.messages().filter(|_| half.is_open).map(Incoming::delivered)
    }

    /// The two ends of a connection, by its id, for measurements. The connection must not have finished, or no
    /// other one may have been started since.
    pub fn ends(&self, id: u64) -> Option<(&Sender, &Receiver)> {
        self.assert_settled();
        let halves = *self.halves.get(&id)?;
        Some((&self.sending(halves).sender, &self.receiving(halves).receiver))
    }
}
