//! A failure is confirmed under other seeds and made as simple as it can be while it stays.

use std::collections::BTreeSet;

use tresse_controllers::Controller;

use super::condition::{ALL, Condition, GENES, Of, Space};
use super::goal::Goal;
use super::measure::Experiment;
use super::search::Elite;
use super::text;
use crate::failure::Failure;
use crate::interrupt::Interrupt;

/// The seed of the search, and those under which what it found must stay.
pub const SEARCHED: u64 = 1;
pub const SEEDS: [u64; 5] = [2, 3, 4, 5, 6];

/// A simpler condition keeps this share of the confirmed value.
const KEPT: f64 = 0.9;

/// What is challenged, and within which bounds.
#[derive(Debug, Clone, Copy)]
pub struct Challenged<'a> {
    pub controller: Controller,
    pub space: &'a Space,
    pub interrupt: &'a Interrupt,
}

/// A failure that stays under other seeds.
#[derive(Debug, Clone)]
pub struct Confirmed {
    pub condition: Condition,
    /// By [`SEEDS`].
    pub values: Vec<f64>,
}

impl Confirmed {
    /// The median over the seeds.
    pub fn median(&self) -> f64 {
        median(&self.values)
    }
}

/// The median of an odd number of values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

impl Challenged<'_> {
    /// The experiment of a condition.
    pub fn experiment(&self, condition: &Condition, title: &str) -> Experiment {
        Experiment { name: title.to_owned(), text: text::toml(condition, self.controller, title) }
    }

    /// Confirms what was found, and makes it simpler; `None` if other seeds do not show it.
    ///
    /// # Errors
    /// If a run does not end.
    pub fn shrink(&self, goal: &'static Goal, elite: &Elite) -> Result<Option<Confirmed>, Failure> {
        let Some(mut best) = self.stays(goal, elite.condition, goal.bad_from)? else { return Ok(None) };
        let least = goal.bad_from.max(KEPT * best.median());
        let mut tried = BTreeSet::from([best.condition]);
        loop {
            let before = best.condition;
            for &of in ALL.iter().filter(|&&of| of != Of::Network) {
                // The simplest level at once; where that is too much, one level after the other.
                for most in [u8::MAX, 1] {
                    while let Some(simpler) = self.simpler(goal, &best.condition, of, most) {
                        if !tried.insert(simpler) {
                            break;
                        }
                        match self.stays(goal, simpler, least)? {
                            Some(stays) => best = stays,
                            None => break,
                        }
                    }
                }
            }
            if best.condition == before {
                return Ok(Some(best));
            }
        }
    }

    /// The condition with a level nearer to the simplest one, by at most `most` steps.
    fn simpler(&self, goal: &Goal, condition: &Condition, of: Of, most: u8) -> Option<Condition> {
        let (own, plain) = (condition.at(of), GENES[of as usize].plain);
        let away = |level: u8| level.abs_diff(plain);
        let nearer = self.space.levels(of).iter().copied().filter(|&level| away(level) < away(own));
        let level = match most {
            1 => nearer.max_by_key(|&level| away(level)),
            _ => nearer.min_by_key(|&level| away(level)),
        }?;
        let ecn = self.controller.needs_ecn();
        let made = goal.fit(condition.with(of, level), condition.network(), self.space, ecn);
        // What fits may have put the level back, or others up.
        (complexity(&made) < complexity(condition)).then_some(made)
    }

    /// The values under the other seeds, if their median is at least `least`.
    fn stays(
        &self,
        goal: &'static Goal,
        condition: Condition,
        least: f64,
    ) -> Result<Option<Confirmed>, Failure> {
        let experiment = self.experiment(&condition, "a condition of the challenge");
        let (mut values, mut below) = (Vec::new(), 0);
        for seed in SEEDS {
            if self.interrupt.asked() {
                return Err(Failure::Interrupted);
            }
            let value = experiment.measure(&[goal], seed, self.interrupt)?[0];
            values.push(value.unwrap_or(0.0));
            below += usize::from(value.is_none_or(|value| value < least));
            if below > SEEDS.len() / 2 {
                return Ok(None);
            }
        }
        Ok(Some(Confirmed { condition, values }))
    }
}

/// How many levels a condition is away from the simplest one.
fn complexity(condition: &Condition) -> u32 {
    ALL.iter().map(|&of| u32::from(condition.at(of).abs_diff(GENES[of as usize].plain))).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[0.9, 0.1, 0.5, 0.2, 0.7]), 0.5);
    }
}
