//! A netlink socket: requests to the kernel, and its notifications.

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use libc::{NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, SOCK_CLOEXEC, SOCK_RAW};

use super::{aligned, half, word};

/// Bytes of `struct nlmsghdr`.
const HEADER: usize = 16;

/// The kernel writes at most this many bytes at a time.
const BUFFER: usize = 1 << 16;

/// A socket in the network namespace in which it was opened, whichever thread uses it later.
#[derive(Debug)]
pub(crate) struct Socket {
    socket: OwnedFd,
    buffer: Vec<u8>,
    /// Data read but not yet passed on: a range of the buffer.
    unread: Range<usize>,
}

impl Socket {
    /// A socket with this protocol, such as `NETLINK_ROUTE`.
    pub fn open(protocol: i32) -> io::Result<Self> {
        // SAFETY: no memory is passed.
        let socket = unsafe { libc::socket(libc::AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol) };
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just made it, and nobody else has it.
        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
        Ok(Self { socket, buffer: vec![0; BUFFER], unread: 0..0 })
    }

    /// Receives messages to the group from now on, and keeps about `bytes` of them until they are read.
    pub fn join(&mut self, group: u32, bytes: u32) -> io::Result<()> {
        let set = |level, option, value: u32| {
            // SAFETY: the kernel reads four bytes.
            let done = unsafe {
                libc::setsockopt(self.socket.as_raw_fd(), level, option, (&raw const value).cast(), 4)
            };
            if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
        };
        // Beyond the system's limit only with CAP_NET_ADMIN.
        set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, bytes)
            .or_else(|_| set(libc::SOL_SOCKET, libc::SO_RCVBUF, bytes))?;
        // A socket gets no notifications without its own address.
        // SAFETY: the structure is plain data, of which zeros let the kernel choose the address.
        let mut any: libc::sockaddr_nl = unsafe { std::mem::zeroed() };
        any.nl_family = libc::AF_NETLINK as u16;
        // SAFETY: the address is as long as said.
        let bound = unsafe {
            libc::bind(self.socket.as_raw_fd(), (&raw const any).cast(), size_of_val(&any) as libc::socklen_t)
        };
        if bound < 0 {
            return Err(io::Error::last_os_error());
        }
        set(libc::SOL_NETLINK, libc::NETLINK_ADD_MEMBERSHIP, group)
    }

    /// The next message's body; without `wait`, `None` if there is none now.
    ///
    /// # Errors
    /// `ENOBUFS` if messages were lost.
    pub fn next(&mut self, wait: bool) -> io::Result<Option<&[u8]>> {
        loop {
            if let Some((_, body)) = next(&self.buffer, &mut self.unread) {
                return Ok(Some(&self.buffer[body]));
            }
            match self.read(if wait { 0 } else { libc::MSG_DONTWAIT }) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                read => read?,
            }
        }
    }

    /// Requests all objects of a kind; `each` gets the answers without their headers.
    pub fn dump(&mut self, kind: u16, request: &[u8], mut each: impl FnMut(&[u8])) -> io::Result<()> {
        self.ask(kind, NLM_F_REQUEST | NLM_F_DUMP, request)?;
        while let Some(body) = self.answer()? {
            each(&self.buffer[body]);
        }
        Ok(())
    }

    /// Requests one object; `each` gets the answer without its header.
    pub fn get<T>(
        &mut self,
        kind: u16,
        request: &[u8],
        each: impl FnOnce(&[u8]) -> T,
    ) -> io::Result<Option<T>> {
        self.ask(kind, NLM_F_REQUEST, request)?;
        Ok(self.answer()?.map(|body| each(&self.buffer[body])))
    }

    fn ask(&mut self, kind: u16, flags: i32, request: &[u8]) -> io::Result<()> {
        let mut message = Vec::with_capacity(HEADER + request.len());
        message.extend(((HEADER + request.len()) as u32).to_ne_bytes());
        message.extend(kind.to_ne_bytes());
        message.extend((flags as u16).to_ne_bytes());
        message.extend([0; 8]); // sequence number and port: one question at a time
        message.extend(request);
        // SAFETY: `message` is as long as said; a netlink socket that is not connected asks the kernel.
        if unsafe { libc::send(self.socket.as_raw_fd(), message.as_ptr().cast(), message.len(), 0) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// The place of the next answer's body; `None` after the last one.
    fn answer(&mut self) -> io::Result<Option<Range<usize>>> {
        loop {
            let Some((kind, body)) = next(&self.buffer, &mut self.unread) else {
                self.read(0)?;
                continue;
            };
            // Both carry an error number; for example, an unknown kind of filter gives ENOENT.
            if kind == NLMSG_DONE || kind == NLMSG_ERROR {
                return match word(&self.buffer[body], 0).map_or(0, |n| n as i32) {
                    0 => Ok(None),
                    error => Err(io::Error::from_raw_os_error(-error)),
                };
            }
            return Ok(Some(body));
        }
    }

    fn read(&mut self, flags: i32) -> io::Result<()> {
        loop {
            let (buffer, length) = (self.buffer.as_mut_ptr(), self.buffer.len());
            // SAFETY: the kernel writes at most the buffer's length.
            let got = unsafe { libc::recv(self.socket.as_raw_fd(), buffer.cast(), length, flags) };
            match usize::try_from(got) {
                Ok(n) => {
                    self.unread = 0..n;
                    return Ok(());
                }
                Err(_) => match io::Error::last_os_error() {
                    e if e.kind() == io::ErrorKind::Interrupted => {}
                    e => return Err(e),
                },
            }
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The kind and the place of the next message's body; what is still unread shrinks by it.
pub(crate) fn next(buffer: &[u8], unread: &mut Range<usize>) -> Option<(i32, Range<usize>)> {
    let (from, rest) = (unread.start, &buffer[unread.clone()]);
    let length = word(rest, 0).map(|n| n as usize).filter(|n| (HEADER..=rest.len()).contains(n))?;
    let kind = i32::from(half(rest, 4));
    unread.start = (from + aligned(length)).min(unread.end);
    Some((kind, from + HEADER..from + length))
}
