//! What RFC 6356 promises of LIA, and how finely the fixed-point form keeps it.

use proptest::prelude::*;
use tresse_controllers::{Ack, CWND_LIMIT, Group, MAX_SUBFLOWS, SRTT_LEAST, SRTT_LIMIT};

use super::meter::{fraction, increase};
use super::{group, views};
use crate::host::{LONGEST_RTT, SHORTEST_RTT, calls, config, events, logarithmic, make};
use crate::readings::{LIA_ERROR, linked_increase};

/// The project's own bound on an increase, relative; and the last digit of Q48, packets. The last
/// digit counts only with dozens of subflows of 10^5 packets, where the increase, 1/(n^2 w), is
/// 2 * 10^-9.
const RESOLUTION: f64 = 1e-5;
const LAST_DIGIT: f64 = 1.0 / (1u64 << 48) as f64;

/// `count` subflows in congestion avoidance: the first with `own` window and RTT, the others with
/// `other`.
fn lia(count: usize, own: (u32, u32), other: (u32, u32)) -> Group {
    let mut group = group("lia", count, 10);
    for i in 0..count {
        let (window, rtt) = if i == 0 { own } else { other };
        (group[i].cwnd, group[i].ssthresh, group[i].srtt) = (window, window, rtt);
    }
    group
}

#[test]
fn the_increase_has_the_stated_resolution() {
    let windows = [2, 3, 10, 100, 1000, 10_000, 100_000];
    let rtts = [SHORTEST_RTT, 160, 8000, 80_000, LONGEST_RTT];
    for count in [1, 2, 3, 8, 64] {
        for own in windows.into_iter().flat_map(|w| rtts.map(|t| (w, t))) {
            for other in windows.into_iter().flat_map(|w| rtts.map(|t| (w, t))) {
                let mut group = lia(count, own, other);
                let expected = linked_increase(&views(&group), 0);
                let measured = increase(&mut group, 0, expected);
                assert!(
                    (measured - expected).abs() < expected * RESOLUTION + LAST_DIGIT,
                    "{count} subflows, own {own:?}, others {other:?} (window, RTT): {measured:e} \
                     for a packet; RFC 6356 has {expected:e}"
                );
            }
        }
    }
}

/// Alone, the coupled term is w/T^2 / (w/T)^2 = 1/w: Reno's.
#[test]
fn one_subflow_is_reno() {
    for window in [2, 3, 10, 100, 1000, 10_000, 100_000] {
        for rtt in [SHORTEST_RTT, 8000, LONGEST_RTT] {
            let measured = increase(&mut lia(1, (window, rtt), (0, 0)), 0, 1.0 / f64::from(window));
            assert!((measured * f64::from(window) - 1.0).abs() < 1e-8, "{window}, {rtt}: {measured:e}");
        }
    }
}

