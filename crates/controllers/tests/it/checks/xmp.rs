//! What Algorithm 1, eq. (9) and the catalogue's mends promise of XMP.

use std::sync::Arc;

use tresse_controllers::{
    Ack, CWND_LIMIT, Cause, ConfiguredController, Group, INFINITE_SSTHRESH, MAX_SUBFLOWS, SRTT_LEAST,
    SRTT_LIMIT, State, find,
};

use super::{group, views};
use crate::host::{LONGEST_RTT, SHORTEST_RTT};
use crate::readings::delta;

/// An ACK of one packet that begins a round, or does not.
fn ack(new_round: bool) -> Ack {
    Ack { delivered: 1, marked: 0, rtt: 800, new_round: new_round.into(), ..Ack::default() }
}

/// One subflow for each (window, RTT), in congestion avoidance; each has told its rate.
fn xmp(subflows: &[(u32, u32)]) -> Group {
    let mut group = group("xmp", subflows.len(), 10);
    for (i, &(window, rtt)) in subflows.iter().enumerate() {
        (group[i].cwnd, group[i].ssthresh, group[i].srtt) = (window, INFINITE_SSTHRESH, rtt);
        group.ack(i, &ack(true)); // in slow start: earns nothing
        group[i].ssthresh = 2;
    }
    group
}

/// Ends a round of subflow `i`.
fn round(group: &mut Group, i: usize) {
    group.ack(i, &ack(true));
    group.grow(i, &ack(true));
}

/// Delta of subflow `i`, as a mean over `rounds` at windows that stay as they are; the fraction
/// that is left makes it uncertain by 1/`rounds`.
fn measured(group: &mut Group, i: usize, rounds: u32) -> f64 {
    let window = group[i].cwnd;
    let mut grown = 0.0;
    for _ in 0..rounds {
        round(group, i);
        grown += f64::from(group[i].cwnd - window);
        group[i].cwnd = window;
    }
    grown / f64::from(rounds)
}

/// Eq. (9) with one path: delta = 1.
#[test]
fn one_subflow_gains_a_packet_a_round() {
    for window in [2, 3, 10, 1000, 100_000] {
        for rtt in [SHORTEST_RTT, 801, 80_000, LONGEST_RTT] {
            let mut group = xmp(&[(window, rtt)]);
            for rounds in 1..=20 {
                round(&mut group, 0);
                assert_eq!(group[0].cwnd, window + rounds, "{window}, {rtt}");
            }
        }
    }
}

/// Eq. (9): x/(x + x) = 1/2, a packet every second round.
#[test]
fn two_equal_subflows_gain_half_a_packet_each() {
    for window in [2, 3, 10, 1000, 100_000] {
        for rtt in [SHORTEST_RTT, 801, 80_000] {
            let mut group = xmp(&[(window, rtt), (window, rtt)]);
            for i in [0, 1] {
                round(&mut group, i);
                assert_eq!(group[i].cwnd, window, "half a packet, {window}, {rtt}");
            }
            for i in [0, 1] {
                round(&mut group, i);
                assert_eq!(group[i].cwnd, window + 1, "two halves, {window}, {rtt}");
            }
        }
    }
}

/// Eq. (9) with equal RTTs: delta_r = x_r/y. Together the subflows are as eager as one BOS flow.
#[test]
fn with_equal_rtts_the_deltas_sum_to_one() {
    const ROUNDS: u32 = 20_000;
    for windows in [vec![10, 20, 30], vec![2, 1000], vec![100_000, 3], vec![7; 8]] {
        let subflows: Vec<_> = windows.iter().map(|&w| (w, 800)).collect();
        let mut group = xmp(&subflows);
        let sum: f64 = (0..windows.len()).map(|i| measured(&mut group, i, ROUNDS)).sum();
        // Each subflow keeps up to a packet, and each delta loses up to 2^-20.
        let error = windows.len() as f64 * (1.0 / f64::from(ROUNDS) + 2f64.powi(-20));
        assert!((sum - 1.0).abs() < error, "{windows:?}: {sum}");
    }
}

