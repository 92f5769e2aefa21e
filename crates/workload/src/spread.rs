//! Flows whose starts are spread over a window.

use tresse_units::{NEVER, Stream, Time};

use crate::pairs::Pairs;
use crate::size::Size;
use crate::source::{Action, Source, Start};

/// The settings of [`Spread`].
#[derive(Debug, Clone)]
pub struct SpreadConfig {
    /// Who sends to whom.
    pub pairs: Pairs,
    /// The sizes of the flows.
    pub size: Size,
    /// How many flows there are.
    pub flows: u32,
    /// They start at uniform times below this, ps; all at once if it is 0.
    pub window: Time,
    /// The run's seed.
    pub seed: u64,
}

/// OPN §Performance evaluation: a number of flows between random pairs of hosts, which start at uniform times
/// within a window. The draws of flow n, whose name is n, depend only on the seed and on n.
#[derive(Debug)]
pub struct Spread {
    config: SpreadConfig,
    /// The flows by start time, and by number within a time.
    starts: Vec<(Time, u32)>,
    started: usize,
    finished: usize,
}

impl Spread {
    /// At the start, time 0.
    pub fn new(config: SpreadConfig) -> Self {
        let start = |n: u32| match config.window {
            0 => 0,
            window => Stream::new(config.seed, "start", n.into()).below(window),
        };
        let mut starts: Vec<_> = (0..config.flows).map(|n| (start(n), n)).collect();
        starts.sort_unstable();
        Self { config, starts, started: 0, finished: 0 }
    }
}

impl Source for Spread {
    fn next(&self) -> Time {
        self.starts.get(self.started).map_or(NEVER, |&(start, _)| start)
    }

    fn poll(&mut self, now: Time) -> Option<Action> {
        let &(_, n) = self.starts.get(self.started).filter(|&&(start, _)| start <= now)?;
        self.started += 1;
        let (name, seed) = (u64::from(n), self.config.seed);
        let (from, to) = self.config.pairs.draw(&mut Stream::new(seed, "pair", name));
        let bytes = Some(self.config.size.draw(&mut Stream::new(seed, "flow size", name)));
        Some(Action::Start(Start { name, from, to, bytes, round: 0, job: None, deadline: None }))
    }

    fn handle_finished(&mut self, _now: Time, _name: u64) {
        self.finished += 1;
    }

    fn is_over(&self) -> bool {
        self.finished == self.starts.len()
    }

    fn is_endless(&self) -> bool {
        false
    }

    fn has_arrived(&self) -> bool {
        self.started == self.starts.len()
    }

    fn expected_bytes(&self) -> u64 {
        self.config.size.mean().saturating_mul(self.config.flows.into())
    }
}
