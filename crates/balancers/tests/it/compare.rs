//! Each balancer against its independent implementation, over random connections.

use std::collections::VecDeque;
use std::sync::Arc;

use tresse_balancers::{ConfiguredBalancer, Feedback, MAX_PATHS, Spread, built_in};
use tresse_units::SplitMix;

use crate::readings::reading;

/// The network of a connection: the fates of packets depend on their paths, and change over time.
struct Network {
    random: SplitMix,
    /// For each path, the chances in 256 of a mark, a trim and a loss.
    chances: Vec<[u64; 3]>,
}

impl Network {
    fn new(random: SplitMix, paths: u32) -> Self {
        Self { random, chances: vec![[0; 3]; paths as usize] }
    }

    /// Some paths become better, or worse.
    fn change(&mut self) {
        for chances in &mut self.chances {
            *chances = match self.random.below(8) {
                0 => [200, 20, 0],
                1 => [0, 200, 10],
                2 => [0, 0, 256],
                3 => [40, 10, 4],
                _ => [2, 0, 0],
            };
        }
    }

    fn what_becomes_of(&mut self, path: u32) -> Feedback {
        let [mark, trim, loss] = self.chances[path as usize];
        match self.random.below(256) {
            n if n < loss => Feedback::Timeout,
            n if n < loss + trim => Feedback::Trim,
            n if n < loss + trim + mark => Feedback::Ecn,
            _ => Feedback::Good,
        }
    }
}

/// Sends packets through both, a window of them in flight, and compares every answer.
fn compare(name: &str, seed: u64, paths: u32, packets: u32) {
    let balancer = tresse_balancers::find(name).expect("it is built in");
    let scheme = Arc::new(ConfiguredBalancer::new(balancer, []).expect("defaults"));
    let mut random = SplitMix::named(seed, 1, paths.into());
    let stream = random.next();
    let mut spread = Spread::new(scheme, paths, stream);
    let mut reading = reading(name, paths, stream);
    let mut network = Network::new(SplitMix::named(seed, 2, paths.into()), paths);
    let mut in_flight = VecDeque::new();
    let (mut now, mut window) = (random.below(1 << 40), 1 + random.below(40) as u32);
    for sequence in 0..packets {
        if random.below(100) == 0 {
            network.change();
        }
        now += match random.below(300) {
            0 => 3_000_000_000 * random.below(60),
            1..=3 => 5_000_000,
            4..=12 => 300_000,
            _ => random.below(2_000),
        };
        if random.below(10) == 0 {
            window = 1 + random.below(40) as u32;
        }
        let picked = spread.pick(now, window, sequence);
        let expected = reading.pick(now, window);
        assert_eq!(picked, expected, "{name}: packet {sequence} of seed {seed}, {paths} paths");
        in_flight.push_back(picked);
        while in_flight.len() > window as usize {
            // Not quite in order.
            let which = random.below(in_flight.len().min(4) as u64) as usize;
            let path = in_flight.remove(which).expect("so many are in flight");
            let what = network.what_becomes_of(path);
            now += random.below(200);
            spread.feedback(now, path, what);
            reading.feedback(now, path, what);
            for path in (0..paths).step_by(1 + paths as usize / 50) {
                let at = now + random.below(50_000);
                let alive = (spread.alive(path), spread.alive_at(at, path));
                let expected = (reading.alive(now, path), reading.alive(at, path));
                assert_eq!(alive, expected, "{name}: {path} after packet {sequence} of seed {seed}");
            }
        }
    }
}

#[test]
fn every_balancer_is_what_its_source_says() {
    for balancer in built_in() {
        for seed in 0..40 {
            for paths in [1, 2, 3, 7, 8, 33, 100] {
                compare(balancer.name(), seed, paths, 800);
            }
        }
        for paths in [2049, MAX_PATHS] {
            compare(balancer.name(), 1, paths, 3000);
        }
    }
}
