//! Rounds, flows that are spread over a window, flows that are on and off, and the halves of the hosts.

mod common;

use std::collections::BTreeMap;

use common::{drive, random};
use proptest::prelude::*;
use tresse_workload::{
    Action, NEVER, OnOff, OnOffConfig, Pairing, Pairs, Permutation, RackToRack, Rounds, RoundsConfig, Size,
    Source, Span, Spread, SpreadConfig, Stream, Time, halves,
};

const MS: Time = 1_000_000_000;

fn rounds(pairing: Pairing, connections: u32, rounds: u32, seed: u64) -> RoundsConfig {
    RoundsConfig { pairing, size: Some(Size::Uniform(1, 1_000_000)), connections, rounds, seed }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn rounds_are_those_of_the_pattern(
        hosts in 2u32..40, connections in 1u32..4, count in 1u32..5, seed in 0u64..100, salt in any::<u64>(),
        is_rack in any::<bool>(),
    ) {
        let size = Size::Uniform(1, 1_000_000);
        let pairing = if is_rack { Pairing::RackToRack(hosts) } else { Pairing::Permutation(hosts) };
        let config = rounds(pairing, connections, count, seed);
        let seen = drive(&mut Rounds::new(config.clone()), random(salt), usize::MAX);
        prop_assert!(seen.is_over);
        prop_assert_eq!(Rounds::new(config).expected_bytes(), 500_000 * u64::from(hosts * connections * count));
        let mut flows = seen.starts.iter();
        for round in 0..count {
            let transfers = if is_rack {
                RackToRack { rack: hosts, size: size.clone(), seed }.round(round)
            } else {
                Permutation { hosts, size: size.clone(), seed }.round(round)
            };
            let last = seen.finishes.iter().filter(|f| f.1 >> 32 < u64::from(round)).map(|f| f.0).max();
            let mut place = 0;
            for transfer in transfers {
                for number in 0..connections {
                    let &(time, flow) = flows.next().expect("one more");
                    let of = u64::from(round) << 32;
                    let bytes = match number {
                        0 => transfer.bytes,
                        n => {
                            let purpose = format!("flow size of connection {n}");
                            size.draw(&mut Stream::new(seed, &purpose, of | u64::from(transfer.from)))
                        }
                    };
                    prop_assert_eq!((flow.name, flow.round), (of | place, round));
                    prop_assert_eq!((flow.from, flow.to, flow.bytes), (transfer.from, transfer.to, Some(bytes)));
                    prop_assert_eq!(time, last.unwrap_or(0));
                    place += 1;
                }
            }
        }
        prop_assert!(flows.next().is_none());
    }

    #[test]
    fn spread_flows_start_in_their_window(
        flows in 0u32..300, window in prop::sample::select(vec![0, 1, 10 * MS]), seed in 0u64..100,
        salts in any::<[u64; 2]>(),
    ) {
        let config = SpreadConfig { pairs: Pairs::any(9), size: Size::Uniform(1, 99), flows, window, seed };
        let [a, b] = salts.map(|salt| drive(&mut Spread::new(config.clone()), random(salt), usize::MAX));
        prop_assert!(a.is_over && a.starts.len() as u32 == flows);
        prop_assert!(a.starts.iter().all(|&(time, _)| time < window.max(1)));
        prop_assert_eq!(&a.starts, &b.starts);
        // A flow more shifts none.
        let more = SpreadConfig { flows: flows + 1, ..config };
        let more = drive(&mut Spread::new(more), random(0), usize::MAX);
        let (mut more, one) = (more.starts, u64::from(flows));
        more.retain(|(_, start)| start.name != one);
        prop_assert_eq!(&a.starts, &more);
    }

    #[test]
    fn parts_are_equal_but_for_one(hosts in 0u32..200, parts in 1u32..5, seed in 0u64..100) {
        let part = halves(seed, hosts, parts);
        prop_assert_eq!(part.len() as u32, hosts);
        let count = |p| part.iter().filter(|&&q| q == p).count() as u32;
        prop_assert!((0..parts).all(|p| count(p) == hosts / parts || count(p) == hosts / parts + 1));
        prop_assert!(part.iter().all(|&p| p < parts));
        prop_assert_eq!(part, halves(seed, hosts, parts));
    }

    #[test]
    fn on_off_flows_keep_to_their_times(
        on in 1u64..5, off in 0u64..5, start in 0u64..10, length in 0u64..60, is_random in any::<bool>(),
        seed in 0u64..100,
    ) {
        let span = |ms: u64| if is_random { Span::Exponential(ms * MS) } else { Span::Fixed(ms * MS) };
        let (start, stop) = (start * MS, (start + length) * MS);
        let flows = vec![(0, 1), (2, 3), (0, 1)];
        let config = OnOffConfig { flows: flows.clone(), on: span(on), off: span(off), start, stop, seed };
        let seen = drive(&mut OnOff::new(config.clone()), random(0), usize::MAX);
        prop_assert!(seen.is_over && seen.starts.len() == seen.stops.len());
        let stops: BTreeMap<u64, Time> = seen.stops.iter().map(|&(time, name)| (name, time)).collect();
        for &(time, s) in &seen.starts {
            prop_assert!(start <= time && time < stops[&s.name] && stops[&s.name] <= stop);
            prop_assert_eq!((s.bytes, (s.from, s.to)), (None, flows[(s.name >> 32) as usize]));
        }
        // One flow more shifts none.
        let more = OnOffConfig { flows: vec![(0, 1), (2, 3), (0, 1), (5, 4)], ..config };
        let mut more = drive(&mut OnOff::new(more), random(0), usize::MAX).starts;
        more.retain(|(_, s)| s.name >> 32 < 3);
        prop_assert_eq!(seen.starts, more);
    }
}

