//! The sending half of a connection: data sequence numbers, scheduler, subflows.

use std::sync::Arc;

use tresse_controllers::{Group, Scheme};

use crate::subflow::{Counters, Subflow};
use crate::{Config, Time, Wire};

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
    group: Group,
    subflows: Box<[Subflow]>,
    next_dsn: u32,
    segments: u32,
    /// Payload of the last segment.
    last_payload: u32,
}

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
            next_dsn: 0,
            segments,
            last_payload: (bytes - u64::from(segments - 1) * u64::from(config.mss)) as u32,
        }
    }

    /// An ACK has arrived for `subflow`.
    #[inline]
    pub fn handle_ack(&mut self, now: Time, subflow: usize, wire: &Wire) {
        self.subflows[subflow].handle_ack(now, wire, &self.config, &mut self.group, subflow);
    }

    /// The deadline of `subflow` has passed.
    pub fn handle_timeout(&mut self, now: Time, subflow: usize) {
        let more = self.next_dsn < self.segments;
        self.subflows[subflow].handle_timeout(now, &self.config, &mut self.group, subflow, more);
    }

    /// The next packet to send now: first what was lost, then new data on the subflow with the
    /// lowest RTT that has room (one without an RTT sample comes first).
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Transmit> {
        for (i, s) in self.subflows.iter_mut().enumerate() {
            if let Some((seq, dsn)) = s.retransmit(now, self.group[i].cwnd, &self.config) {
                return Some(self.packet(i, seq, dsn, 0));
            }
        }
        let mut best = None;
        let more = self.next_dsn < self.segments;
        let one_is_alone = self.group.one_is_alone();
        for (i, s) in self.subflows.iter_mut().enumerate() {
            let own = &self.group[i];
            let room = s.check_room(now, own, more);
            let wanted = !one_is_alone || own.alone != 0;
            if room && wanted && best.is_none_or(|(rtt, _)| own.srtt < rtt) {
                best = Some((own.srtt, i));
            }
        }
        let (_, i) = best?;
        let s = &mut self.subflows[i];
        let dsn = self.next_dsn;
        self.next_dsn += 1;
        let seq = s.transmit(now, dsn, &self.config, self.group[i].state);
        let cwr = if std::mem::take(&mut s.cwr) { Wire::CWR } else { 0 };
        Some(self.packet(i, seq, dsn, cwr))
    }

    /// When to call [`Sender::handle_timeout`] for `subflow`: its retransmission, probe or reordering
    /// timer, or the time of its next burst. `NEVER` if nothing is outstanding or waits for the pacing.
    #[inline]
    pub fn deadline(&self, subflow: usize) -> Time {
        self.subflows[subflow].deadline()
    }

    /// What `subflow` has counted.
    pub fn counters(&self, subflow: usize) -> Counters {
        self.subflows[subflow].counters
    }

    /// The controllers, for measurements.
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
    fn packet(&self, subflow: usize, seq: u32, dsn: u32, flags: u8) -> Transmit {
        let last = dsn + 1 == self.segments;
        Transmit {
            subflow,
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
