//! The optimum while flows start and end: a step function of time.

use std::collections::BTreeMap;

use tresse_experiment::plan::Case;
use tresse_units::Time;

use super::beside::MOST_ROUNDS;
use super::together::Together;
use crate::link_events::Links;
use tresse_results::record::flow::Begun;

/// There is no optimum from then on.
#[derive(Debug)]
pub(crate) struct NoOptimum;

/// The optimal goodputs of the active flows, integrated over time.
#[derive(Debug)]
pub(crate) struct Steps<'a> {
    case: &'a Case,
    seed: u64,
    links: Links<'a>,
    /// By the simulator's names.
    live: BTreeMap<u64, Begun>,
    /// The flows since the last one started, by their places there; none if there is none since.
    set: Option<(Vec<u64>, Together)>,
    /// How many sets there were.
    sets: usize,
    /// By name: the integral of its optimal goodput before this set, bit/s times ps.
    areas: BTreeMap<u64, f64>,
    now: Time,
}

/// The sets of flows that are followed: where flows come and go all the time, the optima would cost more than the
/// simulation.
const MOST_SETS: usize = 256;

impl<'a> Steps<'a> {
    /// From `now` on; nothing is there yet.
    pub fn new(case: &'a Case, seed: u64, links: Links<'a>, now: Time) -> Self {
        let (live, areas) = (BTreeMap::new(), BTreeMap::new());
        Self { case, seed, links, live, set: None, sets: 0, areas, now }
    }

    /// Flow `id` starts at `now`, which is no earlier than any time before.
    ///
    /// # Errors
    /// If there is no optimum, or too many were solved.
    pub fn start(&mut self, id: u64, begun: Begun, now: Time) -> Result<(), NoOptimum> {
        if begun.start.round as usize >= MOST_ROUNDS {
            return Err(NoOptimum);
        }
        self.advance(now)?;
        self.end_set()?;
        self.live.insert(id, begun);
        Ok(())
    }

    /// Flow `id` ends at `now`, which is no earlier than any time before.
    ///
    /// # Errors
    /// As [`Steps::start`].
    pub fn end(&mut self, id: u64, now: Time) -> Result<(), NoOptimum> {
        self.advance(now)?;
        self.live.remove(&id);
        if let Some((ids, set)) = &mut self.set
            && let Some(place) = ids.iter().position(|i| *i == id)
        {
            set.end(place, now).map_err(|_| NoOptimum)?;
        }
        Ok(())
    }

    /// The links are other ones from `now` on, which is no earlier than any time before.
    ///
    /// # Errors
    /// As [`Steps::start`].
    pub fn change(&mut self, now: Time, links: &Links<'a>) -> Result<(), NoOptimum> {
        self.advance(now)?;
        self.links = links.clone();
        match &mut self.set {
            Some((_, set)) => set.change(now, links).map_err(|_| NoOptimum),
            None => Ok(()),
        }
    }

    /// By flow: the integral of its optimal goodput since the last call, or the start, until `now`, bit/s times ps.
    ///
    /// # Errors
    /// As [`Steps::start`].
    pub fn take(&mut self, now: Time) -> Result<BTreeMap<u64, f64>, NoOptimum> {
        self.advance(now)?;
        self.collect()?;
        Ok(std::mem::take(&mut self.areas))
    }

    fn advance(&mut self, now: Time) -> Result<(), NoOptimum> {
        if now > self.now && self.set.is_none() && !self.live.is_empty() {
            self.sets += 1;
            let begun: Vec<Begun> = self.live.values().copied().collect();
            let set = Together::of(self.case, self.seed, &begun, self.now, &self.links);
            let set = set.filter(|_| self.sets <= MOST_SETS).ok_or(NoOptimum)?;
            self.set = Some((self.live.keys().copied().collect(), set));
        }
        self.now = now;
        Ok(())
    }

    fn end_set(&mut self) -> Result<(), NoOptimum> {
        self.collect()?;
        self.set = None;
        Ok(())
    }

    fn collect(&mut self) -> Result<(), NoOptimum> {
        let Some((ids, set)) = &mut self.set else { return Ok(()) };
        let areas = set.take(self.now).map_err(|_| NoOptimum)?;
        for (id, area) in ids.iter().zip(areas) {
            *self.areas.entry(*id).or_default() += area;
        }
        Ok(())
    }
}
