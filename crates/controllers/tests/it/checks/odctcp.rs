//! The thesis's (5.14) on both sides of alpha = 0.5.

use std::sync::Arc;

use tresse_controllers::{Ack, Cause, ConfiguredController, Exception, Group, find};

use super::group;

/// A subflow of 100 packets in congestion avoidance, of whose last round `marked` percent were marked.
fn odctcp(marked: u32) -> Group {
    let mut group = group("odctcp", 1, 100);
    group[0].ssthresh = 2;
    round(&mut group, marked);
    group.ack(0, &Ack { delivered: 1, rtt: 800, new_round: 1, ..Ack::default() }); // ends it
    group
}

/// 100 packets, of which `marked` were marked, begin a round.
fn round(group: &mut Group, marked: u32) {
    group.ack(0, &Ack { delivered: 100, marked, rtt: 800, new_round: 1, ..Ack::default() });
}

/// How many packets a subflow of 100 takes to gain one, up to 10000.
fn packets_for_one(group: &mut Group) -> Option<u32> {
    (1..=10_000).find(|_| {
        group.grow(0, &Ack { delivered: 1, ..Ack::default() });
        group[0].cwnd > 100
    })
}

/// (1 - alpha)/w a packet, so w/(1 - alpha) packets for one: 100/0.51 = 196.08.
#[test]
fn below_half_it_grows_and_ignores_marks() {
    for (marked, packets) in [(0, 100), (1, 102), (25, 134), (49, 197)] {
        let mut group = odctcp(marked);
        assert_eq!(group.congestion(0, Cause::Mark), None, "{marked} %");
        assert_eq!(packets_for_one(&mut group), Some(packets), "{marked} %");
    }
}

/// alpha beta w less, beta = 1/2; and no growth.
#[test]
fn from_half_on_it_shrinks() {
    for (marked, window) in [(50, 75), (51, 75), (75, 63), (100, 50)] {
        let mut group = odctcp(marked);
        // 100 * 0.51/2 = 25.5: 25 whole packets; 37.5: 37.
        assert_eq!(group.congestion(0, Cause::Mark), Some(window), "{marked} %");
        assert_eq!(packets_for_one(&mut group), None, "{marked} %");
    }
}

/// The window goes on rising as if there had been no mark: the fraction too.
#[test]
fn an_ignored_mark_leaves_the_fraction() {
    let mut group = odctcp(0);
    group.grow(0, &Ack { delivered: 60, ..Ack::default() });
    assert_eq!(group.congestion(0, Cause::Mark), None);
    assert_eq!(packets_for_one(&mut group), Some(40));
    assert_eq!(group.scheme().controller().exceptions(), [Exception::IgnoresMark]);
}

/// DCTCP's slow start: a mark ends it, and cuts by alpha/2.
#[test]
fn a_mark_in_slow_start_is_answered() {
    for (marked, window) in [(0, 100), (25, 88), (75, 63)] {
        let mut group = odctcp(marked);
        group[0].ssthresh = 200;
        assert_eq!(group.congestion(0, Cause::Mark), Some(window), "{marked} %");
    }
}

#[test]
fn losses_and_local_drops_are_never_ignored() {
    for (marked, local) in [(0, 100), (25, 88)] {
        let mut group = odctcp(marked);
        assert_eq!(group.congestion(0, Cause::Loss), Some(50));
        assert_eq!(group.congestion(0, Cause::Local), Some(local));
    }
}

/// alpha = 1 - (15/16)^n after n rounds with every packet marked: 0.476 after 10, 0.508 after 11.
#[test]
fn the_average_starts_at_0() {
    let controller = find("odctcp").expect("it is built in");
    let scheme = ConfiguredController::new(controller, [("g_shift", 4)]).expect("in its range");
    let mut group = Group::new(Arc::new(scheme), 1, 1000);
    group[0].ssthresh = 2;
    for _ in 0..=10 {
        round(&mut group, 100);
    }
    assert_eq!(group.congestion(0, Cause::Mark), None, "ten rounds have ended");
    round(&mut group, 100);
    // 1000 * 0.5083/2 = 254.2: 254 whole packets.
    assert_eq!(group.congestion(0, Cause::Mark), Some(746));
}
