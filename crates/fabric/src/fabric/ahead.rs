//! A look ahead at the next events: prefetches the memory that they will touch, and keeps what a node's choice will be.
//! This affects only the speed.

use super::{Fabric, NOT_QUEUED};
use crate::agenda::{Event, TIMERS};
use crate::carried::Moving;
use crate::entity::{ARRIVALS, Entity};
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
    /// Fetches what the events after the next one will touch: for a packet at its end, that packet, and what its end
    /// touches; otherwise the port that it will enter, if that is known, and for a departure its port. Where nodes choose, the
    /// port that is known is kept until the packet is there.
    #[inline(always)]
    pub(super) fn prefetch<const QUEUED: bool>(&mut self, ends: &impl Ends<P>) {
        match self.agenda.upcoming(10) {
            Some((ARRIVALS..TIMERS, id, site, carried)) => {
                if carried.header.is_at_end() {
                    prefetch(self.packets.get(id));
                } else if site < self.sites.ports {
                    self.prefetch_port::<QUEUED>(site);
                    if !carried.header.is_forwarded() {
                        prefetch_line(self.routes.as_ptr().wrapping_add(carried.key as usize).cast());
                    }
                }
            }
            Some((port @ ..ARRIVALS, ..)) => self.prefetch_queued_port(port),
            _ => {}
        }
        if let Some((entity @ ARRIVALS..TIMERS, id, site, carried)) = self.agenda.upcoming(5) {
            if carried.header.is_at_end() {
                let end = ends.address(&self.packets.get(id).payload);
                prefetch_line(end);
                prefetch_line(end.wrapping_add(64));
            } else if site >= self.sites.ports {
                self.foresee::<QUEUED>(entity, &Moving { id, carried });
            }
        }
        if let Some((entity @ ARRIVALS..TIMERS, id, site, carried)) = self.agenda.upcoming(2) {
            if carried.header.is_at_end() {
                ends.fetch(&self.packets.get(id).payload);
            } else if QUEUED {
                let foreseen = &self.foreseen[id as usize % FORESEEN];
                let port = match (foreseen.entity, foreseen.id) == (entity, id) {
                    true => foreseen.port,
                    false => site,
                };
                if let Some(&place) = self.queued_of.get(port as usize)
                    && let Some(queued) = self.queued_ports.get(place as usize)
                {
                    prefetch_line(queued.first_waiting());
                }
            }
        }
    }

    /// Fetches the port that a packet will enter which arrives at a node, if it is known, and keeps the node's choice.
    #[inline]
    fn foresee<const QUEUED: bool>(&mut self, entity: Entity, moving: &Moving) {
        let &Moving { id, carried } = moving;
        if !carried.header.goes_on() {
            return;
        }
        let port = if carried.header.is_forwarded() {
            let (to, forwarding) = (self.packets.destinations()[id as usize], self.forwarding.as_ref());
            let foreseen = forwarding.and_then(|own| own.foresee(entity - ARRIVALS, to, carried.key));
            let Some(port) = foreseen else { return };
            self.foreseen[id as usize % FORESEEN] = Foreseen { entity, id, port };
            port
        } else {
            self.routes[carried.key as usize - 1]
        };
        self.prefetch_port::<QUEUED>(port);
    }

    /// The port that a packet enters which has arrived at a node, if it was known before: then it is not chosen again.
    #[inline]
    pub(super) fn take_foreseen(&mut self, event: &Event) -> Option<u32> {
        let place = &mut self.foreseen[event.id as usize % FORESEEN];
        if (place.entity, place.id) != (event.entity, event.id) {
            return None;
        }
        Some(std::mem::replace(place, Foreseen::NONE).port)
    }

    /// Nodes choose anew from now on.
    pub(super) fn forget_foreseen(&mut self) {
        self.foreseen = [Foreseen::NONE; FORESEEN];
    }

    #[inline]
    fn prefetch_port<const QUEUED: bool>(&self, port: u32) {
        let line: *const u8 = self.ports.as_ptr().wrapping_add(port as usize).cast();
        prefetch_line(line);
        if QUEUED && self.queued_of.get(port as usize).is_some_and(|&place| place != NOT_QUEUED) {
            self.prefetch_queued_port(port);
        } else {
            prefetch_line(line.wrapping_add(64));
        }
    }

    #[inline]
    pub(super) fn prefetch_queued_port(&self, port: u32) {
        let place = self.queued_of[port as usize] as usize;
        QueuedPort::prefetch(self.queued_ports.as_ptr().wrapping_add(place));
    }
}
