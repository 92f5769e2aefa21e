//! What OLIA's definition promises, and how finely the fixed-point form keeps it.

use proptest::prelude::*;
use tresse_controllers::{Ack, CWND_LIMIT, Cause, Group, MAX_SUBFLOWS, SRTT_LEAST, SRTT_LIMIT};

use super::meter::{fraction, increase};
use super::{group, views};
use crate::host::{Hook, LONGEST_RTT, SHORTEST_RTT, calls, config, events, logarithmic, make};
use crate::readings::{SHARE_ERROR, modulation, share};

/// The last digit of Q48, packets, once for each of three roundings.
const LAST_DIGITS: f64 = 3.0 / (1u64 << 48) as f64;

/// What the contract's corners leave, relative: RTTs that differ by 2^24, in Q36, squared.
const CORNER_ERROR: f64 = 2.0 / (1u64 << 12) as f64;

/// A subflow in congestion avoidance: its window, its RTT and its l.
type Path = (u32, u32, u64);

fn olia(paths: &[Path]) -> Group {
    let mut group = group("olia", paths.len(), 10);
    for (i, &(window, rtt, quality)) in paths.iter().enumerate() {
        (group[i].cwnd, group[i].ssthresh, group[i].srtt) = (window, window, rtt);
        group[i].word = quality;
    }
    group
}

fn of(delivered: u32) -> Ack {
    Ack { delivered, ..Ack::default() }
}

/// Compares the increase of subflow 0 with the definition; `relative` is the first term's error.
/// The meter is exact to 10^-8 of what it is told to expect, or to 10^-15 packets.
fn check(paths: &[Path], relative: f64) {
    let mut group = olia(paths);
    let all = views(&group);
    let qualities: Vec<_> = paths.iter().map(|&(_, _, l)| l as f64).collect();
    let (first, second) = (share(&all, 0), modulation(&all, 0, &qualities) / all[0].window);
    let size = first.max(second.abs()).max(1e-7);
    let measured = increase(&mut group, 0, first + second.abs() + 1e-7);
    let expected = (first + second).min(1.0);
    assert!(
        (measured - expected).abs() < first * relative + size * 2e-8 + LAST_DIGITS,
        "{paths:?} (window, RTT, l): {measured:e} for a packet; the definition has {expected:e}"
    );
}

/// All of `windows` with all of `rtts`.
fn pairs<'a>(windows: &'a [u32], rtts: &'a [u32]) -> impl Iterator<Item = (u32, u32)> + 'a {
    windows.iter().flat_map(|&w| rtts.iter().map(move |&t| (w, t)))
}

/// Alpha is 0 where the largest windows are the best paths': the first term alone.
#[test]
fn the_first_term_has_the_stated_resolution() {
    let (windows, rtts) =
        ([2, 3, 10, 100, 1000, 10_000, 100_000], [SHORTEST_RTT, 160, 8000, 80_000, LONGEST_RTT]);
    for count in [1, 2, 3, 64] {
        for own in pairs(&windows, &rtts) {
            for other in pairs(&windows, &rtts) {
                let quality = |w| if w == own.0.max(other.0) { u64::MAX } else { 0 };
                let mut paths = vec![(other.0, other.1, quality(other.0)); count];
                paths[0] = (own.0, own.1, quality(own.0));
                check(&paths, SHARE_ERROR);
            }
        }
    }
}

/// Alpha takes from the subflows of the largest window and gives to the best ones.
#[test]
fn alpha_has_the_stated_resolution() {
    let (windows, rtts) = ([2, 3, 10, 1000, 100_000], [SHORTEST_RTT, 801, LONGEST_RTT]);
    for count in [2, 3, 64] {
        for own in pairs(&windows, &rtts) {
            for other in pairs(&windows, &rtts) {
                for qualities in [(0, 1), (1, 0), (7, 7), (1 << 40, 1)] {
                    let mut paths = vec![(other.0, other.1, qualities.1); count];
                    paths[0] = (own.0, own.1, qualities.0);
                    check(&paths, SHARE_ERROR);
                }
            }
        }
    }
}