/// Where the reading's bound comes from: a large window on a long path is just worth as much as
/// the smallest one on the shortest path.
#[test]
fn the_increase_has_its_resolution_where_it_is_coarsest() {
    for own in [1, 2, 3] {
        for other in [10_000, 100_000, CWND_LIMIT - 1] {
            let equal_worth = f64::from(SHORTEST_RTT) * f64::sqrt(f64::from(other / own));
            for tenths_of_a_percent in 900..=1000 {
                let rtt = (equal_worth * f64::from(tenths_of_a_percent) / 1000.0) as u32;
                let mut group = lia(2, (own, SHORTEST_RTT), (other, rtt));
                let expected = linked_increase(&views(&group), 0);
                let measured = increase(&mut group, 0, expected);
                assert!(
                    (measured - expected).abs() < expected * LIA_ERROR + LAST_DIGIT,
                    "own {own}, other {other} at {rtt}: {measured:e}; RFC 6356 has {expected:e}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(config(256))]

    /// Between the grid's points the error is larger, up to the reading's stated bound.
    #[test]
    fn the_increase_has_its_resolution_anywhere(
        subflows in prop::collection::vec(
            (logarithmic(1, CWND_LIMIT - 1), logarithmic(SHORTEST_RTT, LONGEST_RTT)),
            2..=MAX_SUBFLOWS,
        ),
    ) {
        let mut group = group("lia", subflows.len(), 10);
        for (i, (window, rtt)) in subflows.into_iter().enumerate() {
            (group[i].cwnd, group[i].ssthresh, group[i].srtt) = (window, window, rtt);
        }
        let expected = linked_increase(&views(&group), 0);
        let measured = increase(&mut group, 0, expected);
        prop_assert!(
            (measured - expected).abs() < expected * LIA_ERROR + LAST_DIGIT,
            "{measured:e} for a packet; RFC 6356 has {expected:e}, {group:?}"
        );
    }

    /// The rounding of the quotient may bring a whole packet one ACK later than Reno's.
    #[test]
    fn one_subflow_goes_reno_s_way(events in events(400)) {
        let (mut lia, mut reno) = (group("lia", 1, 10), group("reno", 1, 10));
        for call in calls(1, &events) {
            make(&mut lia, &call);
            make(&mut reno, &call);
            prop_assert!(lia[0].cwnd.abs_diff(reno[0].cwnd) <= 1, "{call:?}: {lia:?}, {reno:?}");
        }
    }
}

/// The corners of the contract, where the sum is largest and the terms are furthest apart.
#[test]
fn the_extremes_do_not_overflow() {
    let windows = [1, 2, CWND_LIMIT - 1];
    let rtts = [SRTT_LEAST, SRTT_LIMIT - 1];
    for count in [2, MAX_SUBFLOWS] {
        for own in windows.into_iter().flat_map(|w| rtts.map(|t| (w, t))) {
            for other in windows.into_iter().flat_map(|w| rtts.map(|t| (w, t))) {
                let mut group = lia(count, own, other);
                let expected = linked_increase(&views(&group), 0);
                let measured = increase(&mut group, 0, expected);
                assert!(
                    (measured - expected).abs() < expected * RESOLUTION + LAST_DIGIT,
                    "{count} subflows, own {own:?}, others {other:?} (window, RTT): {measured:e} \
                     for a packet; RFC 6356 has {expected:e}"
                );
            }
        }
    }
}

/// The old MPTCP kernel counted calls: an ACK of four packets was worth as much as one of one.
#[test]
fn packets_are_counted_not_acks() {
    let of = |delivered| Ack { delivered, ..Ack::default() };
    for (own, other) in [(3, 3), (10, 100), (100, 10), (1000, 1000), (100_000, 2)] {
        for other_rtt in [SHORTEST_RTT, 800, LONGEST_RTT] {
            let mut one_ack = lia(2, (own, 800), (other, other_rtt));
            let mut four_acks = lia(2, (own, 800), (other, other_rtt));
            one_ack.grow(0, &of(4));
            for _ in 0..4 {
                assert_eq!(four_acks[0].cwnd, own, "too early: 1/w must stay the same");
                four_acks.grow(0, &of(1));
            }
            let grown = |group: &mut Group| f64::from(group[0].cwnd) + fraction(group, 0);
            let (one, four) = (grown(&mut one_ack), grown(&mut four_acks));
            assert!((one - four).abs() < 1e-8, "{own}, {other}, {other_rtt}: {one} and {four}");
        }
    }
}

/// RFC 6356 §3: alpha makes the connection as a whole as eager as one TCP on its best path. With
/// equal windows and RTTs each of n subflows grows by 1/(n^2 w).
#[test]
fn equal_subflows_share_one_tcp() {
    for count in [2, 4, 8] {
        let mut group = lia(count, (100, 800), (100, 800));
        let expected = 1.0 / (100 * count * count) as f64;
        let measured = increase(&mut group, count - 1, expected);
        assert!((measured / expected - 1.0).abs() < 1e-8, "{count}: {measured:e}");
    }
}
