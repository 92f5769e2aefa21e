//! HOLNET's congestion flag: a port is congested while its queue is at least a fraction of its limit
//! (THESIS §2.5, "Congestion Detection"; catalogue S40).
//!
//! Others learn of a flag later, by the propagation delay of the links between, so its past state counts.
//! Each port keeps the spans of time in which it was congested, as far back as anyone may still learn about
//! them. A plain port knows a span's end as soon as a packet makes it longer, so no event is needed.

use std::collections::VecDeque;

use tresse_units::Time;

use crate::threshold::Threshold;

/// When ports are congested, and what nodes report to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlagConfig {
    /// The fraction of a queue's limit from which it is congested, in parts of 1000; the thesis has 800. 1 to
    /// 1000. It is rounded up to whole packets or bytes. A queue without a limit has `unlimited`.
    pub fraction: u32,
    /// The length from which a queue without a limit is congested, above 0; [`Threshold::UNLIMITED`]: never.
    /// The thesis gives no limit for the queues of hosts.
    pub unlimited: Threshold,
    /// The report of a node to the nodes before it.
    pub feedback: Feedback,
}

/// Which congestion a next hop reports (catalogue 0.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feedback {
    /// The congestion of the port that it would use, as in the thesis. Anything farther away stays invisible.
    OneHop,
    /// The same, or the congestion that its own next hop reports.
    Backward,
}

/// The congestion flag of a port, now and in the past.
#[derive(Debug)]
pub(crate) struct Flag {
    config: FlagConfig,
    /// Nobody asks about times longer ago than this.
    pub memory: Time,
    /// When it was congested: the beginnings and ends, the last span last.
    spans: VecDeque<(Time, Time)>,
}

impl Flag {
    pub fn new(config: FlagConfig) -> Self {
        Self { config, memory: 0, spans: VecDeque::new() }
    }

    /// The length from which a queue with this limit is congested.
    pub fn threshold(&self, limit: Threshold) -> Threshold {
        if limit == Threshold::UNLIMITED {
            self.config.unlimited
        } else {
            limit.fraction(self.config.fraction)
        }
    }

    /// The queue has changed: from `now` on the port is congested until `end`, unless it changes again. It
    /// is not if `end` is not later than `now`.
    pub fn set(&mut self, now: Time, end: Time) {
        while self.spans.front().is_some_and(|s| s.1.saturating_add(self.memory) < now) {
            self.spans.pop_front();
        }
        match self.spans.back_mut() {
            Some(last) if last.1 >= now => last.1 = end.max(now),
            _ if end > now => self.spans.push_back((now, end)),
            _ => {}
        }
    }

    /// Whether the port is, or was, congested at `time`; not before `memory` ago.
    pub fn at(&self, time: Time) -> bool {
        let begun = self.spans.partition_point(|s| s.0 <= time);
        begun > 0 && time < self.spans[begun - 1].1
    }

    /// Whether the port has been congested at `time` or shortly enough before that somebody may
    /// learn of it later.
    pub fn matters(&self, time: Time) -> bool {
        self.spans.back().is_some_and(|s| s.1.saturating_add(self.memory) > time)
    }
}
