//! When things arrive, whether or not earlier ones have ended.

use tresse_units::{NEVER, Stream, Time};

use crate::poisson::Limit;

/// The times between two arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gaps {
    /// Exponential: a Poisson process.
    Poisson,
    /// All equal.
    Periodic,
}

/// How often incasts or jobs arrive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArrivalConfig {
    /// The mean time between two, ps; above 0.
    pub interval: f64,
    /// How the times between them are drawn.
    pub gaps: Gaps,
    /// When they end: after a number of arrivals, or at a time.
    pub limit: Limit,
}

impl ArrivalConfig {
    /// How many are expected; `None` if they never end.
    pub(crate) fn expected(&self) -> Option<f64> {
        match self.limit {
            Limit::Flows(arrivals) => Some(arrivals as f64),
            Limit::Until(NEVER) => None,
            Limit::Until(end) => Some(end as f64 / self.interval),
        }
    }

    /// Whether they never end.
    pub(crate) fn is_endless(&self) -> bool {
        self.limit == Limit::Until(NEVER)
    }
}

/// The arrivals of a run. The gap before arrival n is drawn from a stream of the name n.
#[derive(Debug)]
pub(crate) struct Arrivals {
    config: ArrivalConfig,
    seed: u64,
    purpose: &'static str,
    /// The next one: its number, and when it comes; [`NEVER`] if there is none.
    number: u32,
    next: Time,
}

impl Arrivals {
    /// At time 0; `purpose` names the streams of the gaps.
    pub fn new(config: ArrivalConfig, purpose: &'static str, seed: u64) -> Self {
        let mut own = Self { config, seed, purpose, number: 0, next: 0 };
        own.schedule(0);
        own
    }

    /// When the next one comes; [`NEVER`] if there is none.
    pub fn next(&self) -> Time {
        self.next
    }

    /// No other comes.
    pub fn close(&mut self) {
        self.next = NEVER;
    }

    /// The number of the one that has come by `now`, if one has.
    pub fn take(&mut self, now: Time) -> Option<u32> {
        if self.next == NEVER || now < self.next {
            return None;
        }
        let number = self.number;
        self.number += 1;
        self.schedule(now);
        Some(number)
    }

    fn schedule(&mut self, now: Time) {
        let interval = self.config.interval;
        let gap = match self.config.gaps {
            Gaps::Periodic => interval,
            Gaps::Poisson => Stream::new(self.seed, self.purpose, self.number.into()).exponential(interval),
        };
        let next = now.saturating_add(libm::round(gap) as Time);
        let ended = match self.config.limit {
            Limit::Flows(arrivals) => u64::from(self.number) >= arrivals,
            Limit::Until(end) => next >= end,
        };
        self.next = if ended { NEVER } else { next };
    }
}
