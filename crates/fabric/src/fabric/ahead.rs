//! A look ahead at the next events: prefetches the memory that they will touch, and keeps what a node's choice will be.
//! This affects only the speed.

use super::{END, FORWARD, Fabric, GONE, LAST_PORT, NOT_QUEUED};
use crate::agenda::{Event, TIMERS};
use crate::entity::{ARRIVALS, Entity};
use crate::forward::Next;
use crate::prefetch::{Ends, prefetch, prefetch_line};
use crate::queued_port::QueuedPort;

/// More events than are looked ahead.
pub(super) const FORESEEN: usize = 8;

/// The choice of a node, made before the packet is there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Foreseen {
    /// Its arrival.
    entity: Entity,
    id: u32,
    /// The port by which it will leave.
    port: u32,
}

impl Foreseen {
    /// No arrival has this entity.
    pub const NONE: Self = Self { entity: 0, id: 0, port: 0 };
}

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

    /// The same for queued ports, which touch more: for an arrival, the port that the packet will enter, if it is known;
    /// for a departure, its queued port. A port that is known is kept until the packet is there.
    #[inline]
    pub(super) fn prefetch_queued(&mut self, ends: &impl Ends<P>) {
        if let Some((ARRIVALS..TIMERS, id)) = self.agenda.upcoming(8) {
            prefetch(self.packets.get(id));
        }
        let hosts = self.sites.only_hosts();
        if let Some((entity @ ARRIVALS..TIMERS, id, site, _)) = self.agenda.upcoming_carried(2) {
            let foreseen = &self.foreseen[id as usize % FORESEEN];
            if hosts.contains(&site) {
                ends.fetch(&self.packets.get(id).payload);
            } else if (foreseen.entity, foreseen.id) == (entity, id)
                && let Some(queued) = self.queued_ports.get(self.queued_of[foreseen.port as usize] as usize)
            {
                prefetch_line(queued.first_waiting());
            }
        }
        let Some((entity, id, site, _)) = self.agenda.upcoming_carried(4) else { return };
        if entity < ARRIVALS {
            return self.prefetch_queued_port(entity);
        }
        if entity >= TIMERS {
            return;
        }
        let packet = self.packets.get(id);
        if hosts.contains(&site) {
            let end = ends.address(&packet.payload);
            prefetch_line(end);
            return prefetch_line(end.wrapping_add(64));
        }
        let port = match packet.next {
            port @ ..=LAST_PORT => {
                prefetch_line(self.routes.as_ptr().wrapping_add(packet.cursor as usize).cast());
                port
            }
            END | GONE => return,
            to => {
                let forwarding = self.forwarding.as_ref();
                let foreseen =
                    forwarding.and_then(|own| own.foresee(entity - ARRIVALS, to & !FORWARD, &packet.header));
                let Some(port) = foreseen else { return };
                self.foreseen[id as usize % FORESEEN] = Foreseen { entity, id, port };
                port
            }
        };
        let line: *const u8 = self.ports.as_ptr().wrapping_add(port as usize).cast();
        prefetch_line(line);
        if self.queued_of.get(port as usize).is_some_and(|&place| place != NOT_QUEUED) {
            self.prefetch_queued_port(port);
        } else {
            prefetch_line(line.wrapping_add(64));
        }
    }

    /// What becomes of a packet that has arrived with this `entry` of its route, if its port was known before: then it is not
    /// chosen again.
    #[inline]
    pub(super) fn take_foreseen(&mut self, event: &Event, entry: u32) -> Option<Next> {
        let place = &mut self.foreseen[event.id as usize % FORESEEN];
        if (place.entity, place.id) != (event.entity, event.id) {
            return None;
        }
        let next = Next::Port(std::mem::replace(place, Foreseen::NONE).port);
        debug_assert_eq!(
            self.beyond(event.entity - ARRIVALS, entry, event.id),
            next,
            "what was foreseen holds"
        );
        Some(next)
    }

    /// Nodes choose anew from now on.
    pub(super) fn forget_foreseen(&mut self) {
        self.foreseen = [Foreseen::NONE; FORESEEN];
    }

    #[inline]
    pub(super) fn prefetch_queued_port(&self, port: u32) {
        let place = self.queued_of[port as usize] as usize;
        QueuedPort::prefetch(self.queued_ports.as_ptr().wrapping_add(place));
    }
}
