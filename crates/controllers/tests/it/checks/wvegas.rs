//! wVegas at known backlogs: alpha's share, the draining, the end of slow start.

use tresse_controllers::{Ack, Cause, Group, State};

use super::group;

/// The path without a queue: 100 us.
const BASE: u32 = 800;

/// Subflows in congestion avoidance, of `windows` packets, each with a round of the shortest RTT behind
/// it in which its window could not grow.
fn wvegas(windows: &[u32]) -> Group {
    let mut group = group("wvegas", windows.len(), 10);
    for (i, &window) in windows.iter().enumerate() {
        (group[i].cwnd, group[i].ssthresh, group[i].srtt) = (window, 2, BASE);
        round(&mut group, i, BASE);
        group[i].cwnd = window;
    }
    group
}

/// A round with four RTT samples.
fn round(group: &mut Group, i: usize, rtt: u32) {
    for new_round in [0, 0, 0, 1] {
        let ack = Ack { delivered: 1, rtt, new_round, ..Ack::default() };
        group.ack(i, &ack);
        group.grow(i, &ack);
    }
}

/// The RTT that leaves `diff` of `window` packets in queues: w (T - B)/T, a little more.
fn rtt_of(window: u32, diff: u32) -> u32 {
    (BASE * window).div_ceil(window - diff)
}

/// By how much a round with `diff` packets in queues moves the window of subflow `i`.
fn moved(group: &mut Group, i: usize, diff: u32) -> i64 {
    let window = group[i].cwnd;
    round(group, i, rtt_of(window, diff));
    i64::from(group[i].cwnd) - i64::from(window)
}

/// A path that is alone keeps total_alpha = 10 packets in queues.
#[test]
fn one_subflow_keeps_ten_packets_queued() {
    for (diff, expected) in [(0, 1), (1, 1), (9, 1), (10, 0), (11, -1), (15, -1)] {
        let mut group = wvegas(&[100]);
        assert_eq!(moved(&mut group, 0, 10), 0); // alpha = 10 from now on
        assert_eq!(group[0].cwnd, 100);
        let mut group = wvegas(&[100]);
        round(&mut group, 0, rtt_of(100, 10));
        assert_eq!(moved(&mut group, 0, diff), expected, "{diff} packets");
    }
}

/// Before any rate is known alpha is 2.
#[test]
fn alpha_starts_at_two() {
    let mut group = wvegas(&[100]);
    assert_eq!(moved(&mut group, 0, 1), 1);
    // 2 packets reach it: then it is the share, 10.
    assert_eq!(moved(&mut group, 0, 2), 1);
}

/// Equal rates: five packets each. Four times the rate: eight and two.
#[test]
fn the_backlog_is_shared_by_the_rates() {
    for (windows, alphas) in [([100, 100], [5, 5]), ([400, 100], [8, 2])] {
        let mut group = wvegas(&windows);
        // Alpha is computed anew when the backlog has reached it: half of each window at first, then at
        // an RTT next to those below, so that the rates told are as the windows.
        for rtt in [2 * BASE, 2 * BASE, 860, 860] {
            for i in [0, 1] {
                round(&mut group, i, rtt);
                group[i].cwnd = windows[i];
            }
        }
        for i in [0, 1] {
            let saved = group[i].clone();
            for (diff, expected) in [(alphas[i] + 1, -1), (alphas[i], 0), (alphas[i] - 1, 1)] {
                assert_eq!(moved(&mut group, i, diff), expected, "{windows:?}, subflow {i}, {diff} packets");
                group[i] = saved.clone();
            }
        }
    }
}

/// T - B at least twice the smallest since the last draining: w B/2T.
#[test]
fn twice_the_smallest_queue_drains() {
    let mut group = wvegas(&[100]);
    round(&mut group, 0, BASE + 40);
    round(&mut group, 0, BASE + 79);
    let before = group[0].cwnd;
    assert!(before >= 100, "not twice yet: {before}");
    round(&mut group, 0, BASE + 80);
    // diff = 9 packets, below alpha = 10: one more; then 800/1760 of it.
    assert_eq!(group[0].cwnd, (before + 1) * 800 / 1760);
}

/// A drained window starts slowly up to three quarters of what it was, and the smallest queue is forgotten.
#[test]
fn a_drained_window_starts_slowly() {
    let mut group = wvegas(&[100]);
    round(&mut group, 0, BASE + 40); // diff = 4, alpha = 10: 101 packets
    round(&mut group, 0, BASE + 40); // 102, three quarters of which are 51 + 25 = 76
    round(&mut group, 0, BASE + 80); // 9 of 102: 103; then 103 * 800/1760
    assert_eq!(group[0].cwnd, 46);
    for n in 1..=7 {
        round(&mut group, 0, BASE); // 4 packets
        assert_eq!(group[0].cwnd, 46 + 4 * n);
    }
    // Two packets to the threshold of 76 that is left; then the round's end adds one.
    round(&mut group, 0, BASE);
    assert_eq!(group[0].cwnd, 77);
    // 80 is the first again: it drains nothing.
    round(&mut group, 0, BASE + 80);
    assert_eq!(group[0].cwnd, 78);
}

/// The kernel's module halves the window of a path without a queue in each round.
#[test]
fn no_queue_is_not_drained() {
    let mut group = wvegas(&[100]);
    for n in 1..=100 {
        round(&mut group, 0, BASE);
        assert_eq!(group[0].cwnd, 100 + n);
    }
}

/// More than gamma = 1 packet queued: min(w, w B/T + 1), and no slow start above it.
#[test]
fn a_queue_ends_slow_start() {
    let mut group = wvegas(&[100]);
    group.congestion(0, Cause::Loss); // it may start slowly again
    group[0].ssthresh = 1000;
    round(&mut group, 0, BASE); // 4 packets a round
    assert_eq!(group[0].cwnd, 104);
    round(&mut group, 0, BASE);
    assert_eq!(group[0].cwnd, 108);
    // Three packets before the round's end: 111; 111 * 800/1000 + 1.
    round(&mut group, 0, 1000);
    assert_eq!(group[0].cwnd, 89);
    round(&mut group, 0, BASE);
    assert_eq!(group[0].cwnd, 90, "one a round");
}

/// One or two samples: Reno's growth, one packet of 10 makes a tenth.
#[test]
fn too_few_samples_are_reno() {
    let mut group = wvegas(&[10]);
    for n in 1..=20 {
        let ack = Ack { delivered: 1, rtt: 5 * BASE, new_round: 1, ..Ack::default() };
        group.ack(0, &ack);
        group.grow(0, &ack);
        assert_eq!(group[0].cwnd, 10 + u32::from(n >= 10), "{n}");
        if group[0].cwnd > 10 {
            break;
        }
    }
}

/// After a recovery alpha is 2 again, and the sibling's share no longer counts this one.
#[test]
fn a_loss_begins_anew() {
    let mut group = wvegas(&[100, 100]);
    round(&mut group, 0, rtt_of(100, 10));
    assert_ne!(group[0].word, 0);
    let window = group.congestion(0, Cause::Loss).expect("cut");
    assert_eq!((window, group[0].word), (group[0].cwnd / 2, 0));
    (group[0].cwnd, group[0].ssthresh, group[0].state) = (window, window, State::Recovery);
    group.ack(0, &Ack { delivered: 1, rtt: 2 * BASE, ..Ack::default() });
    group[0].state = State::Open;
    assert_eq!(moved(&mut group, 0, 1), 1);
}
