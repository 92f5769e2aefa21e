//! The search: an archive with the worst condition of each goal in each kind of network (MAP-Elites; Mouret and Clune,
//! 2015), from which new conditions are varied.
//!
//! Quantities are levels, not numbers, so variation is a step from one level to the next. What is tried depends on the
//! seed and on the values of earlier batches alone: not on the machine, nor on how many runs go at a time.

use std::collections::{BTreeMap, BTreeSet};

use tresse_controllers::Controller;
use tresse_units::SplitMix;

use super::condition::{Condition, Network, Space};
use super::goal::Goal;

/// How many conditions are tried before the archive is looked at again, on every machine.
pub const BATCH: u64 = 16;

/// Tells the draws of the search from others under the same seed.
const PURPOSE: u64 = 0x6368_616c_6c65_6e67;

/// How often a condition that was tried before is varied again.
const AGAIN: u32 = 8;

/// A goal in a kind of network. Losses and rare ACKs make everything worse, so what happens without them is kept apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    pub goal: &'static Goal,
    pub network: Network,
    /// See [`Condition::is_hindered`].
    pub is_hindered: bool,
}

/// The worst condition of a cell.
#[derive(Debug, Clone, Copy)]
pub struct Elite {
    pub condition: Condition,
    /// The goal's value under the search's one seed.
    pub value: f64,
    /// Which candidate it was, from 1.
    pub candidate: u64,
}

impl Cell {
    /// The conditions of this cell that are most like `condition`: none if the bounds leave none.
    fn ways(&self, condition: Condition, space: &Space, ecn: bool) -> Vec<Condition> {
        let fit = |made: Condition| self.goal.fit(made, self.network, space, ecn);
        if !self.is_hindered {
            return space.unhindered(condition).map(fit).into_iter().collect();
        }
        let own = fit(condition);
        if own.is_hindered() {
            return vec![own];
        }
        let with = space.hindrances().into_iter().map(|(of, level)| fit(condition.with(of, level)));
        with.filter(Condition::is_hindered).collect()
    }
}

/// A search in progress.
#[derive(Debug)]
pub struct Search {
    space: Space,
    ecn: bool,
    seed: u64,
    cells: Vec<Cell>,
    elites: BTreeMap<usize, Elite>,
    tried: BTreeSet<Condition>,
    /// How many candidates were tried.
    pub candidates: u64,
}

impl Search {
    /// A search for these goals.
    pub fn new(controller: Controller, space: Space, goals: &[&'static Goal], seed: u64) -> Self {
        let ecn = controller.needs_ecn();
        let plain = space.draw(&mut SplitMix::new(seed));
        let mut cells = Vec::new();
        for &goal in goals {
            for network in goal.networks(&space) {
                let both = [false, true].map(|is_hindered| Cell { goal, network, is_hindered });
                cells.extend(both.into_iter().filter(|cell| !cell.ways(plain, &space, ecn).is_empty()));
            }
        }
        Self { space, ecn, seed, cells, elites: BTreeMap::new(), tried: BTreeSet::new(), candidates: 0 }
    }

    /// The next conditions to try, at most `count`, and what is to be measured in each: nothing in one that was tried
    /// before.
    pub fn batch(&mut self, count: u64) -> Vec<(Condition, Vec<&'static Goal>)> {
        let first = self.candidates;
        (first..first + count.min(BATCH))
            .map(|candidate| {
                let condition = self.next(candidate);
                let is_new = self.tried.insert(condition);
                (condition, if is_new { self.goals_in(&condition) } else { Vec::new() })
            })
            .collect()
    }

    /// What can be measured in a condition.
    fn goals_in(&self, condition: &Condition) -> Vec<&'static Goal> {
        let mut goals: Vec<&'static Goal> = Vec::new();
        for Cell { goal, .. } in &self.cells {
            if goals.last().is_none_or(|last| last.name != goal.name)
                && goal.is_in(condition, &self.space, self.ecn)
            {
                goals.push(goal);
            }
        }
        goals
    }

    /// A condition for the cell whose turn it is: mostly its worst one, varied; else a random one.
    fn next(&self, candidate: u64) -> Condition {
        let mut random = SplitMix::named(self.seed, PURPOSE, candidate);
        let at = (candidate % self.cells.len() as u64) as usize;
        let mut made = self.draw(at, &mut random);
        for _ in 0..AGAIN {
            let fits = self.fit(at, made, &mut random);
            if !self.tried.contains(&fits) {
                return fits;
            }
            made = self.space.vary(&made, &mut random);
        }
        self.fit(at, made, &mut random)
    }

