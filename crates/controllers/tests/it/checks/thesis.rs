//! The thesis's multipath family: what is special about each, and what they are to each other.

use proptest::prelude::*;
use tresse_controllers::{Ack, CWND_LIMIT, Cause, Group, MAX_SUBFLOWS, SRTT_LEAST, SRTT_LIMIT};

use super::meter::increase;
use super::{Variant, group, group_with, variants, views};
use crate::host::{LONGEST_RTT, SHORTEST_RTT, calls, config, events, logarithmic, make};
use crate::readings::reading;

const FAMILY: [&str; 7] = ["coupled_t31", "eutcp", "ewtcp", "hmptcp", "semicoupled", "wmptcp", "wutcp"];

/// `settings` of `name` on subflows in congestion avoidance, one for each (window, RTT).
fn avoiding(name: &str, settings: &[(&str, u64)], subflows: &[(u32, u32)]) -> Group {
    let mut group = group_with(name, settings, subflows.len(), 10);
    for (i, &(window, rtt)) in subflows.iter().enumerate() {
        (group[i].cwnd, group[i].ssthresh, group[i].srtt) = (window, 1, rtt);
    }
    group
}

/// Whole packets that subflow `i` gains by `bursts` ACKs of 2^14 packets, its window kept as it is.
fn gain(group: &mut Group, i: usize, bursts: u32) -> f64 {
    let window = group[i].cwnd;
    let mut gained = 0.0;
    for _ in 0..bursts {
        group.grow(i, &Ack { delivered: 1 << 14, ..Ack::default() });
        gained += f64::from(group[i].cwnd) - f64::from(window);
        group[i].cwnd = window;
    }
    gained
}

/// What a reading has for one packet.
fn expected((name, settings): Variant, group: &Group, i: usize) -> f64 {
    reading(name, settings, group.len()).increase(&views(group), i, 1.0).packets
}

/// The window after a loss in slow start or, with `avoiding`, out of it.
fn after_loss(name: &str, settings: &[(&str, u64)], count: usize, window: u32, avoiding: bool) -> u32 {
    let mut group = self::avoiding(name, settings, &vec![(window, 800); count]);
    if !avoiding {
        group[0].ssthresh = CWND_LIMIT;
    }
    group.congestion(0, Cause::Loss).expect("a loss is never ignored")
}

/// What slow start makes of a window of 10 packets and `delivered` in one ACK.
fn started(name: &str, settings: &[(&str, u64)], threshold: u32, delivered: u32) -> u32 {
    let mut group = avoiding(name, settings, &[(10, 800), (10, 800)]);
    group[0].ssthresh = threshold;
    group.grow(0, &Ack { delivered, ..Ack::default() });
    group[0].cwnd
}

