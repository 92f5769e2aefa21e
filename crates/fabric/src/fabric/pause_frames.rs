//! Pause frames: when they are sent and take effect, and what happens to them when a link fails.

use tresse_units::Time;

use super::Fabric;
use super::pfc::PAUSE_FRAME;
use crate::agenda::Event;
use crate::carried::{Carried, Moving};

/// In place of a packet, in an event of a queued port: it is paused, or may continue. A departure has 0
/// there, so at one instant a port's packet leaves before a pause takes effect.
const PAUSE: u32 = 1;
const GO_ON: u32 = 2;

/// A pause frame on its way to a port of another part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub time: Time,
    pub port: u32,
    pub pauses: bool,
}

impl Frame {
    fn event(self) -> Event {
        let Self { time, port, pauses } = self;
        Event { time, entity: port, id: if pauses { PAUSE } else { GO_ON } }
    }
}

impl<P: Copy> Fabric<P> {
    /// The switch at the far end of `port` tells it to pause or to continue. The frame waits for the packet
    /// that is being sent that way, and for the frame before it.
    pub(super) fn send_frame(&mut self, port: u32, pauses: bool) {
        let Some(pfc) = &mut self.pfc else { return };
        let link = &mut pfc.links[port as usize];
        let queued = |port: u32| &self.queued_ports[self.queued_of[port as usize] as usize];
        let twin = queued(link.twin);
        let is_up = twin.is_up() && queued(port).is_up();
        link.stopped = pauses && is_up;
        if !is_up {
            return;
        }
        link.sent = twin.departure().max(self.now).max(link.sent) + twin.pace().time(PAUSE_FRAME);
        link.heard = link.sent + twin.delay() + link.reaction;
        let frame = Frame { time: link.heard, port, pauses };
        if !self.frame_crosses(frame) {
            self.take_in_frame(frame);
        }
    }

    /// A pause frame that has come from another part.
    pub(super) fn take_in_frame(&mut self, frame: Frame) {
        self.agenda.push(frame.event(), self.sites.own[frame.port as usize]);
    }

    /// A port obeys a pause frame.
    pub(super) fn hear_frame(&mut self, port: u32, what: u32) {
        let Some(pfc) = &mut self.pfc else { return };
        let own = &mut pfc.ports[port as usize];
        let queued = &mut self.queued_ports[self.queued_of[port as usize] as usize];
        if self.now <= own.deaf_until || !queued.is_up() {
            return;
        }
        if what == PAUSE {
            queued.pause();
            own.since = self.now;
            own.counters.pauses += 1;
            return;
        }
        own.end_pause(self.now);
        if let Some(next) = queued.resume(self.now) {
            self.begin(port, next, self.now);
        }
    }

    /// The link of a port has failed. The packets that waited there are gone, the port is no longer paused,
    /// and frames on their way to it are ignored.
    pub(super) fn fail_flow_control(&mut self, port: u32, spilt: usize) {
        let Some(pfc) = &mut self.pfc else { return };
        let own = &mut pfc.ports[port as usize];
        own.end_pause(self.now);
        own.deaf_until = pfc.links[port as usize].heard;
        pfc.links[port as usize].stopped = false;
        let queued = &mut self.queued_ports[self.queued_of[port as usize] as usize];
        queued.end_pause();
        let of = |&id: &u32| {
            let header = self.packets.get(id).header.carried();
            let packet = Moving { id, carried: Carried { key: 0, header } };
            Some((pfc.ingress(port, &packet)?, header.bytes().into()))
        };
        let gone: Vec<(u32, u32)> = self.spilt[spilt..].iter().filter_map(of).collect();
        for (ingress, bytes) in gone {
            self.release(ingress, bytes);
        }
    }

    /// A direction of a link has come back: the switch may still hold too much of the data that came over it.
    pub(super) fn repair_flow_control(&mut self, port: u32) {
        let Some(pfc) = &self.pfc else { return };
        let of_link = |&own: &u32| own == port || pfc.links[own as usize].twin == port;
        let too_full = |own: &u32| pfc.links[*own as usize].held > pfc.links[*own as usize].xoff;
        let stopped = |own: &u32| pfc.links[*own as usize].stopped;
        let ports = (0..self.ports.len() as u32).filter(of_link).filter(|own| too_full(own) && !stopped(own));
        for own in ports.collect::<Vec<_>>() {
            self.send_frame(own, true);
        }
    }
}
