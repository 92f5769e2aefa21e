//! The sending half of a TCP connection: data sequence numbers, and subflows that come and go.

mod blocked;
mod opening;
mod queues;
mod schedule;

use std::collections::BTreeMap;
use std::sync::Arc;

use tresse_controllers::{self as controllers, ConfiguredController, Group};

use tresse_units::{NEVER, Time};

use self::blocked::Head;
use self::queues::Queues;
use crate::message::Outgoing;
use crate::tcp::handshake::Handshake;
use crate::tcp::set::{bit, bits};
use crate::tcp::subflow::Subflow;
use crate::{Ack, Blocked, Body, BufferRule, Config, Counters, Origin, Scheduler, Segment, Transmit};

/// How many subflows are fetched ahead.
const LOOKED_AT: usize = 4;

/// The sending half of a TCP connection: one message, or several in sequence ([`Sender::append`]).
///
/// After every `handle_*` and once at the start, call [`Sender::poll_transmit`] until it returns `None`. Then
/// check [`Sender::deadline`] of the subflow again.
// What every ACK needs comes first.
#[derive(Debug)]
#[repr(C)]
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
    /// Those that the host's own port holds back.
    held: u64,
    /// Segments below this one were sent or, with queues, given to a subflow.
    next_dsn: u32,
    /// Segments below this one have arrived, on any subflow (the DATA_ACK of RFC 8684 §3.3.1).
    data_una: u32,
    /// The subflow that the scheduler chose last.
    last: Option<u8>,
    /// Nothing in its configuration keeps it from being plain: see `is_plain`.
    may_be_plain: bool,
    messages: Outgoing,
    /// Data to be sent once more, and the number of the subflow that it was on and must not take again.
    reinjections: BTreeMap<u32, usize>,
    /// The handshakes of the subflows that are being opened.
    handshakes: Vec<Handshake>,
    /// With [`Scheduler::Linux`].
    queues: Option<Box<Queues>>,
    /// With [`Blocked::Reinject`](crate::Blocked::Reinject).
    head: Option<Box<Head>>,
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
        let buffer = config.receive_buffer;
        let messages = Outgoing::new(bytes, config.mss);
        let messages = match buffer.map(|buffer| (buffer.rule, buffer.segments(config.mss))) {
            None => messages,
            Some((BufferRule::Fixed, window)) => messages.within(window),
            Some((BufferRule::Linux { .. }, edge)) => messages.below(edge),
        };
        let mut group = Group::new(scheme, subflows, config.initial_window);
        (0..subflows).for_each(|i| group[i].ssthresh = config.initial_ssthresh);
        for i in 0..subflows {
            group[i].mss = config.mss;
        }
        Self {
            group,
            subflows: (0..subflows).map(|i| Subflow::new(&config, i)).collect(),
            open: (0..subflows).map(bit).sum(),
            takes_data: u64::MAX,
            held: 0,
            next_dsn: 0,
            messages,
            data_una: 0,
            reinjections: BTreeMap::new(),
            last: None,
            may_be_plain: config.stale_after == 0
                && config.scheduler == Scheduler::LowestRtt
                && buffer.is_none(),
            handshakes: Vec::new(),
            queues: (config.scheduler == Scheduler::Linux).then(Box::default),
            head: buffer.filter(|buffer| buffer.blocked == Blocked::Reinject).map(|_| Box::default()),
            config,
        }
    }

    /// The application has written only the first `bytes` of the message, no fewer than before; whole
    /// segments of them may be sent. Without this call, all is written from the start. Then call
    /// [`Sender::poll_transmit`].
    pub fn write(&mut self, bytes: u64) {
        self.messages.write(bytes);
    }

    /// One more message of `bytes`, after the existing ones; it begins a new segment. Then call
    /// [`Sender::poll_transmit`].
    ///
    /// # Panics
    /// If `bytes` is 0, all messages together have more than 2^32 - 1 segments, or the previous message is
    /// not completely written.
    pub fn append(&mut self, bytes: u64) {
        self.messages.append(bytes, self.data_una);
    }

    /// Segments of the messages that were sent at least once.
    pub fn sent(&self) -> u32 {
        self.next_dsn - self.queues.as_ref().map_or(0, |queues| queues.total())
    }

    /// Segments of the messages below this one have arrived, as far as ACKs have told: the newest DATA_ACK.
    pub fn data_acked(&self) -> u32 {
        self.data_una
    }

    /// Segments below this one may be sent now.
    #[inline]
    fn sendable(&self) -> u32 {
        self.messages.sendable(self.data_una)
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

    /// See [`crate::Sender::hold`].
    pub fn hold(&mut self, subflow: usize, held: bool) {
        self.held = self.held & !bit(subflow) | u64::from(held) << subflow;
    }

    /// How many bytes of packets of `subflow` wait in its host's port before it is held back: 1 ms at its pacing rate, at
    /// least two packets and at most [`Config::port_limit`] (`tcp_small_queue_check`).
    pub fn port_limit(&self, subflow: usize) -> u64 {
        let most = self.config.port_limit;
        let Some(place) = self.place(subflow) else { return most };
        let two = 2 * u64::from(self.config.mss + self.config.header);
        (self.pacing_rate(subflow, place) >> 10).max(two).min(most)
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
    pub fn handle_ack(&mut self, now: Time, subflow: usize, ack: &Ack) {
        self.data_una = self.data_una.max(ack.dsn);
        if ack.window > 0 {
            self.messages.open_to(ack.dsn + u32::from(ack.window));
        }
        if let Some(place) = self.place(subflow) {
            self.subflows[subflow].handle_ack(now, ack, &self.config, &mut self.group, place);
        }
    }

    /// The deadline of `subflow` has passed.
    pub fn handle_timeout(&mut self, now: Time, subflow: usize) {
        let place = self.place(subflow);
        let more = match &self.queues {
            Some(queues) => queues.len(subflow) > 0,
            None => self.next_dsn < self.sendable() && self.fresh(self.takes_data) & bit(subflow) != 0,
        };
        let s = &mut self.subflows[subflow];
        let before = s.rtt.backoff();
        if let Some(place) = place {
            s.handle_timeout(now, &self.config, &mut self.group, place, more);
            let timed_out = s.rtt.backoff() > before;
            let is_stale = timed_out && s.rtt.backoff() == self.config.stale_after;
            let others = self.open & self.takes_data & !bit(subflow);
            if is_stale && bits(others).any(|i| !self.is_stale(i)) {
                self.reinject(subflow);
            } else if timed_out
                && self.is_blocked()
                && let Some(buffer) = self.config.receive_buffer
            {
                self.reinject_missing(subflow, buffer);
            }
        } else if let Some(h) = self.handshakes.iter_mut().find(|h| usize::from(h.subflow) == subflow)
            && h.deadline <= now
        {
            (h.due, h.deadline) = (true, NEVER);
            s.rtt.back_off();
            s.counters.handshake_timeouts += 1;
        }
    }

    /// When to call [`Sender::handle_timeout`] for `subflow`: its retransmission, probe or reordering timer,
    /// or the time of its next burst; until it is open, that of its handshake. `NEVER` if nothing is
    /// outstanding or waits for the pacing, or if the subflow is closed.
    #[inline]
    pub fn deadline(&self, subflow: usize) -> Time {
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

    /// The controller of a subflow that is open.
    pub(crate) fn controller_mut(&mut self, subflow: usize) -> &mut controllers::Subflow {
        let place = self.rank(subflow);
        &mut self.group[place]
    }

    /// Segments of `subflow` that are sent and not cumulatively ACKed.
    pub fn outstanding(&self, subflow: usize) -> u32 {
        self.subflows[subflow].board.outstanding()
    }

    /// Packets of `subflow` in flight, as its window counts them.
    pub fn in_flight(&self, subflow: usize) -> u32 {
        self.subflows[subflow].board.in_flight()
    }

    /// Calls `fetch` with the addresses of the cache lines, other than its own, that an ACK of `subflow` will touch.
    #[inline]
    pub fn for_each_line(&self, subflow: usize, fetch: impl Fn(*const u8)) {
        let subflows = self.subflows.as_ptr();
        let own: *const u8 = subflows.wrapping_add(subflow).cast();
        [0, 3, 4].into_iter().for_each(|line| fetch(own.wrapping_add(64 * line)));
        let controllers = self.group.subflows();
        for i in 0..controllers.len().min(LOOKED_AT) {
            fetch(subflows.wrapping_add(i).cast::<u8>().wrapping_add(64));
            fetch(controllers.as_ptr().wrapping_add(i).cast());
        }
        fetch(controllers.as_ptr().wrapping_add(subflow).cast::<u8>().wrapping_add(64));
    }

    /// The transport that it runs.
    #[inline]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Segment `seq` of a subflow, sent at `now`; with `cwr` it says that the window was reduced.
    #[inline]
    fn packet(&self, now: Time, subflow: usize, origin: Origin, [seq, dsn]: [u32; 2], cwr: bool) -> Transmit {
        let (payload, last) = self.messages.payload(dsn);
        let again = origin == Origin::Retransmitted;
        let acked = self.subflows[subflow].board.una();
        let segment = Segment { stamp: now.into(), seq, dsn, last, cwr, again, acked };
        Transmit { subflow, origin, payload, body: Body::Segment(segment) }
    }
}
