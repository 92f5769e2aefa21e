//! A packet as a host saw it.

use serde::{Deserialize, Serialize};
use tresse_fabric::Ecn;
use tresse_sim::ObservedPacket;
use tresse_transport::tcp::Step;
use tresse_transport::{Block, Body, Fate};
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
    fn of(body: &Body) -> Self {
        match body {
            Body::Segment(_) | Body::Sprayed(_) => Self::Data,
            Body::Ack(_) => Self::Ack,
            Body::Answer(answer) => match answer.fate {
                Fate::Arrived { .. } => Self::Ack,
                Fate::Trimmed { .. } => Self::Nack,
            },
            Body::Handshake(Step::Syn, _) => Self::Syn,
            Body::Handshake(Step::SynAck, _) => Self::SynAck,
            Body::Handshake(Step::JoinAck, _) => Self::JoinAck,
            Body::Handshake(Step::JoinAnswer, _) => Self::JoinAnswer,
            Body::Datagram => Self::Datagram,
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
    pub host: u32,
    /// Whether the host sent it.
    pub sent: bool,
    /// The flow; for a persistent connection, its first one.
    pub flow: Begun,
    /// Which subflow, from 0.
    pub subflow: u32,
    /// Which address of each host the subflow uses, from 0.
    pub addresses: [u16; 2],
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
    pub fn new(seen: &ObservedPacket, flow: &Begun, addresses: [u16; 2]) -> Self {
        let body = &seen.wire.body;
        let Header { data, ack, sack, answers, echo, cwr, retransmission, last } = Header::of(body);
        Self {
            time: seen.time,
            host: seen.host,
            sent: seen.sent,
            flow: *flow,
            subflow: seen.subflow,
            addresses,
            kind: Kind::of(body),
            bytes: seen.bytes,
            payload: seen.payload,
            data,
            ack,
            sack,
            answers,
            path: body.path(),
            ecn: match seen.ecn {
                Ecn::NotEct => 0,
                Ecn::Ect => 1,
                Ecn::Ce => 2,
            },
            echo,
            cwr,
            retransmission,
            trimmed: seen.trimmed,
            last,
            dropped: seen.dropped,
        }
    }
}

/// The fields of a [`Packet`] that its header has.
#[derive(Default)]
struct Header {
    data: Option<[u32; 2]>,
    ack: Option<[u32; 2]>,
    sack: Vec<(u32, u32)>,
    answers: Option<u32>,
    echo: Option<u8>,
    cwr: bool,
    retransmission: bool,
    last: bool,
}

impl Header {
    fn of(body: &Body) -> Self {
        let pair = |block: Block| (block.start, block.end);
        match body {
            Body::Segment(segment) => Self {
                data: Some([segment.seq, segment.dsn]),
                cwr: segment.cwr,
                retransmission: segment.again,
                last: segment.last,
                ..Self::default()
            },
            Body::Ack(ack) => Self {
                ack: Some([ack.seq, ack.dsn]),
                sack: ack.sack().iter().copied().map(pair).collect(),
                echo: Some(ack.ce),
                ..Self::default()
            },
            Body::Sprayed(packet) => Self {
                data: Some([packet.number, packet.number]),
                retransmission: packet.again,
                last: packet.last,
                ..Self::default()
            },
            Body::Answer(answer) => Self {
                ack: Some([answer.next, answer.next]),
                sack: answer.arrived().map(pair).collect(),
                answers: Some(answer.packet),
                echo: Some((answer.fate == Fate::Arrived { ce: true }).into()),
                ..Self::default()
            },
            Body::Handshake(..) | Body::Datagram => Self::default(),
        }
    }
}
