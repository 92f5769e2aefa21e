//! The kernel's data about a connection's subflows: `TCP_INFO`, and MPTCP's `MPTCP_TCPINFO` and
//! `MPTCP_SUBFLOW_ADDRS` (include/uapi/linux/mptcp.h, tcp.h).

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, BorrowedFd};

use serde::{Deserialize, Serialize};
use tresse_linux::tcp_info::TcpInfo;

/// A subflow as its sender's kernel sees it; counts are from its beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subflow {
    /// Its source address and port.
    pub from: SocketAddrV4,
    /// The state of its congestion control.
    pub state: TcpState,
    /// Its window, packets.
    pub cwnd: u32,
    /// Its smoothed RTT, us of the wall clock; 0: none yet.
    pub srtt: u32,
    /// Segments that are in flight.
    pub outstanding: u32,
    /// Payload that was ACKed, bytes.
    pub acked: u64,
    /// Data segments, including retransmissions.
    pub segments: u64,
    /// Retransmissions.
    pub again: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// CE marks that were echoed.
    pub marks: u64,
}

impl Subflow {
    /// Whether it belongs to a plain TCP connection.
    pub fn is_plain(&self) -> bool {
        self.from == UNKNOWN
    }
}

/// `enum tcp_ca_state`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TcpState {
    /// Nothing is wrong.
    Open,
    /// Something may be lost.
    Disorder,
    /// The window is cut for a mark.
    Cwr,
    /// Lost segments are sent again.
    Recovery,
    /// After a timeout.
    Loss,
}

const SOL_MPTCP: i32 = 284;
const MPTCP_TCPINFO: i32 = 2;
const MPTCP_SUBFLOW_ADDRS: i32 = 3;

/// The most subflows in a request.
const MOST: usize = 64;
/// `struct mptcp_subflow_data`.
const HEAD: usize = 16;
/// `struct mptcp_subflow_addrs`: two of `struct __kernel_sockaddr_storage`.
const ADDRESSES: usize = 256;

/// The source of a connection with one subflow: it needs no name.
const UNKNOWN: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0);

/// The subflows of a connected socket; none if the kernel reports none.
pub(crate) fn subflows(socket: BorrowedFd<'_>, multipath: bool) -> Vec<Subflow> {
    if !multipath {
        let mut info = [0; TcpInfo::SIZE];
        let told = get(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info);
        return told.and_then(|_| subflow(&info, UNKNOWN)).into_iter().collect();
    }
    let infos = list(socket, MPTCP_TCPINFO, TcpInfo::SIZE);
    let addresses = list(socket, MPTCP_SUBFLOW_ADDRS, ADDRESSES);
    if infos.is_empty() {
        // It fell back to TCP.
        return subflows(socket, false);
    }
    let from = |bytes: &[u8]| {
        let port = u16::from_be_bytes([bytes[2], bytes[3]]);
        SocketAddrV4::new(Ipv4Addr::new(bytes[4], bytes[5], bytes[6], bytes[7]), port)
    };
    infos.iter().zip(&addresses).filter_map(|(info, addresses)| subflow(info, from(addresses))).collect()
}

/// MPTCP's data about each subflow, `size` bytes each.
fn list(socket: BorrowedFd<'_>, option: i32, size: usize) -> Vec<Vec<u8>> {
    let mut buffer = vec![0; HEAD + MOST * size];
    for (place, value) in [HEAD as u32, 0, 0, size as u32].into_iter().enumerate() {
        buffer[place * 4..place * 4 + 4].copy_from_slice(&value.to_ne_bytes());
    }
    if get(socket, SOL_MPTCP, option, &mut buffer).is_none() {
        return Vec::new();
    }
    let count = (word(&buffer, 4) as usize).min(MOST);
    buffer[HEAD..].chunks_exact(size).take(count).map(<[u8]>::to_vec).collect()
}

fn get(socket: BorrowedFd<'_>, level: i32, option: i32, buffer: &mut [u8]) -> Option<usize> {
    let mut length = buffer.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most the given number of bytes.
    let told = unsafe {
        libc::getsockopt(socket.as_raw_fd(), level, option, buffer.as_mut_ptr().cast(), &raw mut length)
    };
    (told == 0).then_some(length as usize)
}

fn subflow(info: &[u8], from: SocketAddrV4) -> Option<Subflow> {
    let TcpInfo { state, cwnd, srtt, outstanding, acked, segments, again, timeouts, marks } =
        TcpInfo::read(info)?;
    let states = [TcpState::Open, TcpState::Disorder, TcpState::Cwr, TcpState::Recovery, TcpState::Loss];
    let state = states.get(usize::from(state)).copied().unwrap_or(TcpState::Open);
    Some(Subflow { from, state, cwnd, srtt, outstanding, acked, segments, again, timeouts, marks })
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use socket2::{Domain, Protocol, Socket, Type};

    use super::{SocketAddrV4, subflows};

    /// Whether a Multipath TCP connection over loopback to a listener of this protocol fell back to TCP.
    fn fell_back(protocol: Protocol) -> std::io::Result<bool> {
        let socket = |protocol| Socket::new(Domain::IPV4, Type::STREAM, Some(protocol));
        let (listener, client) = (socket(protocol)?, socket(Protocol::MPTCP)?);
        listener.bind(&SocketAddrV4::new([127, 0, 0, 1].into(), 0).into())?;
        listener.listen(1)?;
        client.connect(&listener.local_addr()?)?;
        let seen = subflows(client.as_fd(), true);
        assert_eq!(seen.len(), 1, "{seen:?}");
        Ok(seen[0].is_plain())
    }

    #[test]
    fn a_fallback_to_tcp_is_seen() {
        match fell_back(Protocol::TCP).and_then(|tcp| Ok((tcp, fell_back(Protocol::MPTCP)?))) {
            Ok(seen) => assert_eq!(seen, (true, false)),
            Err(error) => eprintln!("skipped: fallback to TCP: this machine has no Multipath TCP ({error})"),
        }
    }
}
