//! Measures increases far below a packet.
//!
//! A controller keeps the fraction of a packet by which its window has grown to itself. It shows
//! by how much more it must grow for the next whole packet, and a lone subflow grows by exactly
//! 1/w: so the windows at which one more packet tips it over bracket the fraction.

use tresse_controllers::{Ack, Group};

/// Packets of one ACK when many are fed: at most a burst that the contract's arithmetic still counts
/// whole.
const BURST: u32 = 10_000;

/// Enough growth for the measurement's own error, 2^-30 packet at either end, to be 10^-8 of it.
const ENOUGH: f64 = 0.25;

/// The increase of subflow `i` for one packet, by feeding many at windows that stay as they are.
/// `expected`, its size or more, only decides how many: so that no ACK moves the window by more than
/// half a packet, and all of them by enough.
pub fn increase(group: &mut Group, i: usize, expected: f64) -> f64 {
    let window = group[i].cwnd;
    let burst = ((0.5 / expected) as u32).clamp(1, BURST);
    let before = fraction(group, i);
    let (mut packets, mut whole) = (0.0, 0.0);
    while packets * expected < ENOUGH {
        group.grow(i, &Ack { delivered: burst, ..Ack::default() });
        whole += f64::from(group[i].cwnd) - f64::from(window);
        packets += f64::from(burst);
        group[i].cwnd = window;
    }
    (whole + fraction(group, i) - before) / packets
}

/// The fraction of a packet that subflow `i` keeps, within 2^-30. Leaves the group as it was.
pub fn fraction(group: &mut Group, i: usize) -> f64 {
    let saved: Vec<_> = (0..group.len()).map(|k| group[k].clone()).collect();
    for k in (0..group.len()).filter(|&k| k != i) {
        group[k].srtt = 0; // without an RTT a sibling does not count: the subflow is alone
    }
    // A gap of at least half a packet to the next whole one; a subflow above it goes past it.
    let mut added = 0.0;
    if tips(group, i, 2) {
        add(group, i, 2);
        added -= 0.5;
    }
    // Then nearer, until the gap lies between 2^-16 and 2^-15.
    for bits in 2..=16 {
        while !tips(group, i, 1 << (bits - 1)) {
            add(group, i, 1 << bits);
            added += 0.5f64.powi(bits);
            assert!(added < 1.0, "a lone subflow does not grow by 1/w");
        }
    }
    // There the windows 2^15 .. 2^16 are a scale with steps below 2^-30.
    let (mut tipping, mut not_tipping) = (1 << 15, 1 << 16);
    while not_tipping - tipping > 1 {
        let middle = (tipping + not_tipping) / 2;
        if tips(group, i, middle) { tipping = middle } else { not_tipping = middle }
    }
    let gap = (1.0 / f64::from(tipping) + 1.0 / f64::from(not_tipping)) / 2.0;
    for (k, subflow) in saved.into_iter().enumerate() {
        group[k] = subflow;
    }
    1.0 - gap - added
}

/// Whether 1/`window` of a packet would make the fraction whole.
fn tips(group: &mut Group, i: usize, window: u32) -> bool {
    let saved = group[i].clone();
    add(group, i, window);
    let tipped = group[i].cwnd > window;
    group[i] = saved;
    tipped
}

/// Adds 1/`window` of a packet.
fn add(group: &mut Group, i: usize, window: u32) {
    group[i].cwnd = window;
    group[i].ssthresh = window; // no slow start
    group.grow(i, &Ack { delivered: 1, ..Ack::default() });
}
