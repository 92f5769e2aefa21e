//! A port loses packets at random, as often as it should, and without a pattern.

use tresse_fabric::{Ecn, Loss, NonEct, Port, PortConfig, Probability, Processing, Threshold};
use tresse_units::{MICROSECOND, SECOND};

/// Losses of port number `port` under `seed`, in `parts` of 2^32.
fn losing(parts: u64, seed: u64, port: u32) -> Port {
    let loss = Loss::new(Probability::from_parts(parts), seed, port);
    let config = PortConfig {
        rate: 1_000_000_000,
        delay: 20 * MICROSECOND,
        limit: Threshold::UNLIMITED,
        mark: Threshold::UNLIMITED,
        non_ect: NonEct::Queue,
        drop_until: None,
        processing: Processing::NONE,
        red: None,
        loss,
    };
    Port::new(config)
}

/// Which of `count` packets, far apart, are lost.
fn losses(port: &mut Port, count: u64) -> Vec<bool> {
    (0..count).map(|n| port.admit(n * SECOND, 1500, &mut Ecn::Ect).is_none()).collect()
}

fn count(losses: &[bool]) -> u64 {
    losses.iter().filter(|&&lost| lost).count() as u64
}

/// Five standard deviations of a binomial distribution: once in a million tests.
fn assert_binomial(found: u64, n: u64, p: f64) {
    let (mean, deviation) = (n as f64 * p, (n as f64 * p * (1.0 - p)).sqrt());
    assert!((found as f64 - mean).abs() < 5.0 * deviation, "{found} of {n} at {p}: {mean} +- {deviation}");
}

#[test]
fn losses_are_as_frequent_as_they_are_probable() {
    const N: u64 = 200_000;
    for p in [0.0005, 0.01, 0.25, 0.5, 0.99] {
        for seed in 1..=5 {
            let mut port = losing((p * 4_294_967_296.0) as u64, seed, 3);
            let lost = losses(&mut port, N);
            assert_binomial(count(&lost), N, p);
            assert_eq!(port.counters().lost, count(&lost));
            assert_eq!(port.counters().drops, 0);
            assert_eq!(port.counters().bytes, (N - count(&lost)) * 1500);
        }
    }
}

/// What follows a loss, at every distance up to 16, and what another port or seed does at the same count.
#[test]
fn losses_know_nothing_of_each_other() {
    const N: u64 = 200_000;
    const QUARTER: u64 = 1 << 30;
    let ports: Vec<Vec<bool>> = [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (1 << 40, 0)]
        .map(|(seed, port)| losses(&mut losing(QUARTER, seed, port), N))
        .into();
    let both = |a: &[bool], b: &[bool]| count(&a.iter().zip(b).map(|(a, b)| *a && *b).collect::<Vec<_>>());
    for (i, a) in ports.iter().enumerate() {
        for lag in 1..=16 {
            assert_binomial(both(a, &a[lag..]), N - lag as u64, 1.0 / 16.0);
        }
        for b in &ports[..i] {
            for lag in 0..=16 {
                assert_binomial(both(a, &b[lag..]), N - lag as u64, 1.0 / 16.0);
            }
        }
    }
}

#[test]
fn a_port_that_never_loses_and_one_that_always_does() {
    assert_eq!(count(&losses(&mut losing(0, 1, 0), 100_000)), 0);
    assert_eq!(count(&losses(&mut losing(1 << 32, 1, 0), 100_000)), 100_000);
    assert_eq!(Probability::from_parts(u64::MAX), Probability::ONE);
}