/// Eq. (9) as it stands. With unequal RTTs a subflow of the longer path may gain many packets in
/// one of its rounds, and the deltas do not sum to one.
#[test]
fn delta_is_equation_9() {
    const ROUNDS: u32 = 5_000;
    let sides = [2, 30, 1000, 100_000]
        .into_iter()
        .flat_map(|w| [SHORTEST_RTT, 160, 801, 80_000, LONGEST_RTT].into_iter().map(move |t| (w, t)));
    for own in sides.clone() {
        for other in sides.clone() {
            let mut group = xmp(&[own, other, other]);
            let all = views(&group);
            let rates: Vec<_> = all.iter().map(|s| s.window / s.rtt).collect();
            let expected = delta(&all, 0, &rates);
            let got = measured(&mut group, 0, ROUNDS);
            assert!(
                (got - expected.packets).abs() < expected.within + 1.0 / f64::from(ROUNDS),
                "own {own:?}, others {other:?} (window, RTT): {got} a round; eq. (9) has {expected:?}"
            );
        }
    }
}

/// The corners of the contract: 64 rates of 2^20 packets a microsecond, and one path
/// that is 2^24 times as long as the others and so earns millions of packets in its round.
#[test]
fn the_extremes_do_not_overflow() {
    let windows = [2, CWND_LIMIT - 1];
    let rtts = [SRTT_LEAST, SRTT_LIMIT - 1];
    for own in windows.into_iter().flat_map(|w| rtts.map(|t| (w, t))) {
        for other in windows.into_iter().flat_map(|w| rtts.map(|t| (w, t))) {
            let mut subflows = vec![other; MAX_SUBFLOWS];
            subflows[0] = own;
            let mut group = xmp(&subflows);
            let all = views(&group);
            let rates: Vec<_> = all.iter().map(|s| s.window / s.rtt).collect();
            let expected = delta(&all, 0, &rates);
            let got = measured(&mut group, 0, 1000);
            assert!(
                (got - expected.packets).abs() < expected.within + 1.0 / 1000.0,
                "own {own:?}, others {other:?} (window, RTT): {got} a round; eq. (9) has {expected:?}"
            );
        }
    }
}

/// TraSh, step 1: delta(0) = 1. A sibling counts from the end of its first round on; its RTT
/// without its rate would make delta too large or too small.
#[test]
fn a_sibling_counts_when_it_has_told_its_rate() {
    let mut group = xmp(&[(10, 800), (10, 800)]);
    (group[1].word, group[1].srtt) = (0, 80);
    assert_eq!(measured(&mut group, 0, 10), 1.0);
}

/// Algorithm 1's `instant_rate` is as of the sibling's last round.
#[test]
fn a_sibling_s_rate_is_that_of_its_last_round() {
    let mut group = xmp(&[(10, 800), (10, 800)]);
    group[1].cwnd = 1000;
    assert!((measured(&mut group, 0, 1000) - 0.5).abs() < 0.002);
    group.ack(1, &ack(true));
    assert!((measured(&mut group, 0, 1000) - 10.0 / 1010.0).abs() < 0.002);
}

/// Algorithm 1: w -= max(w/beta, 1) in whole packets, and not below 2.
#[test]
fn a_mark_cuts_by_one_in_beta() {
    let controller = find("xmp").expect("it is built in");
    for beta in [2, 3, 4, 5, 6, 64] {
        let scheme =
            ConfiguredController::new(controller, [("beta", u64::from(beta))]).expect("in its range");
        let mut group = Group::new(Arc::new(scheme), 1, 10);
        for window in 2..300 {
            (group[0].cwnd, group[0].ssthresh) = (window, 2);
            let expected = (window - (window / beta).max(1)).max(2);
            assert_eq!(group.congestion(0, Cause::Mark).expect("cut"), expected, "{window} / {beta}");
        }
    }
}

/// §2.1: in slow start a mark stops the growth and leaves the window.
#[test]
fn a_mark_in_slow_start_ends_it() {
    let mut group = xmp(&[(10, 800)]);
    group[0].ssthresh = INFINITE_SSTHRESH;
    group.ack(0, &ack(false));
    group[0].ssthresh = group.congestion(0, Cause::Mark).expect("cut");
    assert_eq!(group[0].ssthresh, 10);
    round(&mut group, 0);
    assert_eq!(group[0].cwnd, 11, "a packet a round: congestion avoidance");
    group.grow(0, &ack(false));
    assert_eq!(group[0].cwnd, 11, "and not a packet an ACK");
}

/// The catalogue's mend: ">=" for ">", or a window at its threshold would be stuck.
#[test]
fn a_window_at_its_threshold_grows_and_is_cut() {
    let mut group = xmp(&[(10, 800)]);
    group[0].ssthresh = 10;
    assert_eq!(group.congestion(0, Cause::Mark).expect("cut"), 8);
    round(&mut group, 0);
    assert_eq!(group[0].cwnd, 11);
}

