//! Departures that are carried out later.

use tresse_units::Time;

use super::{Departures, Discipline, Packet, QueuedPort};
use crate::packet::Header;

impl QueuedPort {
    /// From now on departures are late, if only the port itself depends on them.
    pub fn delay_departures(&mut self) {
        let is_alone = self.departures == Departures::EventsIfAwaited && self.quiet;
        if is_alone && self.discipline == Discipline::Strict {
            self.departures = Departures::Late;
        }
    }

    /// When a packet that enters now reaches the far end, if departures are late and the link is idle: then it is
    /// neither dropped nor trimmed, nor marked for what waits.
    #[inline]
    pub fn admit_at_once(&mut self, now: Time, id: u32, header: &Header) -> Option<Time> {
        let is_idle = self.departure <= now && self.waits == 0;
        if !(is_idle && self.up && self.departures == Departures::Late) {
            return None;
        }
        let packet = Packet { id, bytes: header.bytes, class: self.class(header) };
        Some(self.transmit(now, packet))
    }

    /// Whether its departures are late, and a packet waits.
    #[inline]
    pub fn waits_late(&self) -> bool {
        self.waits != 0 && self.departures == Departures::Late
    }

    /// The address of the packet that goes first of those that wait in at most two classes.
    #[inline]
    pub fn first_waiting(&self) -> *const u8 {
        let first = self.two[usize::from(self.waits >> 1 & 1)].queue.front();
        first.map_or(std::ptr::null(), |packet| std::ptr::from_ref(packet).cast())
    }

    /// When the packet in transmission has left, if that is over and another one waits for it.
    #[inline]
    pub fn overdue(&self, now: Time) -> Option<Time> {
        (self.departure <= now && self.waits_late()).then_some(self.departure)
    }
}
