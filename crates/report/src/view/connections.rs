//! The open connections: a limited number, each with a thread. When there is no room, one ends for the next.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The maximum number of connections. A browser opens up to six.
const MOST: usize = 128;
/// How long a connection that was ended may take to leave before another one is ended too.
const LEAVES: Duration = Duration::from_millis(100);

/// The open connections.
#[derive(Debug, Default)]
pub(super) struct Connections {
    open: Mutex<Open>,
    left: Condvar,
}

#[derive(Debug, Default)]
struct Open {
    /// Counts what connections do, so that it is known which one has done nothing for longest.
    turns: u64,
    /// By the turn of their beginning.
    own: BTreeMap<u64, OpenConnection>,
}

#[derive(Debug)]
struct OpenConnection {
    stream: Arc<TcpStream>,
    turn: u64,
    /// It has asked for something that is not answered yet.
    is_busy: bool,
    is_ended: bool,
}

impl Open {
    fn turn(&mut self) -> u64 {
        self.turns += 1;
        self.turns
    }

    /// Ends the connection that is missed least: the one that has been silent for longest, or else the one that has
    /// been answered for longest.
    fn end_one(&mut self) {
        let open = self.own.values_mut().filter(|own| !own.is_ended);
        if let Some(own) = open.min_by_key(|own| (own.is_busy, own.turn)) {
            own.is_ended = true;
            let _ = own.stream.shutdown(Shutdown::Both); // its thread no longer waits for anything
        }
    }
}

impl Connections {
    /// A place for a new connection; waits until there is one.
    pub fn place(self: &Arc<Self>, stream: &Arc<TcpStream>) -> Slot {
        let mut open = lock(&self.open);
        while open.own.len() >= MOST {
            open.end_one();
            open = self.left.wait_timeout(open, LEAVES).unwrap_or_else(PoisonError::into_inner).0;
        }
        let turn = open.turn();
        let stream = Arc::clone(stream);
        open.own.insert(turn, OpenConnection { stream, turn, is_busy: false, is_ended: false });
        Slot { connections: Arc::clone(self), key: turn }
    }
}

/// The place of a connection among the open ones, until it is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    connections: Arc<Connections>,
    key: u64,
}

impl Slot {
    /// The connection has asked for something, or has its answer.
    pub fn set_busy(&self, is_busy: bool) {
        let mut open = lock(&self.connections.open);
        let turn = open.turn();
        let own = open.own.get_mut(&self.key).expect("it is open until its place is dropped");
        (own.turn, own.is_busy) = (turn, is_busy);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        lock(&self.connections.open).own.remove(&self.key);
        self.connections.left.notify_one();
    }
}

/// The lock of what is whole between any two statements, even if a holder has panicked.
pub(super) fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
