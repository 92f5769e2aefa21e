//! A fabric that is one part of a network; the other parts have their own clocks.

use std::sync::Arc;

use tresse_units::Time;

use super::{END, FORWARD, Fabric, LAST_PORT, build::agenda, pause_frames::Frame};
use crate::cut::Cut;
use crate::packet::Packet;

/// A packet on its way to another part.
#[derive(Debug, Clone, Copy)]
struct Crossing<P> {
    time: Time,
    /// The port that it has left.
    port: u32,
    packet: Packet<P>,
}

/// The data that goes from one part to another: packets, the routes of later packets, and pause frames.
#[derive(Debug)]
pub struct Mail<P> {
    crossings: Vec<Crossing<P>>,
    frames: Vec<Frame>,
    routes: Vec<(u32, Box<[u32]>)>,
}

impl<P> Default for Mail<P> {
    fn default() -> Self {
        Self { crossings: Vec::new(), frames: Vec::new(), routes: Vec::new() }
    }
}

impl<P> Mail<P> {
    /// When the first of its packets and pause frames arrives, if there is one.
    pub fn first(&self) -> Option<Time> {
        self.crossings.iter().map(|c| c.time).chain(self.frames.iter().map(|f| f.time)).min()
    }
}

/// Which part a fabric is.
#[derive(Debug)]
pub(super) struct Part<P> {
    cut: Arc<Cut>,
    own: usize,
    /// By part: the data to be sent there.
    out: Vec<Mail<P>>,
}

impl<P: Copy> Fabric<P> {
    /// Makes a fabric part `own` of the cut. All parts are made as if they were the whole; each uses its own ports
    /// only.
    ///
    /// # Panics
    /// If congestion flags are kept, which reach other parts, or there are routes already.
    #[must_use]
    pub fn into_part(mut self, cut: Arc<Cut>, own: usize) -> Self {
        assert!(self.flags.is_none(), "congestion is heard of in other parts");
        assert!(self.routes.is_empty(), "no routes yet");
        let crossing = self.ports.iter_mut().zip(&cut.crosses).filter(|(_, crosses)| **crosses);
        crossing.for_each(|(port, _)| port.cross());
        let owned = self.ports.iter().zip(&cut.owners).filter(|(_, owner)| usize::from(**owner) == own);
        self.agenda = agenda(owned.map(|(port, _)| port.config()), &self.sites, self.agenda.ties());
        let out = (0..cut.parts()).map(|_| Mail::default()).collect();
        self.part = Some(Box::new(Part { cut, own, out }));
        self
    }

    /// Where the next route of this part begins in the table. All parts have the same table: each uses every
    /// n-th row.
    pub(super) fn next_row(&self) -> usize {
        let Some(part) = &self.part else { return self.routes.len() };
        let (rows, parts) = (self.routes.len() / self.stride, part.cut.parts());
        (rows + (part.own + parts - rows % parts) % parts) * self.stride
    }

    /// Announces a route to the other parts.
    pub(super) fn tell_route(&mut self, start: u32, entries: &[u32]) {
        let Some(part) = &mut self.part else { return };
        let own = part.own;
        for (_, mail) in part.out.iter_mut().enumerate().filter(|(to, _)| *to != own) {
            mail.routes.push((start, entries.into()));
        }
    }

    /// A packet has left `port` and will arrive at `time`: whether in another part, which gets it.
    #[inline(never)]
    pub(super) fn hand_over(&mut self, port: u32, id: u32, time: Time) -> bool {
        let part = self.part.as_mut().expect("a port of a part");
        let next = self.packets.get(id).next;
        let to =
            if next <= LAST_PORT { part.cut.owners[next as usize] } else { part.cut.lands[port as usize] };
        let crosses = usize::from(to) != part.own;
        if crosses {
            let packet = self.packets.remove(id);
            part.out[usize::from(to)].crossings.push(Crossing { time, port, packet });
        }
        crosses
    }

    /// Hands a pause frame over if its port is in another part.
    pub(super) fn frame_crosses(&mut self, frame: Frame) -> bool {
        let Some(part) = &mut self.part else { return false };
        let to = part.cut.of_port(frame.port);
        let crosses = to != part.own;
        if crosses {
            part.out[to].frames.push(frame);
        }
        crosses
    }

    /// Takes the data for another part; `mail` was delivered there before, and its memory is reused.
    pub fn post(&mut self, to: usize, mail: &mut Mail<P>) {
        let Some(part) = &mut self.part else { return };
        debug_assert!(mail.crossings.is_empty() && mail.routes.is_empty(), "it was taken in");
        std::mem::swap(&mut part.out[to], mail);
    }

    /// Takes in the data from another part.
    pub fn take_in(&mut self, mail: &mut Mail<P>) {
        for (start, entries) in mail.routes.drain(..) {
            self.set_row(start, &entries);
        }
        for Crossing { time, port, packet } in mail.crossings.drain(..) {
            let id = self.packets.insert(packet);
            if let Some(pfc) = &mut self.pfc {
                pfc.place(id, port);
            }
            self.push_arrival(port, id, time);
        }
        for frame in mail.frames.drain(..) {
            self.take_in_frame(frame);
        }
    }

    /// No event of the fabric's own comes earlier; [`NEVER`](tresse_units::NEVER) if there is none.
    pub fn earliest(&self) -> Time {
        self.agenda.earliest()
    }

    /// The part in which a packet's route ends.
    pub fn destination(&self, packet: &Packet<P>) -> usize {
        let Some(part) = &self.part else { return 0 };
        let start = (packet.cursor as usize - 1) / self.stride * self.stride;
        let row = &self.routes[start..][..self.stride];
        if row[0] > LAST_PORT {
            return part.cut.of_node(row[0] & !FORWARD);
        }
        let ports = row.iter().take_while(|&&entry| entry != END);
        part.cut.lands[*ports.last().expect("a route has a port") as usize].into()
    }
}
