use super::{Laps, Random, Reading};
use tresse_balancers::Feedback;

const AVOID: u64 = 20_000;
const PROBE: u64 = 1_000_000;

#[derive(Clone, Copy, PartialEq)]
enum State {
    Usable,
    Avoided {
        until: u64,
    },
    /// `due`: when it may be probed.
    Retired {
        due: u64,
        probed: bool,
    },
}

pub struct Mrc {
    laps: Laps,
    states: Vec<State>,
}

impl Mrc {
    pub fn new(paths: u32, random: Random) -> Self {
        Self { laps: Laps::new(paths, random), states: vec![State::Usable; paths as usize] }
    }

    fn may_be_taken(&self, now: u64, path: u32) -> bool {
        match self.states[path as usize] {
            State::Usable => true,
            State::Avoided { until } => now >= until,
            State::Retired { due, .. } => now >= due,
        }
    }
}

impl Reading for Mrc {
    fn pick(&mut self, now: u64, _: u32) -> u32 {
        let paths = self.states.len() as u32;
        let is_any = |wanted: &dyn Fn(u32) -> bool| (0..paths).any(wanted);
        let is_avoided = |path: u32| matches!(self.states[path as usize], State::Avoided { .. });
        let path = if is_any(&|path| self.may_be_taken(now, path)) {
            loop {
                let path = self.laps.next();
                if self.may_be_taken(now, path) {
                    break path;
                }
            }
        } else {
            // The whole walk is made, and its numbers are drawn, before it goes back to the chosen one.
            let avoided = is_any(&is_avoided);
            let mut walk = self.laps.clone();
            let mut found = None;
            for _ in 1..2 * paths {
                let path = walk.next();
                if found.is_none() && (is_avoided(path) || !avoided) {
                    found = Some((path, walk.clone()));
                }
            }
            let (path, mut behind) = found.expect("every path comes by");
            behind.random = walk.random;
            self.laps = behind;
            path
        };
        let state = &mut self.states[path as usize];
        *state = match *state {
            State::Retired { .. } => State::Retired { due: now + PROBE, probed: true },
            State::Avoided { until } if now < until => *state,
            _ => State::Usable,
        };
        path
    }

    fn feedback(&mut self, now: u64, path: u32, what: Feedback) {
        let state = &mut self.states[path as usize];
        *state = match (what, *state) {
            (Feedback::Timeout, _) => State::Retired { due: now + PROBE, probed: false },
            (_, State::Retired { probed: false, .. }) => *state,
            (Feedback::Good, State::Retired { probed: true, .. }) => State::Usable,
            (Feedback::Good, _) => *state,
            (Feedback::Ecn | Feedback::Trim, _) => State::Avoided { until: now + AVOID },
        };
    }

    fn alive(&self, now: u64, path: u32) -> bool {
        !matches!(self.states[path as usize], State::Retired { due, .. } if now < due)
    }
}
