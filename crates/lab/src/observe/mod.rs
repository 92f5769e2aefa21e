//! Observers of a case while it runs.

pub mod convergence;
pub mod path_sharing_score;
pub mod ports;
pub mod queues;
pub mod recovery;
pub mod sample;
pub(crate) mod sampling;
pub mod windows;

use tresse_experiment::plan::Case;
use tresse_units::{NEVER, Time};

use crate::link_events::Links;
use crate::network::Network;
use crate::observe::queues::QueueSampler;
use crate::observe::sampling::Sampling;
use tresse_results::record::flow::Begun;
use tresse_results::record::outcome::{Outcome, Rows};

/// Measures a case while it runs. It is notified of rare events, never of packets, and does not
/// change the simulation.
pub(crate) trait Observer<'a> {
    /// When it observes next, by calling [`Observer::at`].
    fn deadline(&self) -> Time {
        NEVER
    }

    /// A flow has just started; `id` is the simulator's name for it.
    fn flow_started(&mut self, _world: &dyn Network, _id: u64, _flow: &Begun) {}

    /// Whether it looks at flows when they end.
    fn watches_flows(&self) -> bool {
        false
    }

    /// A flow has finished, or was stopped: just now if somebody watches flows.
    fn flow_ended(&mut self, _world: &dyn Network, _id: u64) {}

    /// Links have just changed.
    fn links_changed(&mut self, _world: &dyn Network, _links: &Links<'a>) {}

    /// Its time has come; returns what it hands on.
    fn at(&mut self, _world: &dyn Network) -> Option<Rows<'_>> {
        None
    }

    /// A round, or the whole case, is over before it was due to observe again; returns what it hands on.
    fn round_ended(&mut self, _world: &dyn Network) -> Option<Rows<'_>> {
        None
    }

    /// The case is over: it adds what it found.
    fn finish(self: Box<Self>, outcome: &mut Outcome);
}

/// The observers that `case` requests, at the start of its run under `seed`.
pub(crate) fn observers<'a>(
    case: &'a Case,
    seed: u64,
    world: &dyn Network,
    links: &Links<'a>,
) -> Vec<Box<dyn Observer<'a> + 'a>> {
    let mut observers: Vec<Box<dyn Observer<'a> + 'a>> = Vec::new();
    if let Some(interval) = case.setting.samples {
        observers.push(Box::new(Sampling::new(case, seed, interval, world, links)));
    }
    if let Some(interval) = case.setting.queues {
        observers.push(Box::new(QueueSampler::new(&case.setting.fabric, interval, world.now())));
    }
    observers
}
