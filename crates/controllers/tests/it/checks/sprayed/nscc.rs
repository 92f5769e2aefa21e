//! NSCC, case by case: with its defaults, a = 1, a target of 9 us and windows of at most 54.93 packets.

use tresse_controllers::{Group, Report};

use super::{BDP, PATH, ack, lost, new, told, trimmed};

fn nscc() -> Group {
    new("nscc", &[])
}

fn marked(delivered: u32, rtt: u32) -> Report {
    Report { marked: delivered, ..ack(delivered, rtt) }
}

/// "cwnd starts at maxwnd = 1.5 bdp".
#[test]
fn it_starts_with_one_and_a_half_bdp() {
    assert_eq!(nscc()[0].cwnd, 54);
    let mut fast = nscc();
    let path = Report { line_rate: 400_000, ..PATH };
    assert_eq!(told(&mut fast, 0, path).0, 54, "a window that is there stays");
    let mut fast = super::group_with("nscc", &[], 1, 10);
    fast[0].mss = 4096;
    assert_eq!(told(&mut fast, 0, path).0, (6.0 * BDP) as u32);
}

/// inc += 4 a n (target - delay)/12 us below the target, 5 a n above it; more than 8 packets add inc/w.
#[test]
fn increases_are_added_after_eight_packets() {
    for (rtt, first, expected) in [
        // 30.93 + 18/30.93 = 31.51, and 45/30.93 = 1.46 more.
        (15, 9, 31),
        (22, 9, 32),
        (15, 8, 30),
    ] {
        let mut group = nscc();
        assert_eq!(told(&mut group, 1, lost(24)).0, 30);
        assert_eq!(told(&mut group, 2, ack(first, rtt)).0, expected, "{first} packets, {rtt} us");
    }
}

/// Below 1 us: more than a window in succession adds a quarter of it; up to a window the increase is proportional.
#[test]
fn an_idle_path_is_filled_fast() {
    let mut group = nscc();
    told(&mut group, 1, lost(24));
    // 4 * 30 * 9/12 = 90; 30.93 + 90/30.93 = 33.84.
    assert_eq!(told(&mut group, 2, ack(30, 12)).0, 33);
    // 33.84 + 8/4 = 35.84.
    assert_eq!(told(&mut group, 3, ack(8, 12)).0, 35);
    assert_eq!(told(&mut group, 4, ack(8, 12)).0, 37);
}

/// w *= max(1 - 0.8 (avg - target)/avg, 1/2), once a base RTT; an average that is the newest delay shows it at once.
#[test]
fn a_marked_queue_cuts_by_the_average_delay() {
    for (rtt, left) in [(24, 1.0 - 0.8 * 3.0 / 12.0), (48, 0.5), (21, 1.0), (20, 1.0)] {
        let mut group = new("nscc", &[("gain", 10_000)]);
        assert_eq!(told(&mut group, 1, marked(1, rtt)).0, (1.5 * BDP * left) as u32, "{rtt} us");
        assert_eq!(told(&mut group, 2, marked(1, rtt)).0, (1.5 * BDP * left) as u32, "once a base RTT");
    }
}

/// The average takes 1/80 of each sample: of samples of 36 us the 23rd brings it above 9 us, by so little that nothing
/// is seen of the cut; the next one comes more than a base RTT later.
#[test]
fn the_average_is_slow() {
    let mut group = nscc();
    let windows: Vec<u32> = (1..=36).map(|k| told(&mut group, k, marked(1, 48)).0).collect();
    let average = 36.0 * (1.0 - 0.9875f64.powi(36));
    let least = 1.5 * BDP * (1.0 - 0.8 * (average - 9.0) / average);
    assert!(windows[..35].iter().all(|&window| window == 54), "{windows:?}");
    assert!(windows[35].abs_diff(least as u32) <= 1, "{windows:?}, {least}");
}

/// Once in base RTT + target = 21 us, after a trim: w is what arrived since, if that is less than maxwnd/8 = 6.87
/// packets; then marked packets count again after 40 more.
#[test]
fn a_trim_asks_what_arrived() {
    let mut group = new("nscc", &[("gain", 10_000)]);
    assert_eq!(told(&mut group, 12, trimmed(1)).0, 53, "it has not looked yet: one packet less");
    told(&mut group, 20, ack(3, 15));
    group[0].in_flight = 40;
    assert_eq!(told(&mut group, 34, trimmed(1)).0, 3);
    assert_eq!(told(&mut group, 35, trimmed(1)).0, 3, "of before the cut");
    assert_eq!(told(&mut group, 36, marked(38, 48)).0, 3);
    let after = told(&mut group, 37, marked(4, 48)).0;
    assert!(after < 3, "{after}: 43 packets were told of, and a mark counts again");
}

#[test]
fn many_that_arrived_are_no_collapse() {
    let mut group = nscc();
    told(&mut group, 12, ack(1, 15));
    told(&mut group, 20, ack(7, 15));
    let before = group[0].cwnd;
    assert_eq!(told(&mut group, 34, trimmed(2)).0, before - 2);
}

#[test]
fn a_trim_before_the_receiver_may_be_left_to_its_credits() {
    for (spare, last_hop, window) in [(0, 1, 50), (1, 1, 54), (1, 0, 50)] {
        let mut group = new("nscc", &[("spare_last_hop", spare)]);
        assert_eq!(told(&mut group, 1, Report { last_hop, ..trimmed(4) }).0, window, "{spare} {last_hop}");
    }
}

#[test]
fn a_loss_takes_a_packet_down_to_one() {
    let mut group = nscc();
    assert_eq!(told(&mut group, 1, lost(2)).0, 52);
    assert_eq!(told(&mut group, 2, lost(1000)).0, 1);
}
