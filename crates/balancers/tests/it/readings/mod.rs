//! The balancers' rules, implemented again from their sources: no state is packed, and nothing is shared with
//! the C files.

mod bitmap;
mod mixed;
mod mrc;
mod oblivious;
mod plb;
mod reps;

use tresse_balancers::Feedback;
use tresse_units::{SplitMix, mix};

/// A connection's balancer. Times are ns.
pub trait Reading {
    fn pick(&mut self, now: u64, window: u32) -> u32;
    fn feedback(&mut self, now: u64, path: u32, what: Feedback);
    fn alive(&self, _now: u64, _path: u32) -> bool {
        true
    }
}

/// The implementation of the balancer `name` with its default parameters.
pub fn reading(name: &str, paths: u32, stream: u64) -> Box<dyn Reading> {
    let random = Random::new(stream);
    match name {
        "oblivious" => Box::new(oblivious::Oblivious::new(paths, random)),
        "bitmap" => Box::new(bitmap::Bitmap::new(paths, random)),
        "reps" => Box::new(reps::Reps::new(paths, random)),
        "mixed" => Box::new(mixed::Mixed::new(paths, random)),
        "mrc" => Box::new(mrc::Mrc::new(paths, random)),
        "plb" => Box::new(plb::Plb::new(paths, random)),
        _ => panic!("{name} has no reading"),
    }
}

/// The connection's numbers.
#[derive(Clone)]
pub struct Random(SplitMix);

impl Random {
    fn new(stream: u64) -> Self {
        Self(SplitMix::new(mix(stream)))
    }

    fn below(&mut self, n: u32) -> u32 {
        ((u128::from(self.0.next() >> 32) * u128::from(n)) >> 32) as u32
    }
}

/// Laps over all paths: each lap's order is written down when it begins.
#[derive(Clone)]
pub struct Laps {
    paths: u32,
    pub random: Random,
    rest: Vec<u32>,
}

impl Laps {
    fn new(paths: u32, random: Random) -> Self {
        Self { paths, random, rest: Vec::new() }
    }

    fn next(&mut self) -> u32 {
        if self.rest.is_empty() {
            let all = self.paths.next_power_of_two();
            let mask = self.random.below(all);
            let lap = (0..all).map(|index| index ^ mask).filter(|&path| path < self.paths);
            self.rest = lap.collect();
            self.rest.reverse();
        }
        self.rest.pop().expect("a lap has every path")
    }
}
