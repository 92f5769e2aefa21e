//! What the thesis's equations promise of HOLNET's host controllers, over the whole range of their
//! parameters, and what Table 2.1 and eq. (2.14) switch.

use std::sync::Arc;

use tresse_controllers::{
    Ack, CWND_LIMIT, Cause, ConfiguredController, Group, MAX_SUBFLOWS, SRTT_LEAST, SRTT_LIMIT, find,
};

use super::views;
use crate::host::{LONGEST_RTT, SHORTEST_RTT};
use crate::readings::{AlphaFair, Real, Uta, reading};

/// The host shows packets of this many bytes; `readings/holnet.rs` reckons with them.
const MSS: f64 = 1460.0;

/// An increase's own error, relative, and the last digit of Q48.
pub(super) const RESOLUTION: f64 = 1e-6;
const LAST_DIGIT: f64 = 1.0 / (1u64 << 47) as f64;

/// One subflow for each (window, RTT), in congestion avoidance.
pub(super) fn avoiding(name: &str, settings: &[(&str, u64)], subflows: &[(u32, u32)]) -> Group {
    let controller = find(name).expect("it is built in");
    let scheme = ConfiguredController::new(controller, settings.iter().copied()).expect("in their ranges");
    let mut group = Group::new(Arc::new(scheme), subflows.len(), 10);
    for (i, &(window, rtt)) in subflows.iter().enumerate() {
        (group[i].cwnd, group[i].ssthresh, group[i].srtt) = (window, 1, rtt);
    }
    group
}

/// What a packet is worth to subflow 0, by feeding many at a window that stays as it is. `expected` only
/// decides how many: so many that counting whole packets is off by 1e-4, or 10^8.
pub(super) fn each(group: &mut Group, expected: f64) -> Real {
    let window = group[0].cwnd;
    let burst = if expected < 0.0 {
        // It must not fall to the floor, which would hide how far it wants to go.
        (f64::from(window) / 2.0 / -expected).clamp(1.0, 10_000.0) as u32
    } else {
        10_000
    };
    let calls = (1e4 / expected.abs() / f64::from(burst)).clamp(20.0, 10_000.0) as u32;
    let mut moved = 0.0;
    for _ in 0..calls {
        group.grow(0, &Ack { delivered: burst, ..Ack::default() });
        moved += f64::from(group[0].cwnd) - f64::from(window);
        group[0].cwnd = window;
    }
    let packets = f64::from(calls) * f64::from(burst);
    Real { packets: moved / packets, within: 1.0 / packets }
}

/// What [`each`] measured, against the equation.
pub(super) fn judge(got: Real, expected: f64, resolution: f64, what: std::fmt::Arguments) {
    let within = expected.abs() * resolution + LAST_DIGIT + got.within;
    let off = (got.packets - expected).abs();
    assert!(off <= within, "{what}: {got:?} for a packet; the equation has {expected:e}");
}

/// bit/s.
fn rate(window: u32, rtt: u32) -> f64 {
    f64::from(window) * MSS * 8.0 / (f64::from(rtt) / 8.0 * 1e-6)
}

/// Eq. (2.19) over the range of its parameters, against constants in bit/s.
#[test]
fn cc_is_equation_2_19() {
    for (alpha, weight, reference, price) in [
        (500, 1000, 10_000, 100),
        (500, 2000, 10_000, 100),
        (750, 1000, 10_000, 100),
        (750, 3630, 10_000, 100),
        (750, 3630, 100_000, 20),
        (250, 1, 1, 1),
        (950, 1_000_000, 1_000_000_000, 100_000),
        (950, 1, 1_000_000_000, 1),
        (250, 1_000_000, 1, 100_000),
    ] {
        let settings = [("alpha", alpha), ("weight", weight), ("reference", reference), ("price", price)];
        let (a, x0) = (alpha as f64 / 1000.0, reference as f64 * 1000.0);
        let law = AlphaFair {
            alpha: a,
            gamma: 0.5 * x0.powf(1.0 - a),
            w: weight as f64 / 1000.0 * price as f64 / 1000.0 * x0.powf(a),
        };
        for window in [1, 2, 10, 83, 1000, 100_000, CWND_LIMIT - 1] {
            for rtt in [SRTT_LEAST, SHORTEST_RTT, 8000, 80_000, LONGEST_RTT, SRTT_LIMIT - 1] {
                let x = rate(window, rtt);
                let mut group = avoiding("holnet_cc", &settings, &[(window, rtt)]);
                let expected = law.rise(x, 1.0).min(1.0);
                // Where gamma x^(alpha-1) is beyond 1024 it is taken for 1024.
                if law.rise(x, 1.0) + law.fall(x) < 1000.0 {
                    let what = format_args!("{settings:?}, window {window}, RTT {rtt}");
                    judge(each(&mut group, expected), expected, RESOLUTION, what);
                }
                let w = f64::from(window);
                let cut = (w - (w * law.fall(x)).clamp(1.0, w)).max(2.0);
                let got = f64::from(group.congestion(0, Cause::Loss).expect("cut"));
                assert!(
                    (got - cut).abs() <= 0.5 + w * RESOLUTION || window < 2,
                    "{settings:?}, window {window}, RTT {rtt}: cut to {got}; the equation has {cut}"
                );
            }
        }
    }
}