/// What alpha takes and gives is shared by all of M and all of B\M: together 1/n each.
#[test]
fn the_sets_share_alpha() {
    let (wide, best, neither) = ((100, 800, 1), (50, 800, 9), (20, 800, 3));
    for (in_m, in_b, others) in [(1, 1, 0), (2, 1, 1), (1, 3, 2), (5, 4, 3), (32, 32, 0)] {
        let sets = [vec![wide; in_m], vec![best; in_b], vec![neither; others]].concat();
        let mut alphas = Vec::new();
        for own in 0..sets.len() {
            let mut paths = sets.clone();
            paths.swap(0, own);
            check(&paths, SHARE_ERROR);
            let mut group = olia(&paths);
            let first = share(&views(&group), 0);
            alphas.push((increase(&mut group, 0, 0.03) - first) * f64::from(paths[0].0));
        }
        let (sum, taken): (f64, f64) = (alphas.iter().sum(), alphas[..in_m].iter().sum());
        let n = sets.len() as f64;
        assert!((taken + 1.0 / n).abs() < 1e-5 && sum.abs() < 1e-5, "{sets:?}: {alphas:?}");
        assert!(alphas[in_m + in_b..].iter().all(|alpha| alpha.abs() < 1e-5), "{alphas:?}");
    }
}

/// The corners of the contract: l of 2^64 packets and RTTs of 2^27 are compared in 128 bits.
#[test]
fn the_extremes_do_not_overflow() {
    let (windows, rtts) = ([2, CWND_LIMIT - 1], [SRTT_LEAST, SRTT_LIMIT - 1]);
    for count in [2, MAX_SUBFLOWS] {
        for own in pairs(&windows, &rtts) {
            for other in pairs(&windows, &rtts) {
                for qualities in [(u64::MAX, u64::MAX), (u64::MAX, 1), (1, u64::MAX), (0, 0)] {
                    let mut paths = vec![(other.0, other.1, qualities.1); count];
                    paths[0] = (own.0, own.1, qualities.0);
                    check(&paths, CORNER_ERROR);
                }
            }
        }
    }
}

/// l/T^2 is compared exactly: a tie of different l and T is a tie, and one packet in 2^62 is none.
#[test]
fn ties_are_ties() {
    // T twice as long, l four times as large. The third subflow has the largest window.
    let alpha = |l: u64| {
        let mut group = olia(&[(10, 4_000_000, l), (10, 2_000_000, 1 << 60), (100, 8_000_000, 0)]);
        let first = share(&views(&group), 0);
        (increase(&mut group, 0, 1.0) - first) * 10.0
    };
    for (l, expected) in [
        (1 << 62, 1.0 / 6.0),       // both are best: 1/(3 * 2)
        ((1 << 62) + 1, 1.0 / 3.0), // the first alone
        ((1 << 62) - 1, 0.0),       // the second alone
    ] {
        let alpha = alpha(l);
        assert!((alpha - expected).abs() < 1e-6, "l = {l}: {alpha}, not {expected}");
    }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn the_increase_is_the_definition_s_anywhere(
        paths in prop::collection::vec(
            (
                logarithmic(2, CWND_LIMIT - 1),
                logarithmic(SHORTEST_RTT, LONGEST_RTT),
                logarithmic(1, u32::MAX).prop_map(u64::from),
            ),
            1..=MAX_SUBFLOWS,
        ),
    ) {
        check(&paths, SHARE_ERROR);
    }

    /// From any window, in any order of hooks.
    #[test]
    fn one_subflow_goes_reno_s_way(events in events(400)) {
        let (mut olia, mut reno) = (group("olia", 1, 1000), group("reno", 1, 1000));
        for call in calls(1, &events) {
            make(&mut olia, &call);
            make(&mut reno, &call);
            // A window that the test sets lies above or below the threshold as it likes.
            if matches!(call.hook, Hook::Window(..)) {
                break;
            }
            prop_assert_eq!(olia[0].cwnd, reno[0].cwnd, "{:?}", call);
        }
    }
}

/// Without alpha equal subflows of equal RTTs share one TCP, as LIA's: 1/(n^2 w) each.
#[test]
fn equal_subflows_share_one_tcp() {
    for count in [1, 2, 4, 8] {
        let mut group = olia(&vec![(100, 800, 5); count]);
        let expected = 1.0 / (100 * count * count) as f64;
        let measured = increase(&mut group, count - 1, expected);
        assert!((measured / expected - 1.0).abs() < 1e-7, "{count}: {measured:e}");
    }
}

