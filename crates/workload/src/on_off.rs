//! Flows that send for a while and are silent for a while.

use std::collections::BTreeSet;

use tresse_units::{NEVER, Stream, Time};

use crate::source::{Action, Source, Start};
use crate::span::Span;

/// The settings of [`OnOff`].
#[derive(Debug, Clone)]
pub struct OnOffConfig {
    /// The sender and the receiver of each flow.
    pub flows: Vec<(u32, u32)>,
    /// How long a flow sends; above 0.
    pub on: Span,
    /// How long it is then silent.
    pub off: Span,
    /// When all begin to send, ps.
    pub start: Time,
    /// When all end, ps; [`NEVER`] if they continue.
    pub stop: Time,
    /// The run's seed.
    pub seed: u64,
}

/// Flows that send while they are on: VMCC Fig. 4 has UDP that is on for 5 s and off for 5 s. This source
/// does not know their rate.
///
/// Every period is a separate flow, without an end, that is started and stopped; the k-th one of flow i has
/// the name i << 32 | k, and its own draws.
#[derive(Debug)]
pub struct OnOff {
    config: OnOffConfig,
    /// When each flow changes next.
    changes: BTreeSet<(Time, u32)>,
    /// For each flow: the periods before this one, and whether it sends.
    states: Vec<(u32, bool)>,
}

impl OnOff {
    /// At time 0.
    pub fn new(config: OnOffConfig) -> Self {
        let flows = config.flows.len() as u32;
        let begins = config.start < config.stop;
        Self {
            changes: (0..flows).filter(|_| begins).map(|flow| (config.start, flow)).collect(),
            states: vec![(0, false); flows as usize],
            config,
        }
    }
}

impl Source for OnOff {
    fn next(&self) -> Time {
        self.changes.first().map_or(NEVER, |&(time, _)| time)
    }

    fn poll(&mut self, now: Time) -> Option<Action> {
        let &(time, flow) = self.changes.first().filter(|&&(time, _)| time <= now)?;
        self.changes.remove(&(time, flow));
        let (period, is_on) = &mut self.states[flow as usize];
        let name = u64::from(flow) << 32 | u64::from(*period);
        let seed = self.config.seed;
        if *is_on {
            (*period, *is_on) = (*period + 1, false);
            let next = time.saturating_add(self.config.off.draw(&mut Stream::new(seed, "off", name)));
            if next < self.config.stop {
                self.changes.insert((next, flow));
            }
            return Some(Action::Stop(name));
        }
        *is_on = true;
        // At least 1 ps, so that time advances.
        let on = self.config.on.draw(&mut Stream::new(seed, "on", name)).max(1);
        self.changes.insert((time.saturating_add(on).min(self.config.stop), flow));
        let (from, to) = self.config.flows[flow as usize];
        Some(Action::Start(Start { name, from, to, bytes: None, round: 0, job: None, deadline: None }))
    }

    fn handle_finished(&mut self, _now: Time, name: u64) {
        unreachable!("flow {name} has no end: it is stopped");
    }

    fn is_over(&self) -> bool {
        self.changes.is_empty()
    }

    fn is_endless(&self) -> bool {
        self.config.stop == NEVER
    }

    /// No flow has an end.
    fn expected_bytes(&self) -> u64 {
        0
    }
}
