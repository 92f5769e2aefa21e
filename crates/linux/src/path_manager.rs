//! Multipath TCP's subflows, as the kernel leaves them to a path manager in user space: `net.mptcp.pm_type=1`
//! and the generic-netlink family `mptcp_pm` (Documentation/netlink/specs/mptcp_pm.yaml).
//!
//! Everything refers to the network namespace of the thread that opens it.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use netlink_bindings::mptcp_pm::{EventAttr, EventType, PushAddress, Request};
use netlink_bindings::nlctrl;
use netlink_bindings::traits::{NetlinkRequest, Pusher};
use netlink_socket2::NetlinkSocket;

use crate::netlink::Socket;

/// The kernel's flag of a subflow that carries data only if no other can (`MPTCP_PM_ADDR_FLAG_BACKUP`).
const BACKUP: u32 = 1 << 2;

/// The kernel's events about Multipath TCP connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A connection can have more subflows from now on.
    Established {
        /// The connection's name in this namespace.
        token: u32,
        /// The first subflow's address and port here.
        local: SocketAddr,
        /// The first subflow's address and port there.
        remote: SocketAddr,
        /// The other host has opened it.
        accepted: bool,
    },
    /// A connection has ended.
    Closed { token: u32 },
    /// A further subflow is established.
    Joined {
        token: u32,
        /// Address and port here.
        local: SocketAddr,
        /// Address and port there.
        remote: SocketAddr,
    },
    /// A subflow has ended.
    Gone {
        token: u32,
        /// Address and port here.
        local: SocketAddr,
        /// Address and port there.
        remote: SocketAddr,
    },
}

/// Receives the kernel's events. While nobody does, a host whose path manager is in user space accepts no
/// further subflows.
#[derive(Debug)]
pub struct Events(Socket);

/// The buffer for events until they are read, bytes: about 10,000 events.
const KEPT: u32 = 8 << 20;

/// Bytes of `struct genlmsghdr`, whose first byte is the kind of event.
const HEAD: usize = 4;

impl Events {
    /// Listens from now on.
    ///
    /// # Errors
    /// Without Multipath TCP, or the permission (`CAP_NET_ADMIN`).
    pub fn listen() -> io::Result<Self> {
        let mut request = nlctrl::Request::new().op_getfamily_do();
        request.encode().push_family_name(c"mptcp_pm");
        let mut socket = NetlinkSocket::new();
        let mut answer = socket.request(&request)?;
        let family = answer.recv_one().map_err(io::Error::from)?;
        let mut groups = family.get_mcast_groups().map_err(wrong)?;
        let events = groups.find(|group| group.get_name().is_ok_and(|name| name == c"mptcp_pm_events"));
        let Some(group) = events else {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "the kernel reports no MPTCP events"));
        };
        let mut own = Socket::open(libc::NETLINK_GENERIC)?;
        own.join(group.get_id().map_err(wrong)?, KEPT)?;
        Ok(Self(own))
    }

    /// Waits for the next event.
    ///
    /// # Errors
    /// `ENOBUFS` if events were lost: look at all connections again, then continue. Other errors are final.
    pub fn wait(&mut self) -> io::Result<Event> {
        loop {
            if let Some(event) = self.0.next(true)?.and_then(read) {
                return Ok(event);
            }
        }
    }

    /// The next event that has already arrived, if there is one.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn poll(&mut self) -> io::Result<Option<Event>> {
        while let Some(message) = self.0.next(false)? {
            if let Some(event) = read(message) {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }
}

impl AsFd for Events {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Sends the kernel commands about subflows.
pub struct Commands(NetlinkSocket);

impl Commands {
    /// For the namespace of the thread that gives the first command.
    pub fn new() -> Self {
        Self(NetlinkSocket::new())
    }

    /// For the namespace of this thread, whichever thread gives the commands.
    ///
    /// # Errors
    /// Without Multipath TCP.
    pub fn here() -> io::Result<Self> {
        let mut request = nlctrl::Request::new().op_getfamily_do();
        request.encode().push_family_name(c"mptcp_pm");
        let mut socket = NetlinkSocket::new();
        socket.request(&request)?.recv_one().map_err(io::Error::from)?;
        Ok(Self(socket))
    }

