//! The samples of a run, and what is computed from them during the run: windows of time, convergence, and recovery from
//! changes of links.

use tresse_experiment::plan::Case;
use tresse_units::Time;

use crate::link_events::Links;
use crate::network::Network;
use crate::observe::Observer;
use crate::observe::convergence::Converging;
use crate::observe::recovery::Recovering;
use crate::observe::sample::Sampler;
use crate::observe::windows::Windows;
use tresse_results::record::flow::Begun;
use tresse_results::record::outcome::{Outcome, Rows};
use tresse_results::record::sample::{Interval, Sample};

/// Takes the samples of a run and passes each interval on to these computations.
#[derive(Debug)]
pub(crate) struct Sampling<'a> {
    case: &'a Case,
    sampler: Sampler<'a>,
    windows: Windows<'a>,
    converging: Option<Converging>,
    recovering: Option<Recovering>,
    /// The interval that ended last.
    last: Interval,
}

impl<'a> Sampling<'a> {
    /// At the start of a run; the first interval ends `interval` ps later.
    pub fn new(case: &'a Case, seed: u64, interval: Time, world: &dyn Network, links: &Links<'a>) -> Self {
        Self {
            case,
            sampler: Sampler::new(case, seed, interval, world, links),
            windows: Windows::new(&case.setting.windows, case.groups.len()),
            converging: case.setting.convergence.map(Converging::new),
            recovering: case.setting.recovery.map(|own| Recovering::new(own, &case.setting.changes)),
            last: Interval::default(),
        }
    }

    /// The current interval ends now.
    fn take(&mut self, world: &dyn Network) -> Rows<'_> {
        let start = self.sampler.since();
        self.last = self.sampler.take(world, &self.case.setting.fabric);
        let there = self.last.subflows.iter().filter(|sample| !sample.is_last_words()).copied();
        let there: Vec<Sample> = there.collect();
        self.windows.add(&there);
        if let Some(converging) = &mut self.converging {
            converging.add(&there);
        }
        if let Some(recovering) = &mut self.recovering {
            recovering.add(start, world.now(), &there);
        }
        Rows::Samples(&self.last)
    }
}

impl<'a> Observer<'a> for Sampling<'a> {
    fn deadline(&self) -> Time {
        self.sampler.until()
    }

    fn flow_started(&mut self, world: &dyn Network, id: u64, flow: &Begun) {
        self.sampler.start(world, id, *flow);
        if let Some(converging) = &mut self.converging {
            converging.start(world.now());
        }
    }

    fn watches_flows(&self) -> bool {
        true
    }

    fn flow_ended(&mut self, world: &dyn Network, id: u64) {
        self.sampler.end(world, id);
        if let Some(converging) = &mut self.converging {
            converging.note(world.now());
        }
    }

    fn links_changed(&mut self, world: &dyn Network, links: &Links<'a>) {
        self.sampler.change(world, links);
        if let Some(converging) = &mut self.converging {
            converging.note(world.now());
        }
    }

    fn at(&mut self, world: &dyn Network) -> Option<Rows<'_>> {
        Some(self.take(world))
    }

    fn round_ended(&mut self, world: &dyn Network) -> Option<Rows<'_>> {
        Some(self.take(world))
    }

    fn finish(self: Box<Self>, outcome: &mut Outcome) {
        outcome.windows = self.windows.finish(outcome.simulated, &self.case.groups);
        outcome.converged = self.converging.map_or_else(Vec::new, Converging::finish);
        outcome.recoveries = self.recovering.map(Recovering::finish).unwrap_or_default();
    }
}
