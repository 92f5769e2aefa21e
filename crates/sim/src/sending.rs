//! What connections hand to the fabric: segments, ACKs, and the timers that follow them.

use tresse_fabric::{Ecn, Header};
use tresse_transport::{Transmit, Wire};

use crate::flow::SUBFLOW_BITS;
use crate::path_management::SentPackets;
use crate::world::{RETRANSMISSION, World};

impl World {
    /// Which subflows sent something: bit i stands for subflow i.
    #[inline]
    pub(crate) fn send_packets(&mut self, slot: u32, sent: &mut SentPackets) -> u64 {
        let now = self.fabric.now();
        let flow = &mut self.flows[slot as usize];
        let config = flow.sender.config();
        let (header, small) = (config.header, config.ack);
        let ecn = if config.ecn { Ecn::Ect } else { Ecn::NotEct };
        let mut used = 0u64;
        while let Some(Transmit { subflow, origin, seq, dsn, payload, flags }) =
            flow.sender.poll_transmit(now)
        {
            let wire = Wire {
                subflow: slot << SUBFLOW_BITS | subflow as u32,
                seq,
                dsn,
                flags,
                ce: 0,
                block_count: 0,
                stamp: now,
                blocks: Default::default(),
            };
            used |= 1 << subflow;
            if flow.special {
                flow.rehash_if_asked(subflow);
                if flow.observed {
                    sent.note(subflow, origin, payload);
                }
            }
            let (bytes, ecn) =
                if wire.is_handshake() { (small, Ecn::NotEct) } else { (payload + header, ecn) };
            self.packets.sent += 1;
            let path = &mut flow.paths[subflow];
            if self.fabric.send(path.there, path.header(bytes, ecn, flow.class), wire) {
                flow.in_fabric += 1;
            } else {
                self.packets.dropped += 1;
            }
        }
        used
    }

    #[inline]
    pub(crate) fn send_ack(&mut self, slot: u32, i: u32, ack: Wire) {
        let flow = &mut self.flows[slot as usize];
        self.packets.sent += 1;
        let path = &flow.paths[i as usize];
        let config = flow.receiver.config();
        let ecn = if config.ect_acks { Ecn::Ect } else { Ecn::NotEct };
        let class = flow.class;
        let header = Header { class, hash: path.hashes[1], ..Header::new(config.ack, ecn) };
        if self.fabric.send(path.back, header, ack) {
            flow.in_fabric += 1;
        } else {
            self.packets.dropped += 1;
        }
    }

    /// Sees that a timer fires no later than its deadline. One that was put off is left where it
    /// is and set again when it fires; one that was brought forward is moved.
    #[inline]
    pub(crate) fn arm(&mut self, slot: u32, i: u32, kind: u32) {
        let flow = &mut self.flows[slot as usize];
        let deadline = match kind {
            RETRANSMISSION => flow.sender.deadline(i as usize).min(flow.managers_deadline(i)),
            _ => flow.receiver.deadline(i as usize),
        };
        let armed = &mut flow.paths[i as usize].armed[kind as usize];
        if deadline < *armed {
            *armed = deadline;
            // Named by the connection: its slot is anyone's.
            let name = flow.id << (SUBFLOW_BITS + 1) | u64::from(i * 2 + kind);
            self.timers.set((slot << SUBFLOW_BITS | i) * 2 + kind, name, deadline);
        }
    }
}