    /// Opens a subflow of a connection that can have more, from this address and port of the host (0: any
    /// port), known to the connection by the number `id`, 1-255, to this remote address and port. The same
    /// address always has the same number. It is established when [`Event::Joined`] reports it.
    ///
    /// # Errors
    /// If the connection no longer exists, or the kernel's path manager is not in user space.
    pub fn create(&mut self, token: u32, id: u8, local: SocketAddr, remote: SocketAddr) -> io::Result<()> {
        let mut request = Request::new().op_subflow_create_do();
        let own = address(request.encode().push_token(token).nested_addr(), local.ip());
        let own = own.push_id(id).push_port(local.port()).end_nested();
        address(own.nested_addr_remote(), remote.ip()).push_port(remote.port()).end_nested();
        self.tell(&request)
    }

    /// Ends a subflow; its data in flight is sent again by others.
    ///
    /// # Errors
    /// If there is no such subflow, or the kernel's path manager is not in user space.
    pub fn destroy(&mut self, token: u32, local: SocketAddr, remote: SocketAddr) -> io::Result<()> {
        let mut request = Request::new().op_subflow_destroy_do();
        let own = address(request.encode().push_token(token).nested_addr(), local.ip());
        let own = own.push_port(local.port()).end_nested();
        address(own.nested_addr_remote(), remote.ip()).push_port(remote.port()).end_nested();
        self.tell(&request)
    }

    /// Sets whether a subflow carries data only if no other can; both hosts follow it (MP_PRIO, RFC 8684
    /// section 3.3.8).
    ///
    /// # Errors
    /// If there is no such subflow, or the kernel's path manager is not in user space.
    pub fn set_backup(
        &mut self,
        token: u32,
        local: SocketAddr,
        remote: SocketAddr,
        backup: bool,
    ) -> io::Result<()> {
        let mut request = Request::new().op_set_flags_do();
        let own = address(request.encode().push_token(token).nested_addr(), local.ip());
        let own = own.push_port(local.port()).push_flags(if backup { BACKUP } else { 0 }).end_nested();
        address(own.nested_addr_remote(), remote.ip()).push_port(remote.port()).end_nested();
        self.tell(&request)
    }

    fn tell(&mut self, request: &impl NetlinkRequest) -> io::Result<()> {
        self.0.request(request)?.recv_ack().map_err(io::Error::from)
    }
}

impl Default for Commands {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Commands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Commands")
    }
}

fn address<P: Pusher>(to: PushAddress<P>, address: IpAddr) -> PushAddress<P> {
    match address {
        IpAddr::V4(own) => to.push_family(libc::AF_INET as u16).push_addr4(own.into()),
        IpAddr::V6(own) => to.push_family(libc::AF_INET6 as u16).push_addr6(&own.octets()),
    }
}

/// The event of a message that has one.
pub(crate) fn read(message: &[u8]) -> Option<Event> {
    let (head, rest) = message.split_at_checked(HEAD)?;
    let told = EventAttr::new(rest);
    let token = told.get_token().ok()?;
    let ends = || {
        let (here, there) = match (told.get_saddr4(), told.get_daddr4()) {
            (Ok(here), Ok(there)) => (IpAddr::V4(here.into()), IpAddr::V4(there.into())),
            _ => {
                let octets = |own: &[u8]| <[u8; 16]>::try_from(own).ok().map(IpAddr::from);
                (octets(told.get_saddr6().ok()?)?, octets(told.get_daddr6().ok()?)?)
            }
        };
        let ports = (told.get_sport().ok()?, told.get_dport().ok()?);
        Some((SocketAddr::new(here.to_canonical(), ports.0), SocketAddr::new(there.to_canonical(), ports.1)))
    };
    match EventType::from_value(head[0].into())? {
        EventType::Established => {
            let (local, remote) = ends()?;
            let accepted = told.get_server_side().is_ok_and(|own| own != 0);
            Some(Event::Established { token, local, remote, accepted })
        }
        EventType::Closed => Some(Event::Closed { token }),
        EventType::SubEstablished => ends().map(|(local, remote)| Event::Joined { token, local, remote }),
        EventType::SubClosed => ends().map(|(local, remote)| Event::Gone { token, local, remote }),
        _ => None,
    }
}

fn wrong(error: impl std::fmt::Debug) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{error:?}"))
}
