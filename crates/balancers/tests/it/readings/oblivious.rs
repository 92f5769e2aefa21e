use super::{Laps, Random, Reading};
use tresse_balancers::Feedback;

pub struct Oblivious(Laps);

impl Oblivious {
    pub fn new(paths: u32, random: Random) -> Self {
        Self(Laps::new(paths, random))
    }
}

impl Reading for Oblivious {
    fn pick(&mut self, _: u64, _: u32) -> u32 {
        self.0.next()
    }

    fn feedback(&mut self, _: u64, _: u32, _: Feedback) {}
}
