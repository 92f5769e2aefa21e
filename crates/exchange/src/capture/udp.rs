//! Packets that are not TCP: those of sprayed connections, and datagrams.
//!
//! They are shown as UDP. A sprayed packet's path is determined by its source port, like the entropy of Ultra
//! Ethernet, and it begins with a transport header. This is Tresse's own format, not a protocol's:
//!
//! | bytes | what |
//! |---|---|
//! | 0 | 1 data, 2 ACK, 3 NACK |
//! | 1 | flags: 1 last of its message, 2 retransmission, 4 trimmed, 8 ACK of a marked packet |
//! | 2, 3 | the number of blocks |
//! | 4 to 7 | the number of the connection in this file |
//! | 8 to 11 | the path that it takes, or that the packet took that it answers |
//! | 12 to 15 | data: its segment; ACK: all segments below have arrived |
//! | 16 to 19 | ACK: the segment that it answers |
//! | then | ACK: each block of segments that have arrived: the first one, and the one after the last |
//!
//! Numbers are in network byte order. The payload follows data.

use tresse_results::record::packet::Kind;

use super::connections::Connection;
use super::frame::udp;
use super::packet::Packet;
use super::tcp::{CapturedPacket, ip, remarks};

/// The port of receivers of datagrams and sprayed packets: a dynamic port, which is not assigned.
const SPRAYED: u16 = 65_000;
const DATAGRAMS: u16 = 65_001;
/// The first of the source ports among which paths are spread.
const FIRST_PATH: u32 = 49_152;
const PATHS: u32 = 15_000;

/// A packet of a sprayed connection, or a datagram; `None` if it is too large for IP.
pub(crate) fn frame(row: &Packet, connection: &Connection) -> Option<CapturedPacket> {
    let is_answer = matches!(row.kind, Kind::Ack | Kind::Nack);
    let ip = ip(row, is_answer, row.ecn);
    let frame = match row.path {
        None => udp(&ip, [connection.subflow(row.subflow).ports[0], DATAGRAMS], &[], row.payload)?,
        Some(path) => {
            let port = (FIRST_PATH + path % PATHS) as u16;
            udp(&ip, [port, SPRAYED], &head(row, path, connection.number), row.payload)?
        }
    };
    let sent = is_answer == (u64::from(row.host) == row.key.to);
    Some(CapturedPacket { frame, sent, comments: remarks(row) })
}

fn head(row: &Packet, path: u32, connection: u32) -> Vec<u8> {
    let kind = match row.kind {
        Kind::Ack => 2,
        Kind::Nack => 3,
        _ => 1,
    };
    let flags = [row.last, row.retransmission, row.trimmed, row.echo > 0];
    let flags = flags.iter().rev().fold(0, |flags, &flag| flags << 1 | u8::from(flag));
    let [number, _] = row.data.or(row.ack).unwrap_or_default();
    let mut head = vec![kind, flags];
    head.extend((row.sack.len() as u16).to_be_bytes());
    head.extend([connection, path, number].into_iter().flat_map(u32::to_be_bytes));
    if row.ack.is_some() {
        head.extend(row.answers.unwrap_or(0).to_be_bytes());
        head.extend(row.sack.iter().flatten().flat_map(|segment| segment.to_be_bytes()));
    }
    head
}
