//! The sending half of a connection: data sequence numbers, and subflows that come and go.

mod opening;
mod queues;
mod schedule;

use std::collections::BTreeMap;
use std::sync::Arc;

use tresse_controllers::{CWND_LIMIT, ConfiguredController, Group, Hop, State};

use tresse_units::{NEVER, Time};

use self::queues::Queues;
use crate::handshake::Handshake;
use crate::message::{Message, Messages};
use crate::set::{bit, bits};
use crate::spray::{self, Spraying};
use crate::subflow::{Counters, Subflow};
use crate::{Config, Scheduler, Wire};

/// The contents of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Data that was never sent before.
    New,
    /// Data that was sent before on another subflow.
    Reinjected,
    /// A segment that was sent before on this subflow.
    Retransmitted,
    /// No data: it belongs to the subflow's handshake.
    Handshake,
}

/// A packet to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// On which subflow.
    pub subflow: usize,
    /// Its contents.
    pub origin: Origin,
    /// As in [`Wire`].
    pub seq: u32,
    /// As in [`Wire`].
    pub dsn: u32,
    /// Payload, bytes.
    pub payload: u32,
    /// As in [`Wire`].
    pub flags: u8,
    /// For a sprayed connection: the path that it takes.
    pub path: Option<u32>,
}

impl Transmit {
    /// The packet as sent at `now`, on the subflow that the host calls `name`.
    #[inline]
    pub fn wire(&self, name: u32, now: Time) -> Wire {
        let wire = Wire {
            subflow: name,
            seq: self.seq,
            dsn: self.dsn,
            flags: self.flags,
            ce: 0,
            block_count: 0,
            stamp: now,
            blocks: Default::default(),
        };
        match self.path {
            None => wire,
            Some(path) => spray::with_path(wire, path),
        }
    }
}

/// The sending half of a connection: one message, or several in sequence ([`Sender::append`]).
///
/// After every `handle_*` and once at the start, call [`Sender::poll_transmit`] until it returns `None`. Then
/// check [`Sender::deadline`] of the subflow again.
#[derive(Debug)]
pub struct Sender {
    config: Arc<Config>,
    /// The controllers of the open subflows, by number.
    group: Group,
    /// By number, in the order in which they were opened, including the closed ones.
    subflows: Vec<Subflow>,
    /// The open ones: bit i stands for subflow i.
    open: u64,
    /// Those on which new data may go.
    takes_data: u64,
    /// Segments below this one were sent or, with queues, given to a subflow.
    next_dsn: u32,
    /// The last message.
    message: Message,
    /// Earlier messages that may be sent again.
    earlier: Option<Box<Messages>>,
    /// Segments below this one may be sent: the application has written them.
    written: u32,
    /// Segments below this one have arrived, on any subflow (the DATA_ACK of RFC 8684 §3.3.1).
    data_una: u32,
    /// Data to be sent once more, and the number of the subflow that it was on and must not take again.
    reinjections: BTreeMap<u32, usize>,
    /// The subflow that the scheduler chose last.
    last: Option<usize>,
    /// The handshakes of the subflows that are being opened.
    handshakes: Vec<Handshake>,
    /// With [`Scheduler::Linux`].
    queues: Option<Box<Queues>>,
    /// The state of a sprayed connection.
    spray: Option<Box<spray::Sender>>,
}

impl Sender {
    /// A connection that sends `bytes`, with `subflows` subflows that are open from the start.
    ///
    /// # Panics
    /// If `bytes` is 0 or above 2^32 - 1 segments.
    pub fn new(
        config: impl Into<Arc<Config>>,
        scheme: Arc<ConfiguredController>,
        subflows: usize,
        bytes: u64,
    ) -> Self {
        let config = config.into();
        let message = Message::first(bytes, config.mss);
        let mut group = Group::new(scheme, subflows, config.initial_window);
        (0..subflows).for_each(|i| group[i].ssthresh = config.initial_ssthresh);
        for i in 0..subflows {
            group[i].mss = config.mss;
        }
        Self {
            group,
            subflows: (0..subflows).map(|i| Subflow::new(&config, i)).collect(),
            open: (0..subflows).map(bit).sum(),
            // A sprayed connection is never a plain TCP connection.
            takes_data: if config.sprayed { 0 } else { u64::MAX },
            next_dsn: 0,
            message,
            earlier: None,
            written: message.end,
            data_una: 0,
            reinjections: BTreeMap::new(),
            last: None,
            handshakes: Vec::new(),
            queues: (config.scheduler == Scheduler::Linux && !config.sprayed).then(Box::default),
            spray: None,
            config,
        }
    }

    /// Sprays the packets of subflow 0, which is open and has sent nothing.
    pub fn spray(&mut self, spraying: Spraying) {
        self.spray = Some(Box::new(spray::Sender::new(spraying, &mut self.group)));
    }

