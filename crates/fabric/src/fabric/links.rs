//! Ports with a real server, and links that change.

use super::{Entry, Fabric};
use crate::port::{Port, PortCounters};
use crate::queue::Event;
use crate::units::{ARRIVALS, BitsPerSecond};

impl<P: Copy> Fabric<P> {
    /// A packet enters a port with a real server.
    #[cold]
    pub(super) fn enter_server(&mut self, number: u32, server: usize, id: u32) -> Entry {
        let header = &mut self.packets.get_mut(id).header;
        let (port, server) = (&mut self.ports[number as usize], &mut self.servers[server]);
        let mut pool = server.pool().map(|p| &mut self.pools[p as usize]);
        if !server.is_up() {
            port.count(PortCounters { lost: 1, ..PortCounters::default() });
            return Entry::Dropped;
        }
        if port.loses() {
            return Entry::Dropped;
        }
        if server.is_full(self.now, header, pool.as_deref()) {
            port.count(PortCounters { drops: 1, ..PortCounters::default() });
            return Entry::Dropped;
        }
        let length = |_: &Port, bytes| if bytes { server.backlog(self.now) } else { server.waiting() };
        let above = port.red_signals(server.idle(self.now), length) || server.is_above(self.now, header);
        if above && !port.signal(&mut header.ecn) {
            return Entry::Dropped;
        }
        port.count(PortCounters { bytes: header.bytes.into(), ..PortCounters::default() });
        self.hops += 1;
        if let Some(time) = server.admit(self.now, id, header, pool.take()) {
            self.queue.push(Event { time, entity: number, id });
        }
        self.flag_server(number);
        Entry::Waits
    }

    /// The packet that a real server transmitted has left.
    pub(super) fn depart(&mut self, number: u32) {
        let server = self.ports[number as usize].server().expect("only servers have departures");
        let server = &mut self.servers[server];
        let pool = server.pool().map(|p| &mut self.pools[p as usize]);
        let ((id, time), next) = server.depart(self.now, pool);
        self.queue.push(Event { time, entity: ARRIVALS | number, id });
        if let Some((id, time)) = next {
            self.queue.push(Event { time, entity: number, id });
        }
        self.flag_server(number);
    }

    /// The rate of a port with a real server changes now. The packet in transmission goes on at the old one.
    ///
    /// # Panics
    /// If the port has no server, or the rate is 0.
    pub fn set_rate(&mut self, port: u32, rate: BitsPerSecond) {
        let server = self.ports[port as usize].server().expect("a rate that changes needs a server");
        self.servers[server].set_rate(rate);
        if let Some(forwarding) = &mut self.forwarding {
            forwarding.set_rate(port, rate);
        }
    }

    /// The link of a port with a real server fails now, or comes back. What waited or was under way on a link
    /// that fails is lost; so is what is sent to it later. The port's node knows at once and takes other ports
    /// if it may choose; the other nodes need [`Fabric::reroute`].
    ///
    /// # Panics
    /// If the port has no server.
    pub fn set_link(&mut self, port: u32, up: bool) {
        let server = self.ports[port as usize].server().expect("a link that fails needs a server");
        let server = &mut self.servers[server];
        if let Some(forwarding) = &mut self.forwarding {
            forwarding.set_link(port, up);
        }
        if up {
            server.repair();
            return;
        }
        let pool = server.pool().map(|p| &mut self.pools[p as usize]);
        let (spilt, mut under_way) = (self.spilt.len(), Vec::new());
        server.fail(self.now, pool, &mut self.spilt, &mut under_way);
        let lost = (self.spilt.len() - spilt + under_way.len()) as u64;
        self.ports[port as usize].count(PortCounters { lost, ..PortCounters::default() });
        for id in under_way {
            self.packets.get_mut(id).cursor = 0; // where `GONE` stands
        }
        self.flag_server(port);
    }

    /// The nodes find their shortest ways anew, over the links that are up.
    pub fn reroute(&mut self) {
        if let Some(forwarding) = &mut self.forwarding {
            forwarding.reroute();
        }
        self.remember();
    }
}
