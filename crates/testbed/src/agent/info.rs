//! What the kernel tells of a connection's subflows: `TCP_INFO`, and MPTCP's `MPTCP_TCPINFO` and `MPTCP_SUBFLOW_ADDRS`
//! (include/uapi/linux/mptcp.h, tcp.h).

use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, BorrowedFd};

use serde::{Deserialize, Serialize};

/// A subflow as its sender's kernel sees it, counted from its beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subflow {
    /// The address that it comes from.
    pub from: Ipv4Addr,
    /// The state of its congestion control.
    pub state: TcpState,
    /// Its window, packets.
    pub cwnd: u32,
    /// Its smoothed RTT, us; 0: none yet.
    pub srtt: u32,
    /// Payload that was ACKed, bytes.
    pub acked: u64,
    /// Data segments, retransmissions among them.
    pub segments: u64,
    /// Retransmissions.
    pub again: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// CE marks that came back.
    pub marks: u64,
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

/// As many subflows are asked for.
const MOST: usize = 64;
/// `struct mptcp_subflow_data`.
const HEAD: usize = 16;
/// What is read of `struct tcp_info`: up to `tcpi_total_rto`, which kernels before 6.7 do not have.
const INFO: usize = 248;
/// `struct mptcp_subflow_addrs`: two of `struct __kernel_sockaddr_storage`.
const ADDRESSES: usize = 256;

/// The subflows of a connected socket; none if the kernel tells of none.
pub(super) fn subflows(socket: BorrowedFd<'_>, multipath: bool) -> Vec<Subflow> {
    if !multipath {
        let mut info = [0; INFO];
        let told = get(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut info);
        return told.map(|_| subflow(&info, Ipv4Addr::UNSPECIFIED)).into_iter().collect();
    }
    let infos = list(socket, MPTCP_TCPINFO, INFO);
    let addresses = list(socket, MPTCP_SUBFLOW_ADDRS, ADDRESSES);
    if infos.is_empty() {
        // It fell back to TCP.
        return subflows(socket, false);
    }
    let from = |bytes: &[u8]| Ipv4Addr::new(bytes[4], bytes[5], bytes[6], bytes[7]);
    infos.iter().zip(&addresses).map(|(info, addresses)| subflow(info, from(addresses))).collect()
}

/// What MPTCP tells of each subflow, `size` bytes each.
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
    // SAFETY: the kernel writes at most as many bytes as it is told that there are.
    let told = unsafe {
        libc::getsockopt(socket.as_raw_fd(), level, option, buffer.as_mut_ptr().cast(), &raw mut length)
    };
    (told == 0).then_some(length as usize)
}

fn subflow(info: &[u8], from: Ipv4Addr) -> Subflow {
    let state = [TcpState::Open, TcpState::Disorder, TcpState::Cwr, TcpState::Recovery, TcpState::Loss];
    Subflow {
        from,
        state: state.get(usize::from(info[1])).copied().unwrap_or(TcpState::Open),
        srtt: word(info, 68),
        cwnd: word(info, 80),
        again: word(info, 100).into(),
        acked: u64::from_ne_bytes(info[120..128].try_into().expect("eight bytes")),
        segments: word(info, 156).into(),
        marks: word(info, 196).into(),
        timeouts: u16::from_ne_bytes([info[240], info[241]]).into(),
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}