/// (2.19) at rest: the odds of congestion that hold a rate, rise/fall = e^(w x^-alpha) - 1, are the same
/// for two flows where their rates are as (w_i/w_j)^(1/alpha): 4:1, and 5.59:1.
#[test]
fn equal_congestion_gives_the_rates_of_the_weights() {
    for (alpha, weight, ratio) in [(500u64, 2000u64, 4.0f64), (750, 3630, 5.58)] {
        let exact = (weight as f64 / 1000.0).powf(1000.0 / alpha as f64);
        assert!((exact / ratio - 1.0).abs() < 0.003, "{exact}, not {ratio}");
        // Large windows, so that whole packets tell a cut well: 11.7 s for 20 and 80 Mbit/s.
        let rtt = 93_440_000;
        let odds = |weight, window| {
            let settings = [("alpha", alpha), ("weight", weight)];
            let mut group = avoiding("holnet_cc", &settings, &[(window, rtt)]);
            let rise = each(&mut group, 1e-2);
            let cut = f64::from(window) - f64::from(group.congestion(0, Cause::Loss).expect("cut"));
            rise.packets / (cut / f64::from(window))
        };
        let (small, large) = (odds(1000, 20_000), odds(weight, (20_000.0 * exact).round() as u32));
        assert!((small / large - 1.0).abs() < 5e-4, "alpha {alpha}: {small} and {large}");
    }
}

/// Timeout, duplicate ACKs and a mark are one congestion (§2.4.1); without an RTT there is no rate.
#[test]
fn every_cause_cuts_alike() {
    for name in ["holnet_cc", "holnet_cc_cos_ecn", "holnet_mcc", "holnet_mcc_cos_ecn"] {
        let cut = |cause, rtt| {
            avoiding(name, &[], &[(1000, 0), (10, 800)].map(|(w, t)| (w, if t == 0 { rtt } else { t })))
                .congestion(0, cause)
                .expect("cut")
        };
        for rtt in [0, 8000] {
            assert_eq!(cut(Cause::Mark, rtt), cut(Cause::Loss, rtt), "{name}");
            assert_eq!(cut(Cause::Local, rtt), cut(Cause::Loss, rtt), "{name}");
        }
        assert_eq!(cut(Cause::Loss, 0), 500, "{name}: Reno's");
    }
}

/// 8 Mbit/s a packet: 1000 bytes in 1 ms.
fn in_class(name: &str, windows: &[u32]) -> Group {
    // theta = 80 Mbit/s, ten packets, and Theta = 160 Mbit/s, twenty.
    let settings = [("min_rate", 80_000), ("max_rate", 160_000)];
    let mut group = avoiding(name, &settings, &windows.iter().map(|&w| (w, 8000)).collect::<Vec<_>>());
    for i in 0..windows.len() {
        group[i].mss = 1000;
    }
    group
}

/// Eq. (2.14): r is r_max below theta, 1 from theta on and r_min from Theta on, each to the packet.
#[test]
fn r_switches_at_theta_and_at_the_upper_theta() {
    for (window, r) in [(1, 3.0), (9, 3.0), (10, 1.0), (19, 1.0), (20, 0.1), (1000, 0.1)] {
        let x = f64::from(window) * 8e6;
        let law = AlphaFair::new(0.5, 1.0);
        let expected = law.rise(x, r).clamp(-1.0, 1.0);
        let got = each(&mut in_class("holnet_cc_cos", &[window]), expected);
        judge(got, expected, RESOLUTION, format_args!("CC-CoS, window {window}"));

        let expected = Uta { w: 1.0, r }.avoiding(f64::from(window), 1.0).packets;
        let got = each(&mut in_class("holnet_uta", &[window]), expected);
        judge(got, expected, RESOLUTION, format_args!("UTA, window {window}"));
    }
    // The rates of a connection's subflows add up: the sibling has 7 packets.
    for (window, r) in [(1, 3.0), (2, 3.0), (3, 1.0), (12, 1.0), (13, 0.1), (1000, 0.1)] {
        let x = f64::from(window + 7);
        let expected = (0.5 * (r - (-2.0 / x).exp())).clamp(-1.0, 1.0);
        let got = each(&mut in_class("holnet_mcc_cos", &[window, 7]), expected);
        judge(got, expected, RESOLUTION, format_args!("MCC-CoS, window {window}"));
    }
}

