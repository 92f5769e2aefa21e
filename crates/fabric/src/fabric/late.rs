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
use crate::prefetch::prefetch_line;
use crate::queued_port::QueuedPort;

/// Whether the ports in which packets wait are looked after when this window or a later one ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Sweep {
    /// No packet waits.
    #[default]
    None,
    /// When all sites of this window have been gone through.
    Due,
    /// An event does it.
    Scheduled,
}

/// The ports whose departures are late.
#[derive(Debug, Default)]
pub(super) struct Late {
    /// A bit for each port: packets wait in it. Empty if no departures are late.
    waiting: Vec<u64>,
    sweep: Sweep,
    /// The ports of a sweep; empty between two, to keep its memory.
    swept: Vec<u32>,
}

/// How many ports ahead a sweep fetches the packets that wait in one; and the port as many ports before that.
const FETCHED: usize = 4;

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
        self.late.waiting = vec![0; self.ports.len().div_ceil(64)];
        self
    }

    /// Carries out all departures until now.
    pub fn settle(&mut self) {
        for word in 0..self.late.waiting.len() {
            let mut bits = self.late.waiting[word];
            while bits != 0 {
                self.catch_up((64 * word) as u32 + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
    }

    /// A packet waits in a port whose departures are late.
    #[inline]
    pub(super) fn note_late(&mut self, port: u32) {
        self.late.waiting[port as usize / 64] |= 1 << (port % 64);
        if self.late.sweep == Sweep::None {
            self.late.sweep = Sweep::Due;
            // Site by site, it is done when all sites of the window have been gone through.
            if !self.agenda.is_open_by_sites() {
                self.schedule_sweep(self.now);
            }
        }
    }

    fn schedule_sweep(&mut self, time: Time) {
        let event = Event { time: self.agenda.window_end(time), entity: WINDOW_END, id: 0 };
        self.agenda.push(event, self.sites.count());
        self.late.sweep = Sweep::Scheduled;
    }

    /// All sites of a window have been gone through, up to `until`.
    #[inline]
    pub(super) fn end_sites(&mut self, until: Time) {
        if self.late.sweep != Sweep::Due {
            return;
        }
        if until == self.agenda.window_end(until) {
            self.latest = until;
            self.now = until;
            self.sweep();
        } else {
            self.schedule_sweep(until);
        }
    }

    /// A window ends in which packets have waited in ports whose departures are late: carries them out until now. One
    /// pass over all ports, which lie one after the other, takes less time than an event for each of them.
    #[inline(never)]
    pub(super) fn sweep(&mut self) {
        let mut ports = std::mem::take(&mut self.late.swept);
        for (number, word) in self.late.waiting.iter_mut().enumerate() {
            let mut bits = std::mem::take(word);
            while bits != 0 {
                ports.push((64 * number) as u32 + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
        self.late.sweep = Sweep::None;
        for place in 0..ports.len() {
            if let Some(&port) = ports.get(place + 2 * FETCHED) {
                self.prefetch_queued_port(port);
            }
            if let Some(&port) = ports.get(place + FETCHED) {
                prefetch_line(self.queued_ports[self.queued_of[port as usize] as usize].first_waiting());
            }
            let port = ports[place];
            self.catch_up(port);
            if self.queued_ports[self.queued_of[port as usize] as usize].waits_late() {
                self.late.waiting[port as usize / 64] |= 1 << (port % 64);
                self.late.sweep = Sweep::Due;
            }
        }
        if self.late.sweep == Sweep::Due {
            self.schedule_sweep(self.now + 1);
        }
        ports.clear();
        self.late.swept = ports;
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
            && !self.late.waiting.is_empty()
        {
            self.catch_up(port);
        }
    }
}
