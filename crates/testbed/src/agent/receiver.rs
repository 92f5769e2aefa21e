//! Receives a flow and checks every byte.

use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use socket2::Socket;

use super::{Carriage, HostReport, Pattern, sender};
use crate::clock::monotonic;

/// A flow that is received by its own thread. It is closed when this is dropped.
pub(super) struct Receiver {
    shared: Arc<Shared>,
    /// The last reported value.
    told: u64,
}

#[derive(Default)]
struct Shared {
    arrived: AtomicU64,
    /// The listener, then the connection.
    socket: Mutex<Option<OwnedFd>>,
}

impl Receiver {
    pub fn listen(
        flow: u64,
        port: u16,
        how: &Carriage,
        bytes: u64,
        tell: impl Fn(HostReport) + Send + 'static,
    ) -> io::Result<Self> {
        let socket = sender::socket(how)?;
        socket.set_reuse_address(true)?;
        // Subflows may come to any address of the host.
        socket.bind(&SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port).into())?;
        socket.listen(1)?;
        let shared = Arc::new(Shared {
            socket: Mutex::new(Some(socket.as_fd().try_clone_to_owned()?)),
            ..Shared::default()
        });
        thread::spawn({
            let shared = Arc::clone(&shared);
            move || match shared.receive(&socket, bytes) {
                Ok(arrived) => tell(HostReport::Complete { flow, bytes: arrived, at: monotonic() }),
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    tell(HostReport::Broken { flow, why: error.to_string() });
                }
                Err(_) => {} // it was stopped, or its sender reports the error
            }
        });
        Ok(Self { shared, told: 0 })
    }

    /// How much has arrived, and when this was read, if it has changed.
    pub fn news(&mut self) -> Option<(u64, u64)> {
        let arrived = self.shared.arrived.load(Ordering::Relaxed);
        (std::mem::replace(&mut self.told, arrived) != arrived).then(|| (arrived, monotonic()))
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let socket = self.shared.socket.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(socket) = socket {
            let _ = Socket::from(socket).shutdown(std::net::Shutdown::Both);
        }
    }
}

impl Shared {
    /// Receives until the last byte is there or the connection ends. Returns the number of bytes.
    fn receive(&self, listener: &Socket, bytes: u64) -> io::Result<u64> {
        let (socket, _) = listener.accept()?;
        *self.socket.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(socket.as_fd().try_clone_to_owned()?);
        let mut stream = TcpStream::from(socket);
        let (pattern, mut buffer, mut arrived) = (Pattern::new(), vec![0; 1 << 16], 0);
        while arrived < bytes {
            let length = stream.read(&mut buffer)?;
            if length == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let mut seen = &buffer[..length];
            while !seen.is_empty() {
                let expected = pattern.at(arrived, seen.len() as u64);
                let (now, rest) = seen.split_at(expected.len());
                if now != expected {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, wrong(&pattern, arrived, now)));
                }
                arrived += now.len() as u64;
                seen = rest;
            }
            self.arrived.store(arrived, Ordering::Relaxed);
        }
        Ok(arrived)
    }
}

/// The error in these bytes, which came at this position of the flow: where the first wrong one is, and what
/// came instead.
fn wrong(pattern: &Pattern, at: u64, bytes: &[u8]) -> String {
    let right = bytes.iter().zip(pattern.at(at, bytes.len() as u64)).take_while(|(own, sent)| own == sent);
    let right = right.count();
    let first = at + right as u64;
    let instead = match pattern.find(&bytes[right..]) {
        Some(place) => format!("the bytes from {place} on, or a multiple of {} later", Pattern::LENGTH),
        None => format!("bytes that nobody sent: {:02x?}", &bytes[right..bytes.len().min(right + 16)]),
    };
    format!("byte {first} is not the one that was sent: received {instead}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_byte_is_found_and_so_is_what_came_instead() {
        let pattern = Pattern::new();
        let mut bytes = pattern.at(1000, 50).to_vec();
        bytes.extend(pattern.at(3000, 100));
        let said = wrong(&pattern, 1000, &bytes);
        assert!(said.starts_with("byte 1050 ") && said.contains("from 3000 on"), "{said}");
        bytes[60] ^= 1;
        assert!(wrong(&pattern, 1000, &bytes).contains("nobody sent"));
        assert_eq!(pattern.find(pattern.at(65_500, 40)), Some(65_500), "across the end");
    }
}
