//! A connection in the world: the path of each subflow, and two halves, which may be in different parts of the
//! network and communicate only by packets and notes.

use std::collections::VecDeque;

use tresse_controllers::MAX_SUBFLOWS;
use tresse_fabric::{Ecn, Fabric, Header, Path, RouteId, prefetch_line};
use tresse_path_manager::{MemoryId, PathChoice, PathManager};
use tresse_transport::{Counters, Receiver, Sender, Wire, tcp};
use tresse_units::{NEVER, Time, mix};

use crate::spec::{Paths, Sprayed};

/// The sending half. The fields that an ACK needs come first, so that they are in few cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Sending {
    /// Packets that it has sent, less those of the other half that have left the fabric. Both halves' together are
    /// the connection's packets in the fabric; the slots are free when there are none and the message has arrived.
    pub in_fabric: i64,
    /// The slot of the other half, in its part.
    pub peer: u32,
    /// The part of the other half.
    pub peer_part: u8,
    /// Whether it has not finished. Packets that arrive later are ignored.
    pub is_open: bool,
    pub class: u8,
    pub duties: Duties,
    pub ways: Vec<Way>,
    pub sender: Sender,
    pub id: u64,
    pub bytes: u64,
    pub start: Time,
    /// The site of its host.
    pub site: u32,
    pub managed: Box<Managed>,
}

impl Sending {
    /// Fetches what an ACK of `subflow` will touch; its own first two cache lines are there.
    #[inline]
    pub fn fetch(&self, subflow: usize) {
        let own: *const u8 = std::ptr::from_ref(self).cast();
        (2..4).for_each(|line| prefetch_line(own.wrapping_add(64 * line)));
        prefetch_line(self.ways.as_ptr().wrapping_add(subflow).cast());
        self.sender.for_each_line(subflow, prefetch_line);
    }

    /// Gives a subflow another path if it requests one.
    #[inline]
    pub fn rehash_if_asked(&mut self, subflow: usize) {
        if self.duties.has(Duties::REHASH) && self.sender.take_rehash(subflow) {
            self.ways[subflow].rehash();
        }
    }

    /// The sender, to open and close its subflows.
    ///
    /// # Panics
    /// If it is not one of TCP.
    pub fn subflows(&mut self) -> &mut tcp::Sender {
        match &mut self.sender {
            Sender::Tcp(sender) => sender,
            Sender::Sprayed(_) | Sender::Datagrams(_) => panic!("only TCP has subflows to manage"),
        }
    }

    /// When to call the path manager; it uses the timer of subflow 0.
    #[inline]
    pub fn managers_deadline(&self, subflow: u32) -> Time {
        if subflow > 0 || !self.duties.has(Duties::MANAGE) {
            return NEVER;
        }
        self.managed.manager.as_ref().map_or(NEVER, |(manager, _)| manager.deadline())
    }
}

/// What is done at each packet besides sending and ACKing. Most connections have no duty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Duties(u8);

impl Duties {
    /// Its path manager is notified of sent and ACKed data.
    pub const MANAGE: Self = Self(1);
    /// Its controllers use the next hop's congestion flag.
    pub const HEAR: Self = Self(2);
    /// Its subflows request other paths (PLB).
    pub const REHASH: Self = Self(4);
    /// Its controller reads the data that switches write into packets.
    pub const READ_HOPS: Self = Self(8);
    /// Its RTTs are recorded.
    pub const RECORD_RTTS: Self = Self(16);
    /// The packets of one of its hosts are recorded.
    pub const RECORD: Self = Self(32);
    /// Its path manager hears that the first subflow is established when data has been ACKed (`Join::FirstAck`).
    pub const JOIN: Self = Self(64);

    /// Those that are true.
    pub fn of(all: &[(Self, bool)]) -> Self {
        Self(all.iter().filter(|(_, is)| *is).fold(0, |bits, (Self(bit), _)| bits | bit))
    }

    #[inline]
    pub fn has(self, duty: Self) -> bool {
        self.0 & duty.0 != 0
    }

    /// Adds or removes a duty.
    pub fn set(&mut self, duty: Self, is_due: bool) {
        self.0 = if is_due { self.0 | duty.0 } else { self.0 & !duty.0 };
    }

    #[inline]
    pub fn any(self) -> bool {
        self.0 != 0
    }
}

