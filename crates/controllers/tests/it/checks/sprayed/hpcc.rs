//! HPCC, case by case: one port of 100 Gbit/s, of which 12 us are 150 000 bytes.

use tresse_controllers::{Group, Hop, Report};

use super::{BDP, PACKET, PATH, new, with_hops};
use crate::readings::sprayed::load;

const FIRST: Hop = Hop { bytes: 1_000_000, time: 7_000_000, queue: 0, rate: 100_000 };
const ACK: Report = Report { delivered: 1, rtt: 12_000, ..PATH };

/// After a first packet through `before`, one through `hop`: the window that shows with its pace.
fn after(group: &mut Group, before: &[Hop], hops: &[Hop]) -> (u32, u32) {
    with_hops(group, 12, ACK, before);
    with_hops(group, 24, ACK, hops)
}

/// Window and pace of W packets.
fn shown(window: f64) -> (u32, u32) {
    (window.ceil() as u32, (window * f64::from(PACKET) / 12.0) as u32)
}

const W_AI: f64 = BDP * 0.05 / 100.0;

fn near((window, pace): (u32, u32), expected: f64) {
    let (own, own_pace) = shown(expected);
    assert_eq!(window, own, "of {expected} packets");
    assert!(pace.abs_diff(own_pace) < 5, "{pace}, not {own_pace} bytes/us");
}

/// It starts with the BDP and the line's rate; telemetry of one packet says nothing yet.
#[test]
fn it_starts_with_the_bdp() {
    let mut group = new("hpcc", &[]);
    near(with_hops(&mut group, 12, ACK, &[FIRST]), BDP);
    near(with_hops(&mut group, 13, ACK, &[]), BDP);
}

/// U = u when the two packets are an RTT apart.
#[test]
fn it_divides_by_what_is_in_flight() {
    for (bytes, queue, queue_before) in
        [(150_000, 0, 0), (150_000, 150_000, 150_000), (150_000, 150_000, 0), (75_000, 75_008, 300_000)]
    {
        let before = Hop { queue: queue_before, ..FIRST };
        let hop = Hop { bytes: FIRST.bytes + bytes, time: FIRST.time + 12_000, queue, ..FIRST };
        let u = load(&hop, &before, 12_000.0);
        let mut group = new("hpcc", &[]);
        near(after(&mut group, &[before], &[hop]), BDP / (u / 0.95) + W_AI);
    }
}

/// The fullest port decides, wherever it is.
#[test]
fn the_fullest_port_decides() {
    let slow = |bytes| Hop { bytes, rate: 25_000, ..FIRST };
    let later = |hop: Hop, bytes| Hop { bytes: hop.bytes + bytes, time: hop.time + 12_000, ..hop };
    for place in 0..2 {
        let (mut before, mut hops) = (vec![FIRST], vec![later(FIRST, 30_000)]);
        before.insert(place, slow(50));
        hops.insert(place, later(slow(50), 37_500));
        let mut group = new("hpcc", &[]);
        near(after(&mut group, &before, &hops), BDP * 0.95 + W_AI);
    }
}

/// Below eta W_ai a window, from Wc; after max_stage of them a division again, upwards too.
#[test]
fn five_additive_steps_and_a_division() {
    let mut group = new("hpcc", &[]);
    let at = |k: u64, bytes| Hop { bytes, time: FIRST.time + 12_000 * k, ..FIRST };
    let mut bytes = FIRST.bytes;
    with_hops(&mut group, 12, ACK, &[FIRST]);
    bytes += 150_000;
    with_hops(&mut group, 24, ACK, &[Hop { queue: 150_000, ..at(1, bytes) }]);
    bytes += 150_000;
    // u = 2: a window of 0.475 BDP, and then five windows at 80 %.
    let cut = with_hops(&mut group, 36, ACK, &[Hop { queue: 150_000, ..at(2, bytes) }]);
    let mut window = (BDP * 0.95 + W_AI) * 0.95 / 2.0 + W_AI;
    near(cut, window);
    for k in 0..5u64 {
        bytes += 120_000;
        window += W_AI;
        near(with_hops(&mut group, 48 + 12 * k, ACK, &[at(3 + k, bytes)]), window);
    }
    bytes += 120_000;
    window = window / (0.8 / 0.95) + W_AI;
    near(with_hops(&mut group, 120, ACK, &[at(8, bytes)]), window);
}

/// Within a window W is computed from Wc again and again.
#[test]
fn within_a_window_the_base_stays() {
    let mut group = new("hpcc", &[]);
    with_hops(&mut group, 12, ACK, &[FIRST]);
    group[0].in_flight = 100;
    let at = |k: u64| Hop { bytes: FIRST.bytes + 150_000 * k, time: FIRST.time + 12_000 * k, ..FIRST };
    let once = BDP * 0.95 + W_AI;
    near(with_hops(&mut group, 24, ACK, &[at(1)]), once);
    for k in 2..10 {
        near(with_hops(&mut group, 12 + 12 * k, ACK, &[at(k)]), once * 0.95 + W_AI);
    }
}

/// What cannot be of the same port, or is too old, is not compared.
#[test]
fn another_port_is_not_compared() {
    let full = Hop { bytes: FIRST.bytes + 150_000, time: FIRST.time + 12_000, ..FIRST };
    for (hop, what) in [
        (Hop { bytes: full.bytes + 1_000, ..full }, "more than its rate allows"),
        (Hop { bytes: FIRST.bytes - 1, ..full }, "fewer bytes than before"),
        (Hop { time: FIRST.time - 1, ..full }, "a time before"),
        (Hop { rate: 50_000, ..full }, "a slower port"),
    ] {
        let mut group = new("hpcc", &[]);
        near(after(&mut group, &[FIRST], &[hop]), BDP);
        assert_eq!(group[0].cwnd, 37, "{what}");
    }
    let mut group = new("hpcc", &[]);
    near(after(&mut group, &[FIRST], &[full, full]), BDP);
    let mut group = new("hpcc", &[]);
    with_hops(&mut group, 12, ACK, &[FIRST]);
    near(with_hops(&mut group, 20_000, ACK, &[full]), BDP);
}
