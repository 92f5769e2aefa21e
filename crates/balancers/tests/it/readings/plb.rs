use super::{Random, Reading};
use tresse_balancers::Feedback;

const ROUNDS: u32 = 12;
const SUSPEND_MS: u32 = 60_000;

pub struct Plb {
    paths: u32,
    random: Random,
    path: u32,
    window: u32,
    round: Vec<Feedback>,
    /// Packets of the current round.
    length: usize,
    congested: u32,
    suspended_until: u64,
}

impl Plb {
    pub fn new(paths: u32, mut random: Random) -> Self {
        let path = random.below(paths);
        let (window, round) = (1, Vec::new());
        Self { paths, random, path, window, round, length: 1, congested: 0, suspended_until: 0 }
    }

    fn change(&mut self) {
        let mut others: Vec<u32> = (self.path + 1..self.paths).chain(0..self.path).collect();
        if !others.is_empty() {
            let chosen = self.random.below(others.len() as u32);
            self.path = others.swap_remove(chosen as usize);
        }
        self.congested = 0;
    }
}

impl Reading for Plb {
    fn pick(&mut self, _: u64, window: u32) -> u32 {
        self.window = window;
        self.path
    }

    fn feedback(&mut self, now: u64, path: u32, what: Feedback) {
        if what == Feedback::Timeout {
            if path == self.path {
                self.change();
                let more = self.random.below(SUSPEND_MS);
                self.suspended_until = now + u64::from(SUSPEND_MS + more) * 1_000_000;
            }
            return;
        }
        if self.round.is_empty() {
            self.length = self.window as usize;
        }
        self.round.push(what);
        if self.round.len() < self.length {
            return;
        }
        let marked = self.round.iter().filter(|&&what| what != Feedback::Good).count();
        let is_congested = 2 * marked >= self.round.len();
        self.round.clear();
        self.congested = if is_congested { (self.congested + 1).min(ROUNDS) } else { 0 };
        if self.congested == ROUNDS && now >= self.suspended_until {
            self.change();
        }
    }
}
