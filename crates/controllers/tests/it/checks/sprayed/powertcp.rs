//! PowerTCP, case by case: one port of 100 Gbit/s, of which 12 us are 150 000 bytes.

use tresse_controllers::{Hop, Report};

use super::{BDP, PACKET, PATH, new, with_hops};
use crate::readings::sprayed::power;

const FIRST: Hop = Hop { bytes: 1_000_000, time: 7_000_000, queue: 0, rate: 100_000 };
const ACK: Report = Report { delivered: 1, rtt: 12_000, ..PATH };

/// Two packets an RTT apart, so that P is the newest power: w = 0.9 (BDP/P + BDP/10) + 0.1 BDP, at most the BDP.
#[test]
fn the_window_follows_power() {
    for (bytes, before, queue) in [
        (150_000, 0, 0),             // 1: the equilibrium
        (150_000, 150_000, 150_000), // twice the voltage
        (150_000, 0, 75_008),        // half more current, half more voltage
        (150_000, 75_008, 0),        // a queue that drains
        (75_000, 0, 0),              // half of the current
    ] {
        let mut group = new("powertcp", &[]);
        let before = Hop { queue: before, ..FIRST };
        let hop = Hop { bytes: FIRST.bytes + bytes, time: FIRST.time + 12_000, queue, ..FIRST };
        with_hops(&mut group, 12, ACK, &[before]);
        let (window, pace) = with_hops(&mut group, 24, ACK, &[hop]);
        let expected = (0.9 * (BDP / power(&hop, &before, 12_000.0) + BDP / 10.0) + 0.1 * BDP).min(BDP);
        assert_eq!(window, expected.ceil() as u32, "{hop:?}: {expected}");
        let rate = expected * f64::from(PACKET) / 12.0;
        assert!((f64::from(pace) - rate).abs() < 10.0, "{hop:?}: {pace}, not {rate} bytes/us");
    }
}

/// A port that is twice as full decides over an idle one.
#[test]
fn the_most_powerful_hop_decides() {
    let later = |hop: Hop| Hop { bytes: hop.bytes + 150_000, time: hop.time + 12_000, ..hop };
    let full = Hop { queue: 150_000, ..FIRST };
    let alone = |hops: &[Hop]| {
        let mut group = new("powertcp", &[]);
        with_hops(&mut group, 12, ACK, hops);
        let later: Vec<Hop> = hops.iter().map(|&hop| later(hop)).collect();
        with_hops(&mut group, 24, ACK, &later)
    };
    assert_eq!(alone(&[full]), alone(&[FIRST, full, FIRST]));
    assert_ne!(alone(&[FIRST]), alone(&[full]));
}

/// A queue that drains faster than anything comes: no current, and nothing is learnt.
#[test]
fn a_negative_current_counts_nothing() {
    let mut group = new("powertcp", &[]);
    let before = Hop { queue: 400_000, ..FIRST };
    with_hops(&mut group, 12, ACK, &[before]);
    let hop = Hop { bytes: FIRST.bytes + 100_000, time: FIRST.time + 12_000, ..FIRST };
    assert_eq!(with_hops(&mut group, 24, ACK, &[hop]).0, 37);
}

/// w_old is the window of a round ago: reports within a round answer from the same one.
#[test]
fn within_a_window_the_old_one_stays() {
    let mut group = new("powertcp", &[]);
    let at = |k: u64| Hop {
        bytes: FIRST.bytes + 150_000 * k,
        time: FIRST.time + 12_000 * k,
        queue: 150_000,
        ..FIRST
    };
    group[0].in_flight = 1000;
    with_hops(&mut group, 12, ACK, &[at(0)]);
    // P is 2, and w comes near BDP/2 + BDP/10.
    let mut window = BDP;
    let mut old = BDP;
    for k in 1..10 {
        window = 0.9 * (old / 2.0 + BDP / 10.0) + 0.1 * window;
        if k == 1 {
            old = window;
        }
        assert_eq!(with_hops(&mut group, 12 + 12 * k, ACK, &[at(k)]).0, window.ceil() as u32, "{k}");
    }
}
