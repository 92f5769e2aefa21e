//! Swift, case by case.

use tresse_controllers::{Hop, Report};

use super::{BDP, PACKET, PATH, ack, group_with, lost, new, told, trimmed, with_hops};
use crate::readings::sprayed::Target;

/// The largest RTT, ns, to which a new window of `packets` does not shrink, where `hops` are told.
fn threshold(settings: &[(&str, u64)], packets: u32, hops: usize) -> f64 {
    let shrinks = |rtt: u32| {
        let mut group = group_with("swift", settings, 1, 10);
        // 1 packet a us for so many us.
        group[0].mss = 1000;
        let path = Report { base_rtt: packets * 1000, line_rate: 8_000, ..Report::NOTHING };
        group.report(0, &path, &[]);
        let ack = Report { delivered: 1, rtt, ..path };
        let before = group[0].cwnd;
        let (after, pace) = with_hops(&mut group, 0, ack, &vec![Hop::default(); hops]);
        after < before || pace > 0
    };
    let (mut low, mut high) = (1, 1 << 24);
    while low + 1 < high {
        let middle = (low + high) / 2;
        if shrinks(middle) { high = middle } else { low = middle }
    }
    f64::from(low)
}

/// base_target + hops hop_target + flow scaling.
#[test]
fn the_target_grows_with_hops_and_for_narrow_windows() {
    let settings = [("beta", 100), ("max_mdf", 99)];
    for packets in [1, 2, 5, 10, 30] {
        for hops in [0, 1, 3, 7] {
            let told = if hops == 0 { 5.0 } else { hops as f64 };
            let expected = Target::default().of(f64::from(packets), told, f64::from(packets) * 1000.0);
            let found = threshold(&settings, packets, hops);
            // Any cut of a whole packet shows.
            assert!(
                (found - expected).abs() < 1e-3 * expected,
                "{packets} packets, {hops} hops: {found}, not {expected} ns"
            );
        }
    }
}

/// On a path longer than base_target the narrower of two windows still has the larger target, and so they share.
#[test]
fn flow_scaling_is_added_to_the_target_of_a_long_path() {
    // 10 packets in 200 us.
    let path = Report { base_rtt: 200_000, line_rate: 1_638, ..Report::NOTHING };
    let grows = |cuts: u64, rtt: u32| {
        let mut group = group_with("swift", &[], 1, 10);
        group[0].mss = PACKET;
        group.report(0, &path, &[]);
        for k in 1..=cuts {
            told(&mut group, 400 * k, Report { trimmed: 1, ..path });
        }
        let before = group[0].cwnd;
        told(&mut group, 400 * (cuts + 1), Report { delivered: 8, rtt, ..path }).0 > before
    };
    // 5/4 of 200 us, and for 10 packets 7.1 us, for 1.25 packets 26 us.
    assert!(grows(0, 255_000) && !grows(0, 260_000), "10 packets");
    assert!(grows(3, 270_000) && !grows(3, 285_000), "1.25 packets");
}

/// 5/4 of a base RTT above 3.4 s is more than 32 bits.
#[test]
fn an_empty_path_of_4_s_is_no_congestion() {
    let path = Report { base_rtt: 4_000_000_000, line_rate: 100_000, ..Report::NOTHING };
    let mut group = group_with("swift", &[], 1, 10);
    group.report(0, &path, &[]);
    let before = group[0].cwnd;
    let ack = Report { delivered: 4, rtt: path.base_rtt, now: 8_000_000_000, ..path };
    group.report(0, &ack, &[]);
    assert!(group[0].cwnd >= before, "{} packets, then {}", before, group[0].cwnd);
}

/// The target of 36.62 packets and 5 hops is 37.4 us: w += n/w below it.
#[test]
fn it_grows_by_a_packet_an_rtt() {
    let mut group = new("swift", &[]);
    assert_eq!(group[0].cwnd, 36);
    assert_eq!(told(&mut group, 30, ack(10, 30)).0, 36, "36.62 + 0.27");
    assert_eq!(told(&mut group, 40, ack(10, 30)).0, 37, "36.89 + 0.27");
    let limited = Report { app_limited: 1, ..ack(100, 30) };
    assert_eq!(told(&mut group, 50, limited).0, 37, "not while the application is the limit");
}

#[test]
fn it_cuts_once_an_rtt() {
    let mut group = new("swift", &[]);
    assert_eq!(told(&mut group, 200, ack(1, 200)).0, 18, "0.8 (200 - 37)/200 is more than a half");
    assert_eq!(told(&mut group, 399, ack(1, 200)).0, 18);
    assert_eq!(told(&mut group, 399, trimmed(1)).0, 18);
    assert_eq!(told(&mut group, 400, trimmed(1)).0, 9);
    let mut group = new("swift", &[]);
    let target = Target::default().of(BDP, 5.0, 12_000.0);
    let left = 1.0 - 0.8 * (50_000.0 - target) / 50_000.0;
    assert_eq!(told(&mut group, 50, ack(1, 50)).0, (BDP * left) as u32);
}

/// pacing_delay = RTT/w below one packet.
#[test]
fn below_a_packet_it_is_paced() {
    let mut group = new("swift", &[]);
    let mut last = (0, 0);
    for k in 1..=6 {
        last = told(&mut group, 12 * k, trimmed(1));
    }
    let pace = BDP / 64.0 * f64::from(PACKET) / 12.0;
    assert_eq!(last, (1, pace as u32));
    // Below one packet an ACK adds a whole one.
    assert_eq!(told(&mut group, 100, ack(1, 12)), (1, 0));
}

#[test]
fn timers_in_succession_end_at_the_least_window() {
    let mut group = new("swift", &[]);
    let halves: Vec<_> = (1..=4).map(|k| told(&mut group, 12 * k, lost(1)).0).collect();
    assert_eq!(halves, [18, 9, 4, 2]);
    let (window, pace) = told(&mut group, 49, lost(1));
    assert_eq!((window, pace), (1, 1), "1/1000 packet in 12 us is 0.3 bytes/us, and 1 the least pace");
    let mut group = new("swift", &[]);
    for k in 1..=10 {
        told(&mut group, 24 * k, lost(1));
        told(&mut group, 24 * k + 1, Report { delivered: 1, ..PATH });
    }
    assert_eq!(group[0].cwnd, 1);
    assert!(told(&mut group, 250, PATH).1 > 1, "an ACK between them: they are none in succession");
}
