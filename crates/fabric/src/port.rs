//! An output port: the queue in front of one direction of a link.
//!
//! First in, first out, at a fixed rate; so on arrival the port already knows its backlog and when
//! the packet will leave (design rule 5). It decides drop, mark and departure at once.
//!
//! The queue holds the packets that wait, without the one in transmission and the arriving one. A switch's
//! (and ns-3's) queue holds the same when a packet arrives.

mod closely;
mod config;
mod memory;
mod processing;

pub(crate) use closely::is_congested;
pub use config::{NonEct, PortConfig, PortCounters};
pub use processing::{Processing, Service};

use std::collections::VecDeque;
use std::sync::Arc;

use tresse_units::{NEVER, Time};

use crate::flag::Flag;
use crate::pace::Pace;
use crate::packet::Ecn;
use crate::red::Red;
use crate::threshold::Threshold;
use memory::{RECENT, SLOW};
use processing::Processed;

/// An output port: two cache lines. Data that few packets need is elsewhere.
///
/// It remembers the departure times of the packets that it let in last. Departures are in order, so "more
/// than n packets have not left" is one look at the n-th last departure, and nothing ever has to be removed:
/// entries that are too old are overwritten.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Port {
    /// When the last packet that was let in will have left.
    busy_until: Time,
    delay: Time,
    pace: Pace,
    bytes: u64,
    /// 0, or all bits where every packet is examined: the port loses some, averages its queue, keeps a flag by bytes,
    /// is queued or slow, stays shut, or its host takes time.
    examine_all: Time,
    rare: Box<Rare>,
    limit: Threshold,
    mark: Threshold,
    /// Its place among the queued ports; [`NOT_QUEUED`] if there is none.
    queued: u32,
    /// As long as the `watch`-th last packet has left, the queue is neither full nor above K, nor congested. At most
    /// [`RECENT`].
    watch: u8,
    /// Packets that were let in since the port was idle, the first included; at most [`RECENT`].
    streak: u8,
    /// The place of the next departure in `recent`.
    tail: u8,
    role: Role,
    /// The lowest bits of the last departures, a ring. Those of the streak are so close to `busy_until` that
    /// these bits suffice; the others are over. Second cache line.
    recent: [u32; RECENT],
}

/// The other functions of a port. A divided network has no flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Usual,
    /// It keeps a congestion flag.
    Flagged,
    /// Whether packets that leave it may arrive in another part of the network: see [`Cut`](crate::Cut).
    Crossing,
}

/// Data that few packets need, or none.
#[derive(Debug)]
struct Rare {
    drops: u64,
    trims: u64,
    marks: u64,
    /// Until then every packet is dropped.
    shut_until: Time,
    /// Future departures that are older than the recent ones, in order; for a slow port, all departures.
    /// Those in front may be over.
    older: VecDeque<Time>,
    flag: Option<Box<Flag>>,
    non_ect: NonEct,
    is_slow: bool,
    lost: u64,
    /// Packets that could have been lost: the counter of the random numbers.
    exposed: u64,
    red: Option<Box<Red>>,
    /// `None` if the host takes no time.
    processed: Option<Box<Processed>>,
    /// Most ports share it with others.
    config: Arc<PortConfig>,
}

const _: () = assert!(size_of::<Port>() == 128, "two cache lines");

const NOT_QUEUED: u32 = u32::MAX;

impl Port {
    /// An empty port.
    ///
    /// # Panics
    /// If the rate is 0, or `drop_until` is 0, not below the limit or in another unit.
    pub fn new(config: impl Into<Arc<PortConfig>>) -> Self {
        let config = config.into();
        // A queue of n packets, one more in transmission: the (n + 1)-th last has not left.
        let first = |t: Threshold, more: u64| if t.is_bytes() { 1 } else { t.value() + more };
        let watch = first(config.limit, 1).min(first(config.mark, 2)).min(RECENT as u64) as u8;
        assert!(config.drop_until.is_none_or(|h| h.is_below(config.limit)), "what is full has a lower end");
        let processed = (!config.processing.is_none()).then(|| Box::new(Processed::new(config.processing)));
        let (limit, mark) = (config.limit, config.mark);
        Self {
            busy_until: 0,
            delay: config.delay,
            pace: Pace::new(config.rate),
            bytes: 0,
            examine_all: if config.is_quiet() { 0 } else { NEVER },
            rare: Box::new(Rare {
                drops: 0,
                trims: 0,
                marks: 0,
                shut_until: 0,
                older: VecDeque::new(),
                flag: None,
                non_ect: config.non_ect,
                is_slow: false,
                lost: 0,
                exposed: 0,
                red: config.red.map(|red| Box::new(Red::new(red))),
                processed,
                config,
            }),
            limit,
            mark,
            queued: NOT_QUEUED,
            watch,
            streak: 0,
            tail: 0,
            role: Role::Usual,
            recent: [0; RECENT],
        }
    }

    /// A packet arrives at `now`: when it will be at the far end, or `None` if it is dropped or lost, or if
    /// the port is queued: then ask the queued port. May set `ecn` to CE. `now` must not be earlier than in a
    /// previous call.
    #[inline]
    pub fn admit(&mut self, now: Time, bytes: u32, ecn: &mut Ecn) -> Option<Time> {
        if self.must_examine(now) {
            if self.queued != NOT_QUEUED || !self.examine(now, bytes, ecn) {
                return None;
            }
            let time = self.let_in(now, bytes);
            return Some(self.processed(time, bytes));
        }
        Some(self.let_in(now, bytes))
    }

