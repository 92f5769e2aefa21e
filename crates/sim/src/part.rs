//! A part of the world: its hosts and ports, what they do with packets and timers, and what goes to other parts.

use tresse_fabric::{Arrival, Ecn, Fabric, Histogram, Mail, Packet, Timers};
use tresse_path_manager::Memories;
use tresse_transport::{Body, Receiver, Wire};
use tresse_units::{NEVER, Time};

use crate::deeds::Deeds;
use crate::fair_queue::FairQueues;
use crate::flow::{Duties, Receiving, SUBFLOW, SUBFLOW_BITS, Sending, WayBack};
use crate::foresight::Foresight;
use crate::path_management::SentPackets;
use crate::recorder::Recorder;
use crate::world::{Mechanisms, Packets};

/// Each subflow has two timers: the sender's (handshake, retransmission, probe, pacing; the first one's is the
/// path manager's too) and the receiver's.
pub(crate) const RETRANSMISSION: u32 = 0;
pub(crate) const DELAYED_ACK: u32 = 1;

/// A report, other than a packet, from one half of a connection to the other, or from other parts about its
/// packets.
#[derive(Debug)]
pub(crate) enum Note {
    /// Tells the receiving half in `slot` that there is one more subflow.
    Opened { slot: u32, way: WayBack },
    /// A packet for the half in `slot` was dropped on its way.
    Lost { slot: u32, is_ack: bool },
}

/// Everything that goes from one part to another.
#[derive(Debug, Default)]
pub(crate) struct Post {
    pub packets: Mail<Wire>,
    pub notes: Vec<Note>,
}

/// Why [`Part::advance_by_time`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Of the receiving half in this slot, so many messages are complete: slot, messages.
    Complete(u32, u32),
    /// The budget is used up.
    Budget,
    /// The requested time is reached, or nothing will ever happen again.
    Reached,
}

/// The parts of a world. A part stays where it is when a thread gets it for a while.
pub(crate) type Parts = Vec<Box<Part>>;

/// A part of the world. Two threads must not write to one cache line.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Part {
    pub own: usize,
    pub fabric: Fabric<Wire>,
    pub timers: Timers,
    pub fair_queues: FairQueues,
    pub sendings: Vec<Sending>,
    pub receivings: Vec<Receiving>,
    /// Slots that can be reused.
    pub free_sendings: Vec<u32>,
    pub free_receivings: Vec<u32>,
    /// The knowledge of path managers about the paths between two hosts.
    pub memories: Memories<[u32; 3]>,
    pub packets: Packets,
    pub mechanisms: Mechanisms,
    pub delivered_bytes: u64,
    /// The RTT of every ACK, by group of connections; empty if RTTs are not recorded.
    pub rtts: Vec<Histogram>,
    pub recorder: Recorder,
    pub foresight: Foresight,
    pub deeds: Deeds,
    /// Whether it is the whole world: slots are then freed as soon as possible.
    pub is_whole: bool,
    /// By part, the notes to send there.
    notes: Vec<Vec<Note>>,
}

impl Part {
    /// Part `own` of `parts`.
    pub fn new(fabric: Fabric<Wire>, own: usize, parts: usize) -> Self {
        Self {
            own,
            timers: Timers::new(fabric.ties()),
            fair_queues: FairQueues::none(fabric.ties()),
            fabric,
            sendings: Vec::new(),
            receivings: Vec::new(),
            free_sendings: Vec::new(),
            free_receivings: Vec::new(),
            memories: Memories::new(),
            packets: Packets::default(),
            mechanisms: Mechanisms::default(),
            delivered_bytes: 0,
            rtts: Vec::new(),
            recorder: Recorder::default(),
            foresight: Foresight::default(),
            deeds: Deeds::default(),
            is_whole: parts == 1,
            notes: (0..parts).map(|_| Vec::new()).collect(),
        }
    }

    /// Handles a packet at its end. If that completes messages, it returns the slot of their receiving half, and how many
    /// they are.
    #[inline]
    pub fn handle_arrival(&mut self, arrival: &Arrival<Wire>) -> Option<(u32, u32)> {
        match arrival {
            Arrival::Delivered(packet) if packet.payload.body.is_ack() => {
                self.handle_ack(packet);
                None
            }
            Arrival::Delivered(packet) => self.handle_data(packet),
            Arrival::Dropped(packet) => {
                self.packets.dropped += 1;
                let (slot, is_ack) = (packet.payload.subflow >> SUBFLOW_BITS, packet.payload.body.is_ack());
                let to = if self.is_whole { self.own } else { self.fabric.destination(packet) };
                self.tell(to, Note::Lost { slot, is_ack });
                None
            }
        }
    }

