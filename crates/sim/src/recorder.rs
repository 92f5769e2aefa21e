//! Packets as hosts see them: each when its host passes it to its own port, or when it has arrived.

use std::collections::BTreeSet;
use std::sync::Arc;

use tresse_fabric::{Ecn, Packet};
use tresse_path_manager::PathChoice;
use tresse_transport::{Body, Config, Wire};
use tresse_units::Time;

use crate::flow::{Receiving, SUBFLOW, Sending};
use crate::world::World;

/// Which packets are recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    /// The packets of these hosts.
    pub hosts: BTreeSet<u32>,
    /// From this time on, ps.
    pub from: Time,
    /// Before this time, ps.
    pub to: Time,
    /// At least so many, the first ones, and one more if there are more, which shows that some are missing. All of the
    /// same window of time are recorded, so it does not depend on the order of an instant which are the first.
    pub limit: u64,
}

/// A packet as a host saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObservedPacket {
    /// The time, ps.
    pub time: Time,
    /// The host.
    pub host: u32,
    /// Whether the host sent it; otherwise it arrived.
    pub sent: bool,
    /// Whether the host's own port dropped it, so that it did not leave.
    pub dropped: bool,
    /// The name of its connection.
    pub connection: u64,
    /// The number of its subflow.
    pub subflow: u32,
    /// Its size on the wire, bytes.
    pub bytes: u32,
    /// Its payload, bytes.
    pub payload: u32,
    /// The ECN field.
    pub ecn: Ecn,
    /// Whether only its header is left.
    pub trimmed: bool,
    /// The transport's contents.
    pub wire: Wire,
}

/// A subflow of a connection that one of the hosts is an end of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenedSubflow {
    /// The name of its connection.
    pub connection: u64,
    /// Its number.
    pub subflow: u32,
    /// The address that the sender uses, and the one that the receiver uses; 0 if subflows are distinguished by
    /// port.
    pub addresses: [u16; 2],
}

/// The packets that the hosts of a part have seen.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    what: Option<Arc<Recording>>,
    seen: Vec<ObservedPacket>,
    opened: Vec<OpenedSubflow>,
    /// How many were recorded, including those already taken; and up to when all are, whatever the limit.
    count: u64,
    last: Time,
    /// Whether the last sent packet was recorded.
    is_fresh: bool,
}

/// The data that the halves have about a packet.
struct PacketSource<'a> {
    host: u32,
    connection: u64,
    config: &'a Config,
}

impl Recorder {
    /// A sender sends a packet of `bytes`.
    #[cold]
    pub fn sent_by_sender(&mut self, now: Time, half: &Sending, bytes: u32, ecn: Ecn, wire: &Wire) {
        self.is_fresh = match sender(half) {
            Some(known) => self.note(now, &known, true, (bytes, ecn, false), wire),
            None => false,
        };
    }

    /// A receiver sends an ACK of `bytes`.
    #[cold]
    pub fn sent_by_receiver(&mut self, now: Time, half: &Receiving, bytes: u32, ecn: Ecn, wire: &Wire) {
        self.is_fresh = self.note(now, &receiver(half), true, (bytes, ecn, false), wire);
    }

    /// A packet has arrived at a sender.
    #[cold]
    pub fn arrived_at_sender(&mut self, now: Time, half: &Sending, packet: &Packet<Wire>) {
        if let Some(known) = sender(half) {
            self.arrived(now, &known, packet);
        }
    }

    /// A packet has arrived at a receiver.
    #[cold]
    pub fn arrived_at_receiver(&mut self, now: Time, half: &Receiving, packet: &Packet<Wire>) {
        self.arrived(now, &receiver(half), packet);
    }

    /// The packet that was sent last was dropped at once.
    #[cold]
    pub fn drop_last(&mut self) {
        if let Some(last) = self.seen.last_mut().filter(|_| self.is_fresh) {
            last.dropped = true;
        }
    }

