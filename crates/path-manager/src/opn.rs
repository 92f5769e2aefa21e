//! MPTCP_OPN: concurrency tuning and traffic shifting (OPN §MPTCP_OPN design, Algorithm 1).
//!
//! *Concurrency tuning* (catalogue S27): a new connection opens n* subflows on random FAST paths, or one on
//! every FAST path if there are no more than n*. n* follows from the loss rate of the host's connections
//! ([`NStar`]); before one is known, it is m, the number of paths. Later loss rates do not change a running
//! connection.
//!
//! *Traffic shifting* (S28): when timer_1 expires, a path from which no ACK has come becomes SLOW. Its
//! subflow carries no new data, and its data in flight is sent again on FAST ones. When timer_2 expires, all
//! paths become FAST again. If no subflow is on a FAST path, all are used.
//!
//! The paper leaves these points open:
//!
//! - The sender of Algorithm 1, with one `path[]`, is the host: new flows come to it, and it obtains "the global link
//!   status". So one connection's verdict on a path and its losses hold for all connections of the host
//!   ([`Scope::Host`]); catalogue S27 has those to the same receiver instead ([`Scope::Pair`]).
//! - Each connection decides for itself whether ACKs have come on a path, and which packets it sends again.
//! - The paths are taken in random order, even if all are taken: otherwise each connection of the host would
//!   send its first packets on the same one.
//! - timer_1's period of "2 times the average round trip time" is twice the mean of the smoothed RTTs of
//!   the connection's subflows, or fixed (the 200 us of Algorithm 1). It starts with the first sample.
//! - It runs while data is in flight on a FAST path and starts with it. Only a path on which data waited
//!   throughout the period can become SLOW: data that has just been sent says nothing about its path, and the
//!   text refers to packets whose ACKs "have not arrived [...] within a period of time (i.e., 2RTTs)".
//! - At one instant timer_2 and timer_3 are served before timer_1.
//! - All retransmissions count as losses. Data sent again on another subflow does not.

use tresse_units::{MICROSECOND, NEVER, SplitMix, Time};

use crate::connection::Connection;
use crate::nstar::{CAP, NStar};
use crate::{Ack, Action, Memory, Opening, PathChoice, PathManager, Priority, Scope, Sent};

/// Which of the two modules a connection has, and with which connections it shares a memory. Without tuning
/// it opens a subflow on every FAST path, up to [`CAP`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Concurrency tuning.
    pub tuning: Option<Tuning>,
    /// Traffic shifting.
    pub shifting: Option<Shifting>,
    /// Which connections share the loss rate and the SLOW paths.
    pub scope: Scope,
}

/// Concurrency tuning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tuning {
    /// The table.
    pub n_star: NStar,
    /// timer_3: the period over which a loss rate is measured, above 0.
    pub timer_3: Time,
}

/// Traffic shifting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shifting {
    /// How long a path may stay silent.
    pub timer_1: Silence,
    /// timer_2 (epsilon): the period after which all paths become FAST again, above 0.
    pub timer_2: Time,
}

/// timer_1 (delta).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// Twice the mean of the subflows' smoothed RTTs.
    TwiceSrtt,
    /// A fixed time, above 0.
    Fixed(Time),
}

impl Default for Config {
    fn default() -> Self {
        Self { tuning: Some(Tuning::default()), shifting: Some(Shifting::default()), scope: Scope::Host }
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self { n_star: NStar::Eq11, timer_3: 10_000 * MICROSECOND }
    }
}

impl Default for Shifting {
    fn default() -> Self {
        Self { timer_1: Silence::TwiceSrtt, timer_2: 200_000 * MICROSECOND }
    }
}

/// The path managers `opn`, `opn-tuning` and `opn-shifting`.
#[derive(Debug)]
pub struct Opn {
    config: Config,
    connection: Connection<Watched>,
    /// The paths of the subflows that wait for the first.
    waiting: Vec<u16>,
    timer_1: Option<Period>,
    /// When timer_2 expires next, if it matters to this connection.
    timer_2: Time,
    /// The [`Memory::changes`] that the priorities reflect.
    followed: u64,
    /// Tuning has chosen fewer subflows than there are FAST paths.
    limits: bool,
}

#[derive(Debug, Clone, Copy)]
struct Period {
    since: Time,
    until: Time,
}

#[derive(Debug, Clone, Copy)]
struct Watched {
    path: u16,
    srtt: Time,
    /// Since when data has been in flight without an ACK.
    silent_since: Option<Time>,
}

impl Opn {
    /// Opens the first subflow.
    pub fn new(config: &Config, opening: &Opening, memory: &mut Memory) -> Self {
        let mut opn = Self {
            config: config.clone(),
            connection: Connection::new(),
            waiting: Vec::new(),
            timer_1: None,
            timer_2: NEVER,
            followed: 0,
            limits: false,
        };
        opn.serve_memory(opening.now, memory);
        (opn.waiting, opn.limits) = opn.choose(opening, memory);
        let first = opn.waiting.remove(0);
        opn.open(first);
        opn
    }