    #[inline]
    fn handle_ack(&mut self, packet: &Packet<Wire>) {
        self.packets.delivered += 1;
        let wire = &packet.payload;
        let (slot, i) = (wire.subflow >> SUBFLOW_BITS, wire.subflow & SUBFLOW);
        let now = self.fabric.now();
        let half = &mut self.sendings[slot as usize];
        half.in_fabric -= 1;
        if half.duties.has(Duties::RECORD) {
            self.recorder.arrived_at_sender(now, half, packet);
        }
        if !half.is_open {
            self.release_if_empty(slot);
        } else if let Body::Handshake(step, stamp) = wire.body {
            self.handle_handshake_answer(slot, i, step, stamp.time());
        } else {
            if half.duties.any() {
                self.handle_special_ack(slot, i, wire);
            } else {
                half.sender.handle_ack(now, i as usize, wire);
            }
            self.transmit(slot);
            self.arm_sender(slot, i);
        }
    }

    #[inline]
    fn handle_data(&mut self, packet: &Packet<Wire>) -> Option<(u32, u32)> {
        self.packets.delivered += 1;
        let wire = &packet.payload;
        let (slot, i) = (wire.subflow >> SUBFLOW_BITS, wire.subflow & SUBFLOW);
        let now = self.fabric.now();
        let half = &mut self.receivings[slot as usize];
        half.in_fabric -= 1;
        if half.recorded {
            self.recorder.arrived_at_receiver(now, half, packet);
        }
        let peer = half.peer;
        match wire.body {
            Body::Datagram => {
                self.handle_datagram(slot, packet.header.bytes.into());
                self.release_if_empty(peer);
                return None;
            }
            _ if !half.is_open => {
                self.release_if_empty(peer);
                return None;
            }
            Body::Handshake(step, stamp) => {
                self.send_ack(slot, i, Body::Handshake(step.answer(), stamp));
                return None;
            }
            Body::Segment(_) | Body::Sprayed(_) | Body::Ack(_) | Body::Answer(_) => {}
        }
        if let Some(last_hop) = packet.header.trimmed() {
            let nack = half.receiver.handle_trimmed(wire, last_hop);
            self.answer_trimmed(slot, i, nack);
            return None;
        }
        self.delivered_bytes += u64::from(packet.header.bytes) - u64::from(half.receiver.config().header);
        let acks = half.receiver.handle_data(now, i as usize, wire, packet.header.ecn == Ecn::Ce);
        let is_complete = half.receiver.complete();
        if is_complete && !half.stays {
            self.close_receiving(slot);
            self.release_if_empty(peer);
            return Some((slot, 1));
        }
        let complete = if is_complete { half.take_messages() } else { 0 };
        half.look(&mut self.foresight.near);
        for ack in acks.into_iter().flatten() {
            self.fabric.echo_hops();
            self.send_ack(slot, i, ack);
        }
        self.arm_receiver(slot, i);
        is_complete.then_some((slot, complete))
    }

    /// The rest of a trimmed packet has arrived.
    #[cold]
    fn answer_trimmed(&mut self, slot: u32, i: u32, nack: Option<Body>) {
        if let Some(nack) = nack {
            self.fabric.echo_hops();
            self.send_ack(slot, i, nack);
        }
        self.arm_receiver(slot, i);
    }

    /// When the next timer fires; [`NEVER`] if there is none.
    #[inline]
    pub fn next_timer(&self) -> Time {
        self.timers.next().min(self.fair_queues.next())
    }

    /// When the next timer fires, and its place among those that fire then.
    pub fn first_timer(&self) -> Option<(Time, u64)> {
        self.timers.first().into_iter().chain(self.fair_queues.first()).min()
    }

    pub fn handle_timer(&mut self) {
        if !self.fair_queues.is_empty() && self.first_timer() == self.fair_queues.first() {
            return self.serve_first_in_turn();
        }
        if let Some(timer) = self.timers.pop() {
            self.fire(timer);
        }
    }