/// Rarely used data.
#[derive(Debug)]
pub(crate) struct Managed {
    /// Once it has been launched: its path manager, and what that remembers.
    pub manager: Option<(Box<dyn PathManager>, MemoryId)>,
    pub paths: Paths,
    /// How it will be sprayed, until its subflow is open; and the random stream of its balancer's picks.
    pub sprayed: Option<(Sprayed, u64)>,
    /// The group of its RTTs.
    pub group: u32,
    /// Its host, if that host's packets are recorded.
    pub recorded: Option<u32>,
    /// By subflow number.
    pub closed: u64,
    /// The messages, if the connection is persistent.
    pub messages: Option<Messages>,
}

/// The messages of a persistent connection.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// The messages that have not arrived, in their order.
    pub queue: VecDeque<Message>,
    /// The message that arrived last.
    pub last: Option<u64>,
    /// The connection's counters at its arrival.
    pub counted: Counters,
}

/// A message of a persistent connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message {
    pub id: u64,
    pub bytes: u64,
    pub start: Time,
}

/// The receiving half. The fields that data needs come first.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Receiving {
    /// As [`Sending::in_fabric`].
    pub in_fabric: i64,
    /// The slot of the other half, in its part.
    pub peer: u32,
    /// The part of the other half.
    pub peer_part: u8,
    /// As [`Sending::is_open`].
    pub is_open: bool,
    pub class: u8,
    /// Whether the connection stays when its message is complete.
    pub stays: bool,
    /// Whether so little of its message is missing that a window may bring it.
    pub is_near: bool,
    /// Whether the packets of its host are recorded.
    pub recorded: bool,
    /// The most segments that may arrive in a window; 0 if there is no message.
    pub within_reach: u32,
    pub ways: Vec<WayBack>,
    pub receiver: Receiver,
    pub id: u64,
    pub host: u32,
    /// The site of its host.
    pub site: u32,
}

impl Receiving {
    /// As [`Sending::fetch`], for data.
    #[inline]
    pub fn fetch(&self, subflow: usize) {
        let own: *const u8 = std::ptr::from_ref(self).cast();
        prefetch_line(own.wrapping_add(128));
        prefetch_line(self.ways.as_ptr().wrapping_add(subflow).cast());
        self.receiver.for_each_line(subflow, prefetch_line);
    }

    /// The application takes the messages that have arrived, of a connection that stays: how many.
    pub fn take_messages(&mut self) -> u32 {
        let mut taken = 0;
        while self.receiver.complete()
            && let Some(messages) = self.receiver.messages_mut()
        {
            messages.take_message();
            taken += 1;
        }
        taken
    }

    /// Checks whether a window may bring what is missing of the message. `near` is how many there are in the part.
    #[inline]
    pub fn look(&mut self, near: &mut u32) {
        let more = self.within_reach.into();
        let may_end = || self.receiver.messages().is_some_and(|messages| messages.may_end_with(more));
        let is_near = more > 0 && self.is_open && may_end();
        if is_near != std::mem::replace(&mut self.is_near, is_near) {
            *near = if is_near { *near + 1 } else { *near - 1 };
        }
    }
}

/// The path of a subflow's data, and when its timer is set to fire: no later than its deadline.
#[derive(Debug)]
pub(crate) struct Way {
    pub there: RouteId,
    pub back: RouteId,
    pub armed: Time,
    /// The hashes of its addresses and ports for ECMP, in both directions.
    pub hashes: [u32; 2],
    /// The number of packets so far, if each packet has its own hash.
    pub sprayed: Option<u64>,
    /// The routes of all paths of a sprayed connection on fixed paths, in both directions.
    pub routes: Box<[[RouteId; 2]]>,
}

/// The path of a subflow's ACKs, and its timer, as in [`Way`].
#[derive(Debug)]
pub(crate) struct WayBack {
    back: RouteId,
    hash: u32,
    pub armed: Time,
    /// Like [`Way::routes`], for the way back.
    routes: Box<[RouteId]>,
}

impl WayBack {
    /// The route of an ACK, and its hash for ECMP. The ACK of a sprayed connection returns on the path that it
    /// reports about, so that an ACK about a good path does not take a path that may have failed.
    #[inline]
    pub fn of(&self, path: Option<u32>) -> (RouteId, u32) {
        match path {
            None => (self.back, self.hash),
            Some(path) if self.routes.is_empty() => (self.back, hash_of(self.hash, path)),
            Some(path) => (self.routes[path as usize % self.routes.len()], self.hash),
        }
    }
}

