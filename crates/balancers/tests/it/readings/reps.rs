use std::collections::VecDeque;

use super::{Random, Reading};
use tresse_balancers::Feedback;

const RING: usize = 8;
const FREEZE: u64 = 10_000_000;
const EXPLORE: u32 = 16;

enum Mode {
    Usual,
    /// `turn`: the index in the ring, from 0 for the oldest, of the next one taken.
    Frozen {
        since: u64,
        turn: usize,
    },
    Exploring {
        left: u32,
    },
}

pub struct Reps {
    paths: u32,
    random: Random,
    mode: Mode,
    /// Oldest first, each with a flag for fresh ones.
    ring: VecDeque<(u32, bool)>,
}

impl Reps {
    pub fn new(paths: u32, random: Random) -> Self {
        Self { paths, random, mode: Mode::Usual, ring: VecDeque::new() }
    }

    fn pass(&mut self, now: u64) {
        if matches!(self.mode, Mode::Frozen { since, .. } if now - since >= FREEZE) {
            self.ring.clear();
            self.mode = Mode::Exploring { left: EXPLORE };
        }
    }
}

impl Reading for Reps {
    fn pick(&mut self, now: u64, _: u32) -> u32 {
        self.pass(now);
        if let Mode::Exploring { left } = &mut self.mode {
            *left -= 1;
            if *left == 0 {
                self.mode = Mode::Usual;
            }
            return self.random.below(self.paths);
        }
        if let Some((path, fresh)) = self.ring.iter_mut().find(|(_, fresh)| *fresh) {
            *fresh = false;
            return *path;
        }
        match &mut self.mode {
            Mode::Frozen { turn, .. } if !self.ring.is_empty() => {
                let path = self.ring[*turn].0;
                *turn = (*turn + 1) % self.ring.len();
                path
            }
            _ => self.random.below(self.paths),
        }
    }

    fn feedback(&mut self, now: u64, path: u32, what: Feedback) {
        self.pass(now);
        match (what, &mut self.mode) {
            (Feedback::Good, mode) => {
                if self.ring.len() == RING {
                    self.ring.pop_front();
                    // The new one is in its place, and in its turn.
                    if let Mode::Frozen { turn, .. } = mode {
                        *turn = (*turn + RING - 1) % RING;
                    }
                }
                self.ring.push_back((path, true));
            }
            (Feedback::Timeout, Mode::Usual) => self.mode = Mode::Frozen { since: now, turn: 0 },
            _ => {}
        }
    }

    fn alive(&self, now: u64, path: u32) -> bool {
        match self.mode {
            Mode::Frozen { since, .. } if now - since < FREEZE && !self.ring.is_empty() => {
                self.ring.iter().any(|(known, _)| *known == path)
            }
            _ => true,
        }
    }
}
