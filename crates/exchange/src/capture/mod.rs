//! Packets in a form that Wireshark reads: Ethernet, IP, TCP with the options of MPTCP, in a file of the
//! format pcapng (draft-ietf-opsawg-pcapng).

mod connections;
mod frame;
mod mptcp;
mod packet;
mod pcapng;
mod tcp;
mod udp;

use tresse_results::record::packet::Kind;

pub(crate) use self::connections::Connections;
pub(crate) use self::packet::Packet;
pub(crate) use self::pcapng::File;
pub(crate) use self::tcp::{CapturedPacket, Tcp};

/// The frame of a packet, preceded by those of a handshake that was not simulated. `several`: its connection
/// may have several subflows. `None` if it is too large for IP.
pub(crate) fn frames(
    tcp: &mut Tcp,
    packet: &Packet,
    connections: &Connections,
    several: bool,
) -> Option<Vec<CapturedPacket>> {
    let connection = connections.of(&packet.key);
    if packet.path.is_some() || packet.kind == Kind::Datagram {
        return udp::frame(packet, connection).map(|made| vec![made]);
    }
    tcp.frames(packet, connection, several)
}
