//! Packets where all routes are fixed and all ports plain: events carry what the ports need of them.

use super::{Arrival, END, Fabric};
use crate::agenda::{Carried, Event, TIMERS};
use crate::entity::ARRIVALS;
use crate::packet::CarriedHeader;
use crate::prefetch::{Ends, prefetch, prefetch_line};

impl<P: Copy> Fabric<P> {
    /// One event where all routes are fixed and all ports plain: only what the event carries of a packet is read, and
    /// nothing is written into it on its way.
    #[inline(always)]
    pub(super) fn handle_fixed(&mut self, event: Event, carried: Carried) -> Option<Arrival<P>> {
        let mut header = CarriedHeader(carried.header);
        if header.is_at_end() {
            let mut packet = self.packets.remove(event.id);
            packet.header.ecn = header.ecn();
            return Some(Arrival::Delivered(packet));
        }
        let site = self.agenda.site();
        let is_port = site < self.sites.ports;
        let number = if is_port { site } else { self.routes[carried.cursor as usize - 1] };
        let next = self.routes[carried.cursor as usize];
        let port = &mut self.ports[number as usize];
        let time = if port.must_examine(self.now) {
            let mut ecn = header.ecn();
            if !port.examine(self.now, header.bytes(), &mut ecn) {
                let mut packet = self.packets.remove(event.id);
                packet.header.ecn = ecn;
                return Some(Arrival::Dropped(packet));
            }
            header.set_ecn(ecn);
            let time = port.let_in(self.now, header.bytes());
            port.processed(time, header.bytes())
        } else {
            port.let_in(self.now, header.bytes())
        };
        self.hops += 1;
        if port.crosses() {
            let packet = self.packets.get_mut(event.id);
            (packet.next, packet.cursor, packet.header.ecn) = (next, carried.cursor + 1, header.ecn());
            self.hand_over(number, event.id, time);
            return None;
        }
        header.set_end(next == END);
        let event = Event { time, entity: ARRIVALS | number, id: event.id };
        self.push_carried(number, next, event, Carried { cursor: carried.cursor + 1, header: header.0 });
        None
    }

    /// Fetches what later events will touch: ports and routes, and packets that are at their end.
    #[inline(always)]
    pub(super) fn prefetch_fixed(&self, ends: &impl Ends<P>) {
        if let Some((ARRIVALS..TIMERS, id, site, carried)) = self.agenda.upcoming_carried(12) {
            if CarriedHeader(carried.header).is_at_end() {
                prefetch(self.packets.get(id));
            } else {
                prefetch_line(self.routes.as_ptr().wrapping_add(carried.cursor as usize).cast());
                let port: *const u8 = self.ports.as_ptr().wrapping_add(site as usize).cast();
                prefetch_line(port);
                prefetch_line(port.wrapping_add(64));
            }
        }
        if let Some((ARRIVALS..TIMERS, id, _, carried)) = self.agenda.upcoming_carried(7)
            && CarriedHeader(carried.header).is_at_end()
        {
            let end = ends.address(&self.packets.get(id).payload);
            prefetch_line(end);
            prefetch_line(end.wrapping_add(64));
        }
        if let Some((ARRIVALS..TIMERS, id, _, carried)) = self.agenda.upcoming_carried(3)
            && CarriedHeader(carried.header).is_at_end()
        {
            ends.fetch(&self.packets.get(id).payload);
        }
    }
}
