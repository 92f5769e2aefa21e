//! The receiving half of a sprayed connection.

use tresse_units::{NEVER, Time};

use super::fields::Answer;
use crate::reassembly::Reassembly;
use crate::{DelayedAck, Wire};

/// The state of a sprayed connection's receiver, in addition to the arrived segments.
#[derive(Debug)]
pub(crate) struct Receiver {
    /// Packets that no ACK covers yet.
    pending: u32,
    /// The newest of them.
    newest: Newest,
    pub deadline: Time,
}

/// A packet that has arrived.
#[derive(Debug, Clone, Copy, Default)]
struct Newest {
    packet: u32,
    path: u32,
    stamp: Time,
}

impl Receiver {
    pub fn new() -> Self {
        Self { pending: 0, newest: Newest::default(), deadline: NEVER }
    }

    /// A packet has arrived, `new` or once more. Returns the ACK, if one is due: for every `rule.every`
    /// packets, at once for a marked packet, a duplicate or one that asks for it, and when `rule.timer` has
    /// passed.
    pub fn handle_data(
        &mut self,
        now: Time,
        wire: &Wire,
        ce: bool,
        new: bool,
        data: &Reassembly,
        rule: &DelayedAck,
    ) -> Option<Wire> {
        let Answer { packet, path, .. } = Answer::of(wire);
        self.newest = Newest { packet, path, stamp: wire.stamp };
        self.pending += 1;
        let asks = wire.flags & (Wire::ASK | Wire::LAST) != 0;
        if self.pending >= rule.every || ce || asks || !new {
            return Some(self.ack(wire.subflow, ce, data));
        }
        if self.deadline == NEVER {
            self.deadline = now.saturating_add(rule.timer);
        }
        None
    }

    /// The header of a packet has arrived. Returns the NACK, which also covers packets that wait for an ACK.
    pub fn handle_trimmed(&mut self, wire: &Wire, last_hop: bool, data: &Reassembly) -> Wire {
        let Answer { packet, path, .. } = Answer::of(wire);
        self.newest = Newest { packet, path, stamp: wire.stamp };
        let nack = Wire::NACK | if last_hop { Wire::LAST_HOP } else { 0 };
        let ack = self.ack(wire.subflow, false, data);
        Wire { flags: ack.flags | nack, ..ack }
    }

    /// The deadline has passed. Returns the ACK, if packets wait for one.
    pub fn handle_timeout(&mut self, name: u32, data: &Reassembly) -> Option<Wire> {
        (self.pending > 0).then(|| self.ack(name, false, data))
    }

    fn ack(&mut self, subflow: u32, ce: bool, data: &Reassembly) -> Wire {
        (self.pending, self.deadline) = (0, NEVER);
        let Newest { packet, path, stamp } = self.newest;
        // The newest packet is among the 64 in the bitmap, along with those sent before it.
        let base = packet.saturating_sub(63).max(data.next());
        let answer = Answer { packet, path, base, bitmap: data.bitmap(base) };
        Wire {
            subflow,
            seq: data.next(),
            dsn: data.next(),
            flags: Wire::ACK,
            ce: ce.into(),
            block_count: 0,
            stamp,
            blocks: answer.blocks(),
        }
    }
}