/// The largest window on a hopeless path falls, packet by packet, to 2 and not below; the fraction
/// that it owes is forgotten there.
#[test]
fn a_negative_increase_lowers_the_window_to_two() {
    // 3 and 2 packets; T is 100 times as long: alpha = -1/2, the first term below 10^-4.
    let mut group = olia(&[(3, 80_000, 0), (2, 800, 9)]);
    let mut windows = Vec::new();
    for _ in 0..6 {
        group.grow(0, &of(4)); // 4/2/3 = 0.67
        windows.push(group[0].cwnd);
    }
    // 3 - 0.67 = 2.33. From 2 on M is both, and B\M is empty: nothing is taken any more.
    assert_eq!(windows, [2, 2, 2, 2, 2, 2]);
    for delivered in [5, 1 << 14, u32::MAX] {
        let mut group = olia(&[(2, 80_000, 0), (1, 800, 9)]);
        group.grow(0, &of(delivered)); // 1/2/2 = 0.25 each
        assert_eq!(group[0].cwnd, 2, "{delivered}");
        group[1].cwnd = 2; // now M is both, and the window may rise
        assert!(fraction(&mut group, 0) < 1e-8, "a window of 2 owes nothing");
    }
}

/// A window that alpha has taken below the threshold does not start slowly; after the next
/// congestion it may.
#[test]
fn what_alpha_takes_is_not_given_back_by_slow_start() {
    let mut group = olia(&[(100, 80_000, 0), (50, 800, 9)]);
    group.grow(0, &of(990)); // 990/2/100 = 4.95
    assert_eq!((group[0].cwnd, group[0].ssthresh), (95, 100));
    group.grow(0, &of(1));
    assert_eq!(group[0].cwnd, 95, "no slow start");
    let cut = group.congestion(0, Cause::Loss).expect("cut");
    assert_eq!(cut, 47);
    (group[0].cwnd, group[0].ssthresh) = (1, cut);
    group.grow(0, &of(10));
    assert_eq!(group[0].cwnd, 11, "slow start");
}

/// With alpha a window of 1 would get 3/2 packets for one; slow start's pace is the most.
#[test]
fn a_packet_is_worth_a_packet_at_most() {
    let mut group = olia(&[(1, 1, 9), (2, 8_000_000, 0)]);
    for _ in 0..4 {
        let before = group[0].cwnd;
        group.grow(0, &of(1));
        assert!(group[0].cwnd <= before + 1);
        group[0].cwnd = 1;
    }
}

/// l: the larger of the last two intervals, in packets. A second loss before any delivery ends none.
#[test]
fn quality_is_the_longer_of_two_intervals() {
    let mut group = group("olia", 1, 10);
    let mut after = |delivered: u32, losses: u32| {
        if delivered > 0 {
            group.ack(0, &of(delivered));
        }
        for _ in 0..losses {
            group.congestion(0, Cause::Loss).expect("cut");
        }
        group[0].word
    };
    assert_eq!(after(5, 0), 5);
    assert_eq!(after(5, 1), 10, "between the last two: 10");
    assert_eq!(after(3, 0), 10);
    assert_eq!(after(9, 0), 12, "since the last: 12");
    assert_eq!(after(0, 3), 12, "one loss");
    assert_eq!(after(4, 0), 12);
    assert_eq!(after(0, 1), 4, "the 12 are forgotten");
    assert_eq!(after(1, 0), 4);
}

#[test]
fn every_cause_halves_down_to_two() {
    for cause in [Cause::Mark, Cause::Loss, Cause::Local] {
        for (window, expected) in [(2, 2), (3, 2), (4, 2), (5, 2), (101, 50)] {
            assert_eq!(
                olia(&[(window, 800, 0)]).congestion(0, cause).expect("cut"),
                expected,
                "{window}, {cause:?}"
            );
        }
    }
}

#[test]
fn packets_are_counted_not_acks() {
    for paths in [[(10, 800, 9), (100, 800, 1)], [(100, 8000, 1), (10, 800, 9)]] {
        let (mut one_ack, mut four_acks) = (olia(&paths), olia(&paths));
        let window = paths[0].0;
        let grown = |group: &mut Group| f64::from(group[0].cwnd) + fraction(group, 0);
        one_ack.grow(0, &of(4));
        for _ in 0..4 {
            four_acks.grow(0, &of(1));
            let fallen = window - four_acks[0].cwnd; // its first step goes below the whole packet
            assert!(fallen <= 1, "alpha/w must stay the same");
        }
        let (one, four) = (grown(&mut one_ack), grown(&mut four_acks));
        assert!((one - four).abs() < 1e-3, "{paths:?}: {one} and {four}");
    }
}
