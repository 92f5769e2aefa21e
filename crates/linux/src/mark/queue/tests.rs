//! The virtual queue against a second implementation of generalized processor sharing, in floats and from one
//! event (a class runs empty) to the next.

use proptest::prelude::*;

use super::super::{Class as Named, Length, Match, Settings};
use super::{Config, Setup, Shared, State};

const FRAME: u32 = 1514;

fn settings(rate_bps: u64, packets: u64, weights: &[u32]) -> Settings {
    let class = |(i, &weight): (usize, &u32)| Named {
        name: format!("c{i}"),
        weight,
        rule: Match::Mark(i as u32),
        threshold: None,
    };
    let classes = weights.iter().enumerate().map(class).collect();
    Settings { rate_bps, threshold: Length::Packets(packets), classes }
}

fn config(rate_bps: u64, packets: u64, weights: &[u32]) -> Config {
    Config::new(&settings(rate_bps, packets, weights), FRAME).expect("they are in range")
}

/// A fluid server of `rate` bytes a ns.
struct Fluid {
    rate: f64,
    weights: Vec<f64>,
    backlog: Vec<f64>,
}

impl Fluid {
    fn of(config: &Config) -> Self {
        let weights: Vec<_> = config.class.iter().map(|c| f64::from(c.weight)).collect();
        Self { rate: config.drain as f64 / 2f64.powi(32), backlog: vec![0.0; weights.len()], weights }
    }

    fn serve(&mut self, mut ns: f64) {
        loop {
            let active: Vec<_> = (0..self.backlog.len()).filter(|&i| self.backlog[i] > 0.0).collect();
            let sum: f64 = active.iter().map(|&i| self.weights[i]).sum();
            let first = active.iter().map(|&i| self.backlog[i] * sum / (self.rate * self.weights[i]));
            let Some(first) = first.min_by(f64::total_cmp) else { return };
            let step = first.min(ns);
            for i in active {
                self.backlog[i] -= step * self.rate * self.weights[i] / sum;
                // The rounding error of floats at 0.
                if self.backlog[i] < 1e-6 {
                    self.backlog[i] = 0.0;
                }
            }
            ns -= step;
            if ns <= 0.0 {
                return;
            }
        }
    }
}

fn arrivals() -> impl Strategy<Value = (u64, Vec<u32>, Vec<(u64, usize, u32)>)> {
    let rate = prop_oneof![Just(1_000_000), Just(100_000_000), Just(10_000_000_000), Just(400_000_000_000)];
    (rate, prop::collection::vec(1u32..=1000, 0..=8)).prop_flat_map(|(rate, weights)| {
        // Gaps of up to three full frames: the queue grows, shrinks and runs empty.
        let frame_ns = u64::from(FRAME) * 8 * 1_000_000_000 / rate;
        let one = (0..=3 * frame_ns, 0..=weights.len(), 60u32..=FRAME);
        (Just(rate), Just(weights), prop::collection::vec(one, 1..200))
    })
}

