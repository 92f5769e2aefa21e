//! The ends of rounds and of the whole replication.

use indexmap::IndexMap;

use super::Engine;
use super::packets::Packets;
use crate::network::Network;
use crate::optimum::beside;
use crate::setup;
use tresse_results::record::outcome::{Outcome, Rows};
use tresse_results::record::recovery::Recoveries;

impl<M, W, E> Engine<'_, M, W>
where
    M: FnMut(Rows) -> Result<(), E>,
    W: Network,
{
    /// The next round begins now, on an empty network.
    pub(super) fn end_round(&mut self) -> Result<(), E> {
        self.settle();
        if self.live.is_empty() {
            self.observe_end()?;
        }
        self.hand_on()?;
        (self.is_whole, self.is_cut) = (true, false);
        Ok(())
    }

    /// Passes on what observers have measured until now.
    fn observe_end(&mut self) -> Result<(), E> {
        for observer in &mut self.observers {
            observer.round_ended(&self.world).map_or(Ok(()), &mut self.measured)?;
        }
        Ok(())
    }

    /// Passes on the flows that have ended since the last time.
    pub(super) fn hand_on(&mut self) -> Result<(), E> {
        self.settle();
        self.handed.hops = self.world.steady_hops();
        // Of a round in the order in which they were started.
        self.batch.sort_unstable_by_key(|flow| (flow.begun.part, flow.record.id));
        let mut ended = std::mem::take(&mut self.batch);
        self.flows.extend(ended.iter().copied());
        let is_round = self.is_whole && !self.is_cut;
        if !is_round {
            self.optima.why_none.get_or_insert_with(|| beside::COME_AND_GO.to_owned());
        }
        let optimum = match is_round && self.complete && self.pilot.is_none() && !ended.is_empty() {
            true => beside::add(&mut self.optima, self.case, self.seed, &ended),
            false => None,
        };
        if !ended.is_empty() {
            (self.measured)(Rows::Flows(&ended, optimum))?;
        }
        ended.clear();
        self.batch = ended;
        if self.handed.jobs < self.jobs.len() {
            (self.measured)(Rows::Jobs(&self.jobs[self.handed.jobs..]))?;
            self.handed.jobs = self.jobs.len();
        }
        Ok(())
    }

    /// Stops everything that has not finished, and returns the measurements and the network as it is then.
    pub fn finish(mut self) -> Result<(Outcome, W), E> {
        self.settle();
        if self.complete {
            let left: Vec<u64> = self.live.keys().copied().collect();
            left.into_iter().for_each(|id| self.stop(id));
        }
        self.observe_end()?;
        self.hand_on()?;
        self.hand_on_packets(true)?;
        if self.complete {
            beside::add_lasting(&mut self.optima, self.case, self.seed, &self.flows, self.world.now());
        }
        self.publish();
        let counters = || self.world.ports().into_iter().map(|port| port.counters);
        let mut outcome = Outcome {
            seed: self.seed,
            complete: self.complete,
            stuck: self.stuck,
            died: None,
            simulated: self.world.now(),
            hops: self.world.hops(),
            lost: counters().map(|c| c.lost).sum(),
            marks: counters().map(|c| c.marks).sum(),
            trims: counters().map(|c| c.trims).sum(),
            mechanisms: self.world.mechanisms(),
            links: setup::totals(&self.world, &self.case.setting.fabric),
            rtts: self.world.rtts(),
            windows: IndexMap::new(),
            converged: Vec::new(),
            recoveries: Recoveries::default(),
            flows: self.flows,
            jobs: self.jobs,
            queues: Vec::new(),
            optima: self.optima,
            packets_end: self.packets.as_ref().and_then(Packets::end),
        };
        self.observers.into_iter().for_each(|observer| observer.finish(&mut outcome));
        if !outcome.converged.is_empty() {
            (self.measured)(Rows::Converged(&outcome.converged))?;
        }
        Ok((outcome, self.world))
    }
}