    /// The paths of a new flow's subflows (Algorithm 1, lines 14-20), and whether n* makes them fewer than there are.
    fn choose(&self, opening: &Opening, memory: &Memory) -> (Vec<u16>, bool) {
        let all = 0..opening.paths;
        let mut fast: Vec<_> = all.clone().filter(|&path| !memory.is_slow(path)).collect();
        if fast.is_empty() {
            fast = all.collect();
        }
        let known = self.config.tuning.as_ref().zip(memory.loss());
        let n_star = known.map_or(usize::from(opening.paths), |(tuning, loss)| tuning.n_star.subflows(loss));
        let count = n_star.min(CAP).min(fast.len());
        let limits = n_star < fast.len().min(CAP);
        SplitMix::new(opening.stream).choose(&mut fast, count);
        (fast, limits)
    }

    fn open(&mut self, path: u16) {
        self.connection.open(PathChoice::Port(path), Watched { path, srtt: 0, silent_since: None });
    }

    fn serve_memory(&self, now: Time, memory: &mut Memory) {
        if let Some(tuning) = &self.config.tuning {
            memory.measure(now, tuning.timer_3);
        }
        if let Some(shifting) = &self.config.shifting {
            memory.reset(now, shifting.timer_2);
        }
    }

    /// Serves the timers that are due.
    fn serve(&mut self, now: Time, memory: &mut Memory) {
        self.serve_memory(now, memory);
        let Some(period) = self.timer_1.take_if(|period| period.until <= now) else { return };
        for (_, s) in self.connection.established() {
            if s.silent_since.is_some_and(|since| since <= period.since) {
                memory.set_slow(s.path);
            }
        }
    }

    /// The consequences of an event: priorities, reinjections, timers.
    fn settle(&mut self, now: Time, memory: &Memory, established_changed: bool) {
        let Some(shifting) = &self.config.shifting else { return };
        let timer_1 = shifting.timer_1;
        if established_changed || self.followed != memory.changes() {
            self.followed = memory.changes();
            self.follow(memory);
            let mut established = self.connection.established().map(|(_, s)| s);
            let any_slow = established.any(|s| memory.is_slow(s.path));
            self.timer_2 = if any_slow { memory.reset_at() } else { NEVER };
        }
        let mut established = self.connection.established().map(|(_, s)| s);
        if !established.any(|s| s.silent_since.is_some() && !memory.is_slow(s.path)) {
            self.timer_1 = None;
        } else if self.timer_1.is_none() {
            let silence = match timer_1 {
                Silence::Fixed(silence) => Some(silence),
                Silence::TwiceSrtt => self.twice_srtt(),
            };
            self.timer_1 = silence.map(|silence| Period { since: now, until: now.saturating_add(silence) });
        }
    }

    /// Gives each subflow the priority that matches its path.
    fn follow(&mut self, memory: &Memory) {
        let subflows: Vec<_> = self.connection.established().map(|(i, &s)| (i, s)).collect();
        let any_fast = subflows.iter().any(|(_, s)| !memory.is_slow(s.path));
        let mut shifted = Vec::new();
        for (i, s) in subflows {
            let slow = any_fast && memory.is_slow(s.path);
            if slow && self.connection.priority(i) == Priority::Normal && s.silent_since.is_some() {
                shifted.push(i);
            }
            self.connection.set_priority(i, if slow { Priority::Slow } else { Priority::Normal });
        }
        // Last, so that nothing is sent again on a subflow that is just becoming SLOW.
        for i in shifted {
            self.connection.reinject(i);
        }
    }

    fn twice_srtt(&self) -> Option<Time> {
        let srtts = self.connection.established().map(|(_, s)| s.srtt).filter(|&srtt| srtt > 0);
        let (sum, count) =
            srtts.fold((0u128, 0u128), |(sum, count), srtt| (sum + u128::from(srtt), count + 1));
        (count > 0).then(|| Time::try_from(2 * sum / count).unwrap_or(NEVER))
    }
}

impl PathManager for Opn {
    fn limits(&self) -> Option<bool> {
        self.config.tuning.as_ref().map(|_| self.limits)
    }

    fn silence(&self) -> Option<Silence> {
        self.config.shifting.as_ref().map(|shifting| shifting.timer_1)
    }

    fn handle_established(&mut self, now: Time, memory: &mut Memory, subflow: usize) {
        self.serve(now, memory);
        let news = self.connection.establish(subflow);
        if news {
            for path in std::mem::take(&mut self.waiting) {
                self.open(path);
            }
        }
        self.settle(now, memory, news);
    }

    fn handle_closed(&mut self, now: Time, memory: &mut Memory, subflow: usize) {
        self.serve(now, memory);
        self.connection.gone(subflow);
        self.settle(now, memory, true);
    }

    fn handle_sent(&mut self, now: Time, memory: &mut Memory, sent: &Sent) {
        self.serve(now, memory);
        if let Some(s) = self.connection.live(sent.subflow) {
            if self.config.tuning.is_some() {
                memory.count(sent.packets, sent.retransmissions);
            }
            if sent.packets > 0 {
                s.silent_since.get_or_insert(now);
            }
        }
        self.settle(now, memory, false);
    }

    fn handle_ack(&mut self, now: Time, memory: &mut Memory, ack: &Ack) {
        self.serve(now, memory);
        if let Some(s) = self.connection.live(ack.subflow) {
            s.srtt = ack.srtt;
            s.silent_since = (ack.outstanding > 0).then_some(now);
        }
        self.settle(now, memory, false);
    }

    fn handle_timeout(&mut self, now: Time, memory: &mut Memory) {
        self.serve(now, memory);
        self.settle(now, memory, false);
    }

    fn deadline(&self) -> Time {
        self.timer_1.map_or(NEVER, |period| period.until).min(self.timer_2)
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.connection.poll_action()
    }
}