proptest! {
    #[test]
    fn backlogs_and_marks_are_those_of_the_fluid_server((rate, weights, packets) in arrivals()) {
        let config = config(rate, 100, &weights);
        let (mut queue, mut fluid) = (State::default(), Fluid::of(&config));
        let mut now = 1;
        queue.drain(&config, now);
        for (gap, class, bytes) in packets {
            now += gap;
            fluid.serve(gap as f64);
            let found = fluid.backlog[class];
            let active: f64 = (0..fluid.weights.len())
                .filter(|&i| i == class || fluid.backlog[i] > 0.0)
                .map(|i| fluid.weights[i])
                .sum();
            let share = f64::from(config.threshold) * fluid.weights[class] / active;
            let limit = share.floor().max(f64::from(config.floor));

            let marked = queue.arrive(&config, class, bytes, now);
            // The other's activity may depend on rounding, and then decides the share.
            let doubtful = fluid.backlog.iter().any(|b| (1e-9..1.0).contains(b)) || (found - limit).abs() < 1.0;
            prop_assert!(doubtful || marked == (found > limit), "{found} against {limit}");
            fluid.backlog[class] += f64::from(bytes);
            for i in 0..fluid.backlog.len() {
                let (ours, theirs) = (queue.backlog[i] as f64 / 2f64.powi(32), fluid.backlog[i]);
                prop_assert!((ours - theirs).abs() < 0.5, "class {i}: {ours}, {theirs} expected");
            }
        }
    }

    #[test]
    fn nothing_is_served_that_did_not_come_and_no_service_is_lost((rate, weights, packets) in arrivals()) {
        let config = config(rate, 40_000, &weights);
        let mut queue = State::default();
        queue.drain(&config, 1);
        // Every class is so full that none runs empty: the whole service is used, to the last bit.
        let (mut now, mut came) = (1u64, 0u128);
        let classes = weights.len() + 1;
        for class in 0..classes {
            for _ in 0..3_000 * u64::from(config.class[class].weight.min(30)) {
                queue.arrive(&config, class, FRAME, now);
                came += u128::from(FRAME) << 32;
            }
        }
        let start = now;
        for (gap, class, bytes) in packets {
            now += gap;
            queue.arrive(&config, class, bytes, now);
            came += u128::from(bytes) << 32;
        }
        queue.drain(&config, now);
        let left: u128 = queue.backlog.iter().map(|b| u128::from(*b)).sum();
        let service = u128::from(now - start) * u128::from(config.drain);
        if queue.backlog[..classes].iter().all(|b| *b > 0) {
            prop_assert_eq!(came - left + u128::from(queue.rest), service);
        } else {
            prop_assert!(came - left <= service);
        }
    }

    /// With any times and sizes, no backlog leaves its bounds (an overflow would).
    #[test]
    fn extremes_stay_in_bounds(
        rate in prop_oneof![Just(1_000_000u64), Just(400_000_000_000), 1_000_000u64..=400_000_000_000],
        weights in prop::collection::vec(prop_oneof![Just(1u32), Just(1000)], 8),
        packets in prop::collection::vec(
            (prop_oneof![0u64..10, Just(3_600_000_000_000), any::<u64>()], 0usize..9, any::<u32>()), 1..300),
    ) {
        let settings = Settings { threshold: Length::Bytes(super::MAX_THRESHOLD), ..settings(rate, 1, &weights) };
        let config = Config::new(&settings, FRAME).expect("they are in range");
        let mut queue = State::default();
        let mut now = 0u64;
        for (gap, class, bytes) in packets {
            now = now.saturating_add(gap);
            let (before, at) = (queue.backlog.map(u128::from), queue.last);
            queue.arrive(&config, class, bytes, now);
            let service = u128::from(now - at) * u128::from(config.drain) + (1 << 33);
            for (i, before) in before.into_iter().enumerate() {
                let (backlog, limit) = (u128::from(queue.backlog[i]), u128::from(config.class[i].limit));
                let most = limit.min(before + if i == class { u128::from(bytes) << 32 } else { 0 });
                prop_assert!(backlog <= most && backlog + service >= most.min(before));
            }
            prop_assert!(queue.rest < u64::from(config.class.iter().map(|c| c.weight).sum::<u32>()));
        }
    }
}

#[test]
fn layouts_have_no_gaps() {
    assert_eq!(size_of::<Config>(), 32 + 9 * 16);
    assert_eq!(size_of::<State>(), 24 + 9 * 8);
    assert_eq!(size_of::<Setup>(), 8 + size_of::<Config>() + 9 * 24);
    assert_eq!(size_of::<Shared>(), 8 + size_of::<State>() + 9 * 32);
}

#[test]
fn larger_than_k_is_to_the_byte() {
    let config = config(1_000_000_000, 20, &[]);
    let mut queue = State::default();
    let marks: Vec<_> = (0..25).map(|_| queue.arrive(&config, 0, FRAME, 1)).collect();
    // The 21st finds 20 packets, which is not more than 20.
    assert_eq!(marks.iter().position(|m| *m), Some(21));
    let mut queue = State::default();
    queue.arrive(&config, 0, 20 * FRAME, 1);
    assert!(!queue.arrive(&config, 0, 1, 1));
    assert!(queue.arrive(&config, 0, 1, 1));
}

