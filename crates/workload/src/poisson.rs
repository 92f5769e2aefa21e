//! Flows that arrive by a Poisson process.

use tresse_units::{NEVER, Stream, Time};

use crate::pairs::Pairs;
use crate::size::Size;
use crate::source::{Action, Source, Start};
use crate::span::Span;
use crate::strata::Strata;

/// When arrivals end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// After this many flows.
    Flows(u64),
    /// At this time, ps, exclusive.
    Until(Time),
}

/// The settings of [`Poisson`].
#[derive(Debug, Clone)]
pub struct PoissonConfig {
    /// Who sends to whom.
    pub pairs: Pairs,
    /// The sizes of the flows.
    pub size: Size,
    /// The mean time between two arrivals anywhere, ps, for flows of the mean size; above 0
    /// ([`PoissonConfig::interval`] computes it from a load).
    pub interval: f64,
    /// When arrivals end.
    pub limit: Limit,
    /// How long after its start a flow should have finished.
    pub deadline: Option<Span>,
    /// The run's seed.
    pub seed: u64,
}

impl PoissonConfig {
    /// The mean time between two arrivals, ps, for flows of `size` that offer `load` (1 is the whole
    /// capacity) of `capacity` bit/s.
    pub fn interval(size: &Size, load: f64, capacity: u64) -> f64 {
        size.exact_mean() * 8e12 / (load * capacity as f64)
    }
}

/// Flows that arrive by a Poisson process, each from a random host to another, with sizes in [`Strata`].
///
/// Arrival n, from 0, has the name n. Its pair, its size and its deadline depend on the seed and on n alone.
///
/// With a number of flows, arrivals follow a Poisson process under the condition that the last one comes when
/// they have offered the load of `interval`: the gaps, independent and exponential, are all stretched by one
/// factor. Without this, the load of a run would be off by 1/sqrt(flows), and by far more for a heavy tail:
/// in `googlerpc2008-hpcc`, one flow in 10^5 has 4 % of the bytes, and 10^5 flows have 6 % more or less than
/// their mean. With a time limit no such factor is known, and the process is a plain one.
#[derive(Debug)]
pub struct Poisson {
    config: PoissonConfig,
    sizes: Strata,
    gaps: Stream,
    /// The mean gap, ps.
    gap: f64,
    /// The next arrival; [`NEVER`] if there is none.
    next: Time,
    arrived: u64,
    finished: u64,
}

impl Poisson {
    /// At the start, time 0. Computes all sizes and gaps once if the number of flows is given.
    pub fn new(config: PoissonConfig) -> Self {
        let mut sizes = Strata::new(config.size.clone(), config.seed);
        let gaps = Stream::new(config.seed, "arrivals", 0);
        let gap = match config.limit {
            Limit::Flows(flows) => {
                let bytes: f64 = (0..flows).map(|n| sizes.nth(n) as f64).sum();
                let mut gaps = gaps.clone();
                let sum: f64 = (0..flows).map(|_| gaps.exponential(1.0)).sum();
                config.interval * (bytes / config.size.exact_mean()) / sum
            }
            Limit::Until(_) => config.interval,
        };
        let mut poisson = Self { config, sizes, gaps, gap, next: 0, arrived: 0, finished: 0 };
        poisson.advance();
        poisson
    }

    fn advance(&mut self) {
        let gap = libm::round(self.gaps.exponential(self.gap)) as Time;
        let next = self.next.saturating_add(gap);
        let ended = match self.config.limit {
            Limit::Flows(flows) => self.arrived >= flows,
            Limit::Until(end) => next >= end,
        };
        self.next = if ended { NEVER } else { next };
    }
}

impl Source for Poisson {
    fn next(&self) -> Time {
        self.next
    }

    fn poll(&mut self, now: Time) -> Option<Action> {
        if now < self.next || self.next == NEVER {
            return None;
        }
        let (name, seed) = (self.arrived, self.config.seed);
        let (from, to) = self.config.pairs.draw(&mut Stream::new(seed, "pair", name));
        let deadline = self
            .config
            .deadline
            .map(|d| now.saturating_add(d.draw(&mut Stream::new(seed, "deadline", name))));
        let bytes = Some(self.sizes.nth(name));
        self.arrived += 1;
        self.advance();
        Some(Action::Start(Start { name, from, to, bytes, round: 0, job: None, deadline }))
    }

    fn handle_finished(&mut self, _now: Time, _name: u64) {
        self.finished += 1;
    }

    fn is_over(&self) -> bool {
        self.next == NEVER && self.finished == self.arrived
    }

    fn is_endless(&self) -> bool {
        self.config.limit == Limit::Until(NEVER)
    }

    fn has_arrived(&self) -> bool {
        self.next == NEVER
    }

    fn close(&mut self) {
        self.config.limit = Limit::Until(0);
        self.next = NEVER;
    }

    fn expected_bytes(&self) -> u64 {
        let flows = match self.config.limit {
            Limit::Flows(flows) => flows as f64,
            Limit::Until(NEVER) => return 0,
            Limit::Until(end) => end as f64 / self.config.interval,
        };
        libm::round(flows * self.config.size.exact_mean()) as u64
    }
}
