//! A packet as a host saw it.

use serde::{Deserialize, Serialize};
use tresse_fabric::Ecn;
use tresse_sim::Seen;
use tresse_transport::{Answer, Block, Wire};
use tresse_units::Time;

use crate::record::flow::Begun;

/// What a packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A segment.
    Data,
    /// An ACK.
    Ack,
    /// The answer to a trimmed packet.
    Nack,
    /// The first packet of a subflow.
    Syn,
    /// The answer to it.
    SynAck,
    /// The third packet of a subflow that joins.
    JoinAck,
    /// The answer to it.
    JoinAnswer,
    /// A datagram: there is no transport.
    Datagram,
}

impl Kind {
    fn of(seen: &Seen) -> Self {
        let wire = &seen.wire;
        match (wire.is_handshake(), wire.is_ack()) {
            (true, _) => match wire.seq {
                1 => Self::Syn,
                2 => Self::SynAck,
                3 => Self::JoinAck,
                _ => Self::JoinAnswer,
            },
            (false, true) if wire.flags & Wire::NACK != 0 => Self::Nack,
            (false, true) => Self::Ack,
            (false, false) if seen.is_datagram => Self::Datagram,
            (false, false) => Self::Data,
        }
    }

    /// The kind with this name in tables.
    pub fn named(name: &str) -> Option<Self> {
        let all = [
            Self::Data,
            Self::Ack,
            Self::Nack,
            Self::Syn,
            Self::SynAck,
            Self::JoinAck,
            Self::JoinAnswer,
            Self::Datagram,
        ];
        all.into_iter().find(|kind| kind.name() == name)
    }

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Ack => "ack",
            Self::Nack => "nack",
            Self::Syn => "syn",
            Self::SynAck => "syn-ack",
            Self::JoinAck => "join-ack",
            Self::JoinAnswer => "join-answer",
            Self::Datagram => "datagram",
        }
    }
}

/// A packet that a recorded host sent, or that arrived at it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packet {
    /// The time, ps.
    pub time: Time,
    /// The host.
    pub host: u32,
    /// Whether the host sent it.
    pub sent: bool,
    /// The flow; for a persistent connection, its first one.
    pub flow: Begun,
    /// Which subflow, from 0.
    pub subflow: u32,
    /// Which address of each host the subflow uses, from 0.
    pub addresses: [u16; 2],
    /// Its kind.
    pub kind: Kind,
    /// Its size on the wire, bytes.
    pub bytes: u32,
    /// Its payload, bytes.
    pub payload: u32,
    /// For data: the segment's number on its subflow, and in the connection.
    pub data: Option<[u32; 2]>,
    /// For an ACK: the next segment that is expected on its subflow, and in the connection.
    pub ack: Option<[u32; 2]>,
    /// For an ACK: the segments beyond it that have arrived, as (first, one after the last).
    pub sack: Vec<(u32, u32)>,
    /// For an ACK of a sprayed connection: the packet that it answers.
    pub answers: Option<u32>,
    /// For a sprayed connection: the path that it takes, or the path of the packet that it answers.
    pub path: Option<u32>,
    /// The ECN field: `not-ect`, `ect`, `ce`.
    pub ecn: u8,
    /// For an ACK: the CE marks that it echoes.
    pub echo: Option<u8>,
    /// For data: the sender has reduced its window.
    pub cwr: bool,
    /// It was sent before on this subflow.
    pub retransmission: bool,
    /// Whether only its header is left.
    pub trimmed: bool,
    /// It carries the last byte of a message.
    pub last: bool,
    /// The host's own port dropped it.
    pub dropped: bool,
}

impl Packet {
    /// The names of [`Packet::ecn`].
    pub const ECN: [&'static str; 3] = ["not-ect", "ect", "ce"];

    /// A packet that a host saw, of a flow on these addresses.
    pub fn new(seen: &Seen, flow: &Begun, addresses: [u16; 2]) -> Self {
        let wire = &seen.wire;
        let kind = Kind::of(seen);
        let is_data = kind == Kind::Data;
        let is_ack = matches!(kind, Kind::Ack | Kind::Nack);
        let has = |flag: u8| is_data && wire.flags & flag != 0;
        let pair = |block: Block| (block.start, block.end);
        let answer = (is_ack && seen.is_sprayed).then(|| Answer::of(wire));
        let sack = match (&answer, is_ack) {
            (Some(answer), _) => answer.arrived().map(pair).collect(),
            (None, true) => wire.blocks[..wire.block_count.into()].iter().copied().map(pair).collect(),
            (None, false) => Vec::new(),
        };
        Self {
            time: seen.time,
            host: seen.host,
            sent: seen.sent,
            flow: *flow,
            subflow: seen.subflow,
            addresses,
            kind,
            bytes: seen.bytes,
            payload: seen.payload,
            data: is_data.then_some([wire.seq, wire.dsn]),
            ack: is_ack.then_some([wire.seq, wire.dsn]),
            sack,
            answers: answer.map(|answer| answer.packet),
            path: (seen.is_sprayed && (is_data || is_ack)).then(|| wire.path()),
            ecn: match seen.ecn {
                Ecn::NotEct => 0,
                Ecn::Ect => 1,
                Ecn::Ce => 2,
            },
            echo: is_ack.then_some(wire.ce),
            cwr: has(Wire::CWR),
            retransmission: has(Wire::AGAIN),
            trimmed: seen.trimmed,
            last: has(Wire::LAST),
            dropped: seen.dropped,
        }
    }
}