/// The catalogue's mend: a mark comes before the growth of the same ACK, which is then lost.
#[test]
fn a_mark_with_the_round_s_end_drops_its_delta() {
    let mut group = xmp(&[(10, 800)]);
    group.ack(0, &ack(true));
    group[0].cwnd = group.congestion(0, Cause::Mark).expect("cut");
    assert_eq!(group[0].cwnd, 8);
    group.grow(0, &ack(true));
    assert_eq!(group[0].cwnd, 8);
}

/// Algorithm 1 tests the state when the round ends: one that ends in REDUCED earns nothing, also
/// if the same ACK ends the reduction.
#[test]
fn a_round_that_ends_reduced_earns_nothing() {
    for state in [State::Cwr, State::Recovery] {
        let mut group = xmp(&[(10, 800)]);
        group[0].state = state;
        group.ack(0, &ack(true));
        group[0].state = State::Open;
        group.grow(0, &ack(true));
        assert_eq!(group[0].cwnd, 10, "{state:?}");
    }
}

/// Algorithm 1 adds delta once a round, however many ACKs the round has.
#[test]
fn the_delta_is_added_once() {
    let mut group = xmp(&[(10, 800)]);
    round(&mut group, 0);
    for _ in 0..10 {
        group.ack(0, &ack(false));
        group.grow(0, &ack(false));
    }
    assert_eq!(group[0].cwnd, 11);
}

/// Algorithm 1 tests the window when the round ends: the ACK that ends slow start earns no delta.
#[test]
fn slow_start_earns_no_delta() {
    let mut group = xmp(&[(10, 800)]);
    group[0].ssthresh = 12;
    let last = Ack { delivered: 4, ..ack(true) };
    group.ack(0, &last);
    group.grow(0, &last);
    assert_eq!(group[0].cwnd, 12, "two packets to the threshold; the other two earn nothing");
}

/// KH slide 6: delta = (w/rtt) / sum(w/rtt), without eq. (9)'s T_r / min T; so it is at most 1.
#[test]
fn the_slides_delta_is_the_share_of_the_rate() {
    const ROUNDS: u32 = 20_000;
    let controller = find("xmp").expect("it is built in");
    let scheme =
        Arc::new(ConfiguredController::new(controller, [("slides_delta", 1)]).expect("in its range"));
    let sides = [(2, SRTT_LEAST), (10, 800), (10, 8000), (CWND_LIMIT - 1, SRTT_LEAST), (2, SRTT_LIMIT - 1)];
    for own in sides {
        for other in sides {
            let mut group = Group::new(Arc::clone(&scheme), 3, 10);
            for (i, (window, rtt)) in [own, other, other].into_iter().enumerate() {
                (group[i].cwnd, group[i].ssthresh, group[i].srtt) = (window, 2, rtt);
                group.ack(i, &ack(true));
            }
            let rate = |(window, rtt): (u32, u32)| f64::from(window) / f64::from(rtt);
            let expected = rate(own) / (rate(own) + 2.0 * rate(other));
            let got = measured(&mut group, 0, ROUNDS);
            let within = 1.0 / f64::from(ROUNDS) + 2f64.powi(-20) + expected * 2f64.powi(-13);
            assert!((got - expected).abs() < within, "own {own:?}, others {other:?}: {got}, not {expected}");
        }
    }
}

/// Algorithm 1 keeps the last rate of a subflow whose path has failed; `forget_stalled` leaves the other one alone.
#[test]
fn a_stalled_subflow_keeps_its_rate_unless_it_is_forgotten() {
    let controller = find("xmp").expect("it is built in");
    for (forget, expected) in [(0, 0.5), (1, 1.0)] {
        let scheme = Arc::new(
            ConfiguredController::new(controller, [("forget_stalled", forget)]).expect("in its range"),
        );
        let mut group = Group::new(scheme, 2, 10);
        for i in 0..2 {
            (group[i].cwnd, group[i].ssthresh, group[i].srtt) = (10, 2, 800);
            group.ack(i, &ack(true));
        }
        group.timeout(1);
        let got = measured(&mut group, 0, 1000);
        assert!((got - expected).abs() < 0.002, "forget_stalled = {forget}: {got}");
        group.ack(1, &ack(true));
        let again = measured(&mut group, 0, 1000);
        assert!((again - 0.5).abs() < 0.002, "forget_stalled = {forget}: {again} when it is back");
    }
}
