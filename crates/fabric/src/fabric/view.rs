//! The observable state of a fabric.

use tresse_units::Time;

use super::Fabric;
use crate::port::Port;

impl<P: Copy> Fabric<P> {
    /// The number of packets that have entered a port; each counts once per port.
    pub fn hops(&self) -> u64 {
        self.hops
    }

    /// Packets on their way.
    pub fn in_flight(&self) -> usize {
        self.packets.len()
    }

    /// The ports, by number.
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// How long a port has been sending, ps.
    pub fn busy(&self, port: u32) -> Time {
        let port = &self.ports[port as usize];
        port.queued().map_or_else(|| port.busy(self.now), |s| self.queued_ports[s].busy(self.now))
    }

    /// How many updates of HOLNET's balancers have moved shares; `None` without such a balancer.
    pub fn share_moves(&self) -> Option<u64> {
        self.forwarding.as_ref()?.share_moves()
    }

    /// The mean share of each port under HOLNET's balancers, in parts of 2^32: see [`Fabric::shares`], of which it is the
    /// mean over the destinations. `None` where nothing is balanced; empty without such a balancer.
    pub fn mean_shares(&self) -> Vec<Option<u64>> {
        self.forwarding.as_ref().map_or_else(Vec::new, |forwarding| forwarding.mean_shares())
    }

    /// Packets that wait in a port now.
    pub fn waiting(&self, port: u32) -> u64 {
        let port = &self.ports[port as usize];
        port.queued().map_or_else(|| port.waiting(self.now), |s| self.queued_ports[s].waiting())
    }

    /// When a port's link would be free for a packet of `bytes`, if nothing else entered the port before; now, if it is
    /// free. A port that is paused is worth asking again then. A failed link is free: it loses what it gets.
    pub fn free_at(&mut self, port: u32, bytes: u32) -> Time {
        self.catch_up_any(port);
        let plain = &self.ports[port as usize];
        match plain.queued() {
            None => plain.busy_until().max(self.now),
            Some(queued) => self.queued_ports[queued].free_at(self.now, bytes),
        }
    }
}
