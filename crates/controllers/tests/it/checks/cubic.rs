//! CUBIC's known points: K, the plateau, the Reno-friendly region, fast convergence, the timeout.

use std::sync::Arc;

use tresse_controllers::{Ack, CWND_LIMIT, Cause, ConfiguredController, Group, SRTT_LIMIT, find};

use super::group;
use crate::readings::{cube, time_to_rise};

fn cubic(settings: &[(&str, u64)], window: u32) -> Group {
    let controller = find("cubic").expect("it is built in");
    let scheme = ConfiguredController::new(controller, settings.iter().copied()).expect("in range");
    Group::new(Arc::new(scheme), 1, window)
}

/// A congestion: the host's part too. An ACK at `now` then begins the next stage.
fn cut(group: &mut Group, cause: Cause, now: u64) -> u32 {
    let window = group.congestion(0, cause).expect("cut");
    (group[0].cwnd, group[0].ssthresh) = (window, window);
    if cause == Cause::Loss {
        ack(group, 1, now);
    }
    window
}

/// No pause lies before it: the RTT is unknown, or longer than the step of time.
fn ack(group: &mut Group, delivered: u32, now: u64) {
    let rtt = if group[0].srtt == 0 { 0 } else { u32::MAX };
    ack_after(rtt, group, delivered, now);
}

fn ack_after(rtt: u32, group: &mut Group, delivered: u32, now: u64) {
    let ack = Ack { delivered, rtt, now, ..Ack::default() };
    group.ack(0, &ack);
    group.grow(0, &ack);
}

/// How far `target` may be off, packets.
const TARGET_ERROR: f64 = 0.8;

/// W(t + T): found as the largest whole window that still grows at `now`, when five quarters of it are
/// delivered; so the target is at least 0.8 packets above it, or 1.4 in many small steps, and not 1 more
/// than that. W_est, which gains less, must lie below. Leaves the group as it was.
fn target(group: &mut Group, now: u64) -> f64 {
    let saved = group[0].clone();
    let (mut grows, mut stays) = (1, CWND_LIMIT - 1);
    while stays - grows > 1 {
        let middle = (grows + stays) / 2;
        group[0] = saved.clone();
        (group[0].cwnd, group[0].ssthresh) = (middle, 1);
        let mut left = middle * 5 / 4;
        while left > 0 {
            let delivered = left.min(1 << 14);
            ack(group, delivered, now);
            left -= delivered;
        }
        if group[0].cwnd > middle { grows = middle } else { stays = middle }
    }
    group[0] = saved;
    f64::from(grows) + 1.6
}

/// Figures 1 and 2, from a cut to 0.7 W_max on: W(K) = W_max, concave before and convex after.
#[test]
fn the_window_follows_the_cubic() {
    for w_max in [1_000u32, 30_000, 700_000] {
        let mut group = group("cubic", 1, w_max);
        cut(&mut group, Cause::Loss, 0);
        let k = time_to_rise(f64::from(w_max) - f64::from(w_max * 7 / 10));
        for share in [0.3, 0.5, 0.9, 1.0, 1.1, 1.5] {
            let t = k * share;
            let expected = f64::from(w_max) + cube(t - k);
            let got = target(&mut group, (t * 1e6) as u64);
            let within = TARGET_ERROR + 1e-3 + 1e-5 * (expected - f64::from(w_max)).abs();
            assert!((got - expected).abs() <= within, "W_max {w_max}, {share} K: {got}, not {expected}");
        }
    }
}

/// §4.2: the target is that of the next RTT.
#[test]
fn the_target_is_an_rtt_ahead() {
    let mut group = group("cubic", 1, 1000);
    group[0].srtt = 8_000_000; // 1 s
    cut(&mut group, Cause::Loss, 0);
    let k = time_to_rise(300.0);
    let (got, expected) = (target(&mut group, 3_000_000), 1000.0 + cube(4.0 - k));
    assert!((got - expected).abs() <= TARGET_ERROR + 1e-3, "{got}, not {expected}");
}

/// Sends window after window, an RTT each, until `end`.
/// Returns when it has ended, at `end` or up to an RTT later.
fn run(group: &mut Group, from: u64, end: u64, rtt: u64) -> u64 {
    group[0].srtt = (8 * rtt) as u32;
    let mut now = from;
    while now < end {
        let window = group[0].cwnd;
        for n in 1..=u64::from(window) {
            ack(group, 1, now + rtt * n / u64::from(window));
        }
        now += rtt;
    }
    now
}

/// Acked packet by packet the window goes the same way, at most an RTT ahead, and rests at W_max.
#[test]
fn the_plateau_is_w_max() {
    let mut group = group("cubic", 1, 1000);
    cut(&mut group, Cause::Loss, 0);
    let k = (time_to_rise(300.0) * 1e6) as u64;
    let before = run(&mut group, 0, k - 2_000_000, 100_000);
    assert!((995..=998).contains(&group[0].cwnd), "W_max - 0.4 2^3: {}", group[0].cwnd);
    run(&mut group, before, k + 1_000_000, 100_000);
    assert!((999..=1001).contains(&group[0].cwnd), "{}", group[0].cwnd);
}

/// Figure 4: 3 (1 - 0.7)/(1 + 0.7) = 0.529 packets an RTT up to the window before the cut, then one.
#[test]
fn the_reno_friendly_region_is_that_of_aimd() {
    let mut group = group("cubic", 1, 100);
    cut(&mut group, Cause::Loss, 0);
    run(&mut group, 0, 50_000, 1000);
    // 70 + 50 * 0.529 = 96.5; a round begins with the window that it has, so it is a little less.
    assert!((95..=97).contains(&group[0].cwnd), "{}", group[0].cwnd);
    run(&mut group, 50_000, 70_000, 1000);
    // Some 7 rounds up to 100, then 13 with one packet each.
    assert!((111..=114).contains(&group[0].cwnd), "{}", group[0].cwnd);
}