/// A hard real-time flow, theta = Theta, comes from below and from above and stays, with no congestion.
#[test]
fn a_hard_real_time_flow_keeps_its_rate() {
    for name in ["holnet_cc_cos", "holnet_mcc_cos", "holnet_uta"] {
        let settings = [("min_rate", 80_000), ("max_rate", 80_000)];
        for start in [1, 500] {
            let mut group = avoiding(name, &settings, &[(start, 8000)]);
            (group[0].mss, group[0].ssthresh) = (1000, u32::MAX >> 1);
            for _ in 0..50_000 {
                group.grow(0, &Ack { delivered: 1, ..Ack::default() });
            }
            let mut seen: Vec<_> = Vec::new();
            for _ in 0..100 {
                group.grow(0, &Ack { delivered: 1, ..Ack::default() });
                seen.push(group[0].cwnd);
            }
            assert!(seen.iter().all(|w| (9..=11).contains(w)), "{name} from {start}: {seen:?}");
        }
    }
}

/// CC and MCC without classes have no such parameters; and classes that are not set change nothing.
#[test]
fn classes_that_are_not_set_change_nothing() {
    for (plain, classes) in [("holnet_cc", "holnet_cc_cos"), ("holnet_mcc", "holnet_mcc_cos")] {
        assert!(find(plain).expect("built in").parameters().iter().all(|p| p.name != "min_rate"));
        let mut groups = [plain, classes].map(|name| avoiding(name, &[], &[(10, 800), (100, 8000)]));
        for step in 0..2000 {
            let windows = groups.each_mut().map(|group| {
                let i = step % 2;
                group.grow(i, &Ack { delivered: 3, ..Ack::default() });
                if step % 97 == 0 {
                    group[i].cwnd = group.congestion(i, Cause::Loss).expect("cut");
                    group[i].ssthresh = group[i].cwnd;
                }
                group[i].cwnd
            });
            assert_eq!(windows[0], windows[1], "{plain}, step {step}");
        }
    }
}

/// Eq. (2.20) over windows and RTTs, up to the corners of the contract.
#[test]
fn mcc_is_equation_2_20() {
    let windows = [1, 2, 10, 1000, 100_000];
    let rtts = [SHORTEST_RTT, 8000, LONGEST_RTT];
    let sides = || windows.into_iter().flat_map(move |w| rtts.map(|t| (w, t)));
    for count in [1, 2, MAX_SUBFLOWS] {
        for own in sides() {
            for other in sides() {
                let mut subflows = vec![other; count];
                subflows[0] = own;
                let mut group = avoiding("holnet_mcc", &[], &subflows);
                let expected = reading("holnet_mcc", &[], count).increase(&views(&group), 0, 1.0).packets;
                let what = format_args!("{count} subflows, own {own:?}, others {other:?}");
                if expected > 1e-6 {
                    judge(each(&mut group, expected), expected, 1e-5, what);
                }
                let Real { packets, within } =
                    reading("holnet_mcc", &[], count).cut(&views(&group), 0, Cause::Loss);
                let got = f64::from(group.congestion(0, Cause::Loss).expect("cut"));
                assert!((got - packets.max(2.0)).abs() <= within, "{what}: {got}, not {packets}");
            }
        }
    }
    for own in [(1, SRTT_LEAST), (1, SRTT_LIMIT - 1), (CWND_LIMIT - 1, SRTT_LEAST)] {
        for other in [(CWND_LIMIT - 1, SRTT_LEAST), (1, SRTT_LIMIT - 1)] {
            let mut subflows = vec![other; MAX_SUBFLOWS];
            subflows[0] = own;
            let mut group = avoiding("holnet_mcc_cos", &[], &subflows);
            let x: f64 = views(&group).iter().map(|k| k.window * f64::from(own.1) / k.rtt).sum();
            let got = each(&mut group, 1.0).packets;
            // RTTs of 1 us beside 16 s: T_min/T_k in Q36 is off by 2^-12.
            let expected = -0.5 * (-2.0 / x).exp_m1();
            assert!((got - expected).abs() < 1e-3 * expected + 1e-4, "{own:?}, {other:?}: {got}, {expected}");
        }
    }
}

/// "The values for gamma and eps are chosen such that the control law degenerates to the TCP AIMD": for x
/// far above eps, which is two packets a round trip, w_l/2 and 1/(T_l x), with one path 1/w.
#[test]
fn mcc_degenerates_to_aimd() {
    for window in [10, 100, 1000, 10_000] {
        let w = f64::from(window);
        let mut one = avoiding("holnet_mcc", &[], &[(window, 8000)]);
        let got = each(&mut one, 1.0 / w).packets * w;
        // (1 - e^-y)/y = 1 - y/2 + ..., y = 2/w.
        assert!((got - (1.0 - 1.0 / w)).abs() < 1.0 / w / w + 2e-4, "{window}: {got} of Reno's increase");
        let cut = f64::from(one.congestion(0, Cause::Loss).expect("cut"));
        assert!((cut - w / 2.0).abs() <= 1.0, "{window}: {cut}");

        let mut two = avoiding("holnet_mcc", &[], &[(window, 8000), (3 * window, 16_000)]);
        let got = each(&mut two, 0.4 / w).packets * w;
        // T_1 x = w + 3/2 w: Semicoupled.
        assert!((got - 0.4).abs() < 0.4 / w + 2e-4, "{window}: {got}, not 0.4");
    }
}