    /// Whether a packet that arrives at `now` is not simply let in: ask the queued port, or
    /// [`Self::examine`].
    #[inline]
    pub(crate) fn must_examine(&self, now: Time) -> bool {
        self.departure(self.watch) | self.examine_all > now
    }

    /// Lets a packet in: when it will be at the far end.
    #[inline]
    pub(crate) fn let_in(&mut self, now: Time, bytes: u32) -> Time {
        let transmission = self.transmission(bytes);
        let departure = self.busy_until.max(now) + transmission;
        if transmission >= SLOW {
            self.slow_down(now, departure);
        }
        self.streak = if self.busy_until <= now { 1 } else { (self.streak + 1).min(RECENT as u8) };
        self.busy_until = departure;
        self.recent[usize::from(self.tail) % RECENT] = departure as u32;
        self.tail = self.tail.wrapping_add(1);
        self.bytes += u64::from(bytes);
        departure + self.delay
    }

    /// When a packet is at the far end, if without its host's processing it would be there at `time`. Called
    /// once for each packet of a port that examines every packet.
    #[inline]
    pub(crate) fn processed(&mut self, time: Time, bytes: u32) -> Time {
        if self.examine_all == 0 {
            return time; // without a look at what is rare
        }
        self.rare.processed.as_mut().map_or(time, |processed| processed.arrival(time, bytes))
    }

    /// How long `bytes` take on the wire.
    #[inline]
    pub fn transmission(&self, bytes: u32) -> Time {
        self.pace.time(bytes)
    }

    /// When the last packet that it has let in will have left; maybe before now. Only for a port that is not queued.
    #[inline]
    pub fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Bytes that wait or are not yet on the wire at `now`, rounded up. Only for a port that is not queued.
    pub fn backlog(&self, now: Time) -> u64 {
        self.pace.bytes(self.busy_until.saturating_sub(now))
    }

    /// How long it has been sending until `now`, ps; up to 1 ps wrong for each packet. Only for a port that
    /// is not queued.
    pub fn busy(&self, now: Time) -> Time {
        // Waiting packets have been counted, but not sent.
        self.pace.total(self.bytes).saturating_sub(self.busy_until.saturating_sub(now))
    }

    /// The counters so far.
    pub fn counters(&self) -> PortCounters {
        PortCounters {
            bytes: self.bytes,
            drops: self.rare.drops,
            trims: self.rare.trims,
            lost: self.rare.lost,
            marks: self.rare.marks,
        }
    }

    /// Its configuration.
    pub fn config(&self) -> &PortConfig {
        &self.rare.config
    }

    /// The packet may be lost, or the queue may be full, above K, averaged, congested or longer than the
    /// recent departures. False if the packet is lost or dropped.
    pub(crate) fn examine(&mut self, now: Time, bytes: u32, ecn: &mut Ecn) -> bool {
        if self.examine_all != 0 || self.role == Role::Flagged {
            return self.examine_closely(now, bytes, ecn);
        }
        if self.is_full(now) {
            self.rare.drops += 1;
            return false;
        }
        if self.reaches(self.mark, 1, now) && !self.signal(ecn) {
            return false;
        }
        self.keep(now, bytes);
        true
    }

    /// Marks the packet that arrives, or drops it if it cannot be marked and such packets are dropped: false.
    pub(crate) fn signal(&mut self, ecn: &mut Ecn) -> bool {
        match *ecn {
            Ecn::Ect => {
                self.rare.marks += 1;
                *ecn = Ecn::Ce;
            }
            Ecn::NotEct if self.rare.non_ect == NonEct::Drop => {
                self.rare.drops += 1;
                return false;
            }
            Ecn::NotEct | Ecn::Ce => {}
        }
        true
    }

    /// From now on the queued port of number `queued` decides.
    pub(crate) fn give_to(&mut self, queued: u32) {
        self.queued = queued;
        self.examine_all = NEVER;
    }

    /// Its number among the queued ports, if it is one.
    #[inline]
    pub(crate) fn queued(&self) -> Option<usize> {
        (self.queued != NOT_QUEUED).then_some(self.queued as usize)
    }

    /// Whether packets that leave it may arrive in another part of the network.
    #[inline]
    pub(crate) fn crosses(&self) -> bool {
        self.role == Role::Crossing
    }

    /// From now on, packets that leave it may arrive in another part of the network.
    pub(crate) fn cross(&mut self) {
        self.role = Role::Crossing;
    }

    /// Counts a packet that its queued port let in.
    #[inline]
    pub(crate) fn count_bytes(&mut self, bytes: u32) {
        self.bytes += u64::from(bytes);
    }

    /// Counts a packet for which its queued port had no room.
    pub(crate) fn count_drop(&mut self) {
        self.rare.drops += 1;
    }

    /// Counts a packet that its queued port trimmed.
    pub(crate) fn count_trim(&mut self) {
        self.rare.trims += 1;
    }

    /// Counts packets that were lost with its link.
    pub(crate) fn count_lost(&mut self, packets: u64) {
        self.rare.lost += packets;
    }

    /// Whether the queue is at its limit.
    fn is_full(&self, now: Time) -> bool {
        self.reaches(self.limit, 0, now)
    }

    /// Whether the queue is at least `threshold` and `more` long.
    fn reaches(&self, threshold: Threshold, more: u64, now: Time) -> bool {
        if threshold == Threshold::UNLIMITED {
            return false;
        }
        let needed = threshold.value() + more;
        if threshold.is_bytes() {
            // An idle port lets in one packet, whatever the limit.
            let Some(rest @ 1..) = self.busy_until.checked_sub(now) else { return false };
            return self.pace.bytes(rest) >= needed;
        }
        self.has_more(needed, now)
    }
}
