//! Ethernet frames.

use std::sync::LazyLock;

use etherparse::{EtherType, Ethernet2Header, IpEcn, IpNumber, Ipv4Header, TcpHeader, UdpHeader};

/// The payload of packets, whose content is not simulated.
static PAYLOAD: LazyLock<Vec<u8>> = LazyLock::new(|| vec![0; usize::from(u16::MAX)]);

/// The sending and the receiving host of a packet, each by one of its addresses, and its ECN field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ip {
    pub from: [u32; 2],
    pub to: [u32; 2],
    pub ecn: u8,
}

/// A frame: its headers, and its length with its payload.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub headers: Vec<u8>,
    pub length: usize,
}

/// The address of a host with this number: 10.0.0.1 for the first of host 0.
pub(crate) fn address([host, number]: [u32; 2]) -> [u8; 4] {
    ((10 << 24) + (host << 8) + 1 + number).to_be_bytes()
}

fn mac(host: u32) -> [u8; 6] {
    let [a, b, c, d] = host.to_be_bytes();
    [0x02, 0, a, b, c, d]
}

/// The headers below TCP or UDP, of a packet with `length` bytes from there on; `None` if it is too long for
/// IP.
fn below(ip: &Ip, protocol: IpNumber, length: usize) -> Option<(Ethernet2Header, Ipv4Header)> {
    let ethernet =
        Ethernet2Header { source: mac(ip.from[0]), destination: mac(ip.to[0]), ether_type: EtherType::IPV4 };
    let length = u16::try_from(length).ok()?;
    let mut header = Ipv4Header::new(length, 64, protocol, address(ip.from), address(ip.to)).ok()?;
    // Not ECN-capable, ECT(0), CE.
    header.ecn = [IpEcn::ZERO, IpEcn::TWO, IpEcn::THREE][usize::from(ip.ecn)];
    header.header_checksum = header.calc_header_checksum();
    Some((ethernet, header))
}

/// A TCP packet with this many bytes of payload; `None` if it is too long for IP.
pub(crate) fn tcp(ip: &Ip, mut header: TcpHeader, payload: u32) -> Option<Frame> {
    let length = header.header_len() + payload as usize;
    let (ethernet, network) = below(ip, IpNumber::TCP, length)?;
    header.checksum = header.calc_checksum_ipv4(&network, &PAYLOAD[..payload as usize]).ok()?;
    let headers = [&ethernet.to_bytes()[..], &network.to_bytes(), &header.to_bytes()].concat();
    Some(Frame { length: headers.len() + payload as usize, headers })
}

/// A UDP packet that begins with `head`, followed by this many bytes of payload; `None` as above.
pub(crate) fn udp(ip: &Ip, ports: [u16; 2], head: &[u8], payload: u32) -> Option<Frame> {
    let length = UdpHeader::LEN + head.len() + payload as usize;
    let (ethernet, network) = below(ip, IpNumber::UDP, length)?;
    let carried = [head, &PAYLOAD[..payload as usize]].concat();
    let header = UdpHeader::with_ipv4_checksum(ports[0], ports[1], &network, &carried).ok()?;
    let headers = [&ethernet.to_bytes()[..], &network.to_bytes(), &header.to_bytes(), head].concat();
    Some(Frame { length: headers.len() + payload as usize, headers })
}

#[cfg(test)]
mod tests {
    use etherparse::SlicedPacket;

    use super::*;

    const IP: Ip = Ip { from: [3, 0], to: [300, 1], ecn: 2 };

    #[test]
    fn hosts_have_addresses() {
        assert_eq!(address([0, 0]), [10, 0, 0, 1]);
        assert_eq!(address([300, 1]), [10, 1, 44, 2]);
        assert_eq!(mac(300), [2, 0, 0, 0, 1, 44]);
    }

    #[test]
    fn frames_are_read_back_with_their_checksums() {
        let header = TcpHeader { sequence_number: 7, ..TcpHeader::new(1024, 5001, 7, 65535) };
        let frame = tcp(&IP, header, 1460).expect("it fits");
        assert_eq!((frame.headers.len(), frame.length), (54, 1514));
        let whole = [&frame.headers[..], &PAYLOAD[..1460]].concat();
        let read = SlicedPacket::from_ethernet(&whole).expect("whole");
        let (Some(etherparse::NetSlice::Ipv4(ip)), Some(etherparse::TransportSlice::Tcp(tcp))) =
            (read.net, read.transport)
        else {
            panic!("TCP over IP");
        };
        let ip = ip.header().to_header();
        assert_eq!((ip.ecn, ip.header_checksum), (IpEcn::THREE, ip.calc_header_checksum()));
        assert_eq!(tcp.to_header().calc_checksum_ipv4(&ip, &PAYLOAD[..1460]), Ok(tcp.checksum()));
    }

    #[test]
    fn what_is_too_much_for_ip_is_none() {
        assert_eq!(udp(&IP, [1, 2], &[0; 16], 65_535 - 20 - 8 - 15), None);
        assert!(udp(&IP, [1, 2], &[0; 16], 65_535 - 20 - 8 - 16).is_some());
    }
}
