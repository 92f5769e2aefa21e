//! The paths of one connection, and the group of their controllers.

use std::sync::Arc;
use std::time::Instant;

use tresse_controllers::{ConfiguredController, Group, INFINITE_SSTHRESH, MAX_SUBFLOWS};

use crate::path::{Event, Path};

/// kInitialWindow of RFC 9002 §7.2: ten packets, within this many bytes.
const INITIAL_BYTES: u64 = 14_720;
const INITIAL_PACKETS: u64 = 10;

/// kMinimumWindow of RFC 9002 §7.2, packets.
const LEAST_PACKETS: u64 = 2;

/// Path `i` is subflow `i` of the group.
#[derive(Debug)]
pub(crate) struct Connection {
    group: Group,
    paths: Vec<Path>,
    joined: u64,
}

impl Connection {
    pub fn new(scheme: &Arc<ConfiguredController>) -> Self {
        Self { group: Group::new(Arc::clone(scheme), 0, 1), paths: Vec::new(), joined: 0 }
    }

    /// Adds a new path. Returns its number, or `None` if there is no room.
    pub fn join(&mut self, now: Instant, packet: u16) -> Option<u64> {
        let i = self.paths.len();
        if i == MAX_SUBFLOWS {
            return None;
        }
        self.settle_all();
        let id = self.joined;
        self.joined += 1;
        self.group.insert(i, initial_packets(packet) as u32);
        self.group[i].mss = packet.max(1).into();
        self.paths.push(Path::new(id, now));
        Some(id)
    }

    pub fn leave(&mut self, id: u64) {
        let i = self.place(id);
        self.settle_all();
        self.paths.remove(i);
        if self.paths.is_empty() {
            self.group = Group::new(Arc::clone(self.group.scheme()), 0, 1);
        } else {
            self.group.remove(i);
        }
    }

    pub fn tell(&mut self, id: u64, event: Event) {
        let own = self.place(id);
        for (i, path) in self.paths.iter_mut().enumerate().filter(|(i, _)| *i != own) {
            path.settle(&mut self.group, i);
        }
        self.paths[own].tell(&mut self.group, own, event);
    }

    /// The bytes that may be in flight on a path.
    pub fn window(&mut self, id: u64) -> u64 {
        let i = self.place(id);
        self.settle_all();
        u64::from(self.group[i].cwnd).max(LEAST_PACKETS) * u64::from(self.group[i].mss)
    }

    /// A path's slow-start threshold, bytes; `None` in its first slow start.
    pub fn ssthresh(&self, id: u64) -> Option<u64> {
        let own = &self.group[self.place(id)];
        (own.ssthresh != INFINITE_SSTHRESH).then(|| u64::from(own.ssthresh) * u64::from(own.mss))
    }

    /// The window with which a path of this packet size begins, bytes.
    pub fn initial_window(&self, id: u64) -> u64 {
        let packet = self.group[self.place(id)].mss;
        initial_packets(packet as u16) * u64::from(packet)
    }

    fn settle_all(&mut self) {
        for (i, path) in self.paths.iter_mut().enumerate() {
            path.settle(&mut self.group, i);
        }
    }

    fn place(&self, id: u64) -> usize {
        self.paths.iter().position(|path| path.id() == id).expect("a path leaves once, as the last thing")
    }
}

fn initial_packets(packet: u16) -> u64 {
    (INITIAL_BYTES / u64::from(packet.max(1))).clamp(LEAST_PACKETS, INITIAL_PACKETS)
}
