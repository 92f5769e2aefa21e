//! vMCC's path-sharing detection and termination (VMCC §V-C, Algorithm 2; its trigger in Algorithm 1).
//!
//! Each subflow counts its ACKs with ECE, C_E. The first one that reaches gamma triggers the detection, once
//! in the life of a connection: of each pair of established subflows whose counts differ by less than theta
//! and whose smoothed RTTs differ by less than the fraction delta of the larger, one is closed.
//!
//! The paper leaves these points open (catalogue S33):
//!
//! - Algorithm 1 sets the reference count R_E only when the detection is triggered. Here the counts at that
//!   moment are compared, for all subflows.
//! - When C_E begins to count. Here a subflow that joins restarts all counts, so that they cover the same
//!   time. The first subflow sends for at least a round trip before the others have joined; if these marks
//!   counted, it would often be at gamma before another one was reported, which is no sign of two paths.
//! - The text closes "the recently marked subflow", Algorithm 2 the second of the pair: [`Closes`].
//! - "Only executed during the beginning stage": once per connection. A trigger with only one established
//!   subflow compares nothing and does not count.
//! - The tables call delta "beta".
//! - A subflow without an RTT sample is not compared.

use tresse_units::Time;

use crate::connection::Connection;
use crate::paths::paths;
use crate::{Ack, Action, By, Memory, Opening, PathChoice, PathManager};

/// Which subflow of a pair that shares a path is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closes {
    /// The one whose marked ACK came last (VMCC §V-C, the text); the second if none came for either.
    Recent,
    /// The one with the larger number (Algorithm 2).
    Second,
}

/// How many subflows, and when two of them are considered to share a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// How many subflows, 1 to 64; by address at most as many as there are address pairs.
    pub subflows: usize,
    /// What distinguishes them.
    pub by: By,
    /// ACKs with ECE on one subflow that trigger the detection (gamma).
    pub gamma: u64,
    /// Counts that differ by less than this are alike, ACKs (theta).
    pub theta: u64,
    /// RTTs that differ by less than this share of the larger are alike, percent, at most 100 (delta).
    pub delta_percent: u64,
    /// Which one is closed.
    pub closes: Closes,
}

impl Default for Config {
    /// Table III's thresholds; those of Table IV are theta = 5 and delta = 14 %.
    fn default() -> Self {
        Self { subflows: 2, by: By::Address, gamma: 10, theta: 3, delta_percent: 10, closes: Closes::Recent }
    }
}

/// The path manager `path-sharing`.
#[derive(Debug)]
pub struct PathSharing {
    config: Config,
    connection: Connection<Signals>,
    /// The paths of the subflows that wait for the first.
    waiting: Vec<PathChoice>,
    /// Events with marked ACKs so far, to tell which subflow was marked last.
    marked_events: u64,
    detected: bool,
}

/// The values that the detection compares.
#[derive(Debug, Clone, Copy, Default)]
struct Signals {
    /// C_E: ACKs with ECE since the last subflow joined.
    marked: u64,
    /// The number of its last event with marked ACKs since then; 0 if there was none.
    last_marked: u64,
    srtt: Time,
}

impl PathSharing {
    /// Opens the first subflow.
    pub fn new(config: &Config, opening: &Opening) -> Self {
        let mut waiting = paths(config.by, config.subflows, opening);
        let mut connection = Connection::new();
        connection.open(waiting.remove(0), Signals::default());
        Self { config: config.clone(), connection, waiting, marked_events: 0, detected: false }
    }

    /// Algorithm 2.
    fn detect(&mut self) {
        let established: Vec<_> = self.connection.established().map(|(i, &signals)| (i, signals)).collect();
        if established.len() < 2 {
            return;
        }
        self.detected = true;
        for (k, &(first, a)) in established.iter().enumerate() {
            for &(second, b) in &established[k + 1..] {
                let both = self.connection.is_established(first) && self.connection.is_established(second);
                if both && self.alike(&a, &b) {
                    let first_is_recent = a.last_marked > b.last_marked;
                    let close_first = self.config.closes == Closes::Recent && first_is_recent;
                    self.connection.close(if close_first { first } else { second });
                }
            }
        }
    }

    /// An unknown RTT, 0, is like no other, not even another unknown one.
    fn alike(&self, a: &Signals, b: &Signals) -> bool {
        let apart = u128::from(a.srtt.abs_diff(b.srtt)) * 100;
        let allowed = u128::from(a.srtt.max(b.srtt)) * u128::from(self.config.delta_percent);
        a.marked.abs_diff(b.marked) < self.config.theta && apart < allowed
    }
}

impl PathManager for PathSharing {
    fn handle_established(&mut self, _now: Time, _memory: &mut Memory, subflow: usize) {
        if self.connection.establish(subflow) {
            for signals in self.connection.all_mut() {
                *signals = Signals { srtt: signals.srtt, ..Signals::default() };
            }
            for path in self.waiting.drain(..) {
                self.connection.open(path, Signals::default());
            }
        }
    }

    fn handle_closed(&mut self, _now: Time, _memory: &mut Memory, subflow: usize) {
        self.connection.gone(subflow);
    }

    fn handle_ack(&mut self, _now: Time, _memory: &mut Memory, ack: &Ack) {
        let Some(signals) = self.connection.live(ack.subflow) else { return };
        signals.srtt = ack.srtt;
        if ack.marked == 0 {
            return;
        }
        self.marked_events += 1;
        signals.marked += ack.marked;
        signals.last_marked = self.marked_events;
        if signals.marked >= self.config.gamma && !self.detected {
            self.detect();
        }
    }

    fn poll_action(&mut self) -> Option<Action> {
        self.connection.poll_action()
    }
}