    /// The data that switches have written into the packet that the next ACK answers, starting from this
    /// host; for a sprayed connection.
    pub fn hear_hops(&mut self, hops: impl Iterator<Item = Hop>) {
        if let Some(spray) = &mut self.spray {
            spray.hear_hops(hops);
        }
    }

    /// The application has written only the first `bytes` of the message, no fewer than before; whole
    /// segments of them may be sent. Without this call, all is written from the start. Then call
    /// [`Sender::poll_transmit`].
    pub fn write(&mut self, bytes: u64) {
        let mss = u64::from(self.config.mss);
        let whole = u64::from(self.message.end) * mss - u64::from(self.message.short);
        self.written = if bytes >= whole { self.message.end } else { (bytes / mss) as u32 };
    }

    /// One more message of `bytes`, after the existing ones; it begins a new segment. Then call
    /// [`Sender::poll_transmit`].
    ///
    /// # Panics
    /// If `bytes` is 0, all messages together have more than 2^32 - 1 segments, or the previous message is
    /// not completely written.
    pub fn append(&mut self, bytes: u64) {
        assert_eq!(self.written, self.message.end, "a message that is written");
        let Messages(earlier) = &mut **self.earlier.get_or_insert_default();
        while earlier.front().is_some_and(|message| message.end <= self.data_una) {
            earlier.pop_front();
        }
        earlier.push_back(self.message);
        self.message = self.message.next(bytes, self.config.mss);
        self.written = self.message.end;
    }

    /// Segments of the messages that were sent at least once.
    pub fn sent(&self) -> u32 {
        match (&self.spray, &self.queues) {
            (Some(spray), _) => spray.sent(),
            (None, Some(queues)) => self.next_dsn - queues.total(),
            (None, None) => self.next_dsn,
        }
    }

    /// What this host knows about congestion on the path of `subflow` (THESIS Table 2.1): that of its own
    /// port, and the report of its next hop. For a controller with this signal, call it before each ACK.
    pub fn hear(&mut self, subflow: usize, local: bool, next_hop: bool) {
        let Some(place) = self.place(subflow) else { return };
        self.group[place].next_hop = next_hop.into();
        if local {
            self.subflows[subflow].handle_local_congestion(&self.config, &mut self.group, place);
        }
    }

    /// Whether a subflow is established and not closed.
    #[inline]
    pub fn is_open(&self, subflow: usize) -> bool {
        self.open & bit(subflow) != 0
    }

    /// Whether new data may go on a subflow: a path manager's backup or slow one gets none.
    pub fn set_takes_data(&mut self, subflow: usize, takes: bool) {
        self.takes_data = self.takes_data & !bit(subflow) | u64::from(takes) << subflow;
    }

    /// Sends the data in flight on a subflow once more, on others; it stays in flight here. Data that only
    /// waits here goes to others too. Without another subflow, nothing else happens.
    pub fn reinject(&mut self, subflow: usize) {
        let (data, una) = (&mut self.reinjections, self.data_una);
        if let Some(queues) = &mut self.queues {
            queues.take_back(subflow);
        }
        self.subflows[subflow].board.for_each_unsacked(|dsn| {
            if dsn >= una {
                data.entry(dsn).or_insert(subflow);
            }
        });
    }

    /// An ACK has arrived for `subflow`.
    #[inline]
    pub fn handle_ack(&mut self, now: Time, subflow: usize, wire: &Wire) {
        self.data_una = self.data_una.max(wire.dsn);
        if let Some(spray) = &mut self.spray {
            spray.handle_answer(now, wire, &self.config, &mut self.group, &mut self.subflows[0]);
            return;
        }
        if let Some(place) = self.place(subflow) {
            self.subflows[subflow].handle_ack(now, wire, &self.config, &mut self.group, place);
        }
    }

    /// The deadline of `subflow` has passed.
    pub fn handle_timeout(&mut self, now: Time, subflow: usize) {
        if let Some(spray) = &mut self.spray {
            spray.handle_timeout(now, &self.config, &mut self.group, &mut self.subflows[0]);
            return;
        }
        let place = self.place(subflow);
        let more = match &self.queues {
            Some(queues) => queues.len(subflow) > 0,
            None => self.next_dsn < self.written && self.fresh(self.takes_data) & bit(subflow) != 0,
        };
        let s = &mut self.subflows[subflow];
        let before = s.rtt.backoff();
        if let Some(place) = place {
            s.handle_timeout(now, &self.config, &mut self.group, place, more);
            let is_stale = s.rtt.backoff() > before && s.rtt.backoff() == self.config.stale_after;
            let others = self.open & self.takes_data & !bit(subflow);
            if is_stale && bits(others).any(|i| !self.is_stale(i)) {
                self.reinject(subflow);
            }
        } else if let Some(h) = self.handshakes.iter_mut().find(|h| usize::from(h.subflow) == subflow)
            && h.deadline <= now
        {
            (h.due, h.deadline) = (true, NEVER);
            s.rtt.back_off();
        }
    }

