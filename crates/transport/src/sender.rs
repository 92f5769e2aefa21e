//! The sending half of a connection: data sequence numbers, scheduler, subflows that come and go.

use std::collections::VecDeque;
use std::sync::Arc;

use tresse_controllers::{Group, Scheme};

use crate::subflow::{Counters, Subflow};
use crate::{Config, Scheduler, Time, Wire};

/// A data packet to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// On which subflow.
    pub subflow: usize,
    /// The subflow's sequence number.
    pub seq: u32,
    /// The data sequence number.
    pub dsn: u32,
    /// Payload, bytes.
    pub payload: u32,
    /// [`Wire::LAST`], [`Wire::CWR`].
    pub flags: u8,
}

/// The sending half of a connection that has one message to send.
///
/// After every `handle_*` and once at the start, call [`Sender::poll_transmit`] until it returns
/// `None`, then look at [`Sender::deadline`] of the subflow again.
#[derive(Debug)]
pub struct Sender {
    config: Config,
    /// The controllers of the open subflows, in the order of `open`.
    group: Group,
    /// By number, in the order in which they were opened; those that were closed too.
    subflows: Vec<Subflow>,
    /// The numbers of the open ones.
    open: Vec<u8>,
    /// By number: the place in `open`; [`CLOSED`] if it is not there.
    places: Vec<u8>,
    /// By number: new data may go on it.
    takes_data: Vec<bool>,
    next_dsn: u32,
    segments: u32,
    /// Payload of the last segment.
    last_payload: u32,
    /// Segments below this one have arrived, on whatever subflow (the DATA_ACK of RFC 8684 §3.3.1).
    data_una: u32,
    /// Data to be sent once more, on another subflow than those that were: number of that one, and the data.
    reinjections: VecDeque<(u8, u32)>,
    /// The subflow that the scheduler chose last.
    last: u8,
}

const CLOSED: u8 = u8::MAX;

impl Sender {
    /// A connection of `subflows` subflows that sends `bytes`.
    ///
    /// # Panics
    /// If `bytes` is 0 or above 2^32 - 1 segments.
    pub fn new(config: Config, scheme: Arc<Scheme>, subflows: usize, bytes: u64) -> Self {
        let segments = segments(bytes, config.mss);
        let mut group = Group::new(scheme, subflows, config.initial_window);
        for i in 0..subflows {
            group[i].mss = config.mss;
        }
        Self {
            config,
            group,
            subflows: (0..subflows).map(|_| Subflow::new(&config)).collect(),
            open: (0..subflows as u8).collect(),
            places: (0..subflows as u8).collect(),
            takes_data: vec![true; subflows],
            next_dsn: 0,
            segments,
            last_payload: (bytes - u64::from(segments - 1) * u64::from(config.mss)) as u32,
            data_una: 0,
            reinjections: VecDeque::new(),
            last: 0,
        }
    }

    /// Adds a subflow that cannot send yet: its number, the next that was not used.
    pub fn open(&mut self) -> usize {
        self.subflows.push(Subflow::new(&self.config));
        self.places.push(CLOSED);
        self.takes_data.push(true);
        self.subflows.len() - 1
    }

    /// The handshake of a subflow is complete: it may send.
    ///
    /// # Panics
    /// If it may already, or if there are as many as a connection may have.
    pub fn establish(&mut self, subflow: usize) {
        assert!(!self.is_open(subflow), "subflow {subflow} is established already");
        let place = self.open.len();
        self.group.add(self.config.initial_window);
        self.group[place].mss = self.config.mss;
        self.places[subflow] = place as u8;
        self.open.push(subflow as u8);
    }

    /// Closes a subflow; what is in flight on it is sent again on the others.
    ///
    /// # Panics
    /// If it is closed already, or the last one.
    pub fn close(&mut self, subflow: usize) {
        let place = self.places[subflow];
        assert!(place != CLOSED, "subflow {subflow} is closed already");
        self.reinject(subflow);
        self.group.remove(place.into());
        self.open.remove(place.into());
        self.places[subflow] = CLOSED;
        for (place, &i) in self.open.iter().enumerate() {
            self.places[usize::from(i)] = place as u8;
        }
    }

    /// Whether a subflow is established and not closed.
    pub fn is_open(&self, subflow: usize) -> bool {
        self.places[subflow] != CLOSED
    }

    /// Whether new data may go on a subflow: a path manager's backup or slow one gets none.
    pub fn set_takes_data(&mut self, subflow: usize, takes: bool) {
        self.takes_data[subflow] = takes;
    }

    /// Sends what is in flight on a subflow once more, on others; it stays in flight there.
    pub fn reinject(&mut self, subflow: usize) {
        let waiting = self.reinjections.len();
        let (data, una) = (&mut self.reinjections, self.data_una);
        self.subflows[subflow].board.for_each_unsacked(|dsn| {
            let queued = data.iter().take(waiting).any(|&(_, other)| other == dsn);
            if dsn >= una && !queued {
                data.push_back((subflow as u8, dsn));
            }
        });
    }

