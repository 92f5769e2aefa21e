//! Queued ports, and links that change.

use tresse_units::{BitsPerSecond, Time};

use super::{END, Entry, Fabric, GONE};
use crate::agenda::Event;
use crate::entity::ARRIVALS;
use crate::packet::Ecn;
use crate::queued_port::{Begun, Packet};

impl<P: Copy> Fabric<P> {
    /// A packet enters a queued port, which has this `place` among them. Out of line, as [`Self::depart`] is, so that
    /// hops through plain ports stay as short as they are.
    #[inline(never)]
    pub(super) fn enter_queued_port(&mut self, number: u32, place: usize, id: u32) -> Entry {
        let packet = self.packets.get_mut(id);
        if let Some(time) = self.queued_ports[place].admit_at_once(self.now, id, &packet.header) {
            self.ports[number as usize].count_bytes(packet.header.bytes.into());
            self.hops += 1;
            self.write_hop(number, id, self.now);
            // The plain port matters only for a cut.
            let crosses = self.part.is_some() && self.ports[number as usize].crosses();
            return self.entered(number, id, time, crosses);
        }
        if self.queued_ports[place].overdue(self.now).is_some() {
            self.catch_up(number);
        }
        let packet = self.packets.get_mut(id);
        let (next, header) = (packet.next, &mut packet.header);
        let (port, queued) = (&mut self.ports[number as usize], &mut self.queued_ports[place]);
        if !queued.is_up() {
            port.count_lost(1);
            return Entry::Dropped;
        }
        let mut red = false;
        if !queued.quiet {
            if port.loses() {
                return Entry::Dropped;
            }
            // RED averages the queue that every packet meets, even a full one.
            red = port.averages().filter(|_| !queued.marks_behind).is_some_and(|bytes| {
                let length = if bytes { queued.backlog(self.now) } else { queued.waiting() };
                port.red_signals(length, queued.idle(self.now), queued.pace())
            });
        }
        let mut packet = Packet { id, bytes: header.bytes, class: queued.class(header) };
        let mut pool = queued.pool().map(|p| &mut self.pools[p as usize]);
        let refused = self.pfc.as_mut().is_some_and(|pfc| pfc.refuses(number, &packet));
        let mut meets = if refused { None } else { queued.meets(self.now, packet, pool.as_deref()) };
        let trimmed = meets.is_none().then(|| queued.trims(header)).flatten();
        if let Some(bytes) = trimmed {
            header.trim(bytes, self.forwarding.as_ref().map_or(next == END, |own| own.leads_to_host(number)));
            packet = Packet { id, bytes, class: queued.class(header) };
            meets = queued.meets(self.now, packet, pool.as_deref());
        }
        let Some(above) = meets else {
            port.count_drop();
            return Entry::Dropped;
        };
        if trimmed.is_some() {
            port.count_trim();
        } else if (red || above) && !port.signal(&mut header.ecn) {
            return Entry::Dropped;
        }
        port.count_bytes(packet.bytes.into());
        self.hops += 1;
        let [arrival, departure] = queued.admit(self.now, packet, pool.take());
        if let Some(time) = arrival {
            let time = if queued.quiet { time } else { port.processed(time, packet.bytes.into()) };
            let crosses = port.crosses();
            if queued.marks_behind {
                self.mark_behind(number, place);
            }
            self.write_hop(number, id, self.now);
            self.leave(number, id, time, crosses);
        } else if queued.waits_late() {
            self.note_late(number);
        }
        if let Some(time) = departure {
            self.push_departure(number, time);
        }
        self.count_in(number, &packet, arrival.is_some());
        if self.flags.is_some() {
            self.flag_server(number);
        }
        Entry::Settled
    }

    /// An event of a queued port: the packet that it transmitted has left, or it receives a pause frame.
    #[inline(never)]
    pub(super) fn depart(&mut self, number: u32, frame: u32) {
        if frame != 0 {
            return self.hear_frame(number, frame);
        }
        self.count_out(number);
        let queued = &mut self.queued_ports[self.queued_of[number as usize] as usize];
        let pool = queued.pool().map(|p| &mut self.pools[p as usize]);
        if let Some(next) = queued.depart(self.now, pool) {
            self.begin(number, next, self.now);
        }
        if self.flags.is_some() {
            self.flag_server(number);
        }
    }

