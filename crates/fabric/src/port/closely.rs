//! Packet handling of a port that examines every packet, or that keeps a congestion flag.

use tresse_units::{NEVER, Time};

use super::{Port, RECENT, Role};
use crate::flag::{Flag, FlagConfig};
use crate::loss::Probability;
use crate::pace::Pace;
use crate::packet::Ecn;
use crate::red::Red;

impl Port {
    /// Like [`Self::examine`], for a port that examines every packet or has a flag.
    pub(super) fn examine_closely(&mut self, now: Time, bytes: u32, ecn: &mut Ecn) -> bool {
        if self.loses() {
            return false;
        }
        // RED averages the queue that every packet meets, even a full one.
        let mut signal = self.averages().is_some_and(|bytes| {
            let length = if bytes { self.backlog(now) } else { self.waiting(now) };
            self.red_signals(length, now.saturating_sub(self.busy_until), self.pace)
        });
        if now < self.rare.shut_until || self.stays_shut(now) {
            self.rare.drops += 1;
            return false;
        }
        signal |= self.reaches(self.mark, 1, now);
        if signal && !self.signal(ecn) {
            return false;
        }
        self.flag_packet(now, bytes);
        self.keep(now, bytes);
        true
    }

    /// How long the port will be congested if no packet comes after the one of `bytes` that is let in now.
    fn flag_packet(&mut self, now: Time, bytes: u32) {
        let Some(mut flag) = self.rare.flag.take() else { return };
        let threshold = flag.threshold(self.limit);
        let end = if threshold.is_bytes() {
            let departure = self.busy_until.max(now) + self.transmission(bytes);
            departure.saturating_sub(self.pace.total(threshold.value() - 1))
        } else {
            // Including this packet, n wait until the n-th last of the packets before it has left.
            self.nth_departure(threshold.value())
        };
        flag.set(now, end);
        self.rare.flag = Some(flag);
    }

    /// Keeps a congestion flag from now on. The port is idle.
    pub(crate) fn give_flag(&mut self, config: FlagConfig) {
        let flag = Flag::new(config);
        let threshold = flag.threshold(self.limit);
        if threshold.is_bytes() {
            self.examine_all = NEVER; // one packet may be enough
        }
        self.watch = self.watch.min(threshold.value().min(RECENT as u64) as u8);
        self.role = Role::Flagged;
        self.rare.flag = Some(Box::new(flag));
    }

    /// The congestion flag, if it keeps one.
    pub(crate) fn flag(&self) -> Option<&Flag> {
        self.rare.flag.as_deref()
    }

    pub(crate) fn flag_mut(&mut self) -> Option<&mut Flag> {
        self.rare.flag.as_deref_mut()
    }

    /// Whether the queue is at its limit. If so, the port may stay shut: it lets nothing in until then, so it
    /// already knows when the queue will be short enough.
    fn stays_shut(&mut self, now: Time) -> bool {
        let is_full = self.is_full(now);
        if is_full && let Some(until) = self.rare.config.drop_until {
            self.rare.shut_until = if until.is_bytes() {
                self.busy_until - self.pace.total(until.value() - 1)
            } else {
                self.nth_departure(until.value() + 1)
            };
        }
        is_full
    }

    /// Whether the packet that arrives is lost by [`PortConfig::loss`].
    pub(crate) fn loses(&mut self) -> bool {
        let rare = &mut *self.rare;
        if rare.config.loss.probability() == Probability::ZERO {
            return false;
        }
        rare.exposed += 1;
        let lost = rare.config.loss.takes(rare.exposed);
        rare.lost += u64::from(lost);
        lost
    }

    /// Whether RED averages lengths in bytes instead of packets; `None` without RED.
    #[inline]
    pub(crate) fn averages(&self) -> Option<bool> {
        self.rare.red.as_deref().map(Red::counts_bytes)
    }

    /// Whether RED signals the packet that arrives at a queue of `length`, which has been idle for `idle`;
    /// `pace` is that of the link now.
    pub(crate) fn red_signals(&mut self, length: u64, idle: Time, pace: Pace) -> bool {
        self.rare.red.as_mut().is_some_and(|red| red.arrive(length, idle, pace.time(1500)))
    }
}

/// Whether a port is, or was, congested at `time`.
#[inline]
pub(crate) fn is_congested(ports: &[Port], number: u32, time: Time) -> bool {
    ports[number as usize].flag().is_some_and(|flag| flag.at(time))
}
