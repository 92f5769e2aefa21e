//! Prefetches the memory that the next events will touch. This affects only the speed.

use super::{END, FORWARD, Fabric, GONE, LAST_PORT, NOT_QUEUED};
use crate::agenda::{TIMERS, WINDOW_END};
use crate::entity::ARRIVALS;
use crate::prefetch::{Ends, prefetch, prefetch_line};
use crate::queued_port::QueuedPort;

impl<P: Copy> Fabric<P> {
    /// Fetches what the events after the next one will touch: the packet, then the port that it will enter, each
    /// a step earlier than the next needs it.
    ///
    /// Whether a packet is at its end cannot be predicted, and a wrong guess costs more than a needless
    /// fetch: so the first lines are fetched on one path for both cases, without a branch. What an end leads to is ten
    /// lines, which are worth one from k = 16 up; at queued ports, or where nodes decide, nothing was gained.
    #[inline]
    pub(super) fn prefetch(&self, ends: &impl Ends<P>) {
        let arrival = |ahead| match self.agenda.upcoming(ahead) {
            Some((ARRIVALS..TIMERS, id)) => Some(id),
            _ => None,
        };
        if let Some(id) = arrival(6) {
            prefetch(self.packets.get(id));
        }
        if let Some(id) = arrival(3) {
            let packet = self.packets.get(id);
            let next = packet.next as usize;
            let end = ends.address(&packet.payload);
            let port: *const u8 = self.ports.as_ptr().wrapping_add(next).cast();
            let target = if next < self.ports.len() { port } else { end };
            prefetch_line(target);
            prefetch_line(target.wrapping_add(64));
            prefetch_line(self.routes.as_ptr().wrapping_add(packet.cursor as usize).cast());
        }
        if let Some(id) = arrival(1) {
            self.prefetch_end(id, ends);
        }
    }

    #[inline]
    fn prefetch_end(&self, id: u32, ends: &impl Ends<P>) {
        let packet = self.packets.get(id);
        if packet.next == END {
            ends.fetch(&packet.payload);
        }
    }

    /// The same for queued ports, which touch more: for an arrival, the port that the packet will enter, if
    /// it is known; for a departure, its queued port.
    #[inline]
    pub(super) fn prefetch_queued(&self, ends: &impl Ends<P>) {
        if let Some((ARRIVALS..TIMERS, id)) = self.agenda.upcoming(8) {
            prefetch(self.packets.get(id));
        }
        let Some((entity, id)) = self.agenda.upcoming(4) else { return };
        if entity < ARRIVALS {
            return self.prefetch_queued_port(entity);
        }
        if entity >= WINDOW_END {
            return self.prefetch_queued_port(entity - WINDOW_END);
        }
        if entity >= TIMERS {
            return;
        }
        let packet = self.packets.get(id);
        let next = match packet.next {
            port @ ..=LAST_PORT => {
                prefetch_line(self.routes.as_ptr().wrapping_add(packet.cursor as usize).cast());
                Some(port)
            }
            END | GONE => None,
            to => self
                .forwarding
                .as_ref()
                .and_then(|own| own.foresee(entity - ARRIVALS, to & !FORWARD, &packet.header)),
        };
        match next {
            Some(port) => {
                let line: *const u8 = self.ports.as_ptr().wrapping_add(port as usize).cast();
                prefetch_line(line);
                if self.queued_of.get(port as usize).is_some_and(|&place| place != NOT_QUEUED) {
                    self.prefetch_queued_port(port);
                } else {
                    prefetch_line(line.wrapping_add(64));
                }
            }
            None => {
                let end = ends.address(&packet.payload);
                prefetch_line(end);
                prefetch_line(end.wrapping_add(64));
            }
        }
    }

    #[inline]
    fn prefetch_queued_port(&self, port: u32) {
        let place = self.queued_of[port as usize] as usize;
        QueuedPort::prefetch(self.queued_ports.as_ptr().wrapping_add(place));
    }
}
