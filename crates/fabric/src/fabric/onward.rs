//! Where packets go next. Where a port is a site of its own, that is known when a packet leaves the port before: by its
//! route, or because switches choose by its hash.

use tresse_units::Time;

use super::{END, FORWARD, Fabric, GONE, LAST_PORT};
use crate::agenda::Event;
use crate::balance::Queues;
use crate::carried::{Carried, Moving};
use crate::entity::ARRIVALS;
use crate::forward::{Forwarding, Next};
use crate::packet::Packet;
use crate::sites::{NEXT_PORT, Sites};

/// What decides where packets go.
struct Ways<'a> {
    forwarding: Option<&'a Forwarding>,
    routes: &'a [u32],
    sites: &'a Sites,
    /// By packet.
    destinations: &'a [u32],
}

impl Ways<'_> {
    /// The site at which a packet arrives that has left `port`. Notes in it whether it ends there.
    #[inline(always)]
    fn site_after(&self, port: u32, id: u32, carried: &mut Carried) -> u32 {
        let far = self.sites.far[port as usize];
        let header = &mut carried.header;
        if header.is_forwarded() {
            let forwarding = self.forwarding.expect("a forwarded route");
            let to = self.destinations[id as usize];
            if far != NEXT_PORT {
                header.set_end(forwarding.far_end(port) == to);
                return far;
            }
            let next = forwarding.foresee(port, to, carried.key);
            header.set_nowhere(next.is_none());
            return next.unwrap_or(port);
        }
        let next = self.routes[carried.key as usize - 1];
        header.set_end(next == END);
        if far != NEXT_PORT {
            far
        } else if next > LAST_PORT {
            port
        } else {
            next
        }
    }
}

impl<P: Copy> Fabric<P> {
    /// The packet with this id as events and queues have it.
    #[inline(always)]
    pub(super) fn moving(&mut self, id: u32) -> Moving {
        let packet = self.packets.get(id);
        let (next, hash) = (packet.next, packet.header.hash);
        let mut carried = Carried { key: packet.cursor, header: packet.header.carried() };
        match next {
            ..=LAST_PORT => {}
            END => carried.header.set_end(true),
            GONE => carried.header.set_gone(),
            to => {
                carried.key = hash;
                carried.header.set_forwarded();
                self.packets.set_destination(id, to & !FORWARD);
            }
        }
        Moving { id, carried }
    }

    /// Takes a packet out, as it is now.
    #[inline]
    pub(super) fn take(&mut self, moving: Moving) -> Packet<P> {
        let mut packet = self.packets.remove(moving.id);
        packet.header.take_over(moving.carried.header);
        packet
    }

    /// A packet leaves `port` and will arrive at `time`.
    #[inline(always)]
    pub(super) fn leave(&mut self, port: u32, moving: Moving, time: Time) {
        if self.part.is_some() && self.ports[port as usize].crosses() && self.leaves_part(port, moving, time)
        {
            return;
        }
        self.file(port, moving, time);
    }

    /// A packet will arrive at `time`, in this part of the network.
    #[inline(always)]
    fn file(&mut self, port: u32, moving: Moving, time: Time) {
        let Moving { id, mut carried } = moving;
        let ways = Ways {
            forwarding: self.forwarding.as_deref(),
            routes: &self.routes,
            sites: &self.sites,
            destinations: self.packets.destinations(),
        };
        let site = ways.site_after(port, id, &mut carried);
        self.agenda.push_carried(Event { time, entity: ARRIVALS | port, id }, site, carried);
    }

    /// The same for a packet of the slab.
    pub(super) fn push_arrival(&mut self, port: u32, id: u32, time: Time) {
        let moving = self.moving(id);
        self.file(port, moving, time);
    }

    /// Hands a packet over, if it arrives in another part.
    #[inline(never)]
    fn leaves_part(&mut self, port: u32, moving: Moving, time: Time) -> bool {
        let Moving { id, carried } = moving;
        let packet = self.packets.get_mut(id);
        packet.header.take_over(carried.header);
        if !carried.header.is_forwarded() {
            (packet.next, packet.cursor) = (self.routes[carried.key as usize - 1], carried.key);
        }
        self.hand_over(port, id, time)
    }

    /// What becomes of a packet that arrives, where that was not known before.
    #[inline]
    pub(super) fn next_port(&mut self, event: &Event, moving: &Moving) -> Next {
        let Carried { key, header } = moving.carried;
        if header.is_gone() {
            return Next::Nowhere;
        }
        if header.is_at_end() {
            return Next::Here;
        }
        if !header.is_forwarded() {
            let next = self.routes[key as usize - 1];
            return if next == END { Next::Here } else { Next::Port(next) };
        }
        if let Some(port) = self.take_foreseen(event) {
            return Next::Port(port);
        }
        let forwarding = self.forwarding.as_ref().expect("a forwarded route");
        let (node, to) =
            (forwarding.far_end(event.entity - ARRIVALS), self.packets.destinations()[moving.id as usize]);
        self.choose(node, to, key)
    }

    /// The decision of a node about a packet of a flow with this hash for the host `to`.
    #[inline]
    pub(super) fn choose(&mut self, node: u32, to: u32, hash: u32) -> Next {
        let forwarding = self.forwarding.as_mut().expect("a forwarded route");
        let queues = Queues { ports: &self.ports, queued_ports: &self.queued_ports, now: self.now };
        forwarding.next(node, to, hash, &queues)
    }

    /// Nodes choose anew for the packets that are to arrive.
    pub(super) fn choose_anew(&mut self) {
        if self.sites.ports == 0 {
            return; // they choose when the packets are there
        }
        let ways = Ways {
            forwarding: self.forwarding.as_deref(),
            routes: &self.routes,
            sites: &self.sites,
            destinations: self.packets.destinations(),
        };
        self.agenda.revise(|event, site, carried| {
            if carried.header.is_gone() {
                return site;
            }
            ways.site_after(event.entity - ARRIVALS, event.id, carried)
        });
    }
}
