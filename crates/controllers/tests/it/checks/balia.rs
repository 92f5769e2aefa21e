//! What BALIA's equations promise, and how finely the fixed-point form keeps them.

use std::sync::Arc;

use proptest::prelude::*;
use tresse_controllers::{
    Ack, CWND_LIMIT, Cause, ConfiguredController, Group, MAX_SUBFLOWS, SRTT_LEAST, SRTT_LIMIT, find,
};

use super::meter::{fraction, increase};
use super::{group, views};
use crate::host::{LONGEST_RTT, SHORTEST_RTT, config, logarithmic};
use crate::readings::{BALIA_ERROR, balanced_increase, rate_ratio};

const LAST_DIGIT: f64 = 1.0 / (1u64 << 48) as f64;

/// What the contract's corners leave, relative: RTTs that differ by 2^24, in Q36, squared.
const CORNER_ERROR: f64 = 2.0 / (1u64 << 12) as f64;

/// Subflows in congestion avoidance, one for each (window, RTT).
fn set(mut group: Group, subflows: &[(u32, u32)]) -> Group {
    for (i, &(window, rtt)) in subflows.iter().enumerate() {
        (group[i].cwnd, group[i].ssthresh, group[i].srtt) = (window, window, rtt);
    }
    group
}

fn balia(subflows: &[(u32, u32)]) -> Group {
    set(group("balia", subflows.len(), 10), subflows)
}

/// As the old MPTCP kernel cut.
fn old_kernel(subflows: &[(u32, u32)]) -> Group {
    let controller = find("balia").expect("it is built in");
    let scheme = ConfiguredController::new(controller, [("integer_cut", 1)]).expect("in its range");
    set(Group::new(Arc::new(scheme), subflows.len(), 10), subflows)
}

/// Compares the increase of subflow 0 with the equation.
fn check(subflows: &[(u32, u32)], relative: f64) {
    let mut group = balia(subflows);
    let expected = balanced_increase(&views(&group), 0);
    let measured = increase(&mut group, 0, expected);
    assert!(
        (measured - expected).abs() < expected * relative + LAST_DIGIT,
        "{subflows:?} (window, RTT): {measured:e} for a packet; BALIA has {expected:e}"
    );
}

fn pairs<'a>(windows: &'a [u32], rtts: &'a [u32]) -> impl Iterator<Item = (u32, u32)> + 'a {
    windows.iter().flat_map(|&w| rtts.iter().map(move |&t| (w, t)))
}

#[test]
fn the_increase_has_the_stated_resolution() {
    let (windows, rtts) =
        ([2, 3, 10, 100, 1000, 10_000, 100_000], [SHORTEST_RTT, 160, 8000, 80_000, LONGEST_RTT]);
    for count in [1, 2, 3, 8, 64] {
        for own in pairs(&windows, &rtts) {
            for other in pairs(&windows, &rtts) {
                let mut subflows = vec![other; count];
                subflows[0] = own;
                check(&subflows, BALIA_ERROR);
            }
        }
    }
}

/// The corners of the contract, where the sum is largest and the rates are furthest apart.
#[test]
fn the_extremes_do_not_overflow() {
    let (windows, rtts) = ([1, 2, CWND_LIMIT - 1], [SRTT_LEAST, SRTT_LIMIT - 1]);
    for count in [2, MAX_SUBFLOWS] {
        for own in pairs(&windows, &rtts) {
            for other in pairs(&windows, &rtts) {
                let mut subflows = vec![other; count];
                subflows[0] = own;
                check(&subflows, CORNER_ERROR);
            }
        }
    }
}

