//! vMCC is DCM with a floor of 2 packets; and Algorithm 1 as it is printed.

use std::sync::Arc;

use proptest::prelude::*;
use tresse_controllers::{Ack, Cause, ConfiguredController, Group, find};

use super::group;
use crate::host::{Hook, calls, config, events, make, show};

proptest! {
    #![proptest_config(config(256))]

    /// Each call is made on the same windows; so the two never part.
    #[test]
    fn it_is_dcm_but_for_the_floor(count in 1..=8usize, events in events(400)) {
        let (mut vmcc, mut dcm) = (group("vmcc", count, 10), group("dcm", count, 10));
        for call in calls(count, &events) {
            let i = call.subflow;
            show(&mut dcm, &call);
            dcm[i].cwnd = vmcc[i].cwnd;
            dcm[i].ssthresh = vmcc[i].ssthresh;
            let before = vmcc[i].cwnd;
            let cut = make(&mut vmcc, &call);
            let same = make(&mut dcm, &call);
            match call.hook {
                Hook::Congestion(_) if before > 1 => {
                    prop_assert_eq!(cut, same.map(|w| w.max(2)), "{:?}", call);
                }
                Hook::Grow(_) => prop_assert_eq!(vmcc[i].cwnd, dcm[i].cwnd, "{:?}", call),
                _ => {}
            }
            (dcm[i].cwnd, dcm[i].ssthresh) = (vmcc[i].cwnd, vmcc[i].ssthresh);
        }
    }

    /// LIA's quotient may bring a whole packet one ACK later than Reno's.
    #[test]
    fn one_subflow_goes_dctcp_s_way(events in events(400)) {
        let (mut vmcc, mut dctcp) = (group("vmcc", 1, 10), group("dctcp", 1, 10));
        for call in calls(1, &events) {
            make(&mut vmcc, &call);
            make(&mut dctcp, &call);
            prop_assert!(vmcc[0].cwnd.abs_diff(dctcp[0].cwnd) <= 2, "{call:?}: {vmcc:?}, {dctcp:?}");
        }
    }
}

/// Algorithm 1 to the letter, one subflow of 10^6 packets so that a cut shows the factors.
fn printed(alpha_start: u64) -> Group {
    let controller = find("vmcc").expect("it is built in");
    let settings = [("as_printed", 1), ("alpha_start", alpha_start)];
    Group::new(Arc::new(ConfiguredController::new(controller, settings).expect("in range")), 1, 1_000_000)
}

fn ack(marked: u32, new_round: bool) -> Ack {
    Ack { delivered: 10, marked, rtt: 800, new_round: new_round.into(), ..Ack::default() }
}

fn assert_cut(group: &mut Group, kept: f64) {
    let cut = f64::from(group.congestion(0, Cause::Mark).expect("cut"));
    assert!((cut / 1e6 - kept).abs() < 3e-6, "{cut} left; {kept} of it should be");
}

/// Ten marked ACKs at alpha = F = 1/2: 0.75^10, 6 % (catalogue S24).
#[test]
fn as_printed_ten_marked_acks_leave_next_to_nothing() {
    let mut group = printed(512);
    for _ in 0..10 {
        group.ack(0, &ack(0, false));
    }
    for _ in 0..10 {
        group.ack(0, &ack(10, false));
    }
    let untouched = |alpha: f64| 1.0 - alpha / 2.0;
    // F of the round before is unknown, 0: alpha falls from 1/2 by 1/16 with each.
    let kept: f64 = (0..10).map(|n| untouched(0.5 * (15.0f64 / 16.0).powi(n))).product();
    assert_cut(&mut group, kept);
    // The round ends with F = 1/2. Whatever alpha was, many marked ACKs bring it there.
    group.ack(0, &ack(0, true));
    for n in 0..400 {
        group.ack(0, &ack(if n % 2 == 0 { 10 } else { 0 }, false));
    }
    assert!(group.congestion(0, Cause::Mark).expect("cut") <= 2);
    for _ in 0..10 {
        group.ack(0, &ack(10, false));
    }
    assert_cut(&mut group, 0.75f64.powi(10));
}

/// The first factor is alpha's before the ACK; a cut forgets what it has applied, a loss too.
#[test]
fn as_printed_each_factor_is_applied_once() {
    let mut group = printed(1024);
    group.ack(0, &ack(1, false));
    assert_cut(&mut group, 0.5);
    assert_cut(&mut group, 1.0);
    // In CWR: two more, at 15/16 and (15/16)^2, that wait; then a third at (15/16)^3.
    for _ in 0..3 {
        group.ack(0, &ack(1, false));
    }
    let kept: f64 = (1..=3).map(|n| 1.0 - (15.0f64 / 16.0).powi(n) / 2.0).product();
    assert_cut(&mut group, kept);
    group.ack(0, &ack(1, false));
    assert_eq!(group.congestion(0, Cause::Loss), Some(500_000));
    assert_cut(&mut group, 1.0);
}

/// Unmarked rounds leave alpha where it is: it moves at marked ACKs only.
#[test]
fn as_printed_alpha_does_not_fade() {
    let mut group = printed(1024);
    for _ in 0..1000 {
        group.ack(0, &ack(0, true));
    }
    group.ack(0, &ack(1, false));
    assert_cut(&mut group, 0.5);
}
