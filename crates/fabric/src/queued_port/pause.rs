//! Flow control of a queued port: it stops and continues.

use tresse_units::Time;

use super::{Begun, Departures, Discipline, NO_POOL, QueuedPort};
use crate::carried::Moving;

impl QueuedPort {
    /// Puts it under flow control.
    ///
    /// # Panics
    /// If it does not have two classes, or none goes before the other, or it is in a shared buffer.
    pub fn obey(&mut self) {
        assert!(
            self.discipline == Discipline::Strict && self.last == 1,
            "one class is paused, the other goes first"
        );
        assert!(self.pool == NO_POOL, "flow control has a buffer of its own");
        self.departures = Departures::Events;
    }

    /// From the end of the packet in transmission on, only the class that goes before all others sends.
    pub fn pause(&mut self) {
        self.paused = true;
    }

    /// Ends the pause because its link has failed: nothing waits.
    pub fn end_pause(&mut self) {
        self.paused = false;
    }

    /// The port continues, in the same way as [`Self::depart`] if it has been idle.
    pub fn resume(&mut self, now: Time) -> Option<Begun> {
        self.paused = false;
        (self.departure <= now).then(|| self.depart(now, None)).flatten()
    }

    /// The packets of the class that is paused, if it is.
    pub fn paused(&self) -> Option<impl Iterator<Item = &Moving>> {
        self.paused.then(|| self.two[0].queue.iter())
    }

    /// When the packet in transmission will have left.
    pub fn departure(&self) -> Time {
        self.departure
    }

    /// The propagation delay of its link.
    pub fn delay(&self) -> Time {
        self.delay
    }

    /// Whether a packet has to wait though nothing is being sent.
    #[inline]
    pub(super) fn holds(&self, packet: &Moving) -> bool {
        self.paused && self.class(packet) == 0
    }
}
