//! Queued ports, and links that change.

use tresse_units::{BitsPerSecond, Time};

use super::{END, Entry, Fabric};
use crate::agenda::Event;
use crate::carried::Moving;
use crate::entity::ARRIVALS;
use crate::packet::Ecn;
use crate::port::Port;
use crate::queued_port::Begun;

impl<P: Copy> Fabric<P> {
    /// A packet enters a queued port, which has this `place` among them. Out of line, as [`Self::depart`] is, so that
    /// hops through plain ports stay as short as they are.
    #[inline(never)]
    pub(super) fn enter_queued_port(&mut self, number: u32, place: usize, moving: &mut Moving) -> Entry {
        if self.queued_ports[place].is_late() {
            return self.enter_late(number, place, moving);
        }
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
        if !self.has_room(number, place, moving, red) {
            return Entry::Dropped;
        }
        let (port, queued) = (&mut self.ports[number as usize], &mut self.queued_ports[place]);
        let pool = queued.pool().map(|p| &mut self.pools[p as usize]);
        let [arrival, departure] = queued.admit(self.now, moving, pool);
        if let Some(time) = arrival {
            let bytes = moving.carried.header.bytes().into();
            let time = if queued.quiet { time } else { port.processed(time, bytes) };
            if queued.marks_behind {
                self.mark_behind(number, place, moving);
            }
            self.write_hop(number, moving.id, self.now);
            self.leave(number, *moving, time);
        }
        if let Some(time) = departure {
            self.push_departure(number, time);
        }
        self.count_in(number, moving, arrival.is_some());
        if self.flags.is_some() {
            self.flag_server(number);
        }
        Entry::Settled
    }

    /// A packet enters a port whose departures are late.
    #[inline(always)]
    fn enter_late(&mut self, number: u32, place: usize, moving: &mut Moving) -> Entry {
        self.catch_up(number, self.now);
        let (port, queued) = (&mut self.ports[number as usize], &mut self.queued_ports[place]);
        if let Some(time) = queued.admit_at_once(self.now, moving) {
            port.count_bytes(moving.carried.header.bytes().into());
            self.hops += 1;
            self.write_hop(number, moving.id, self.now);
            return Entry::Arrives(time);
        }
        if !queued.is_up() {
            port.count_lost(1);
            return Entry::Dropped;
        }
        if !self.has_room(number, place, moving, false) {
            return Entry::Dropped;
        }
        self.queued_ports[place].admit_late(moving);
        self.note_late(number);
        Entry::Settled
    }

    /// Whether a queued port lets a packet in; if so, it counts it. The packet may be trimmed or marked; `red`: RED signals.
    #[inline(always)]
    fn has_room(&mut self, number: u32, place: usize, moving: &mut Moving, red: bool) -> bool {
        let (port, queued) = (&mut self.ports[number as usize], &mut self.queued_ports[place]);
        let pool = queued.pool().map(|p| &self.pools[p as usize]);
        let refused = self.pfc.as_mut().is_some_and(|pfc| pfc.refuses(number, moving));
        let mut meets = if refused { None } else { queued.meets(self.now, moving, pool) };
        let trimmed = meets.is_none().then(|| queued.trims(moving.carried.header)).flatten();
        if let Some(bytes) = trimmed {
            let ends = || self.routes[moving.carried.key as usize - 1] == END;
            let last_hop = self.forwarding.as_ref().map_or_else(ends, |own| own.leads_to_host(number));
            moving.carried.header.trim(bytes, last_hop);
            meets = queued.meets(self.now, moving, pool);
        }
        let Some(above) = meets else {
            port.count_drop();
            return false;
        };
        if trimmed.is_some() {
            port.count_trim();
        } else if (red || above) && !signal(port, moving) {
            return false;
        }
        port.count_bytes(moving.carried.header.bytes().into());
        self.hops += 1;
        true
    }

    /// An event of a queued port: the packet that it transmitted has left, or it receives a pause frame.
    #[inline(never)]
    pub(super) fn depart(&mut self, number: u32, frame: u32) {
        if frame != 0 {
            return self.hear_frame(number, frame);
        }
        if self.queued_ports[self.queued_of[number as usize] as usize].is_late() {
            return self.come_back(number);
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
    pub(super) fn mark_behind(&mut self, number: u32, place: usize, begun: &mut Moving) {
        let queued = &self.queued_ports[place];
        let above = queued.is_above_behind();
        if queued.quiet && !above {
            return;
        }
        let port = &mut self.ports[number as usize];
        let red = port.averages().is_some_and(|bytes| {
            let length = if bytes { queued.waiting_bytes() } else { queued.waiting() };
            port.red_signals(length, 0, queued.pace())
        });
        if begun.carried.header.ecn() == Ecn::Ect && (red || above) {
            signal(port, begun);
        }
    }

    /// At `now`, which may be over, a packet that has waited in a queued port begins to leave it.
    #[inline(always)]
    pub(super) fn begin(&mut self, number: u32, begun: Begun, now: Time) {
        let Begun { mut packet, mut arrival, departure } = begun;
        let place = self.queued_of[number as usize] as usize;
        let queued = &self.queued_ports[place];
        let quiet = queued.quiet;
        if queued.marks_behind {
            self.mark_behind(number, place, &mut packet);
        }
        if !quiet {
            let bytes = packet.carried.header.bytes();
            arrival = self.ports[number as usize].processed(arrival, bytes.into());
        }
        self.count_begin(number, &packet);
        self.write_hop(number, packet.id, now);
        self.leave(number, packet, arrival);
        if let Some(time) = departure {
            self.push_departure(number, time);
        }
    }

    #[inline]
    pub(super) fn push_departure(&mut self, number: u32, time: Time) {
        self.agenda.push(Event { time, entity: number, id: 0 }, self.sites.own[number as usize]);
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
            self.choose_anew();
            return self.repair_flow_control(port);
        }
        let pool = queued.pool().map(|p| &mut self.pools[p as usize]);
        let mut spilt = Vec::new();
        queued.fail(pool, &mut spilt);
        let before = self.spilt.len();
        for packet in &spilt {
            self.packets.get_mut(packet.id).header.take_over(packet.carried.header);
            self.spilt.push(packet.id);
        }
        self.fail_flow_control(port, before);
        // Links fail so rarely that searching for the packets on the wire is cheaper than keeping track of
        // them.
        let (now, mut lost) = (self.now, spilt.len() as u64);
        self.agenda.revise(|event, site, carried| {
            if event.entity == ARRIVALS | port && event.time > now {
                // It may have been lost already, and the link have come back since.
                lost += u64::from(!carried.header.is_gone());
                carried.header.set_gone();
            }
            site
        });
        self.ports[port as usize].count_lost(lost);
        self.flag_server(port);
        self.choose_anew();
    }

    /// The nodes recompute their shortest paths over the links that are up.
    pub fn reroute(&mut self) {
        self.forget_foreseen();
        if let Some(forwarding) = &mut self.forwarding {
            forwarding.reroute();
        }
        self.remember();
        self.choose_anew();
    }
}

/// Marks the packet, or drops it: false. See [`Port::signal`].
fn signal(port: &mut Port, moving: &mut Moving) -> bool {
    let mut ecn = moving.carried.header.ecn();
    let stays = port.signal(&mut ecn);
    moving.carried.header.set_ecn(ecn);
    stays
}
