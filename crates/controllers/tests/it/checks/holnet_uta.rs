//! What the thesis's equations promise of HOLNET's UTA, and what Table 2.1 switches.

use tresse_controllers::{Ack, CWND_LIMIT, Cause};

use super::holnet::{RESOLUTION, avoiding, each, judge};
use crate::readings::Uta;

/// Table 2.1, its four rows, in congestion avoidance and in slow start.
#[test]
fn uta_follows_table_2_1() {
    for window in [2, 10, 100, 100_000] {
        for (next_hop, local, r_out) in [(1, true, 0.1), (1, false, 0.1), (0, true, 1.0), (0, false, 1.0)] {
            let law = Uta { w: 1.0, r: r_out };
            for slow in [false, true] {
                let mut group = avoiding("holnet_uta", &[], &[(window, 8000)]);
                group[0].next_hop = next_hop;
                group[0].ssthresh = if slow { u32::MAX >> 1 } else { 1 };
                let what = format_args!("window {window}, next hop {next_hop}, local {local}, slow {slow}");
                if local {
                    // The equations for cg = 1 have no r_out: half, as Reno.
                    let got = group.congestion(0, Cause::Local).expect("cut");
                    assert_eq!(got, window / 2, "{what}");
                    let exact = law.cut(f64::from(window), slow);
                    assert!(
                        (exact - f64::from(window / 2)).abs() < 1e-6 * f64::from(window),
                        "{what}: {exact}"
                    );
                    continue;
                }
                let w = f64::from(window);
                let expected = if slow { law.slow(1.0) } else { law.avoiding(w, 1.0) }.packets;
                // One ACK: after the first with a congested next hop slow start is over.
                let packets = 10_000.min((w / 2.0 / expected.abs()) as u32).max(1);
                group.grow(0, &Ack { delivered: packets, ..Ack::default() });
                let moved = f64::from(group[0].cwnd) - w;
                let exact = f64::from(packets) * expected;
                assert!((moved - exact).abs() <= 1.0 || group[0].cwnd == 1, "{what}: {moved}, not {exact}");
            }
        }
    }
}

/// Eq. (2.24) and (2.25) with weights, also those whose slow-start cut is more than the window.
#[test]
fn uta_is_equations_2_24_and_2_25() {
    for weight in [1u64, 250, 369, 500, 1000, 1500, 4000, 10_000] {
        for (next_hop_r, next_hop) in [(100, 0), (100, 1), (0, 1), (999, 1)] {
            let settings = [("weight", weight), ("next_hop_r", next_hop_r)];
            let r = if next_hop == 1 { next_hop_r as f64 / 1000.0 } else { 1.0 };
            let law = Uta { w: weight as f64 / 1000.0, r };
            for window in [1, 2, 3, 10, 100, 10_000, CWND_LIMIT - 1] {
                let w = f64::from(window);
                let mut group = avoiding("holnet_uta_ecn", &settings, &[(window, 8000)]);
                group[0].next_hop = next_hop;
                let what = format_args!("{settings:?}, window {window}, next hop {next_hop}");
                let expected = law.avoiding(w, 1.0).packets;
                if expected > 0.0 || w > 1.0 {
                    // A difference of two numbers near 1 loses what each is off.
                    let got = each(&mut group, expected);
                    judge(got, expected, RESOLUTION + 1e-8 / expected.abs().max(1e-8), what);
                }
                for slow in [false, true] {
                    let mut group = avoiding("holnet_uta_ecn", &settings, &[(window, 8000)]);
                    group[0].ssthresh = if slow { u32::MAX >> 1 } else { 1 };
                    let exact = law.cut(w, slow).floor().max(1.0);
                    let got = f64::from(group.congestion(0, Cause::Mark).expect("cut"));
                    // A whole packet may lie just above or below the equation's value.
                    let near = law.cut(w, slow) - exact;
                    let within = if !(0.02..=0.98).contains(&near) { 1.0 } else { 0.0 } + w * RESOLUTION;
                    assert!((got - exact).abs() <= within, "{what}, slow {slow}: {got}, not {exact}");
                }
            }
        }
    }
}

/// "Backward compatible with TCP Reno": the same windows at every ACK and every local congestion, but for
/// the packet that may come one ACK earlier or later.
#[test]
fn uta_is_reno_while_the_next_hop_is_silent() {
    let mut reno = avoiding("reno", &[], &[(2, 8000)]);
    let mut uta = avoiding("holnet_uta", &[], &[(2, 8000)]);
    for group in [&mut reno, &mut uta] {
        group[0].ssthresh = 100;
    }
    for step in 1..200_000u32 {
        for group in [&mut reno, &mut uta] {
            group.grow(0, &Ack { delivered: 1, ..Ack::default() });
        }
        let (a, b) = (reno[0].cwnd, uta[0].cwnd);
        assert!(a.abs_diff(b) <= 1, "step {step}: {a} and {b}");
        if step % 7919 == 0 {
            uta[0].cwnd = a;
            for group in [&mut reno, &mut uta] {
                let window = group.congestion(0, Cause::Local).expect("cut");
                (group[0].cwnd, group[0].ssthresh) = (window, window);
            }
            assert_eq!(reno[0].cwnd, uta[0].cwnd, "step {step}");
        }
    }
}

/// Slow start from one packet doubles exactly: a rounding would cost a round trip.
#[test]
fn uta_starts_with_one_packet_for_a_packet() {
    let mut group = avoiding("holnet_uta", &[], &[(1, 8000)]);
    group[0].ssthresh = 1000;
    for window in 2..=1000 {
        group.grow(0, &Ack { delivered: 1, ..Ack::default() });
        assert_eq!(group[0].cwnd, window);
    }
    group.grow(0, &Ack { delivered: 1, ..Ack::default() });
    assert_eq!(group[0].cwnd, 1000, "congestion avoidance");
}

/// §2.5, item 3: a timeout does not change the rate, nor is there a fast retransmit to do so.
#[test]
fn a_loss_leaves_the_rate_of_uta() {
    for name in ["holnet_uta", "holnet_uta_ecn"] {
        let mut group = avoiding(name, &[], &[(1000, 8000)]);
        assert_eq!(group.congestion(0, Cause::Loss), Some(1000), "{name}");
    }
}

/// What a congested next hop has taken is not given back by slow start, until a timeout begins one.
#[test]
fn a_lowered_window_does_not_start_slowly() {
    let mut group = avoiding("holnet_uta", &[], &[(100, 8000)]);
    let ack = Ack { delivered: 10, ..Ack::default() };
    (group[0].ssthresh, group[0].next_hop) = (100, 1);
    for _ in 0..10 {
        group.grow(0, &ack);
    }
    let lowered = group[0].cwnd;
    assert!(lowered < 70, "{lowered}");
    group[0].next_hop = 0;
    group.grow(0, &ack);
    assert!(group[0].cwnd <= lowered + 1, "{} after {lowered}", group[0].cwnd);
    group.timeout(0);
    group[0].cwnd = 1;
    group.grow(0, &ack);
    assert_eq!(group[0].cwnd, 11);
}
