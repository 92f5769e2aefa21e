//! The output of connections to the fabric: segments and ACKs, and the timers that follow them.

use tresse_fabric::{Ecn, FirstHop, Header};
use tresse_transport::{Body, Origin, Wire};

use crate::flow::{Duties, SUBFLOW_BITS};
use crate::part::{DELAYED_ACK, Part, RETRANSMISSION};
use crate::path_management::SentPackets;

impl Part {
    /// Which subflows sent something: bit i stands for subflow i.
    #[inline]
    pub(crate) fn send_packets(&mut self, slot: u32, sent: &mut SentPackets) -> u64 {
        let now = self.fabric.now();
        let config = self.sendings[slot as usize].sender.config();
        let (overhead, small) = (config.header, config.ack);
        let ecn = if config.ecn { Ecn::Ect } else { Ecn::NotEct };
        let mut used = 0u64;
        loop {
            let half = &mut self.sendings[slot as usize];
            let Some(packet) = half.sender.poll_transmit(now) else { return used };
            let subflow = packet.subflow;
            let wire = Wire { subflow: half.peer << SUBFLOW_BITS | subflow as u32, body: packet.body };
            used |= 1 << subflow;
            if half.duties.any() {
                half.rehash_if_asked(subflow);
                if half.duties.has(Duties::MANAGE) {
                    sent.note(subflow, packet.origin, packet.payload);
                }
            }
            let (bytes, ecn, is_data) = match packet.origin {
                Origin::Handshake => (small, Ecn::NotEct, false),
                Origin::New | Origin::Reinjected | Origin::Retransmitted => {
                    (packet.payload + overhead, ecn, true)
                }
            };
            let way = &mut half.ways[subflow];
            let path = wire.body.path();
            let header = way.header(bytes, ecn, half.class, path);
            let hop = self.fabric.first_hop(way.there(path), &header);
            if is_data && !self.fair_queues.is_empty() && self.wait_in_turn(slot, hop, header, wire) {
                continue;
            }
            self.put_on_wire(slot, hop, header, wire);
        }
    }

    /// Sends a packet of the sending half in `slot` by `hop`; without one, it is lost.
    #[inline]
    pub(crate) fn put_on_wire(&mut self, slot: u32, hop: Option<FirstHop>, header: Header, wire: Wire) {
        let half = &mut self.sendings[slot as usize];
        self.packets.sent += 1;
        let is_recorded = half.duties.has(Duties::RECORD);
        if is_recorded {
            self.recorder.sent_by_sender(self.fabric.now(), half, header.bytes.into(), header.ecn, &wire);
        }
        if hop.is_some_and(|hop| self.fabric.send_by(hop, header, wire)) {
            half.in_fabric += 1;
        } else {
            self.packets.dropped += 1;
            if is_recorded {
                self.recorder.drop_last();
            }
        }
    }

    #[inline]
    pub(crate) fn send_ack(&mut self, slot: u32, i: u32, ack: Body) {
        let half = &mut self.receivings[slot as usize];
        let ack = Wire { subflow: half.peer << SUBFLOW_BITS | i, body: ack };
        self.packets.sent += 1;
        let way = &half.ways[i as usize];
        let config = half.receiver.config();
        let ecn = if config.ect_acks { Ecn::Ect } else { Ecn::NotEct };
        let (route, hash) = way.of(ack.body.path());
        let header = Header { class: half.class, hash, ..Header::new(config.ack, ecn) };
        if half.recorded {
            self.recorder.sent_by_receiver(self.fabric.now(), half, config.ack, ecn, &ack);
        }
        if self.fabric.send(route, header, ack) {
            half.in_fabric += 1;
        } else {
            self.packets.dropped += 1;
            if half.recorded {
                self.recorder.drop_last();
            }
        }
    }

    /// Makes sure that the sender's timer fires no later than its deadline. A postponed timer stays where it is and
    /// is set again when it fires; a timer that was brought forward is moved.
    #[inline]
    pub(crate) fn arm_sender(&mut self, slot: u32, i: u32) {
        let half = &mut self.sendings[slot as usize];
        let deadline = half.sender.deadline(i as usize).min(half.managers_deadline(i));
        let armed = &mut half.ways[i as usize].armed;
        if deadline < *armed {
            *armed = deadline;
            let (timer, name) = timer(slot, half.id, i, RETRANSMISSION);
            let site = half.site;
            self.set_timer(timer, name, site, deadline);
        }
    }

    /// As [`Self::arm_sender`], the receiver's.
    #[inline]
    pub(crate) fn arm_receiver(&mut self, slot: u32, i: u32) {
        let half = &mut self.receivings[slot as usize];
        let deadline = half.receiver.deadline(i as usize);
        let armed = &mut half.ways[i as usize].armed;
        if deadline < *armed {
            *armed = deadline;
            let (timer, name) = timer(slot, half.id, i, DELAYED_ACK);
            let site = half.site;
            self.set_timer(timer, name, site, deadline);
        }
    }
}

/// A timer's number and its name, which includes the connection because slots are reused.
#[inline]
pub(crate) fn timer(slot: u32, id: u64, subflow: u32, kind: u32) -> (u32, u64) {
    let name = id << (SUBFLOW_BITS + 1) | u64::from(subflow * 2 + kind);
    ((slot << SUBFLOW_BITS | subflow) * 2 + kind, name)
}
