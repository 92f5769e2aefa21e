//! The packets of a capture.

use tresse_results::record::packet::Kind;

use crate::key::Key;

/// A packet as a host saw it.
#[derive(Debug)]
pub(crate) struct Packet {
    /// ps.
    pub time: u64,
    pub host: u32,
    pub key: Key,
    pub subflow: u32,
    /// Which address of the sending and of the receiving host the subflow uses.
    pub addresses: [u32; 2],
    pub kind: Kind,
    /// Bytes.
    pub payload: u32,
    /// For data: its number on the subflow, and in the connection.
    pub data: Option<[u32; 2]>,
    /// For an ACK: the next number expected on the subflow, and in the connection.
    pub ack: Option<[u32; 2]>,
    pub sack: Vec<[u32; 2]>,
    pub answers: Option<u32>,
    /// For a sprayed connection.
    pub path: Option<u32>,
    /// The index in [`ECN`](tresse_results::record::packet::Packet::ECN).
    pub ecn: u8,
    pub echo: u32,
    pub cwr: bool,
    pub retransmission: bool,
    pub trimmed: bool,
    pub last: bool,
    pub dropped: bool,
}