    /// A connection opens a subflow.
    #[cold]
    pub fn open(&mut self, now: Time, connection: u64, subflow: u32, choice: PathChoice) {
        if self.is_over(now) {
            return;
        }
        let addresses = match choice {
            PathChoice::Addresses { local, remote } => [local, remote],
            PathChoice::Port(_) | PathChoice::Spray => [0, 0],
        };
        self.opened.push(OpenedSubflow { connection, subflow, addresses });
    }

    fn arrived(&mut self, now: Time, known: &PacketSource, packet: &Packet<Wire>) {
        let header = &packet.header;
        let trimmed = header.trimmed().is_some();
        self.note(now, known, false, (header.bytes.into(), header.ecn, trimmed), &packet.payload);
    }

    /// Whether it is recorded.
    fn note(
        &mut self,
        time: Time,
        known: &PacketSource,
        sent: bool,
        (bytes, ecn, trimmed): (u32, Ecn, bool),
        wire: &Wire,
    ) -> bool {
        let Some(what) = &self.what else { return false };
        if self.is_over(time) || !(what.from..what.to).contains(&time) {
            return false;
        }
        self.count += 1;
        self.last = self.last.max(time);
        let payload = match wire.body {
            Body::Segment(_) | Body::Sprayed(_) | Body::Datagram => bytes.saturating_sub(known.config.header),
            Body::Ack(_) | Body::Answer(_) | Body::Handshake(..) => 0,
        };
        self.seen.push(ObservedPacket {
            time,
            host: known.host,
            sent,
            dropped: false,
            connection: known.connection,
            subflow: wire.subflow & SUBFLOW,
            bytes,
            payload,
            ecn,
            trimmed,
            wire: *wire,
        });
        true
    }

    /// What happens until then is recorded host by host: which packets are the first is not known before.
    pub fn keep_until(&mut self, time: Time) {
        if !self.is_over(time) {
            self.last = time;
        }
    }

    /// Whether there are enough packets, and none of this time is needed.
    fn is_over(&self, time: Time) -> bool {
        self.what.as_ref().is_none_or(|what| self.count > what.limit && time > self.last)
    }
}

fn sender(half: &Sending) -> Option<PacketSource<'_>> {
    let config = half.sender.config();
    let known = |host| PacketSource { host, connection: half.id, config };
    half.managed.recorded.map(known)
}

fn receiver(half: &Receiving) -> PacketSource<'_> {
    let config = half.receiver.config();
    PacketSource { host: half.host, connection: half.id, config }
}

/// Packets of hosts, as they are recorded.
impl World {
    /// Records packets. To be called before the first connection is started. Recording does not affect the
    /// simulation.
    pub fn record(&mut self, what: Recording) {
        let what = Arc::new(what);
        self.parts.iter_mut().for_each(|part| part.recorder.what = Some(Arc::clone(&what)));
    }

    /// How many packets are waiting to be taken.
    pub fn recorded(&self) -> usize {
        self.parts.iter().map(|part| part.recorder.seen.len()).sum()
    }

    /// The packets that were recorded and not yet taken, in the order of time, then by host, and for one host in
    /// the order in which it saw them; and the subflows that were opened since the last call. Unless `is_end` is set,
    /// packets that may not be the last of their time are left for the next call. So the order is the same however
    /// often this is called, and on any number of threads.
    pub fn take_recorded(&mut self, is_end: bool) -> (Vec<OpenedSubflow>, Vec<ObservedPacket>) {
        let earliest = self.parts.iter().map(|part| part.earliest()).min().unwrap_or(0);
        let until = if is_end { Time::MAX } else { earliest.min(self.now()) };
        let (mut opened, mut seen) = (Vec::new(), Vec::new());
        for part in &mut self.parts {
            let recorder = &mut part.recorder;
            opened.append(&mut recorder.opened);
            recorder.seen.sort_by_key(|seen| (seen.time, seen.host));
            let end = recorder.seen.partition_point(|seen| seen.time < until);
            seen.extend(recorder.seen.drain(..end));
        }
        seen.sort_by_key(|seen| (seen.time, seen.host));
        (opened, seen)
    }

    /// Whether packets of this host are recorded.
    pub(crate) fn records(&self, host: u32) -> bool {
        self.parts[0].recorder.what.as_ref().is_some_and(|what| what.hosts.contains(&host))
    }
}