/// The hash for ECMP of a packet on this path of a connection.
fn hash_of(hash: u32, path: u32) -> u32 {
    mix(u64::from(hash) << 32 ^ (u64::from(path) + 1)) as u32
}

impl Way {
    /// The path that a path manager has chosen for a subflow.
    ///
    /// # Panics
    /// If packets are to be sprayed over fixed paths.
    pub fn new<P: Copy>(fabric: &mut Fabric<P>, paths: &Paths, choice: PathChoice) -> Self {
        let (there, back, name) = match paths {
            Paths::Fixed(paths) => {
                let number = match choice {
                    PathChoice::Addresses { local, .. } => local,
                    PathChoice::Port(port) => port,
                    PathChoice::Spray => panic!("packets can be sprayed where the nodes decide only"),
                };
                let path = &paths[usize::from(number) % paths.len()];
                (fabric.add_route(&path.there), fabric.add_route(&path.back), 0)
            }
            Paths::Forwarded { from, to, stream, .. } => {
                let (local, remote, port) = match choice {
                    PathChoice::Addresses { local, remote } => (local, remote, 0),
                    PathChoice::Port(port) => (0, 0, port),
                    PathChoice::Spray => (0, 0, 0),
                };
                let ends = [from[usize::from(local)], to[usize::from(remote)]];
                let name = u64::from(local) << 32 | u64::from(remote) << 16 | u64::from(port);
                let there = fabric.add_forwarded(ends[0], ends[1]);
                (there, fabric.add_forwarded(ends[1], ends[0]), mix(mix(*stream) ^ name))
            }
        };
        Self {
            there,
            back,
            armed: NEVER,
            hashes: [(name >> 32) as u32, name as u32],
            sprayed: (choice == PathChoice::Spray).then_some(0),
            routes: Box::default(),
        }
    }

    /// From now on, a balancer picks among all of `paths`. If the nodes decide, it picks by the hash.
    pub fn spread_over(&mut self, fabric: &mut Fabric<Wire>, paths: &Paths) {
        let mut route = |path: &Path| [&path.there, &path.back].map(|ports| fabric.add_route(ports));
        self.routes = paths.fixed().iter().map(&mut route).collect();
    }

    /// The route of a data packet, on the path that a balancer has picked, if there is one.
    #[inline]
    pub fn there(&self, path: Option<u32>) -> RouteId {
        match path {
            Some(path) if !self.routes.is_empty() => self.routes[path as usize % self.routes.len()][0],
            _ => self.there,
        }
    }

    /// The return path of its ACKs.
    pub fn back(&self) -> WayBack {
        let routes = self.routes.iter().map(|&[_, back]| back).collect();
        WayBack { back: self.back, hash: self.hashes[1], armed: NEVER, routes }
    }

    /// The hash of data on this path of a balancer's choice, where nodes follow it.
    pub fn hash(&self, path: u32) -> u32 {
        hash_of(self.hashes[0], path)
    }

    /// Uses another hash for data from now on, like another flow label (RFC 6438). Fixed paths ignore it.
    pub fn rehash(&mut self) {
        self.hashes[0] = mix(u64::from(self.hashes[0]) << 32 | u64::from(self.hashes[1])) as u32;
    }

    /// The data that switches read from a data packet, on the path that a balancer has picked, if there is one.
    #[inline]
    pub fn header(&mut self, bytes: u32, ecn: Ecn, class: u8, path: Option<u32>) -> Header {
        if let Some(path) = path {
            return Header { class, hash: self.hash(path), ..Header::new(bytes, ecn) }.trimmable();
        }
        let hash = match &mut self.sprayed {
            None => self.hashes[0],
            Some(count) => {
                *count += 1;
                mix(u64::from(self.hashes[0]) << 32 ^ *count) as u32
            }
        };
        Header { class, hash, ..Header::new(bytes, ecn) }
    }
}

/// The name of subflow `i` of the connection in slot `s` is `s << SUBFLOW_BITS | i`.
pub(crate) const SUBFLOW_BITS: u32 = MAX_SUBFLOWS.ilog2();

/// The number of a subflow in its name.
pub(crate) const SUBFLOW: u32 = MAX_SUBFLOWS as u32 - 1;
