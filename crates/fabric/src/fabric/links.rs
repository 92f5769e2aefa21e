//! Ports with a real server, and links that change.

use tresse_units::BitsPerSecond;

use super::{Entry, Fabric};
use crate::entity::ARRIVALS;
use crate::queue::Event;
use crate::server::Packet;

impl<P: Copy> Fabric<P> {
    /// A packet enters a port with a real server. Out of line, as [`Self::depart`] is, so that hops through plain
    /// ports stay as short as they are.
    #[inline(never)]
    pub(super) fn enter_server(&mut self, number: u32, server: usize, id: u32) -> Entry {
        let header = &mut self.packets.get_mut(id).header;
        let (port, server) = (&mut self.ports[number as usize], &mut self.servers[server]);
        if !server.is_up() {
            port.count_lost(1);
            return Entry::Dropped;
        }
        if port.loses() {
            return Entry::Dropped;
        }
        // RED averages what every packet meets, a full queue too.
        let red = port.averages().is_some_and(|bytes| {
            let length = if bytes { server.backlog(self.now) } else { server.waiting() };
            port.red_signals(length, server.idle(self.now), server.pace())
        });
        let packet = Packet { id, bytes: header.bytes, class: server.class(header) };
        let mut pool = server.pool().map(|p| &mut self.pools[p as usize]);
        let Some(above) = server.meets(self.now, packet, pool.as_deref()) else {
            port.count_drop();
            return Entry::Dropped;
        };
        if (red || above) && !port.signal(&mut header.ecn) {
            return Entry::Dropped;
        }
        port.count_bytes(packet.bytes);
        self.hops += 1;
        let [arrival, departure] = server.admit(self.now, packet, pool.take());
        if let Some(time) = arrival {
            self.queue.push(Event { time, entity: ARRIVALS | number, id });
        }
        if let Some(time) = departure {
            self.queue.push(Event { time, entity: number, id: 0 });
        }
        if self.flags.is_some() {
            self.flag_server(number);
        }
        Entry::Waits
    }

    /// The packet that a real server transmitted has left.
    #[inline(never)]
    pub(super) fn depart(&mut self, number: u32) {
        let server = self.ports[number as usize].server().expect("only servers have departures");
        let server = &mut self.servers[server];
        let pool = server.pool().map(|p| &mut self.pools[p as usize]);
        if let Some((id, arrival, departure)) = server.depart(self.now, pool) {
            self.queue.push(Event { time: arrival, entity: ARRIVALS | number, id });
            if let Some(time) = departure {
                self.queue.push(Event { time, entity: number, id: 0 });
            }
        }
        if self.flags.is_some() {
            self.flag_server(number);
        }
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
        let spilt = self.spilt.len();
        server.fail(pool, &mut self.spilt);
        let mut lost = (self.spilt.len() - spilt) as u64;
        // Links fail so seldom that it is cheaper to look for what is on the wire than to keep account of it.
        let on_wire = |e: &Event| e.entity == ARRIVALS | port && e.time > self.now;
        for Event { id, .. } in self.queue.iter().filter(on_wire) {
            let cursor = &mut self.packets.get_mut(id).cursor;
            // It may have been lost already, and the link have come back since.
            lost += u64::from(*cursor != 0);
            *cursor = 0; // where `GONE` stands
        }
        self.ports[port as usize].count_lost(lost);
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
