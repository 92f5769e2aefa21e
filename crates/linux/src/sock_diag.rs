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

    /// The subflow with these ends; `None` if there is none any more.
    pub fn subflow(&mut self, (local, remote): (SocketAddr, SocketAddr)) -> io::Result<Option<Subflow>> {
        let mut request = request(if local.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 });
        for (at, end) in [(8, local), (10, remote)] {
            request[at..at + 2].copy_from_slice(&end.port().to_be_bytes());
        }
        for (at, end) in [(12, local), (28, remote)] {
            match end.ip() {
                IpAddr::V4(address) => request[at..at + 4].copy_from_slice(&address.octets()),
                IpAddr::V6(address) => request[at..at + 16].copy_from_slice(&address.octets()),
            }
        }
        request[48..].fill(0xff); // whatever its cookie
        match self.0.get(BY_FAMILY, &request, subflow) {
            Err(e) if e.raw_os_error() == Some(libc::ENOENT) => Ok(None),
            found => found.map(Option::flatten),
        }
    }

    /// The ports with a listening socket.
    pub fn listening(&mut self) -> io::Result<BTreeSet<u16>> {
        let mut all = BTreeSet::new();
        self.ask(LISTEN, |message| all.extend(ends(message).map(|(local, _)| local.port())))?;
        Ok(all)
    }

    fn ask(&mut self, state: u8, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        for family in [libc::AF_INET, libc::AF_INET6] {
            let mut request = request(family);
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

/// A request for sockets of this family, with `struct tcp_info`.
fn request(family: i32) -> [u8; REQUEST] {
    let mut request = [0; REQUEST];
    request[0] = family as u8;
    request[1] = libc::IPPROTO_TCP as u8;
    request[2] = 1 << (INFO - 1);
    request
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

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::{SocketAddr, TcpListener};
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

    use super::SockDiag;

    /// A Multipath TCP connection of this host to itself: listener and socket.
    fn connection(family: i32) -> io::Result<(TcpListener, OwnedFd)> {
        let checked = |result: i32| if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) };
        // SAFETY: no memory is passed, and nobody else has what the kernel makes.
        let socket = || unsafe {
            checked(libc::socket(family, libc::SOCK_STREAM, libc::IPPROTO_MPTCP))
                .map(|fd| OwnedFd::from_raw_fd(fd))
        };
        let (listener, socket) = (socket()?, socket()?);
        // SAFETY: no memory is passed.
        checked(unsafe { libc::listen(listener.as_raw_fd(), 1) })?;
        let listener = TcpListener::from(listener);
        // The family, the port, and the address "any": this host.
        let mut to = [0u8; size_of::<libc::sockaddr_in6>()];
        to[..2].copy_from_slice(&(family as u16).to_ne_bytes());
        to[2..4].copy_from_slice(&listener.local_addr()?.port().to_be_bytes());
        // SAFETY: the kernel reads as many bytes as there are.
        checked(unsafe { libc::connect(socket.as_raw_fd(), to.as_ptr().cast(), to.len() as u32) })?;
        Ok((listener, socket))
    }

    #[test]
    fn a_subflow_is_found_by_its_ends() {
        for family in [libc::AF_INET, libc::AF_INET6] {
            let (listener, _socket) = match connection(family) {
                Ok(both) => both,
                Err(error) => {
                    eprintln!(
                        "skipped: a_subflow_is_found_by_its_ends: Multipath TCP, family {family}: {error}"
                    );
                    continue;
                }
            };
            let mut diag = SockDiag::here().expect("a netlink socket");
            let port = listener.local_addr().expect("it listens").port();
            let all = diag.subflows().expect("the kernel lists sockets");
            let Some(own) = all.iter().find(|own| own.remote.port() == port) else {
                eprintln!("skipped: a_subflow_is_found_by_its_ends: only root sees tokens");
                continue;
            };
            let found =
                diag.subflow((own.local, own.remote)).expect("the kernel answers").expect("it is there");
            assert_eq!((found.token, found.local, found.remote), (own.token, own.local, own.remote));
            let other = SocketAddr::new(own.remote.ip(), 1);
            assert_eq!(diag.subflow((own.local, other)).expect("the kernel answers"), None);
        }
    }
}