    /// The condition of a cell that is most like `made`.
    fn fit(&self, at: usize, made: Condition, random: &mut SplitMix) -> Condition {
        let ways = self.cells[at].ways(made, &self.space, self.ecn);
        ways[random.below(ways.len() as u64) as usize]
    }

    fn draw(&self, at: usize, random: &mut SplitMix) -> Condition {
        let Cell { goal, is_hindered, .. } = self.cells[at];
        // What is bad in one network may be so in another.
        let kin = || {
            let of_goal = |(other, _): &(&usize, &Elite)| {
                let other = self.cells[**other];
                other.goal == goal && other.is_hindered == is_hindered
            };
            self.elites
                .iter()
                .filter(of_goal)
                .map(|(_, elite)| elite)
                .max_by(|a, b| a.value.total_cmp(&b.value))
        };
        let parent = match random.below(8) {
            0 | 1 => None,
            2 => kin(),
            _ => self.elites.get(&at),
        };
        match parent {
            Some(elite) => self.space.vary(&elite.condition, random),
            None => self.space.draw(random),
        }
    }

    /// Takes the values of a batch, in its order; returns the cells that got worse.
    pub fn learn(
        &mut self,
        batch: &[(Condition, Vec<&'static Goal>)],
        values: &[Vec<Option<f64>>],
    ) -> Vec<(Cell, Elite)> {
        let mut worse = Vec::new();
        for ((condition, goals), values) in batch.iter().zip(values) {
            self.candidates += 1;
            for (goal, value) in goals.iter().zip(values) {
                let Some(value) = *value else { continue };
                let is_hindered = condition.is_hindered();
                let cell = Cell { goal, network: condition.network(), is_hindered };
                let at = self.cells.iter().position(|own| *own == cell);
                let at = at.expect("only what its network allows is measured");
                if self.elites.get(&at).is_none_or(|elite| value > elite.value) {
                    let elite = Elite { condition: *condition, value, candidate: self.candidates };
                    self.elites.insert(at, elite);
                    worse.push((cell, elite));
                }
            }
        }
        worse
    }

    /// The worst condition of each cell, in the order of the goals.
    pub fn elites(&self) -> Vec<(Cell, Elite)> {
        self.elites.iter().map(|(&at, &elite)| (self.cells[at], elite)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::challenge::condition::Of;
    use crate::challenge::goal::GOALS;

    /// A value that follows from the condition: how near it is to one place, in eight of its quantities.
    fn value(condition: &Condition) -> f64 {
        let near = |&(of, place): &(Of, u8)| 1.0 / f64::from(1 + condition.at(of).abs_diff(place));
        const PLACE: [(Of, u8); 8] = [
            (Of::Rate, 2),
            (Of::Rtt, 1),
            (Of::Buffer, 4),
            (Of::Mark, 1),
            (Of::Flows, 4),
            (Of::HostQueue, 1),
            (Of::Subflows, 3),
            (Of::Start, 1),
        ];
        mean(&PLACE.iter().map(near).collect::<Vec<f64>>())
    }

    /// A search for such values.
    fn search(seed: u64, candidates: u64) -> Search {
        let xmp = tresse_controllers::find("xmp").expect("it is built in");
        let goals: Vec<&'static Goal> = GOALS.iter().collect();
        let mut search = Search::new(xmp, Space::whole(4), &goals, seed);
        while search.candidates < candidates {
            let batch = search.batch(candidates - search.candidates);
            let values: Vec<Vec<Option<f64>>> =
                batch.iter().map(|(c, goals)| vec![Some(value(c)); goals.len()]).collect();
            search.learn(&batch, &values);
        }
        search
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn a_seed_tries_the_same_and_another_one_others() {
        let of = |seed| search(seed, 200).tried;
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn it_climbs_and_fills_every_cell() {
        let search = search(1, 600);
        let elites = search.elites();
        assert_eq!(elites.len(), search.cells.len());
        assert!(search.tried.len() > 570, "{}", search.tried.len());
        let found: Vec<f64> = elites.iter().map(|(_, elite)| elite.value).collect();
        // As many conditions drawn at random, each of which counts in every cell that it suits.
        let mut random = SplitMix::new(1);
        let mut drawn = vec![0.0_f64; search.cells.len()];
        for candidate in 0..600 {
            let at = candidate % search.cells.len();
            let condition = search.fit(at, search.space.draw(&mut random), &mut random);
            for goal in search.goals_in(&condition) {
                let is_hindered = condition.is_hindered();
                let cell = Cell { goal, network: condition.network(), is_hindered };
                let at =
                    search.cells.iter().position(|own| *own == cell).expect("its goal is measured there");
                drawn[at] = drawn[at].max(value(&condition));
            }
        }
        assert!(mean(&found) > mean(&drawn) + 0.1, "{} {}", mean(&found), mean(&drawn));
    }
}