#[test]
fn classes_share_by_weight_and_leave_nothing_unused() {
    let weights = [1, 2, 3, 5, 8, 13, 100];
    let config = config(1_000_000_000, 10_000, &weights);
    let mut queue = State::default();
    let fill = |queue: &mut State, class: usize| {
        let before = queue.backlog[class];
        queue.arrive(&config, class, u32::MAX, queue.last);
        queue.backlog[class] - before
    };
    queue.drain(&config, 1);
    let mut served = [0u64; 9];
    for i in 1..=weights.len() {
        fill(&mut queue, i);
    }
    for step in 1..=1000u64 {
        queue.drain(&config, 1 + step * 1_000_000);
        for (i, s) in served.iter_mut().enumerate().skip(1).take(weights.len()) {
            *s += fill(&mut queue, i);
        }
    }
    // The default class is idle: the others divide all of the rate.
    let all: u64 = served.iter().sum::<u64>() >> 20;
    for (i, w) in weights.iter().enumerate() {
        let share = (served[i + 1] >> 20) as f64 / all as f64;
        let fair = f64::from(*w) / f64::from(weights.iter().sum::<u32>());
        assert!((share / fair - 1.0).abs() < 0.01, "class {i}: {share}, {fair} expected");
    }
    let rate = all as f64 / 4096.0 * 8.0; // a second's bytes
    assert!((rate / 1.01e9 - 1.0).abs() < 0.01, "{rate}");
}

#[test]
fn a_class_that_floods_takes_nothing_from_the_others() {
    let config = config(1_000_000_000, 20, &[1]);
    let mut queue = State::default();
    let mut marks = [0; 2];
    // Class 1 sends at 40 % of the rate, less than its half; the default class at 400 %.
    for packet in 0..10_000u64 {
        let now = 1 + packet * u64::from(FRAME) * 8 / 4;
        marks[0] += u32::from(queue.arrive(&config, 0, FRAME, now));
        if packet % 10 == 0 {
            marks[1] += u32::from(queue.arrive(&config, 1, FRAME, now));
        }
    }
    assert!(marks[0] > 9_900, "{marks:?}");
    assert_eq!(marks[1], 0);
}

#[test]
fn a_threshold_is_shared_among_the_active() {
    let mut told = settings(1_000_000_000, 20, &[3, 1, 100]);
    told.classes[1].threshold = Some(Length::Packets(5));
    let config = Config::new(&told, FRAME).expect("they are in range");
    let k = 20 * FRAME;
    let mut queue = State::default();
    assert_eq!(queue.threshold(&config, 1), k, "alone it has all");
    queue.arrive(&config, 0, FRAME, 1);
    assert_eq!(queue.threshold(&config, 0), k);
    assert_eq!(queue.threshold(&config, 1), k * 3 / 4);
    queue.arrive(&config, 1, FRAME, 1);
    assert_eq!((queue.threshold(&config, 0), queue.threshold(&config, 1)), (k / 4, k * 3 / 4));
    assert_eq!(queue.threshold(&config, 2), 5 * FRAME, "its own");
    queue.arrive(&config, 3, FRAME, 1);
    assert_eq!(queue.threshold(&config, 0), 2 * FRAME, "20 / 104 of a packet is too little");
    // The floor does not raise a smaller K.
    assert_eq!(self::config(1_000_000_000, 1, &[1]).floor, FRAME);
}

#[test]
fn a_queue_recovers_from_any_load() {
    let config = config(1_000_000_000, 20, &[]);
    let mut queue = State::default();
    for _ in 0..100_000 {
        queue.arrive(&config, 0, FRAME, 1);
    }
    assert_eq!(queue.backlog(0), u64::from(60 * FRAME), "60 packets and no more");
    // 40 packets above K, drained at 1.01 Gbit/s.
    let above = 40 * u64::from(FRAME) * 800 / 101;
    assert!(queue.clone().arrive(&config, 0, FRAME, above - 10));
    assert!(!queue.clone().arrive(&config, 0, FRAME, above + 10));
    let mut idle = queue;
    idle.drain(&config, 1 + config.idle);
    assert_eq!((idle.backlog, idle.rest), ([0; 9], 0));
    queue.drain(&config, u64::MAX);
    assert_eq!(queue.backlog, [0; 9]);
    // The clock of another CPU.
    queue.arrive(&config, 0, FRAME, 5);
    assert_eq!((queue.last, queue.backlog(0)), (u64::MAX, FRAME.into()));
}

#[test]
fn the_rate_is_kept_to_a_millionth_of_a_percent_or_so() {
    for (rate, bytes_per_s) in [(1_000_000u64, 126_250.0), (400_000_000_000, 50.5e9)] {
        let drained = config(rate, 20, &[]).drain as f64 / 2f64.powi(32) * 1e9;
        assert!((drained / bytes_per_s - 1.0).abs() < 2e-6, "{rate}: {drained}");
    }
}

#[test]
fn a_threshold_too_long_for_the_device_is_refused() {
    let error = Config::new(&settings(1_000_000_000, 50_000, &[]), FRAME).expect_err("75 MB");
    assert!(error.to_string().contains("50000 packets of 1514 bytes"), "{error}");
}