    /// An ACK has arrived for `subflow`.
    #[inline]
    pub fn handle_ack(&mut self, now: Time, subflow: usize, wire: &Wire) {
        self.data_una = self.data_una.max(wire.dsn);
        let place = self.places[subflow];
        if place != CLOSED {
            self.subflows[subflow].handle_ack(now, wire, &self.config, &mut self.group, place.into());
        }
    }

    /// The deadline of `subflow` has passed.
    pub fn handle_timeout(&mut self, now: Time, subflow: usize) {
        let place = self.places[subflow];
        if place != CLOSED {
            let more = self.has_data();
            self.subflows[subflow].handle_timeout(now, &self.config, &mut self.group, place.into(), more);
        }
    }

    /// The next packet to send now: first what was lost, then what is to be sent once more, then new data, on
    /// the subflow that the scheduler chooses among those that have room.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        for (place, &i) in self.open.iter().enumerate() {
            let s = &mut self.subflows[usize::from(i)];
            if let Some((seq, dsn)) = s.retransmit(now, self.group[place].cwnd, &self.config) {
                return Some(self.packet(i, seq, dsn, 0));
            }
        }
        while self.reinjections.front().is_some_and(|r| r.1 < self.data_una) {
            self.reinjections.pop_front();
        }
        let i = self.schedule(now)?;
        self.last = i;
        let again = self.reinjections.pop_front();
        let s = &mut self.subflows[usize::from(i)];
        let dsn = again.map_or(self.next_dsn, |r| r.1);
        self.next_dsn += u32::from(again.is_none());
        s.counters.reinjections += u64::from(again.is_some());
        let seq = s.transmit(now, dsn, &self.config, self.group[self.places[usize::from(i)].into()].state);
        let cwr = if std::mem::take(&mut s.cwr) { Wire::CWR } else { 0 };
        Some(self.packet(i, seq, dsn, cwr))
    }

    /// The subflow on which the next data goes, if there is any and one has room.
    #[inline]
    fn schedule(&mut self, now: Time) -> Option<u8> {
        let more = self.has_data();
        let one_is_alone = self.group.one_is_alone();
        // Data that is sent once more goes where it was not, unless there is no other way.
        let avoid = self.reinjections.front().map(|r| r.0).filter(|_| self.open.len() > 1);
        let mut best: Option<((u32, u8), u8)> = None;
        for (place, &i) in self.open.iter().enumerate() {
            let own = &self.group[place];
            let room = self.subflows[usize::from(i)].check_room(now, own, more);
            let wanted =
                (!one_is_alone || own.alone != 0) && self.takes_data[usize::from(i)] && avoid != Some(i);
            let rank = match self.config.scheduler {
                // One without an RTT sample comes first; of equals the one that was opened first.
                Scheduler::LowestRtt => (own.srtt, i),
                Scheduler::RoundRobin => (u32::from(i <= self.last), i),
            };
            if room && wanted && best.is_none_or(|(other, _)| rank < other) {
                best = Some((rank, i));
            }
        }
        best.map(|(_, i)| i)
    }

    fn has_data(&self) -> bool {
        self.next_dsn < self.segments || !self.reinjections.is_empty()
    }

    /// When to call [`Sender::handle_timeout`] for `subflow`: its retransmission, probe or reordering
    /// timer, or the time of its next burst. `NEVER` if nothing is outstanding or waits for the pacing, and if
    /// the subflow is closed.
    #[inline]
    pub fn deadline(&self, subflow: usize) -> Time {
        if self.is_open(subflow) { self.subflows[subflow].deadline() } else { crate::NEVER }
    }

    /// The place of an open subflow in [`Sender::group`].
    pub fn place(&self, subflow: usize) -> Option<usize> {
        Some(self.places[subflow].into()).filter(|&p| p != usize::from(CLOSED))
    }

    /// What `subflow` has counted.
    pub fn counters(&self, subflow: usize) -> Counters {
        self.subflows[subflow].counters
    }

    /// The controllers of the open subflows, for measurements; see [`Sender::place`].
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// Segments of `subflow` that are sent and not cumulatively ACKed.
    pub fn outstanding(&self, subflow: usize) -> u32 {
        self.subflows[subflow].board.outstanding()
    }

    /// The transport that it runs.
    #[inline]
    pub fn config(&self) -> &Config {
        &self.config
    }

    #[inline]
    fn packet(&self, subflow: u8, seq: u32, dsn: u32, flags: u8) -> Transmit {
        let last = dsn + 1 == self.segments;
        Transmit {
            subflow: subflow.into(),
            seq,
            dsn,
            payload: if last { self.last_payload } else { self.config.mss },
            flags: flags | if last { Wire::LAST } else { 0 },
        }
    }
}

/// How many segments `bytes` take.
pub(crate) fn segments(bytes: u64, mss: u32) -> u32 {
    assert!(bytes > 0, "a message has at least one byte");
    u32::try_from(bytes.div_ceil(u64::from(mss))).expect("fewer than 2^32 segments in a message")
}