/// The window after a cut in whole numbers, exactly: w - w/2 min(a, 3/2), a w_r = max_k(w_k T_r/T_k), rounded down,
/// not below 1 packet; alone Reno's.
fn after_cut(subflows: &[(u32, u32)]) -> u64 {
    let (window, rtt) = subflows[0];
    if subflows.len() == 1 {
        return u64::from((window / 2).max(2).min(window));
    }
    let of = |&(w, t): &(u32, u32)| (u64::from(w) * u64::from(rtt)).div_ceil(2 * u64::from(t));
    let free = subflows.iter().map(of).max().expect("there is one");
    let window = u64::from(window);
    (window - free.min((3 * window).div_ceil(4))).max(1)
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn the_increase_has_its_resolution_anywhere(
        subflows in prop::collection::vec(
            (logarithmic(1, CWND_LIMIT - 1), logarithmic(SHORTEST_RTT, LONGEST_RTT)),
            1..=MAX_SUBFLOWS,
        ),
    ) {
        check(&subflows, BALIA_ERROR);
    }

    #[test]
    fn the_cut_is_exact(
        subflows in prop::collection::vec(
            (logarithmic(1, CWND_LIMIT - 1), logarithmic(SRTT_LEAST, SRTT_LIMIT - 1)),
            1..=MAX_SUBFLOWS,
        ),
        near in prop::bool::ANY,
    ) {
        let mut subflows = subflows;
        if near {
            // Rate ratios between 1 and a few, where the cut is neither a half nor three quarters.
            for i in 1..subflows.len() {
                subflows[i] = (subflows[0].0 + subflows[i].0 % (subflows[0].0 + 1), subflows[0].1);
                subflows[i].0 = subflows[i].0.min(CWND_LIMIT - 1);
            }
        }
        for cause in [Cause::Mark, Cause::Loss, Cause::Local] {
            let got = u64::from(balia(&subflows).congestion(0, cause).expect("cut"));
            prop_assert_eq!(got, after_cut(&subflows), "{:?}", subflows);
        }
    }

    /// The old kernel's truncation: below a = 2 half, else three quarters, of whole packets.
    #[test]
    fn the_integer_cut_is_the_old_kernel_s(
        own in (logarithmic(1, CWND_LIMIT - 1), logarithmic(SRTT_LEAST, SRTT_LIMIT - 1)),
        other in (logarithmic(1, CWND_LIMIT - 1), logarithmic(SRTT_LEAST, SRTT_LIMIT - 1)),
    ) {
        let mut group = old_kernel(&[own, other]);
        let a = rate_ratio(&views(&group), 0);
        let half = own.0 / 2;
        let expected = own.0 - if a >= 2.0 { half * 3 / 2 } else { half };
        let cut = group.congestion(0, Cause::Loss).expect("cut");
        prop_assert_eq!(cut, expected, "{:?}, {:?}: a = {}", own, other, a);
    }
}

/// a is 1 on the best path and grows elsewhere; the cut is half there and three quarters at most.
#[test]
fn the_cut_by_hand() {
    for (own, other, expected, old) in [
        ((100, 800), (100, 800), 50, 50),  // a = 1
        ((100, 800), (50, 800), 50, 50),   // the best path
        ((100, 800), (120, 800), 40, 50),  // a = 1.2: 60
        ((100, 800), (100, 640), 37, 50),  // a = 1.25: 62.5
        ((100, 800), (150, 800), 25, 50),  // a = 1.5
        ((100, 800), (199, 800), 25, 50),  // a = 1.99
        ((100, 800), (200, 800), 25, 25),  // a = 2
        ((100, 800), (9999, 800), 25, 25), // no more than 3/4
        ((7, 800), (70, 800), 1, 3),       // 5.25; the old kernel: 3/2 of 3
        ((2, 800), (70, 800), 1, 1),       // 1.5
        ((1, 800), (70, 800), 1, 1),       // the floor
    ] {
        let (mut exact, mut truncated) = (balia(&[own, other]), old_kernel(&[own, other]));
        assert_eq!(exact.congestion(0, Cause::Loss).expect("cut"), expected, "{own:?}, {other:?}");
        assert_eq!(
            truncated.congestion(0, Cause::Loss).expect("cut"),
            old,
            "{own:?}, {other:?}, integer_cut"
        );
    }
}

/// A sibling without an RTT has no rate.
#[test]
fn a_sibling_without_an_rtt_does_not_count() {
    let mut group = balia(&[(100, 800), (1000, 0)]);
    assert_eq!(group.congestion(0, Cause::Loss).expect("cut"), 50);
    let measured = increase(&mut group, 0, 0.01);
    assert!((measured * 100.0 - 1.0).abs() < 1e-7, "{measured:e}");
}

/// With a = 1, that is equal rates, (1 + a)/2 (4 + a)/5 = 1: equal subflows share one TCP.
#[test]
fn equal_subflows_share_one_tcp() {
    for count in [1, 2, 4, 8] {
        let mut group = balia(&vec![(100, 800); count]);
        let expected = 1.0 / (100 * count * count) as f64;
        let measured = increase(&mut group, count - 1, expected);
        assert!((measured / expected - 1.0).abs() < 1e-7, "{count}: {measured:e}");
    }
}

#[test]
fn packets_are_counted_not_acks() {
    let of = |delivered| Ack { delivered, ..Ack::default() };
    for other in [(3, 800), (100, 40), (100_000, LONGEST_RTT)] {
        let (mut one_ack, mut four_acks) = (balia(&[(10, 800), other]), balia(&[(10, 800), other]));
        one_ack.grow(0, &of(4));
        for _ in 0..4 {
            assert_eq!(four_acks[0].cwnd, 10, "too early: w must stay the same");
            four_acks.grow(0, &of(1));
        }
        let grown = |group: &mut Group| f64::from(group[0].cwnd) + fraction(group, 0);
        let (one, four) = (grown(&mut one_ack), grown(&mut four_acks));
        assert!((one - four).abs() < 1e-8, "{other:?}: {one} and {four}");
    }
}
