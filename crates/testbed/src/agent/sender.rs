//! Sends a flow.

use std::io::{self, Write};
use std::net::{SocketAddrV4, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use socket2::{Domain, Protocol, Socket, Type};

use super::info::{self, Subflow};
use super::{Carriage, HostReport, Pattern};

/// A flow that is sent by its own thread. It is closed when this is dropped.
pub(super) struct Sending {
    shared: Arc<Shared>,
    to: SocketAddrV4,
    multipath: bool,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Bytes to send, including those already sent.
    wanted: u64,
    stopped: bool,
    socket: Option<OwnedFd>,
}

impl Sending {
    pub fn start(
        flow: u64,
        from: SocketAddrV4,
        to: SocketAddrV4,
        how: Carriage,
        bytes: u64,
        tell: impl Fn(HostReport) + Send + 'static,
    ) -> Self {
        let state = State { wanted: bytes, ..State::default() };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let own = Self { shared: Arc::clone(&shared), to, multipath: how.multipath };
        thread::spawn(move || {
            let sent = connect(from, to, &how).and_then(|stream| shared.send(stream));
            if let Err(error) = sent
                && !shared.state().stopped
            {
                tell(HostReport::Broken { flow, why: format!("{from} to {to}: {error}") });
            }
        });
        own
    }

    pub fn write(&self, bytes: u64) {
        self.shared.state().wanted += bytes;
        self.shared.changed.notify_all();
    }

    /// Its destination.
    pub fn to(&self) -> SocketAddrV4 {
        self.to
    }

    pub fn look(&self) -> Vec<Subflow> {
        let state = self.shared.state();
        state.socket.as_ref().map(|socket| info::subflows(socket.as_fd(), self.multipath)).unwrap_or_default()
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.stopped = true;
        if let Some(socket) = state.socket.take() {
            // Ends a write that waits for room.
            let _ = Socket::from(socket).shutdown(std::net::Shutdown::Both);
        }
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, mut stream: TcpStream) -> io::Result<()> {
        self.state().socket = Some(stream.as_fd().try_clone_to_owned()?);
        let pattern = Pattern::new();
        let mut sent = 0;
        loop {
            let wanted = {
                let mut state = self.state();
                while state.wanted == sent && !state.stopped {
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                if state.stopped {
                    return Ok(());
                }
                state.wanted
            };
            while sent < wanted {
                sent += stream.write(pattern.at(sent, wanted - sent))? as u64;
                if self.state().stopped {
                    return Ok(());
                }
            }
        }
    }
}

/// A socket that is not connected yet.
pub(super) fn socket(how: &Carriage) -> io::Result<Socket> {
    let protocol = if how.multipath { Protocol::MPTCP } else { Protocol::TCP };
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(protocol))?;
    socket.set_tcp_congestion(how.control.as_bytes())?;
    set_class(&socket, how)?;
    Ok(socket)
}

/// The DSCP of its packets; the ECN bits are the kernel's own.
pub(super) fn set_class(socket: &Socket, how: &Carriage) -> io::Result<()> {
    match how.class {
        0 => Ok(()),
        class => socket.set_tos_v4(u32::from(class) << 2),
    }
}

fn connect(from: SocketAddrV4, to: SocketAddrV4, how: &Carriage) -> io::Result<TcpStream> {
    let socket = socket(how)?;
    socket.bind(&from.into())?;
    // A message's last packet does not wait for others.
    socket.set_tcp_nodelay(true)?;
    socket.connect(&to.into())?;
    Ok(socket.into())
}