#[test]
fn listed_flows_start_at_once_and_each_has_its_own_size() {
    let pairs = vec![(5, 1), (5, 1), (2, 3)];
    let seen = drive(&mut Rounds::new(rounds(Pairing::Listed(pairs), 1, 1, 1)), random(1), usize::MAX);
    assert!(seen.is_over && seen.starts.iter().all(|&(time, _)| time == 0));
    let sizes: Vec<_> = seen.starts.iter().map(|(_, s)| s.bytes).collect();
    assert!(sizes[0] != sizes[1] && sizes[1] != sizes[2], "{sizes:?}");
}

#[test]
fn flows_without_an_end_are_one_round() {
    let config = RoundsConfig { size: None, ..rounds(Pairing::Permutation(8), 1, 5, 1) };
    let mut source = Rounds::new(config);
    let starts: Vec<_> = std::iter::from_fn(|| source.poll(0)).collect();
    assert_eq!(starts.len(), 8);
    assert!(starts.iter().all(|a| matches!(a, Action::Start(s) if s.bytes.is_none())));
    assert!(source.is_endless() && !source.is_over() && source.next() == NEVER);
    assert_eq!(source.expected_bytes(), 0);
}

#[test]
fn starts_are_uniform_over_the_window() {
    // OPN: 1000 flows over 10 ms; here more, for the statistics.
    let size = Size::Fixed(292_000);
    let config = SpreadConfig { pairs: Pairs::any(2000), size, flows: 20_000, window: 10 * MS, seed: 1 };
    let mut source = Spread::new(config);
    assert_eq!(source.expected_bytes(), 20_000 * 292_000);
    let mut tenths = [0u32; 10];
    while source.next() < NEVER {
        let now = source.next();
        tenths[(now / MS) as usize] += 1;
        assert!(source.poll(now).is_some());
    }
    // 2000 each, with a standard deviation of 42.
    assert!(tenths.iter().all(|n| (1830..2170).contains(n)), "{tenths:?}");
}

#[test]
fn vmccs_background_is_on_for_five_seconds_and_off_for_five() {
    // VMCC Fig. 4, for 60 s.
    let s = 1000 * MS;
    let (on, off) = (Span::Fixed(5 * s), Span::Fixed(5 * s));
    let config = OnOffConfig { flows: vec![(0, 1)], on, off, start: 0, stop: 60 * s, seed: 1 };
    let seen = drive(&mut OnOff::new(config), random(1), usize::MAX);
    assert!(seen.starts.iter().map(|&(time, _)| time).eq((0..6).map(|n| 10 * n * s)));
    assert!(seen.stops.iter().map(|&(time, _)| time).eq((0..6).map(|n| (10 * n + 5) * s)));
}

#[test]
fn exponential_periods_have_their_means() {
    let (on, off) = (Span::Exponential(2 * MS), Span::Exponential(6 * MS));
    let config = OnOffConfig { flows: vec![(0, 1)], on, off, start: 0, stop: NEVER, seed: 1 };
    assert!(OnOff::new(config.clone()).is_endless());
    let seen = drive(&mut OnOff::new(config), random(1), 10_001);
    let on: Time = seen.starts.iter().zip(&seen.stops).map(|(start, stop)| stop.0 - start.0).sum();
    let all = seen.starts[10_000].0;
    // Standard errors: 1 % of 2 ms, and 0.8 % of 8 ms.
    assert!((on as f64 / 1e4 / 2e9 - 1.0).abs() < 0.04, "{on}");
    assert!((all as f64 / 1e4 / 8e9 - 1.0).abs() < 0.032, "{all}");
}

#[test]
fn every_half_is_equally_likely() {
    // 6 ways to halve 4 hosts; 6000 seeds give 1000 each, with a standard deviation of 29.
    let mut seen = BTreeMap::<Vec<u32>, u32>::new();
    for seed in 0..6000 {
        *seen.entry(halves(seed, 4, 2)).or_default() += 1;
    }
    assert!(seen.len() == 6 && seen.values().all(|n| (850..1150).contains(n)), "{seen:?}");
}
