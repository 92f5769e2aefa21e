//! DCQCN, case by case: a line of 100 Gbit/s, 12 500 bytes/us.

use tresse_controllers::{Group, Report};

use super::{ack, lost, new, told};

const MARKED: Report = Report { marked: 1, ..super::PATH };

fn marked() -> Report {
    Report { delivered: 1, ..MARKED }
}

/// Bytes do not matter: windows of 200 % of the BDP, and timers alone.
fn dcqcn() -> Group {
    new("dcqcn", &[])
}

#[test]
fn it_starts_with_the_line_s_rate() {
    let mut group = dcqcn();
    assert_eq!(told(&mut group, 1, ack(1, 12)), (73, 12_500), "two BDPs are 73.2 packets");
    let mut group = new("dcqcn", &[("window", 0)]);
    assert_eq!(told(&mut group, 1, ack(1, 12)), (1 << 20, 12_500));
}

/// alpha is 1 at first: a CNP halves. Marks within 50 us are one.
#[test]
fn a_cnp_cuts_by_half_of_alpha() {
    let mut group = dcqcn();
    assert_eq!(told(&mut group, 10, marked()).1, 6_250);
    assert_eq!(told(&mut group, 59, marked()).1, 6_250);
    assert_eq!(told(&mut group, 60, marked()).1, 3_125);
    // alpha falls by 1/256 for every 55 us without CNP.
    let mut group = new("dcqcn", &[("rate_timer", 1_000_000_000)]);
    let alpha = (255f64 / 256.0).powi(10);
    let expected = 12_500.0 * (1.0 - alpha / 2.0);
    let pace = told(&mut group, 551, marked()).1;
    assert!((f64::from(pace) - expected).abs() < 1.0, "{pace}, not {expected}");
}

/// Five times half of the way back; then R_ai more each time.
#[test]
fn it_recovers_fast_and_then_adds() {
    let mut group = dcqcn();
    told(&mut group, 0, marked());
    told(&mut group, 50, lost(1));
    // R = 25 Gbit/s, R_T = 50 Gbit/s.
    let (mut rate, mut target) = (25_000.0, 50_000.0);
    for k in 1..=20u64 {
        if k > 5 {
            target += 40.0;
        }
        rate = (rate + target) / 2.0;
        let pace = f64::from(told(&mut group, 50 + 55 * k, super::PATH).1);
        assert!((pace - rate / 8.0).abs() < 1.0, "{k}: {pace}, not {}", rate / 8.0);
    }
}

/// Timer and counter of bytes both above 5: hyper increase, larger each time.
#[test]
fn both_counts_together_are_hyper() {
    let mut group = new("dcqcn", &[("byte_counter", 45)]);
    told(&mut group, 0, marked());
    told(&mut group, 50, marked());
    let (mut rate, mut target) = (25_000.0f64, 50_000.0f64);
    for k in 1..=12u64 {
        // The timer first, then the bytes: 11 packets are 45 kB.
        for (timer, bytes) in [(k, k - 1), (k, k)] {
            target += match (timer.min(bytes), timer.max(bytes)) {
                (both, _) if both > 5 => 200.0 * (both - 5) as f64,
                (_, one) if one > 5 => 40.0,
                _ => 0.0,
            };
            rate = (rate + target) / 2.0;
        }
        let pace = f64::from(told(&mut group, 50 + 55 * k, ack(11, 12)).1);
        assert!((pace - rate / 8.0).abs() < 1.0, "{k}: {pace}, not {}", rate / 8.0);
    }
}

/// After a pause of seconds it is at the line's rate again.
#[test]
fn a_pause_is_made_up_for() {
    let mut group = dcqcn();
    told(&mut group, 0, marked());
    assert_eq!(told(&mut group, 5_000_000, super::PATH).1, 12_500);
}