    /// Marks the packet whose transmission begins by what waits behind it, if it is ECN-capable: the signal
    /// is younger by the time that the packet has waited. RED then averages the queue that departing packets
    /// leave behind.
    #[inline]
    fn mark_behind(&mut self, number: u32, place: usize) {
        let queued = &self.queued_ports[place];
        let above = queued.is_above_behind();
        if queued.quiet && !above {
            return; // without a look at the packet, which has left the cache while it waited
        }
        let port = &mut self.ports[number as usize];
        let red = port.averages().is_some_and(|bytes| {
            let length = if bytes { queued.waiting_bytes() } else { queued.waiting() };
            port.red_signals(length, 0, queued.pace())
        });
        let ecn = &mut self.packets.get_mut(queued.sending().id).header.ecn;
        if *ecn == Ecn::Ect && (red || above) {
            port.signal(ecn);
        }
    }

    /// At `now`, which may be over, a packet that has waited in a queued port begins to leave it.
    #[inline(always)]
    pub(super) fn begin(&mut self, number: u32, begun: Begun, now: Time) {
        let Begun { packet, mut arrival, departure } = begun;
        let place = self.queued_of[number as usize] as usize;
        let queued = &self.queued_ports[place];
        let quiet = queued.quiet;
        if queued.marks_behind {
            self.mark_behind(number, place);
        }
        let mut crosses = false;
        // The plain port of a quiet queued port matters only for a cut.
        if !quiet || self.part.is_some() {
            let port = &mut self.ports[number as usize];
            (arrival, crosses) = (port.processed(arrival, packet.bytes.into()), port.crosses());
        }
        self.count_begin(number);
        self.write_hop(number, packet.id, now);
        self.leave(number, packet.id, arrival, crosses);
        if let Some(time) = departure {
            self.push_departure(number, time);
        }
    }

    fn push_departure(&mut self, number: u32, time: Time) {
        self.agenda.push(Event { time, entity: number, id: 0 }, self.sites.own[number as usize]);
    }

    #[inline]
    fn leave(&mut self, port: u32, id: u32, time: Time, crosses: bool) {
        if crosses {
            self.hand_over(port, id, time);
        } else {
            self.push_arrival(port, id, time);
        }
    }

    /// The rate of a queued port changes now. The packet in transmission continues at the old one.
    ///
    /// # Panics
    /// If the port is not queued, or the rate is 0.
    pub fn set_rate(&mut self, port: u32, rate: BitsPerSecond) {
        self.forget_foreseen();
        let queued = self.ports[port as usize].queued().expect("a rate that changes needs a queued port");
        self.catch_up_any(port);
        self.queued_ports[queued].set_rate(rate);
        if let Some(forwarding) = &mut self.forwarding {
            forwarding.set_rate(port, rate);
        }
    }

    /// The link of a queued port fails now, or comes back. Packets that waited for a failed link or were on
    /// it are lost, and so are those sent to it later. The port's node knows at once and takes other ports if
    /// it may choose; the other nodes need [`Fabric::reroute`].
    ///
    /// # Panics
    /// If the port is not queued.
    pub fn set_link(&mut self, port: u32, up: bool) {
        self.forget_foreseen();
        let queued = self.ports[port as usize].queued().expect("a link that fails needs a queued port");
        self.catch_up_any(port);
        let queued = &mut self.queued_ports[queued];
        if let Some(forwarding) = &mut self.forwarding {
            forwarding.set_link(port, up);
        }
        if up {
            queued.repair();
            return self.repair_flow_control(port);
        }
        let pool = queued.pool().map(|p| &mut self.pools[p as usize]);
        let spilt = self.spilt.len();
        queued.fail(pool, &mut self.spilt);
        self.fail_flow_control(port, spilt);
        let mut lost = (self.spilt.len() - spilt) as u64;
        // Links fail so rarely that searching for the packets on the wire is cheaper than keeping track of
        // them.
        let on_wire = |e: &Event| e.entity == ARRIVALS | port && e.time > self.now;
        for Event { id, .. } in self.agenda.iter().filter(on_wire) {
            let next = &mut self.packets.get_mut(id).next;
            // It may have been lost already, and the link have come back since.
            lost += u64::from(*next != GONE);
            *next = GONE;
        }
        self.ports[port as usize].count_lost(lost);
        self.flag_server(port);
    }

    /// The nodes recompute their shortest paths over the links that are up.
    pub fn reroute(&mut self) {
        self.forget_foreseen();
        if let Some(forwarding) = &mut self.forwarding {
            forwarding.reroute();
        }
        self.remember();
    }
}
