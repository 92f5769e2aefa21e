//! Departures that are carried out later.

use tresse_units::Time;

use super::{Departures, Discipline, QueuedPort};
use crate::carried::Moving;

impl QueuedPort {
    /// From now on departures are late, if only the port itself depends on them.
    pub fn delay_departures(&mut self) {
        let is_alone = self.departures == Departures::EventsIfAwaited && self.quiet;
        if is_alone && self.discipline == Discipline::Strict {
            self.departures = Departures::Late;
        }
    }

    /// Whether its departures are late.
    #[inline]
    pub fn is_late(&self) -> bool {
        self.departures == Departures::Late
    }

    /// When a packet that enters now reaches the far end, if departures are late and the link is idle: then it is
    /// neither dropped nor trimmed, nor marked for what waits.
    #[inline(always)]
    pub fn admit_at_once(&mut self, now: Time, packet: &Moving) -> Option<Time> {
        (self.departure <= now && self.waits == 0 && self.up).then(|| self.transmit(now, packet))
    }

    /// Lets a packet wait behind others.
    #[inline(always)]
    pub fn admit_late(&mut self, packet: &Moving) {
        self.push(packet);
    }

    /// The next departure until then after which a packet begins to leave: when that is, the packet, and when it reaches the
    /// far end.
    #[inline(always)]
    pub fn depart_late(&mut self, until: Time) -> Option<(Time, Moving, Time)> {
        let time = self.departure;
        if time > until || !self.is_late() {
            return None;
        }
        let packet = self.take_strictly()?;
        let arrival = self.transmit(time, &packet);
        Some((time, packet, arrival))
    }

    /// Whether packets wait.
    #[inline]
    pub fn waits(&self) -> bool {
        self.waits != 0
    }

    /// The address of the packet that goes first of those that wait in at most two classes.
    #[inline]
    pub fn first_waiting(&self) -> *const u8 {
        let first = self.two[usize::from(self.waits >> 1 & 1)].queue.front();
        first.map_or(std::ptr::null(), |packet| std::ptr::from_ref(packet).cast())
    }
}
