//! Pacing by the sender: Linux's internal pacing, with bursts as large as TSO's.

use tresse_controllers as controllers;

use tresse_units::{SECOND, Time};

use super::Subflow;
use crate::Config;

/// The largest segment that TSO takes, bytes (`GSO_LEGACY_MAX_SIZE`).
const GSO_MAX: u64 = 65_536;

/// The first segments of a connection are not paced (`tcp_update_skb_after_send`).
const UNPACED: u64 = 10;

/// The minimum burst: two segments (`tcp_min_tso_segs`).
const LEAST_BURST: u64 = 2;

/// The inputs of a pacing rate; times in picoseconds, windows in packets.
#[derive(Debug, Clone, Copy)]
struct Path {
    cwnd: u32,
    ssthresh: u32,
    outstanding: u32,
    srtt: Time,
    min_rtt: Time,
}

/// When the next burst may leave.
#[derive(Debug, Default)]
pub(super) struct Pacer {
    /// Bytes a second; 0 before there is an RTT sample.
    rate: u64,
    /// Segments per burst.
    burst: u32,
    /// The earliest time of the next burst (`tcp_wstamp_ns`).
    next: Time,
    /// When the current burst began, and how many segments it may still have.
    began: Time,
    left: u32,
    /// How late the current burst began; up to half of it need not be paced.
    credit: Time,
    /// Something could be sent if pacing allowed it.
    pub waiting: bool,
}

impl Pacer {
    /// After an ACK: 200 % of mss x cwnd / srtt in slow start, 120 % near its end and in congestion
    /// avoidance (`tcp_update_pacing_rate`); a burst of 1/1024 s at that rate, and 64 kB, halved
    /// for every 512 us of the shortest RTT, on top, but no more than 64 kB (`tcp_tso_autosize`).
    fn update(&mut self, path: &Path, config: &Config) {
        if path.srtt == 0 {
            return;
        }
        let percent = if path.cwnd < path.ssthresh / 2 { 200 } else { 120 };
        let window = u128::from(path.cwnd.max(path.outstanding)) * u128::from(config.mss);
        let rate = window * percent * u128::from(SECOND) / (100 * u128::from(path.srtt));
        self.rate = u64::try_from(rate).unwrap_or(u64::MAX).max(1);
        let halvings = path.min_rtt / 512_000_000;
        let near = if halvings < 32 { GSO_MAX >> halvings } else { 0 };
        let bytes = (self.rate >> 10).saturating_add(near).min(GSO_MAX);
        let burst = (bytes / u64::from(config.mss)).max(LEAST_BURST) as u32;
        // At least two bursts fill a window (`tcp_cwnd_test`).
        self.burst = burst.min(config.tso).min((path.cwnd / 2).max(1));
    }

    /// Whether a segment may leave now.
    #[inline]
    fn ready(&self, now: Time) -> bool {
        now >= self.next || (self.left > 0 && now == self.began)
    }

    /// When the waiting segment may leave.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// A segment of `bytes` leaves, ready or not; `sent` have left before it.
    fn sent(&mut self, now: Time, bytes: u32, sent: u64) {
        if self.rate == 0 || sent < UNPACED {
            self.next = now;
            return;
        }
        let in_burst = self.left > 0 && now == self.began;
        if in_burst {
            self.left -= 1;
        } else if now >= self.next {
            (self.credit, self.next) = (now - self.next, now);
            (self.began, self.left) = (now, self.burst - 1);
        }
        let length = (u128::from(bytes) * u128::from(SECOND) / u128::from(self.rate)) as Time;
        let forgiven = self.credit.min(length / 2);
        self.credit -= forgiven;
        self.next += length - forgiven;
    }
}

impl Subflow {
    /// Whether a segment that could be sent now has to wait for the pacing.
    #[inline]
    pub(super) fn must_wait(&mut self, now: Time) -> bool {
        let Some(pacer) = &mut self.pacer else { return false };
        pacer.waiting = !pacer.ready(now);
        pacer.waiting
    }

    #[inline]
    pub(super) fn pace(&mut self, now: Time, config: &Config) {
        if let Some(pacer) = &mut self.pacer {
            pacer.sent(now, config.mss, self.counters.sent + self.counters.retransmissions);
        }
    }

    /// Updates the pacing rate to the window.
    #[inline]
    pub(super) fn set_pace(&mut self, config: &Config, own: &controllers::Subflow) {
        if let Some(pacer) = &mut self.pacer {
            let path = Path {
                cwnd: own.cwnd,
                ssthresh: own.ssthresh,
                outstanding: self.board.outstanding(),
                srtt: self.rtt.srtt(),
                min_rtt: self.rtt.min(),
            };
            pacer.update(&path, config);
        }
    }

    /// It is held back by its host, so it does not wait for the pacing, unless [`Self::check_room`] says so.
    pub(crate) fn stop_waiting(&mut self) {
        if let Some(pacer) = &mut self.pacer {
            pacer.waiting = false;
        }
    }

    /// With pacing the window is rarely full at an ACK: it counts as the limit if it was full once in
    /// the last round, or if slow start used more than half of it (Linux's `tcp_cwnd_validate`,
    /// `tcp_is_cwnd_limited`).
    pub(super) fn note_usage(&mut self, room: bool, own: &controllers::Subflow) {
        let out = self.board.outstanding();
        let was_full = self.limited && self.most_out == u32::MAX;
        if self.board.una() >= self.usage_end || !room || (!was_full && out > self.most_out) {
            self.most_out = if room { out } else { u32::MAX };
            self.usage_end = self.board.nxt();
        }
        self.limited = self.most_out == u32::MAX
            || (own.cwnd < own.ssthresh && own.cwnd < self.most_out.saturating_mul(2));
    }
}