/// `a` and `b` are given the same events; their windows are at most `apart` packets apart.
fn same(
    a: (&str, &[(&str, u64)]),
    b: (&str, &[(&str, u64)]),
    count: usize,
    events: &[(usize, crate::host::Event)],
    apart: u32,
) -> Result<(), TestCaseError> {
    let (mut left, mut right) = (group_with(a.0, a.1, count, 10), group_with(b.0, b.1, count, 10));
    for call in calls(count, events) {
        make(&mut left, &call);
        make(&mut right, &call);
        let i = call.subflow;
        prop_assert!(
            left[i].cwnd.abs_diff(right[i].cwnd) <= apart,
            "{a:?} and {b:?}, {call:?}: {} and {}",
            left[i].cwnd,
            right[i].cwnd
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(256))]

    /// Table 3.1 and §4.3.1: EUTCP(1) is Semicoupled, to the last bit.
    #[test]
    fn eutcp_1_is_semicoupled(count in 1..=8usize, events in events(300)) {
        same(("semicoupled", &[]), ("eutcp", &[("gamma", 1000)]), count, &events, 0)?;
    }

    /// (3.16) and (3.17) at omega = 1, and (4.2): as many TCPs as there are subflows, to the last bit.
    #[test]
    fn a_weight_of_one_is_reno(count in 1..=4usize, events in events(300)) {
        same(("wutcp", &[("omega", 1000)]), ("reno", &[]), count, &events, 0)?;
        let ones = &[("omega_0", 1000), ("omega_1", 1000), ("omega_2", 1000), ("omega_3", 1000)];
        same(("wmptcp", ones), ("reno", &[]), count, &events, 0)?;
    }

    /// (3.4) and (3.11) with equal values are the scalar, to the last bit; the fifth subflow has it anyway.
    #[test]
    fn a_vector_of_equal_values_is_the_scalar(
        count in 1..=6usize,
        omega in 1u64..=1000,
        gamma in 1000u64..=2000,
        exact in 0u64..=1,
        events in events(300),
    ) {
        let omegas = ["omega", "omega_0", "omega_1", "omega_2", "omega_3"].map(|name| (name, omega));
        same(("wutcp", &omegas), ("wutcp", &omegas[..1]), count, &events, 0)?;
        let gammas = ["gamma", "gamma_0", "gamma_1", "gamma_2", "gamma_3"].map(|name| (name, gamma));
        let with = |settings: &[(&'static str, u64)]| [settings, &[("exact", exact)]].concat();
        same(("eutcp", &with(&gammas)), ("eutcp", &with(&gammas[..1])), count, &events, 0)?;
    }

    /// Alone each is a TCP: EUTCP at gamma = 1 only. The exact law and the square of a share are rounded, so
    /// a packet may come one ACK sooner or later.
    #[test]
    fn one_subflow_is_reno(events in events(400)) {
        for name in ["ewtcp", "hmptcp", "semicoupled", "wmptcp", "wutcp"] {
            same((name, &[]), ("reno", &[]), 1, &events, 0)?;
        }
        same(("coupled_t31", &[]), ("reno", &[]), 1, &events, 1)?;
        same(("eutcp", &[("gamma", 1000), ("exact", 1)]), ("reno", &[]), 1, &events, 1)?;
    }

    /// (4.3), to the last bit: which of the two is larger may differ between the subflows.
    #[test]
    fn hmptcp_is_the_larger_of_emptcp_and_wmptcp(
        subflows in prop::collection::vec(
            (logarithmic(2, 100_000), logarithmic(SHORTEST_RTT, LONGEST_RTT)),
            1..=6,
        ),
        weights in prop::sample::select(vec![
            &[][..], &[("omega_0", 750), ("omega_1", 250)], &[("omega_0", 1), ("omega_2", 30)],
        ]),
    ) {
        for i in 0..subflows.len() {
            let of = |name, weights| gain(&mut avoiding(name, weights, &subflows), i, 20);
            let larger = of("emptcp", &[]).max(of("wmptcp", weights));
            prop_assert_eq!(of("hmptcp", weights), larger, "{}, {:?}, {:?}", i, subflows, weights);
        }
    }

    /// Chapter 3: EWTCP is WUTCP in congestion avoidance, by the same rule of the weight.
    #[test]
    fn ewtcp_avoids_congestion_as_wutcp(
        subflows in prop::collection::vec(
            (logarithmic(2, 100_000), logarithmic(SHORTEST_RTT, LONGEST_RTT)),
            1..=8,
        ),
        rule in 1..=3u64,
    ) {
        let of = |name| gain(&mut avoiding(name, &[("rule", rule)], &subflows), 0, 20);
        prop_assert_eq!(of("ewtcp"), of("wutcp"));
    }

    /// An increase is as fine as the headers say, between 5 us and 1 s.
    #[test]
    fn the_increases_have_their_resolution(
        subflows in prop::collection::vec(
            (logarithmic(1, CWND_LIMIT - 1), logarithmic(SHORTEST_RTT, LONGEST_RTT)),
            1..=MAX_SUBFLOWS,
        ),
    ) {
        for name in FAMILY {
            let mut group = avoiding(name, &[], &subflows);
            let expected = expected((name, &[]), &group, 0);
            if expected < 1e-7 {
                continue; // it would take too many packets to measure
            }
            let measured = increase(&mut group, 0, expected);
            prop_assert!(
                (measured - expected).abs() < expected * 1e-5 + 2f64.powi(-48),
                "{name}: {measured:e} for a packet; the thesis has {expected:e}, {subflows:?}"
            );
        }
    }
}

/// The corners of the contract, where sums are largest and terms furthest apart: with overflow somewhere
/// these would be far off.
#[test]
fn the_extremes_do_not_overflow() {
    let windows = [1, 2, CWND_LIMIT - 1];
    let rtts = [SRTT_LEAST, SRTT_LIMIT - 1];
    let corners = || windows.into_iter().flat_map(|w| rtts.map(|t| (w, t)));
    for variant in variants().filter(|(name, _)| FAMILY.contains(name)) {
        for (count, own, other) in [1, 2, MAX_SUBFLOWS]
            .into_iter()
            .flat_map(|n| corners().flat_map(move |own| corners().map(move |other| (n, own, other))))
        {
            let mut subflows = vec![other; count];
            subflows[0] = own;
            let mut group = avoiding(variant.0, variant.1, &subflows);
            // A packet adds one at most, also to a window of 1.
            let expected = expected(variant, &group, 0).min(1.0) * f64::from(64 << 14);
            let gained = gain(&mut group, 0, 64);
            assert!(
                (gained - expected).abs() <= 1.0 + expected * 2e-5,
                "{variant:?}, {count} subflows, own {own:?}, others {other:?} (window, RTT): {gained} \
                 packets; the thesis has {expected}"
            );
            for threshold in [1, u32::MAX] {
                group[0].ssthresh = threshold;
                let cut = group.congestion(0, Cause::Loss).expect("a loss is never ignored");
                assert!((2..=own.0.max(2)).contains(&cut), "{variant:?}, {own:?}: {cut}");
            }
        }
    }
}

/// Two equal subflows of w packets, by hand: per packet 1/(4w), 1/(2w), and w times that of a round.
#[test]
fn two_equal_subflows_by_hand() {
    for (name, settings, times_w) in [
        ("coupled_t31", &[][..], 0.25),
        ("semicoupled", &[], 0.5),
        ("eutcp", &[], 0.5),
        ("ewtcp", &[], 0.25),
        ("ewtcp", &[("rule", 2)], 0.5),
        ("ewtcp", &[("rule", 1)], 0.5f64.sqrt()),
        ("wutcp", &[], 0.5),
        ("wmptcp", &[], 0.5),
        ("wmptcp", &[("omega_0", 750)], 0.75),
        ("hmptcp", &[("omega_0", 250)], 0.5),
        ("hmptcp", &[("omega_0", 750)], 0.75),
        // (1 + 10/2) (1 - 20/22) = 6/11
        ("eutcp", &[("gamma", 1000), ("exact", 1)], 6.0 / 11.0),
        // (1 + 10) (1 - (40/42)^2) = 11 * 164/1764
        ("eutcp", &[("gamma", 2000), ("exact", 1)], 11.0 * 164.0 / 1764.0),
    ] {
        let gained = gain(&mut avoiding(name, settings, &[(10, 800), (10, 800)]), 0, 100);
        let expected = times_w / 10.0 * f64::from(100 << 14);
        assert!((gained - expected).abs() < 2.0, "{name} {settings:?}: {gained}, by hand {expected}");
    }
}

/// (3.9), (3.10): gamma W/2, in slow start too; rounded down to whole packets, and never below 2.
#[test]
fn eutcp_cuts_by_half_of_gamma() {
    for (gamma, window) in [(1000, 50), (1050, 47), (1100, 45), (2000, 2)] {
        for avoiding in [true, false] {
            assert_eq!(after_loss("eutcp", &[("gamma", gamma)], 2, 100, avoiding), window, "{gamma}");
        }
    }
    // Exactly, two equal subflows of 10: 10 - 6 * 20/22 = 4.5.
    assert_eq!(after_loss("eutcp", &[("gamma", 1000), ("exact", 1)], 2, 10, true), 4);
    // In slow start 1 - (3/2) 1.1 3^-1.1 = 0.5072.
    assert_eq!(after_loss("eutcp", &[("gamma", 1100), ("exact", 1)], 2, 1000, false), 507);
}

/// (3.9): gamma for a packet, up to the threshold; (3/2) gamma (1 - 3^-gamma) exactly.
#[test]
fn eutcp_starts_faster_than_reno() {
    assert_eq!(started("eutcp", &[], CWND_LIMIT, 20), 31);
    assert_eq!(started("eutcp", &[], CWND_LIMIT, 19), 29);
    // Ten packets lead to 20.5; of the next hundred, 100 / (2 * 20) are gained in congestion avoidance.
    assert_eq!(started("eutcp", &[], 20, 110), 23);
    assert_eq!(started("eutcp", &[], CWND_LIMIT, 1 << 14), 10 + 17_203);
    // 1.5 * 2 * (1 - 1/9) = 2.667
    assert_eq!(started("eutcp", &[("gamma", 2000), ("exact", 1)], CWND_LIMIT, 1000), 10 + 2666);
    assert_eq!(started("eutcp", &[("gamma", 2000), ("exact", 1)], CWND_LIMIT, 1 << 14), 10 + 43_690);
}

/// Catalogue A6.3: under the utility gamma scales the gain and cancels; as measured it lowers the share.
/// Where increase and cut balance, the increase of a round over the cut says which.
#[test]
fn only_the_measured_gamma_takes_rate() {
    let balance = |gamma, exact| {
        let settings = [("gamma", gamma), ("exact", exact)];
        let mut group = avoiding("eutcp", &settings, &[(100_000, 800), (100_000, 800)]);
        let up = gain(&mut group, 0, 2000) / f64::from(2000 << 14);
        up / f64::from(100_000 - after_loss("eutcp", &settings, 2, 100_000, true))
    };
    for (gamma, exact, expected) in
        [(1100, 0, 1.0 / 1.1), (1500, 0, 1.0 / 1.5), (1100, 1, 1.0), (1500, 1, 1.0)]
    {
        let ratio = balance(gamma, exact) / balance(1000, exact);
        assert!((ratio - expected).abs() < 0.01, "{gamma}, {exact}: {ratio}");
    }
}

/// (3.16): (3/2) (1 - 3^-omega) = 0.6340 at 1/2 and 0.3602 at 1/4, up to the threshold.
#[test]
fn wutcp_starts_slower_than_reno() {
    assert_eq!(started("wutcp", &[], CWND_LIMIT, 1000), 10 + 633);
    assert_eq!(started("wutcp", &[("rule", 3)], CWND_LIMIT, 1000), 10 + 360);
    // 16 packets lead from 10 to 20.14; 194 of the next are worth 194 / 40 = 4.85.
    assert_eq!(started("wutcp", &[], 20, 16), 20);
    assert_eq!(started("wutcp", &[], 20, 16 + 194), 24);
}

/// (3.16): 1 - 3^(1 - omega)/2 of the window is left, nothing below omega = 1 - log_3 2 = 0.36907: there the
/// window is the smallest (catalogue S17). Out of slow start it is half.
#[test]
fn wutcp_s_cut_in_slow_start_stops_at_the_floor() {
    for omega in 1..=1000u64 {
        let real = 1e6 * (1.0 - 3f64.powf(1.0 - omega as f64 / 1000.0) / 2.0);
        let window = after_loss("wutcp", &[("omega", omega)], 2, 1_000_000, false);
        // Rounded down; the pace itself, in Q30, may be off by 2^-27.
        let below = real.max(2.0) - f64::from(window);
        assert!((-0.01..1.01).contains(&below), "{omega}: {window}, (3.16) has {real}");
        if omega <= 369 {
            assert_eq!(window, 2, "{omega}");
        }
        assert_eq!(after_loss("wutcp", &[("omega", omega)], 2, 1_000_000, true), 500_000);
    }
    // One half leaves 1 - sqrt(3)/2 = 0.134, one quarter nothing.
    assert_eq!(after_loss("wutcp", &[], 2, 100, false), 13);
    assert_eq!(after_loss("wutcp", &[], 4, 100, false), 2);
}

/// Weights by place: the first four may be given, the others have 1/m.
#[test]
fn weights_are_by_the_place() {
    let given = [("omega_0", 750), ("omega_1", 250), ("omega_3", 100)];
    for name in ["wmptcp", "hmptcp"] {
        // Of 6 subflows with windows that make the equal share tiny everywhere but in the last.
        let subflows = [(10, 8000), (10, 8000), (10, 8000), (10, 8000), (10, 8000), (1000, 800)];
        for (i, weight) in [0.75, 0.25, 1.0 / 6.0, 0.1, 1.0 / 6.0].into_iter().enumerate() {
            let mut group = avoiding(name, &given, &subflows);
            let measured = gain(&mut group, i, 100) * 10.0 / f64::from(100 << 14);
            assert!((measured - weight).abs() < 1e-5, "{name}, {i}: {measured}");
        }
    }
}

/// m counts the subflows that have an RTT, and the own one, with or without.
#[test]
fn only_subflows_with_an_rtt_count() {
    for (known, own_known, m) in [(3, true, 4), (1, true, 2), (0, true, 1), (3, false, 4), (0, false, 1)] {
        let mut group = group("ewtcp", 8, 100);
        for i in 0..8 {
            group[i].ssthresh = 1;
            group[i].srtt = if (i == 0 && own_known) || (1..=known).contains(&i) { 800 } else { 0 };
        }
        let gained = gain(&mut group, 0, 100);
        let expected = f64::from(100 << 14) / f64::from(100 * m * m);
        assert!((gained - expected).abs() < 1.0, "{known}, {own_known}: {gained}, not {expected}");
    }
}

/// A subflow whose own RTT is unknown has nothing to compare by: it grows as if it were alone.
#[test]
fn a_subflow_without_an_rtt_grows_alone() {
    for (name, settings) in [("semicoupled", &[][..]), ("coupled_t31", &[]), ("eutcp", &[]), ("hmptcp", &[])]
    {
        let mut group = avoiding(name, settings, &[(10, 0), (1000, 800), (1000, 800)]);
        let gained = gain(&mut group, 0, 10);
        assert!((gained - f64::from(10 << 14) / 10.0).abs() <= 1.0, "{name}: {gained}");
    }
    let exact = [("gamma", 1500), ("exact", 1)];
    let alone = gain(&mut avoiding("eutcp", &exact, &[(10, 800)]), 0, 10);
    assert_eq!(gain(&mut avoiding("eutcp", &exact, &[(10, 0), (1000, 800)]), 0, 10), alone);
}

/// §3.3.1: 2 packets a subflow, from every cause.
#[test]
fn the_smallest_window_is_two_packets() {
    for name in FAMILY {
        for cause in [Cause::Loss, Cause::Mark, Cause::Local] {
            for (window, threshold) in [(1, 1), (2, 1), (3, 1), (3, 100)] {
                let mut group = avoiding(name, &[], &[(window, 800), (10, 800)]);
                group[0].ssthresh = threshold;
                assert_eq!(group.congestion(0, cause), Some(2), "{name}, {cause:?}, {window}");
            }
        }
    }
}