    /// When to call [`Sender::handle_timeout`] for `subflow`: its retransmission, probe or reordering timer,
    /// or the time of its next burst; until it is open, that of its handshake. `NEVER` if nothing is
    /// outstanding or waits for the pacing, or if the subflow is closed.
    #[inline]
    pub fn deadline(&self, subflow: usize) -> Time {
        if let Some(spray) = &self.spray {
            return if subflow == 0 { spray.deadline() } else { NEVER };
        }
        if self.is_open(subflow) {
            return self.subflows[subflow].deadline();
        }
        let own = self.handshakes.iter().find(|h| usize::from(h.subflow) == subflow);
        own.map_or(NEVER, |h| h.deadline)
    }

    /// The smoothed RTT of `subflow`, ps; 0 if there is no sample.
    #[inline]
    pub fn srtt(&self, subflow: usize) -> Time {
        self.subflows[subflow].rtt.srtt()
    }

    /// Whether `subflow` has asked for another path since the last call; the caller gives it a new hash. Only
    /// with [`Config::plb`]. Ask after every `handle_*`, and after each packet of [`Sender::poll_transmit`]
    /// before it is sent: it may be the first one that is to take the other path.
    #[inline]
    pub fn take_rehash(&mut self, subflow: usize) -> bool {
        self.subflows[subflow].take_rehash()
    }

    /// For a subflow whose controller is [`tresse_controllers::agent`], sets from outside its window,
    /// packets, if it is to change, and the controller's word (see there). In loss recovery, this is the
    /// window after the recovery. Nothing happens to a subflow that is not open. Then call
    /// [`Sender::poll_transmit`].
    pub fn steer(&mut self, subflow: usize, cwnd: Option<u32>, word: u64) {
        let Some(place) = self.place(subflow) else { return };
        let own = &mut self.group[place];
        own.word = word;
        if let Some(cwnd) = cwnd {
            let cwnd = cwnd.clamp(1, CWND_LIMIT - 1).min(self.config.receive_window);
            own.ssthresh = cwnd;
            if own.state < State::Recovery {
                own.cwnd = cwnd;
            }
        }
    }

    /// How many subflows were opened, closed ones included.
    pub fn subflows(&self) -> usize {
        self.subflows.len()
    }

    /// The place of an open subflow in [`Sender::group`].
    #[inline]
    pub fn place(&self, subflow: usize) -> Option<usize> {
        self.is_open(subflow).then(|| self.rank(subflow))
    }

    /// How many open subflows come before this one.
    #[inline]
    fn rank(&self, subflow: usize) -> usize {
        (self.open & (bit(subflow) - 1)).count_ones() as usize
    }

    /// The counters of `subflow`.
    pub fn counters(&self, subflow: usize) -> Counters {
        self.subflows[subflow].counters
    }

    /// The controllers of the open subflows, for measurements; see [`Sender::place`].
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// Segments of `subflow` that are sent and not cumulatively ACKed.
    pub fn outstanding(&self, subflow: usize) -> u32 {
        match &self.spray {
            Some(spray) => spray.sent() - spray.una(),
            None => self.subflows[subflow].board.outstanding(),
        }
    }

    /// Packets of `subflow` in flight, as its window counts them.
    pub fn in_flight(&self, subflow: usize) -> u32 {
        match &self.spray {
            Some(spray) => spray.in_flight(),
            None => self.subflows[subflow].board.in_flight(),
        }
    }

    /// The transport that it runs.
    #[inline]
    pub fn config(&self) -> &Config {
        &self.config
    }

    #[inline]
    fn packet(&self, subflow: usize, origin: Origin, seq: u32, dsn: u32, flags: u8) -> Transmit {
        let ends = if dsn + 1 == self.message.end { Some(&self.message) } else { self.earlier(dsn) };
        Transmit {
            subflow,
            origin,
            seq,
            dsn,
            payload: self.config.mss - ends.map_or(0, |message| message.short),
            flags: flags | if ends.is_some() { Wire::LAST } else { 0 },
            path: None,
        }
    }

    /// The message before the last one that ends with this segment, if there is one.
    #[inline]
    fn earlier(&self, dsn: u32) -> Option<&Message> {
        let Messages(earlier) = &**self.earlier.as_ref()?;
        let place = earlier.binary_search_by_key(&(dsn + 1), |message| message.end).ok()?;
        Some(&earlier[place])
    }
}
