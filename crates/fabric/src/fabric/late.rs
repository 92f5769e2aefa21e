//! Departures without events.
//!
//! The departure of a packet from a queued port decides only which of the packets that wait there is next. Nobody can
//! tell when that is decided, as long as it is before another packet enters the port, before anyone looks, and before
//! the window ends: the next packet is at the far end in a later one. So all departures of a window are carried out
//! when it ends or another packet comes, and a hop through a queue takes one event instead of two.

use tresse_units::Time;

use super::{Fabric, NOT_QUEUED};
use crate::agenda::{Event, WINDOW_END};
use crate::balance::Balancing;
use crate::queued_port::QueuedPort;

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
        self.late = vec![0; self.ports.len().div_ceil(64)];
        self
    }

    /// Carries out all departures until now.
    pub fn settle(&mut self) {
        for word in 0..self.late.len() {
            let mut bits = self.late[word];
            while bits != 0 {
                self.catch_up((64 * word) as u32 + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
    }

    /// A packet waits in a port whose departures are late.
    #[inline]
    pub(super) fn note_late(&mut self, port: u32) {
        let (word, bit) = (&mut self.late[port as usize / 64], 1 << (port % 64));
        if *word & bit == 0 {
            *word |= bit;
            if self.agenda.open_until().is_some() {
                self.late_here.push(port);
            } else {
                self.push_window_end(port, self.now);
            }
        }
    }

    /// A site is over in whose ports packets have begun to wait: as at a window's end, or later if the window is not
    /// gone through whole.
    #[inline(never)]
    pub(super) fn end_site(&mut self) {
        let Some(until) = self.agenda.open_until() else { return };
        let is_whole = until == self.agenda.window_end(until);
        let mut ports = std::mem::take(&mut self.late_here);
        for port in ports.drain(..) {
            if is_whole {
                self.now = until;
                self.end_window(port);
            } else {
                self.push_window_end(port, until);
            }
        }
        self.late_here = ports;
    }

    fn push_window_end(&mut self, port: u32, time: Time) {
        let event = Event { time: self.agenda.window_end(time), entity: WINDOW_END | port, id: 0 };
        self.agenda.push(event, self.sites.own[port as usize]);
    }

    /// A window ends in which packets have waited in a port whose departures are late.
    #[inline(never)]
    pub(super) fn end_window(&mut self, port: u32) {
        self.catch_up(port);
        if self.queued_ports[self.queued_of[port as usize] as usize].waits_late() {
            self.push_window_end(port, self.now + 1);
        } else {
            self.late[port as usize / 64] &= !(1 << (port % 64));
        }
    }

    /// Carries out the departures from a port until now.
    #[inline(never)]
    pub(super) fn catch_up(&mut self, port: u32) {
        let place = self.queued_of[port as usize] as usize;
        while let Some(time) = self.queued_ports[place].overdue(self.now) {
            if let Some(begun) = self.queued_ports[place].depart(time, None) {
                self.begin(port, begun, time);
            }
        }
    }

    /// The same for any port.
    pub(super) fn catch_up_any(&mut self, port: u32) {
        if self.queued_of.get(port as usize).is_some_and(|&place| place != NOT_QUEUED)
            && !self.late.is_empty()
        {
            self.catch_up(port);
        }
    }
}
