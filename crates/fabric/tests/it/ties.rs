//! The order of events at one instant: drawn anew for each instant and seed, without a favourite.

use proptest::prelude::*;
use tresse_fabric::{ARRIVALS, Entity, Ties};
use tresse_units::{MICROSECOND, NANOSECOND, Time};

/// Intervals between instants: those of networks of equal links, and adjacent instants.
const STEPS: [Time; 3] = [160 * NANOSECOND, 12 * MICROSECOND, 1];
const INSTANTS: u64 = 60_000;

/// How often each order of three names came, at instants `step` apart.
fn orders(step: Time, ranks: impl Fn(Time) -> [u64; 3]) -> [u64; 6] {
    let mut counts = [0; 6];
    for n in 0..INSTANTS {
        let [a, b, c] = ranks(n * step);
        counts[match (a < b, b < c, a < c) {
            (true, true, _) => 0,
            (true, false, true) => 1,
            (true, false, false) => 2,
            (false, true, true) => 3,
            (false, true, false) => 4,
            (false, false, _) => 5,
        }] += 1;
    }
    counts
}

/// Chi-square with five degrees of freedom is above 35.9 once in a million times.
fn assert_uniform(counts: [u64; 6], what: &str) {
    let mean = INSTANTS as f64 / 6.0;
    let chi_square: f64 = counts.iter().map(|&n| (n as f64 - mean).powi(2) / mean).sum();
    assert!(chi_square < 35.9, "{what}: {counts:?}, chi-square {chi_square}");
}

/// Neighbours, as hosts of one switch are; far apart; apart by powers of two.
const TRIPLES: [[Entity; 3]; 6] =
    [[0, 1, 2], [6, 7, 8], [10, 12, 14], [100, 1000, 10_000], [0, 4096, 8192], [0, 1, 1 << 22]];

#[test]
fn of_three_each_order_is_as_frequent() {
    for seed in 1..=3 {
        let ties = Ties::new(seed);
        for step in STEPS {
            for triple in TRIPLES {
                for class in [0, ARRIVALS] {
                    let ranks = |time| triple.map(|entity| ties.rank(time, class | entity).into());
                    assert_uniform(orders(step, ranks), &format!("seed {seed}, {step} ps, {triple:?}"));
                }
                let timers = |time| triple.map(|name| ties.timer(time, name.into()));
                assert_uniform(orders(step, timers), &format!("seed {seed}, {step} ps, timers {triple:?}"));
            }
        }
    }
}

/// The order of two entities at an instant says nothing about the next instants, or about another seed.
#[test]
fn instants_and_seeds_know_nothing_of_each_other() {
    let [one, other] = [1, 2].map(Ties::new);
    let first = |ties: Ties, time| ties.rank(time, ARRIVALS) < ties.rank(time, ARRIVALS + 1);
    for step in STEPS {
        let agree = |other: &dyn Fn(u64) -> bool| {
            (0..INSTANTS).filter(|n| first(one, n * step) == other(*n)).count() as f64
        };
        let five_deviations = 2.5 * (INSTANTS as f64).sqrt();
        for lag in 1..=16 {
            let agreed = agree(&|n| first(one, (n + lag) * step));
            assert!((agreed - INSTANTS as f64 / 2.0).abs() < five_deviations, "{step} ps, {lag}: {agreed}");
        }
        let agreed = agree(&|n| first(other, n * step));
        assert!((agreed - INSTANTS as f64 / 2.0).abs() < five_deviations, "{step} ps: {agreed}");
    }
}

proptest! {
    /// No two entities have the same place, and departures come before arrivals.
    #[test]
    fn places_are_a_permutation_of_each_class(seed: u64, time: Time, entity in 0..2 * ARRIVALS) {
        let ties = Ties::new(seed);
        let rank = ties.rank(time, entity);
        prop_assert_eq!(ties.entity(time, rank), entity);
        prop_assert_eq!(rank < ARRIVALS, entity < ARRIVALS);
        prop_assert!(rank < 2 * ARRIVALS);
        prop_assert_eq!(Ties::new(seed).rank(time, entity), rank);
    }
}