    pub fn fire(&mut self, timer: u32) {
        let (name, kind) = (timer / 2, timer % 2);
        let (slot, i) = (name >> SUBFLOW_BITS, name & SUBFLOW);
        let now = self.fabric.now();
        if kind == RETRANSMISSION {
            let half = &mut self.sendings[slot as usize];
            half.ways[i as usize].armed = NEVER;
            let (managers, own) = (half.managers_deadline(i), half.sender.deadline(i as usize));
            if own <= now {
                half.sender.handle_timeout(now, i as usize);
                half.rehash_if_asked(i as usize);
            }
            if managers <= now {
                self.manage(slot, |m, now, memory| m.handle_timeout(now, memory));
            }
            if own.min(managers) <= now {
                self.transmit(slot);
            }
            self.arm_sender(slot, i);
        } else {
            let half = &mut self.receivings[slot as usize];
            half.ways[i as usize].armed = NEVER;
            if half.receiver.deadline(i as usize) <= now
                && let Some(ack) = half.receiver.handle_timeout(i as usize)
            {
                self.send_ack(slot, i, ack);
            }
            self.arm_receiver(slot, i);
        }
    }

    /// Sends the data that the connection has to send; an ACK on one subflow may let another one send.
    #[inline]
    pub fn transmit(&mut self, slot: u32) {
        let mut sent = SentPackets::default();
        let mut used = self.send_packets(slot, &mut sent);
        if self.sendings[slot as usize].duties.has(Duties::MANAGE) {
            while self.tell_sent(slot, &std::mem::take(&mut sent)) {
                used |= self.send_packets(slot, &mut sent);
            }
            used |= 1; // the path manager's timer is subflow 0's
        }
        while used != 0 {
            self.arm_sender(slot, used.trailing_zeros());
            used &= used - 1;
        }
    }

    /// Notifies a half in a part, which may be this one.
    pub fn tell(&mut self, part: usize, note: Note) {
        if part == self.own {
            self.hear(note);
        } else {
            self.notes[part].push(note);
        }
    }

    fn hear(&mut self, note: Note) {
        match note {
            Note::Opened { slot, way } => {
                let half = &mut self.receivings[slot as usize];
                half.ways.reserve_exact(1);
                half.ways.push(way);
                if let Receiver::Tcp(receiver) = &mut half.receiver {
                    receiver.open();
                }
            }
            Note::Lost { slot, is_ack: true } => {
                self.sendings[slot as usize].in_fabric -= 1;
                self.release_if_empty(slot);
            }
            Note::Lost { slot, is_ack: false } => {
                let half = &mut self.receivings[slot as usize];
                half.in_fabric -= 1;
                let peer = half.peer;
                self.release_if_empty(peer);
            }
        }
    }

    /// Passes on everything that has to go to part `to`; `post` is empty.
    pub fn post(&mut self, to: usize, post: &mut Post) {
        self.fabric.post(to, &mut post.packets);
        std::mem::swap(&mut self.notes[to], &mut post.notes);
    }

    /// Takes in everything from another part, notes first, so that a subflow is open when its first packet arrives.
    pub fn take_in(&mut self, post: &mut Post) {
        for note in post.notes.drain(..) {
            self.hear(note);
        }
        self.fabric.take_in(&mut post.packets);
    }

    /// Nothing happens before this time on its own.
    pub fn earliest(&self) -> Time {
        self.fabric.earliest().min(self.next_timer()).max(self.fabric.now())
    }

    /// Frees the slots of a connection that has finished and has no packet on its routes, by the slot of its
    /// sending half. If the halves are in different parts, only the world knows this.
    pub fn release_if_empty(&mut self, sending: u32) {
        if self.is_whole {
            let half = &self.sendings[sending as usize];
            let packets = half.in_fabric + self.receivings[half.peer as usize].in_fabric;
            if !half.is_open && packets == 0 {
                let receiving = half.peer;
                self.free_sending(sending);
                self.free_receivings.push(receiving);
            }
        }
    }

    /// Frees the slot of a sending half, and its routes.
    pub fn free_sending(&mut self, slot: u32) {
        for way in &self.sendings[slot as usize].ways {
            self.fabric.remove_route(way.there);
            self.fabric.remove_route(way.back);
            way.routes.iter().flatten().for_each(|&route| self.fabric.remove_route(route));
        }
        self.free_sendings.push(slot);
    }
}
