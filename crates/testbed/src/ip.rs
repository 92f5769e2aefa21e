//! The parts of an IPv4 packet that a switch reads and writes (RFC 791, RFC 3168).

use std::net::Ipv4Addr;

use tresse_fabric::{Ecn, Header};
use tresse_units::mix;

/// The fields of a packet that a switch reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketFields {
    /// Its source and its destination.
    pub addresses: [Ipv4Addr; 2],
    /// The source and destination ports of TCP and UDP; 0 without.
    pub ports: [u16; 2],
    /// Its size, ECN field, class and the hash of its five-tuple.
    pub header: Header,
}

const TCP: u8 = 6;
const UDP: u8 = 17;
/// IPv4's header without options.
const LEAST: usize = 20;

/// Reads a packet; `None` if it is not a whole IPv4 packet.
pub fn read(packet: &[u8]) -> Option<PacketFields> {
    let first = *packet.first()?;
    let length = usize::from(first & 15) * 4;
    if first >> 4 != 4 || length < LEAST || packet.len() < length {
        return None;
    }
    let address = |at: usize| Ipv4Addr::new(packet[at], packet[at + 1], packet[at + 2], packet[at + 3]);
    let word = |at: usize| Some(u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?]));
    if usize::from(word(2)?) != packet.len() {
        return None;
    }
    let (protocol, is_first) = (packet[9], word(6)? & 0x1fff == 0);
    let ports = match protocol {
        TCP | UDP if is_first => [word(length)?, word(length + 2)?],
        _ => [0; 2],
    };
    let addresses = [address(12), address(16)];
    let [from, to] = addresses.map(|address| u64::from(u32::from(address)));
    let ends = u64::from(ports[0]) << 24 | u64::from(ports[1]) << 8 | u64::from(protocol);
    let ecn = match packet[1] & 3 {
        0 => Ecn::NotEct,
        3 => Ecn::Ce,
        _ => Ecn::Ect,
    };
    let hash = mix(mix(from << 32 | to) ^ ends) as u32;
    let header = Header { class: packet[1] >> 2, hash, ..Header::new(packet.len() as u32, ecn) };
    Some(PacketFields { addresses, ports, header })
}

/// Sets CE in a packet that [`read`] accepts, and updates the header's checksum (RFC 1624).
pub fn set_ce(packet: &mut [u8]) {
    let before = u16::from_be_bytes([packet[0], packet[1]]);
    packet[1] |= 3;
    let after = u16::from_be_bytes([packet[0], packet[1]]);
    let checksum = u16::from_be_bytes([packet[10], packet[11]]);
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    let folded = (sum & 0xffff) + (sum >> 16);
    let mended = !(((folded & 0xffff) + (folded >> 16)) as u16);
    packet[10..12].copy_from_slice(&mended.to_be_bytes());
}
