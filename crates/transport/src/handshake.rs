//! How a subflow is established: the packets of MP_CAPABLE and MP_JOIN (RFC 8684 §3.1, §3.2).
//!
//! The connection's first subflow may send after SYN and SYN/ACK, one round trip: its ACK travels with the
//! first data. One that joins waits for the answer to its ACK too, two round trips, because only all four
//! packets together prove to each end that the other has the connection's keys.
//!
//! Packets of a handshake have [`Wire::HANDSHAKE`] and their number in `seq`. The responder answers each
//! packet and keeps no state.

use crate::Wire;

/// From the initiator.
pub(crate) const SYN: u32 = 1;
const SYN_ACK: u32 = 2;
/// From the initiator, for a subflow that joins.
const ACK: u32 = 3;
const ACK_OF_ACK: u32 = 4;

/// The initiator's side of a handshake.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Handshake {
    /// The number of the subflow.
    pub subflow: u8,
    /// The packet that it sends until it is answered.
    pub packet: u32,
    /// It has to be sent now.
    pub due: bool,
    /// When it has to be sent again.
    pub deadline: tresse_units::Time,
}

impl Handshake {
    pub fn new(subflow: u8) -> Self {
        Self { subflow, packet: SYN, due: true, deadline: tresse_units::NEVER }
    }

    /// Whether an answer completes it.
    pub fn is_completed_by(&self, answer: u32) -> bool {
        let last = if self.subflow == 0 { SYN_ACK } else { ACK_OF_ACK };
        answer == self.packet + 1 && answer == last
    }

    /// Whether an answer advances it to the next packet.
    pub fn go_on(&mut self, answer: u32) -> bool {
        let expected = answer == SYN_ACK && self.packet == SYN;
        if expected {
            (self.packet, self.due) = (ACK, true);
        }
        expected
    }
}

impl Wire {
    /// Whether it belongs to a handshake.
    #[inline]
    pub fn is_handshake(&self) -> bool {
        self.flags & Self::HANDSHAKE != 0
    }

    /// The answer of a handshake's responder to this packet of the initiator.
    pub fn answer(&self) -> Self {
        Self { seq: self.seq + 1, flags: Self::HANDSHAKE | Self::ACK, ..*self }
    }
}
