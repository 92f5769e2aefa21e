//! Departures that are carried out later.

use tresse_units::Time;

use super::{Departures, Discipline, QueuedPort};

impl QueuedPort {
    /// From now on departures are late, if only the port itself depends on them.
    pub fn delay_departures(&mut self) {
        let is_alone = self.departures == Departures::EventsIfAwaited && self.quiet;
        if is_alone && self.discipline == Discipline::Strict {
            self.departures = Departures::Late;
        }
    }

    /// Whether its departures are late, and a packet waits.
    #[inline]
    pub fn waits_late(&self) -> bool {
        self.waits != 0 && self.departures == Departures::Late
    }

    /// When the packet in transmission has left, if that is over and another one waits for it.
    #[inline]
    pub fn overdue(&self, now: Time) -> Option<Time> {
        (self.departure <= now && self.waits_late()).then_some(self.departure)
    }
}
