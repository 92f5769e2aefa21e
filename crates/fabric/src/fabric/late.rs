//! Departures that are carried out later.
//!
//! The departure of a packet from a queued port decides only which of the packets that wait there is next. Nobody can
//! tell when that is decided, as long as it is before another packet enters the port, before anyone looks, and before
//! the window ends: the next packet is at the far end in a later one. So the departures of a window are carried out
//! when another packet comes or the port's site has been gone through, while the port lies in the cache. If packets wait
//! then, an event brings the port back in the window of its next departure.

use tresse_units::Time;

use super::{Fabric, NOT_QUEUED};
use crate::balance::Balancing;
use crate::queued_port::QueuedPort;

/// The ports whose departures are late.
#[derive(Debug, Default)]
pub(super) struct Late {
    /// A bit for each port: it is among those of `here`, or an event will bring it back. Empty if no departures are late.
    noted: Vec<u64>,
    /// Ports of the site that is being gone through: departures are to be carried out when that is done.
    here: Vec<u32>,
    /// That site.
    site: u32,
}

impl<P: Copy> Fabric<P> {
    /// Carries out departures from queued ports later, if nothing but the port depends on them. To be called when the
    /// fabric is complete. Then call [`Fabric::settle`] before a look at it. The results are the same.
    #[must_use]
    pub fn with_late_departures(mut self) -> Self {
        let looks =
            self.forwarding.as_ref().is_some_and(|own| matches!(own.balancing(), Balancing::Drill { .. }));
        if looks || self.flags.is_some() || !self.goes_by_sites() || self.queued_ports.is_empty() {
            return self;
        }
        self.queued_ports.iter_mut().for_each(QueuedPort::delay_departures);
        self.late.noted = vec![0; self.ports.len().div_ceil(64)];
        self
    }

    /// Carries out all departures until now.
    pub fn settle(&mut self) {
        for word in 0..self.late.noted.len() {
            let mut bits = self.late.noted[word];
            while bits != 0 {
                self.catch_up((64 * word) as u32 + bits.trailing_zeros(), self.now);
                bits &= bits - 1;
            }
        }
    }

    /// A packet waits in a port whose departures are late.
    #[inline]
    pub(super) fn note_late(&mut self, port: u32) {
        let (word, bit) = (&mut self.late.noted[port as usize / 64], 1 << (port % 64));
        if *word & bit != 0 {
            return;
        }
        *word |= bit;
        if self.agenda.is_open_by_sites() {
            self.keep_here(port);
        } else {
            self.bring_back(port);
        }
    }

    #[inline]
    fn keep_here(&mut self, port: u32) {
        self.late.here.push(port);
        self.late.site = self.agenda.site();
    }

    /// An event brings the port back at its next departure.
    #[inline]
    fn bring_back(&mut self, port: u32) {
        let time = self.queued_ports[self.queued_of[port as usize] as usize].departure();
        self.push_departure(port, time);
    }

    /// An event has brought the port back.
    #[inline]
    pub(super) fn come_back(&mut self, port: u32) {
        if self.agenda.is_open_by_sites() {
            self.keep_here(port);
        } else {
            self.catch_up_until(port, self.now);
        }
    }

    /// Whether the site of the last event is another one than that of the ports that are still to be caught up with.
    #[inline(always)]
    pub(super) fn has_left_site(&self) -> bool {
        !self.late.here.is_empty() && self.late.site != self.agenda.site()
    }

    /// A site has been gone through, as far as the window is open.
    #[inline(never)]
    pub(super) fn leave_site(&mut self) {
        let until = self.agenda.last();
        while let Some(port) = self.late.here.pop() {
            self.catch_up_until(port, until);
        }
    }

    /// Carries out the departures from a port until then; if packets still wait, an event brings it back.
    fn catch_up_until(&mut self, port: u32, until: Time) {
        self.catch_up(port, until);
        if self.queued_ports[self.queued_of[port as usize] as usize].waits() {
            self.bring_back(port);
        } else {
            self.late.noted[port as usize / 64] &= !(1 << (port % 64));
        }
    }

    /// Carries out the departures from a port until then.
    #[inline]
    pub(super) fn catch_up(&mut self, port: u32, until: Time) {
        let place = self.queued_of[port as usize] as usize;
        while let Some((time, mut packet, arrival)) = self.queued_ports[place].depart_late(until) {
            if self.queued_ports[place].marks_behind {
                self.mark_behind(port, place, &mut packet);
            }
            self.write_hop(port, packet.id, time);
            self.leave(port, packet, arrival);
        }
    }

    /// The same for any port.
    pub(super) fn catch_up_any(&mut self, port: u32) {
        if self.queued_of.get(port as usize).is_some_and(|&place| place != NOT_QUEUED)
            && !self.late.noted.is_empty()
        {
            self.catch_up(port, self.now);
        }
    }
}
