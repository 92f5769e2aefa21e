//! How a subflow is established: the packets of MP_CAPABLE and MP_JOIN (RFC 8684 §3.1, §3.2).
//!
//! The connection's first subflow may send after SYN and SYN/ACK, one round trip: its ACK travels with the
//! first data. One that joins waits for the answer to its ACK too, two round trips, because only all four
//! packets together prove to each end that the other has the connection's keys.
//!
//! The responder answers each packet and keeps no state.

/// A packet of a handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The initiator's first packet.
    Syn,
    /// The answer to it.
    SynAck,
    /// The initiator's second packet, for a subflow that joins.
    JoinAck,
    /// The answer to it.
    JoinAnswer,
}

impl Step {
    /// Whether the responder sends it.
    #[inline]
    pub fn is_answer(self) -> bool {
        matches!(self, Self::SynAck | Self::JoinAnswer)
    }

    /// The responder's answer to a packet of the initiator.
    pub fn answer(self) -> Self {
        match self {
            Self::Syn | Self::SynAck => Self::SynAck,
            Self::JoinAck | Self::JoinAnswer => Self::JoinAnswer,
        }
    }
}

/// The initiator's side of a handshake.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Handshake {
    /// The number of the subflow.
    pub subflow: u8,
    /// The packet that it sends until it is answered.
    pub packet: Step,
    /// It has to be sent now.
    pub due: bool,
    /// When it has to be sent again.
    pub deadline: tresse_units::Time,
}

impl Handshake {
    pub fn new(subflow: u8) -> Self {
        Self { subflow, packet: Step::Syn, due: true, deadline: tresse_units::NEVER }
    }

    /// Whether an answer completes it.
    pub fn is_completed_by(&self, answer: Step) -> bool {
        let last = if self.subflow == 0 { Step::SynAck } else { Step::JoinAnswer };
        answer == self.packet.answer() && answer == last
    }

    /// Whether an answer advances it to the next packet.
    pub fn go_on(&mut self, answer: Step) -> bool {
        let expected = answer == Step::SynAck && self.packet == Step::Syn;
        if expected {
            (self.packet, self.due) = (Step::JoinAck, true);
        }
        expected
    }
}
