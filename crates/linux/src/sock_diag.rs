//! The TCP sockets of a network namespace, as the kernel lists them (`NETLINK_SOCK_DIAG`, include/uapi/linux/inet_diag.h).

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::netlink::{Socket, attributes, word};
use crate::tcp_info::TcpInfo;

/// `SOCK_DIAG_BY_FAMILY`, the kind of request and answer.
const BY_FAMILY: u16 = 20;
/// Bytes of `struct inet_diag_req_v2` and `struct inet_diag_msg`.
const REQUEST: usize = 56;
const MESSAGE: usize = 72;

/// Attributes of an answer.
const INFO: u16 = 2;
const ULP_INFO: u16 = 19;
const CGROUP_ID: u16 = 21;
/// `INET_ULP_INFO_MPTCP`, and in it `MPTCP_SUBFLOW_ATTR_TOKEN_LOC`.
const MPTCP: u16 = 3;
const TOKEN: u16 = 2;

/// States of `include/net/tcp_states.h`.
const ESTABLISHED: u8 = 1;
const LISTEN: u8 = 10;

/// A subflow of a Multipath TCP connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Subflow {
    /// The connection's name in this namespace.
    pub token: u32,
    pub local: SocketAddr,
    pub remote: SocketAddr,
    pub info: TcpInfo,
    /// The control group of the socket, as the inode number of its folder below /sys/fs/cgroup; `None` without them.
    pub cgroup: Option<u64>,
}

/// Requests lists of sockets.
#[derive(Debug)]
pub(crate) struct SockDiag(Socket);

impl SockDiag {
    /// For the namespace of this thread, even if another thread asks later.
    pub fn here() -> io::Result<Self> {
        Socket::open(libc::NETLINK_SOCK_DIAG).map(Self)
    }

    /// The established subflows of all connections.
    pub fn subflows(&mut self) -> io::Result<Vec<Subflow>> {
        let mut all = Vec::new();
        self.ask(ESTABLISHED, |message| all.extend(subflow(message)))?;
        Ok(all)
    }

    /// The ports with a listening socket.
    pub fn listening(&mut self) -> io::Result<BTreeSet<u16>> {
        let mut all = BTreeSet::new();
        self.ask(LISTEN, |message| all.extend(ends(message).map(|(local, _)| local.port())))?;
        Ok(all)
    }

    fn ask(&mut self, state: u8, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        for family in [libc::AF_INET, libc::AF_INET6] {
            let mut request = [0; REQUEST];
            request[0] = family as u8;
            request[1] = libc::IPPROTO_TCP as u8;
            request[2] = 1 << (INFO - 1);
            request[4..8].copy_from_slice(&(1u32 << state).to_ne_bytes());
            match self.0.dump(BY_FAMILY, &request, &mut each) {
                // A kernel without IPv6.
                Err(e) if e.raw_os_error() == Some(libc::ENOENT) && family == libc::AF_INET6 => {}
                done => done?,
            }
        }
        Ok(())
    }
}

/// The subflow of an answer that has one.
pub(crate) fn subflow(message: &[u8]) -> Option<Subflow> {
    let (local, remote) = ends(message)?;
    let (mut info, mut token, mut cgroup) = (None, None, None);
    for (kind, value) in attributes(message.get(MESSAGE..)?) {
        match kind {
            INFO => info = TcpInfo::read(value),
            ULP_INFO => {
                let of = |of: u16, value| attributes(value).find(|a| a.0 == of).map(|a| a.1);
                token = of(MPTCP, value).and_then(|own| word(of(TOKEN, own)?, 0));
            }
            CGROUP_ID => cgroup = value.get(..8).and_then(|b| Some(u64::from_ne_bytes(b.try_into().ok()?))),
            _ => {}
        }
    }
    Some(Subflow { token: token?, local, remote, info: info?, cgroup })
}

/// The two ends of a socket; a v4 address also represents its v6 form.
fn ends(message: &[u8]) -> Option<(SocketAddr, SocketAddr)> {
    let family = i32::from(*message.first()?);
    let port = |at| Some(u16::from_be_bytes(message.get(at..at + 2)?.try_into().ok()?));
    let address = |at: usize| -> Option<IpAddr> {
        let octets: [u8; 16] = message.get(at..at + 16)?.try_into().ok()?;
        Some(match family {
            libc::AF_INET6 => Ipv6Addr::from(octets).to_canonical(),
            _ => Ipv4Addr::new(octets[0], octets[1], octets[2], octets[3]).into(),
        })
    };
    Some((SocketAddr::new(address(8)?, port(4)?), SocketAddr::new(address(24)?, port(6)?)))
}