/// §4.7: below the last W_max a congestion makes room, W_max = w (1 + 0.7)/2.
#[test]
fn fast_convergence_lowers_the_plateau() {
    for (fast, plateau) in [(1, 595), (0, 700)] {
        let mut group = cubic(&[("fast_convergence", fast)], 1000);
        cut(&mut group, Cause::Loss, 0);
        assert_eq!(cut(&mut group, Cause::Loss, 0), 490);
        let k = (time_to_rise(f64::from(plateau) - 490.0) * 1e6) as u64;
        let got = target(&mut group, k);
        assert!((got - f64::from(plateau)).abs() <= TARGET_ERROR + 1e-3, "{got}, not {plateau}");
    }
}

/// §4.8: W_max is the window at which congestion avoidance begins, and K = 0.
#[test]
fn after_a_timeout_the_window_rises_at_once() {
    let mut group = group("cubic", 1, 1000);
    let ssthresh = group.congestion(0, Cause::Loss).expect("cut");
    group.timeout(0);
    (group[0].cwnd, group[0].ssthresh) = (1, ssthresh);
    ack(&mut group, 699, 1_000_000);
    assert_eq!(group[0].cwnd, 700, "slow start");
    ack(&mut group, 1, 2_000_000); // the stage begins
    let (got, expected) = (target(&mut group, 7_000_000), 700.0 + cube(5.0));
    assert!((got - expected).abs() <= TARGET_ERROR + 1e-3, "{got}, not {expected}");
}

/// §4.6: a mark is answered like a loss; beta and the floor.
#[test]
fn every_cause_leaves_beta() {
    for cause in [Cause::Mark, Cause::Loss, Cause::Local] {
        for (beta, window, left) in [(700, 1000, 700), (700, 15, 10), (500, 15, 7), (700, 2, 2), (950, 2, 2)]
        {
            assert_eq!(cubic(&[("beta", beta)], window).congestion(0, cause), Some(left));
        }
    }
}

/// §4.2: the time does not run while the application is the limit.
#[test]
fn a_pause_of_the_application_does_not_count() {
    let (mut paused, mut steady) = (group("cubic", 1, 1000), group("cubic", 1, 1000));
    for group in [&mut paused, &mut steady] {
        cut(group, Cause::Loss, 0);
        ack(group, 1, 1_000_000);
    }
    paused[0].cwnd_limited = 0;
    paused.ack(0, &Ack { delivered: 1, now: 61_000_000, ..Ack::default() });
    paused[0].cwnd_limited = 1;
    assert_eq!(target(&mut paused, 63_000_000), target(&mut steady, 3_000_000));
}

/// The same if a burst ends the pause that fills the window at once: a busy sender's ACK comes within an RTT.
#[test]
fn a_pause_before_a_burst_does_not_count() {
    let (mut paused, mut steady) = (group("cubic", 1, 1000), group("cubic", 1, 1000));
    for group in [&mut paused, &mut steady] {
        cut(group, Cause::Loss, 0);
        ack(group, 1, 1_000);
    }
    let millisecond = 8_000; // 1/8 us
    ack_after(millisecond, &mut paused, 1, 60_002_000);
    ack_after(millisecond, &mut steady, 1, 2_000);
    for later in [3_000, 4_000] {
        ack_after(millisecond, &mut paused, 700, 60_000_000 + later);
        ack_after(millisecond, &mut steady, 700, later);
        assert_eq!(paused[0].cwnd, steady[0].cwnd, "{later} us");
    }
}

/// C is a parameter: K goes with its cube root, and ten times the C rises ten times as far.
#[test]
fn c_is_the_steepness() {
    for c in [1, 40, 4000] {
        let mut group = cubic(&[("c", c)], 1_000_000);
        cut(&mut group, Cause::Loss, 0);
        let per_second = c as f64 / 1000.0;
        let k = (300_000.0 / per_second).cbrt();
        for t in [k * 0.5, k, k * 1.1] {
            let expected = 1e6 + per_second * (t - k).powi(3);
            let got = target(&mut group, (t * 1e6) as u64);
            assert!(
                (got - expected).abs() <= TARGET_ERROR + 3e-6 * 3e5,
                "C {c}, {t} s: {got}, not {expected}"
            );
        }
    }
}

/// The corners: the window never falls by growth nor rises by more than was delivered.
#[test]
fn the_extremes_do_not_overflow() {
    for (c, beta) in [(1, 100), (1, 950), (400, 700), (4000, 100), (4000, 950)] {
        for window in [1, 2, 3, CWND_LIMIT - 2, CWND_LIMIT - 1] {
            for pause in [0, 1, 1 << 20, 1 << 30, 1 << 31, 1 << 40, 1 << 62] {
                for delivered in [1, 1 << 14, CWND_LIMIT - 1] {
                    let mut group = cubic(&[("c", c), ("beta", beta)], window);
                    group[0].srtt = SRTT_LIMIT - 1;
                    cut(&mut group, Cause::Loss, 5);
                    let before = group[0].cwnd;
                    ack(&mut group, delivered, 6 + pause);
                    let gain = group[0].cwnd.checked_sub(before);
                    assert!(
                        gain.is_some_and(|gain| gain <= delivered),
                        "{c}, {beta}, {window}, {pause}, {delivered}"
                    );
                }
            }
        }
    }
}
