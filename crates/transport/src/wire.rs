//! The transport's contents of a packet.

use tresse_units::Time;

/// Segments `start..end` that arrived out of order (RFC 2018).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Block {
    /// The first one.
    pub start: u32,
    /// One after the last.
    pub end: u32,
}

/// The transport header of a data packet or an ACK, as a packet carries it: 48 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wire {
    /// The subflow of the packet, by the host's own name for it.
    pub subflow: u32,
    /// Data: the segment's sequence number. ACK: the next expected segment. Handshake: which of its packets
    /// this is.
    pub seq: u32,
    /// Data: the data sequence number, segments. ACK: the first one that is still missing (RFC 8684 §3.3.1).
    pub dsn: u32,
    /// Data: [`Wire::LAST`], [`Wire::CWR`]. ACK: [`Wire::ACK`]. Either: [`Wire::HANDSHAKE`].
    pub flags: u8,
    /// ACK: the echoed CE marks; 1 for a plain ECE.
    pub ce: u8,
    /// ACK: how many of `blocks` are used.
    pub block_count: u8,
    /// Data: when it was sent. ACK: the timestamp of the first packet that it covers (RFC 7323).
    pub stamp: Time,
    /// ACK: SACK blocks, the newest first.
    pub blocks: [Block; 3],
}

impl Wire {
    /// It is an ACK.
    pub const ACK: u8 = 1;
    /// Data: the last segment of a message.
    pub const LAST: u8 = 2;
    /// Data: the window was reduced (RFC 3168 §6.1.2).
    pub const CWR: u8 = 4;
    /// It belongs to the handshake of a subflow and carries neither data nor an ACK of data.
    pub const HANDSHAKE: u8 = 8;
    /// Data of a sprayed connection: its sender sends nothing more until it hears about it.
    pub const ASK: u8 = 16;
    /// ACK of a sprayed connection: it answers a packet that was trimmed.
    pub const NACK: u8 = 32;
    /// With [`Wire::NACK`]: the port that trimmed it leads to the receiver.
    pub const LAST_HOP: u8 = 64;
    /// Data: it was sent before on this subflow. A host that records packets sets it, and no endpoint reads it.
    pub const AGAIN: u8 = 128;

    /// For a sprayed connection: the path that this packet takes, or the path of the packet that it answers.
    #[inline]
    pub fn path(&self) -> u32 {
        self.blocks[1].end
    }

    /// Whether it is an ACK.
    #[inline]
    pub fn is_ack(&self) -> bool {
        self.flags & Self::ACK != 0
    }
}
