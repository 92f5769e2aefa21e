//! Packets where all routes are fixed and all ports plain: events carry what the ports need of them.

use super::{Arrival, END, Fabric, LAST_PORT};
use crate::agenda::{Event, TIMERS};
use crate::carried::Carried;
use crate::entity::ARRIVALS;
use crate::prefetch::{Ends, prefetch, prefetch_line};
use crate::sites::NEXT_PORT;

impl<P: Copy> Fabric<P> {
    /// One event where all routes are fixed and all ports plain: only what the event carries of a packet is read, and
    /// nothing is written into it on its way.
    #[inline(always)]
    pub(super) fn handle_fixed(&mut self, event: Event, carried: Carried) -> Option<Arrival<P>> {
        let mut header = carried.header;
        if header.is_at_end() {
            let mut packet = self.packets.remove(event.id);
            packet.header.ecn = header.ecn();
            return Some(Arrival::Delivered(packet));
        }
        let site = self.agenda.site();
        let is_port = site < self.sites.ports;
        let number = if is_port { site } else { self.routes[carried.key as usize - 1] };
        let next = self.routes[carried.key as usize];
        let (port, bytes) = (&mut self.ports[number as usize], u32::from(header.bytes()));
        let time = if port.must_examine(self.now) {
            let mut ecn = header.ecn();
            if !port.examine(self.now, bytes, &mut ecn) {
                let mut packet = self.packets.remove(event.id);
                packet.header.ecn = ecn;
                return Some(Arrival::Dropped(packet));
            }
            header.set_ecn(ecn);
            let time = port.let_in(self.now, bytes);
            port.processed(time, bytes)
        } else {
            port.let_in(self.now, bytes)
        };
        self.hops += 1;
        if port.crosses() {
            let packet = self.packets.get_mut(event.id);
            (packet.next, packet.cursor, packet.header.ecn) = (next, carried.key + 1, header.ecn());
            if !self.hand_over(number, event.id, time) {
                self.push_arrival(number, event.id, time);
            }
            return None;
        }
        header.set_end(next == END);
        let event = Event { time, entity: ARRIVALS | number, id: event.id };
        let far = self.sites.far[number as usize];
        // No packet ends in a switch.
        let site = if far != NEXT_PORT {
            far
        } else if next > LAST_PORT {
            number
        } else {
            next
        };
        self.agenda.push_carried(event, site, Carried { key: carried.key + 1, header });
        None
    }

    /// Fetches what later events will touch: ports and routes, and packets that are at their end.
    #[inline(always)]
    pub(super) fn prefetch_fixed(&self, ends: &impl Ends<P>) {
        if let Some((ARRIVALS..TIMERS, id, site, carried)) = self.agenda.upcoming(12) {
            if carried.header.is_at_end() {
                prefetch(self.packets.get(id));
            } else {
                prefetch_line(self.routes.as_ptr().wrapping_add(carried.key as usize).cast());
                let port: *const u8 = self.ports.as_ptr().wrapping_add(site as usize).cast();
                prefetch_line(port);
                prefetch_line(port.wrapping_add(64));
            }
        }
        if let Some((ARRIVALS..TIMERS, id, _, carried)) = self.agenda.upcoming(7)
            && carried.header.is_at_end()
        {
            let end = ends.address(&self.packets.get(id).payload);
            prefetch_line(end);
            prefetch_line(end.wrapping_add(64));
        }
        if let Some((ARRIVALS..TIMERS, id, _, carried)) = self.agenda.upcoming(3)
            && carried.header.is_at_end()
        {
            ends.fetch(&self.packets.get(id).payload);
        }
    }
}
