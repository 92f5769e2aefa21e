//! Receives a flow, and looks at every byte.

use std::io::{self, Read};
use std::net::{SocketAddrV4, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use socket2::Socket;

use super::{How, Pattern, Told, sender};
use crate::clock::monotonic;

/// A flow that is received by a thread of its own. It is closed when this is dropped.
pub(super) struct Receiver {
    shared: Arc<Shared>,
    /// What was told last.
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
        at: SocketAddrV4,
        how: &How,
        bytes: u64,
        tell: impl Fn(Told) + Send + 'static,
    ) -> io::Result<Self> {
        let socket = sender::socket(how)?;
        socket.set_reuse_address(true)?;
        socket.bind(&at.into())?;
        socket.listen(1)?;
        let shared = Arc::new(Shared {
            socket: Mutex::new(Some(socket.as_fd().try_clone_to_owned()?)),
            ..Shared::default()
        });
        thread::spawn({
            let shared = Arc::clone(&shared);
            move || match shared.receive(&socket, bytes) {
                Ok(arrived) => tell(Told::Complete { flow, bytes: arrived, at: monotonic() }),
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    tell(Told::Broken { flow, why: error.to_string() });
                }
                Err(_) => {} // it was stopped, or its sender tells
            }
        });
        Ok(Self { shared, told: 0 })
    }

    /// How much has arrived, and when it was looked at, if that has changed.
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
    /// Until the last byte is there, or the connection ends: how many there were.
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
                    let why = format!(
                        "byte {arrived} or one of the {} after it is not the one that was sent",
                        now.len()
                    );
                    return Err(io::Error::new(io::ErrorKind::InvalidData, why));
                }
                arrived += now.len() as u64;
                seen = rest;
            }
            self.arrived.store(arrived, Ordering::Relaxed);
        }
        Ok(arrived)
    }
}
