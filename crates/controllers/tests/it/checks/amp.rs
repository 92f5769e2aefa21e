//! AMP: the increase over all windows, the cut to three quarters, and the mode for incast.

use tresse_controllers::{Ack, Cause, Group};

use super::group;

/// One subflow for each window, in congestion avoidance, each with an RTT.
fn amp(windows: &[u32]) -> Group {
    let mut group = group("amp", windows.len(), 10);
    for (i, &window) in windows.iter().enumerate() {
        (group[i].cwnd, group[i].ssthresh, group[i].srtt) = (window, 1, 800);
    }
    group
}

/// A round of subflow `i` that ends; `marked` of its packets were marked.
fn round(group: &mut Group, i: usize, marked: u32) {
    group.ack(i, &Ack { delivered: 1, marked, rtt: 800, ..Ack::default() });
    group.ack(i, &Ack { delivered: 1, rtt: 800, new_round: 1, ..Ack::default() });
}

fn takers(group: &Group) -> Vec<usize> {
    let all = !group.one_is_alone();
    (0..group.len()).filter(|&i| all || group[i].alone != 0).collect()
}

/// Three subflows at the floor; the last of them has seen it: ten rounds each.
fn under_incast() -> Group {
    let mut group = amp(&[1, 1, 1]);
    for i in [0, 1, 2] {
        for _ in 0..10 {
            round(&mut group, i, 1);
        }
    }
    group
}

/// A window of all windows' packets adds one packet, whichever subflow it is.
#[test]
fn a_packet_is_worth_one_over_all_windows() {
    for (i, window) in [(0, 10), (1, 20), (2, 70)] {
        let mut group = amp(&[10, 20, 70]);
        for _ in 1..100 {
            group.grow(i, &Ack { delivered: 1, ..Ack::default() });
            assert_eq!(group[i].cwnd, window);
        }
        group.grow(i, &Ack { delivered: 1, ..Ack::default() });
        assert_eq!(group[i].cwnd, window + 1);
    }
}

/// What is left of three quarters in whole packets; a loss leaves half.
#[test]
fn a_mark_leaves_three_quarters() {
    for (window, marked, lost) in [(100, 75, 50), (5, 3, 2), (4, 3, 2), (3, 2, 1), (2, 1, 1), (1, 1, 1)] {
        let mut group = amp(&[window]);
        assert_eq!(group.congestion(0, Cause::Mark), Some(marked));
        assert_eq!(group.congestion(0, Cause::Loss), Some(lost));
    }
}

#[test]
fn ten_rounds_at_the_floor_leave_one_subflow() {
    let mut group = amp(&[1, 1, 1]);
    for i in [0, 1, 2] {
        for _ in 0..10 {
            assert_eq!(takers(&group), [0, 1, 2]);
            round(&mut group, i, 1);
        }
    }
    assert_eq!(takers(&group), [2], "the one that saw it first");
    // The others see it too, and leave the part to the one that has it.
    for i in [0, 1] {
        for _ in 0..20 {
            round(&mut group, i, 1);
        }
    }
    assert_eq!(takers(&group), [2]);
}

#[test]
fn one_above_the_floor_holds_the_mode_up() {
    let mut group = amp(&[1, 1, 2]);
    for _ in 0..20 {
        for i in [0, 1, 2] {
            round(&mut group, i, 1);
        }
    }
    assert_eq!(takers(&group), [0, 1, 2]);
    // And begins its count anew when it has been there: it notices as the last.
    group[2].cwnd = 1;
    for _ in 0..10 {
        assert_eq!(takers(&group), [0, 1, 2]);
        round(&mut group, 2, 1);
    }
    assert_eq!(takers(&group), [2]);
}

#[test]
fn a_subflow_without_an_rtt_does_not_hold_it_up() {
    let mut group = amp(&[1, 1, 10]);
    group[2].srtt = 0;
    for i in [0, 1] {
        for _ in 0..10 {
            round(&mut group, i, 1);
        }
    }
    assert_eq!(takers(&group), [1]);
}

#[test]
fn a_single_subflow_has_no_mode() {
    let mut group = amp(&[1]);
    for _ in 0..100 {
        round(&mut group, 0, 1);
    }
    assert_eq!(group[0].alone, 0);
}

/// Eight clean rounds in succession; a marked one, one at the floor or one in a recovery begins them anew.
#[test]
fn eight_clean_rounds_bring_the_others_back() {
    let mut group = under_incast();
    group[2].cwnd = 2;
    for _ in 0..7 {
        round(&mut group, 2, 0);
    }
    round(&mut group, 2, 1);
    for _ in 0..7 {
        round(&mut group, 2, 0);
    }
    group[2].cwnd = 1;
    round(&mut group, 2, 0);
    group[2].cwnd = 2;
    for _ in 0..7 {
        round(&mut group, 2, 0);
    }
    group[2].state = tresse_controllers::State::Recovery;
    round(&mut group, 2, 0);
    group[2].state = tresse_controllers::State::Open;
    for _ in 0..7 {
        round(&mut group, 2, 0);
    }
    assert_eq!(takers(&group), [2]);
    round(&mut group, 2, 0);
    assert_eq!(takers(&group), [0, 1, 2]);
    // Back at the floor: ten rounds again.
    group[2].cwnd = 1;
    for _ in 0..10 {
        assert_eq!(takers(&group), [0, 1, 2]);
        round(&mut group, 2, 1);
    }
    assert_eq!(takers(&group), [2]);
}

#[test]
fn a_timeout_ends_the_mode() {
    let mut group = under_incast();
    assert_eq!(takers(&group), [2]);
    group.timeout(2);
    assert_eq!(takers(&group), [0, 1, 2]);
    // Another one may have the part at its next round only if the first is at the floor long enough again.
    round(&mut group, 0, 1);
    assert_eq!(takers(&group), [0, 1, 2]);
}
