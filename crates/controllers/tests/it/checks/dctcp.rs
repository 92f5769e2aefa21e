//! DCTCP's estimate of congestion, RFC 8257 §3.3, as its cuts show it.

use std::sync::Arc;

use proptest::prelude::*;
use tresse_controllers::{Ack, Cause, ConfiguredController, Group, find};

use super::{group, group_with, views};
use crate::host::config;
use crate::readings::{ALPHA_ERROR, Dctcp, Reading};

/// The largest window of the contract: the finer the cut, the finer alpha can be read from it.
const PROBE: u32 = (1 << 17) - 1;

/// A cut to w (1 - alpha / 2) in whole packets tells alpha within 2/w.
const PROBE_ERROR: f64 = 2.0 / PROBE as f64;

/// Alpha of subflow `i`, read from what a mark would do. Leaves the group as it was.
fn alpha(group: &mut Group, i: usize) -> f64 {
    let saved = group[i].clone();
    group[i].cwnd = PROBE;
    let window = group.congestion(i, Cause::Mark).expect("cut");
    group[i] = saved;
    2.0 * (1.0 - f64::from(window) / f64::from(PROBE))
}

fn ack(delivered: u32, marked: u32, new_round: bool) -> Ack {
    Ack { delivered, marked, rtt: 800, new_round: new_round.into(), ..Ack::default() }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn alpha_follows_the_rfc(rounds in prop::collection::vec((1..=2000u32, 0.0..=1.0f64), 1..100)) {
        let mut group = group("dctcp", 1, 10);
        let mut reading = Dctcp::new(1);
        for (delivered, fraction) in rounds {
            // A round of two ACKs, the marks on the second.
            let marked = (f64::from(delivered) * fraction) as u32;
            for ack in [ack(1, 0, true), ack(delivered, marked, false)] {
                group.ack(0, &ack);
                reading.ack(&views(&group), 0, &ack);
            }
            let (theirs, own) = (alpha(&mut group, 0), reading.alpha(0));
            prop_assert!((theirs - own).abs() < ALPHA_ERROR + PROBE_ERROR, "{theirs}, not {own}");
        }
    }
}

/// RFC 8257 §3.3: alpha starts at 1, so the first mark halves the window.
#[test]
fn the_first_mark_halves() {
    let mut group = group("dctcp", 1, 100);
    group.ack(0, &ack(1, 1, false));
    assert_eq!(group.congestion(0, Cause::Mark).expect("cut"), 50);
}

/// §3.3 with M = 0 in each round: alpha = (15/16)^n, and at last nothing.
#[test]
fn without_marks_alpha_fades_to_nothing() {
    let mut group = group("dctcp", 1, 100);
    group.ack(0, &ack(10, 0, true)); // the first round begins: nothing has been observed yet
    for round in 1..=400 {
        group.ack(0, &ack(10, 0, true));
        let expected = (15.0f64 / 16.0).powi(round);
        assert!((alpha(&mut group, 0) - expected).abs() < ALPHA_ERROR + PROBE_ERROR, "{round}");
    }
    assert_eq!(
        group.congestion(0, Cause::Mark).expect("cut"),
        100,
        "(15/16)^400 of half a window is no packet"
    );
}

/// With the smallest g a fixed-point alpha would stop at 1023 * 2^-20, which still cuts a large
/// window by dozens of packets.
#[test]
fn alpha_fades_to_nothing_with_the_smallest_g() {
    let controller = find("dctcp").expect("it is built in");
    let scheme = ConfiguredController::new(controller, [("g_shift", 10)]).expect("in its range");
    let mut group = Group::new(Arc::new(scheme), 1, 100);
    // (1023/1024)^20000 of the largest window is less than a packet.
    for _ in 0..20_000 {
        group.ack(0, &ack(10, 0, true));
    }
    assert_eq!(alpha(&mut group, 0), 0.0);
}

/// The ACK that begins a round counts for it: its marks do not yet change alpha.
#[test]
fn a_round_s_first_ack_counts_for_that_round() {
    let mut group = group("dctcp", 1, 100);
    group.ack(0, &ack(10, 0, true));
    group.ack(0, &ack(10, 10, true));
    let after_clean_round = alpha(&mut group, 0);
    assert!((after_clean_round - 15.0 / 16.0).abs() < ALPHA_ERROR + PROBE_ERROR);
    group.ack(0, &ack(10, 0, true));
    let after_marked_round = alpha(&mut group, 0);
    let expected = 15.0 / 16.0 * 15.0 / 16.0 + 1.0 / 16.0;
    assert!((after_marked_round - expected).abs() < ALPHA_ERROR + PROBE_ERROR);
}

/// RFC 8257 §3.5: a loss is answered as standard TCP does, whatever alpha is.
#[test]
fn a_loss_halves() {
    let mut group = group("dctcp", 1, 100);
    for _ in 0..400 {
        group.ack(0, &ack(10, 0, true));
    }
    assert_eq!(group.congestion(0, Cause::Loss).expect("cut"), 50);
}

proptest! {
    #![proptest_config(config(64))]

    /// `exact`: windows are real numbers, w (1 - alpha/2) and w + 1/w, of which the host sees whole packets; where
    /// alpha w < 2 too, and over any number of cuts.
    #[test]
    fn exact_cuts_keep_the_fraction(
        start in 4..=1000u32,
        alpha in 0..=1024u64,
        steps in prop::collection::vec((any::<bool>(), 1..=20u32), 1..200),
    ) {
        for (name, floor) in [("dctcp", 2.0), ("dcm", 1.0)] {
            let mut group = group_with(name, &[("exact", 1), ("alpha_start", alpha)], 1, start);
            (group[0].ssthresh, group[0].srtt) = (1, 800);
            let mut window = f64::from(start);
            for &(cut, delivered) in &steps {
                if cut {
                    window = (window * (1.0 - alpha as f64 / 2048.0)).max(floor);
                    group[0].cwnd = group.congestion(0, Cause::Mark).expect("cut");
                } else {
                    group.grow(0, &ack(delivered, 0, false));
                    window += f64::from(delivered) / window.floor();
                }
                let near = [window - 1e-3, window + 1e-3].map(|w| w.floor() as u32);
                prop_assert!(near.contains(&group[0].cwnd), "{name}: {}, not {window}", group[0].cwnd);
                if near[0] != near[1] {
                    break; // too near a whole packet for the two to stay together
                }
            }
        }
    }
}
