//! Flows that are on and off.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tresse_units::{NEVER, Time};
use tresse_workload::{OnOff, OnOffConfig, Source, Span};

use crate::common::{drive, random};

const MS: Time = 1_000_000_000;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

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
        // One more flow shifts none.
        let more = OnOffConfig { flows: vec![(0, 1), (2, 3), (0, 1), (5, 4)], ..config };
        let mut more = drive(&mut OnOff::new(more), random(0), usize::MAX).starts;
        more.retain(|(_, s)| s.name >> 32 < 3);
        prop_assert_eq!(seen.starts, more);
    }
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
