//! Single rules of the host.

use std::sync::Arc;
use std::time::Duration;

use noq_proto::congestion::ControllerFactory;
use tresse_controllers::MAX_SUBFLOWS;

use crate::factory;
use crate::network::now;
use crate::played::{PACKET, Played};

const RTT: Duration = Duration::from_millis(20);

fn path(name: &str) -> Played {
    Played::new(&factory(name), now(), RTT)
}

/// Cut to 20 packets, all of which are acknowledged.
fn in_congestion_avoidance(path: &mut Played) {
    path.ack(30, true, true);
    path.lose(true, false);
    path.ack(40, false, true);
    assert_eq!(path.packets(), 20);
}

/// Windows of packets until the window of `path` is one packet larger.
fn windows_for_one_more(path: &mut Played) -> u64 {
    let before = path.packets();
    for windows in 1..100 {
        for _ in 0..before {
            path.ack(1, true, true);
        }
        if path.packets() > before {
            return windows;
        }
    }
    panic!("it does not grow");
}

#[test]
fn a_path_that_is_dropped_is_no_sibling_any_more() {
    let factory = factory("lia");
    let mut paths = [0; 4].map(|_| Played::new(&factory, now(), RTT));
    paths.iter_mut().for_each(in_congestion_avoidance);
    let [mut first, rest @ ..] = paths;
    // RFC 6356 with n equal paths: alpha / total = 1 / (n^2 w), which the controller rounds down.
    assert_eq!(windows_for_one_more(&mut first), 17);
    drop(rest);
    assert_eq!(windows_for_one_more(&mut first), 1);
}

#[test]
fn a_clone_is_the_same_subflow() {
    let mut path = path("lia");
    in_congestion_avoidance(&mut path);
    let clone = path.controller.clone_box();
    let original = std::mem::replace(&mut path.controller, clone);
    assert_eq!(windows_for_one_more(&mut path), 1);
    assert_eq!(original.window(), path.controller.window());
    drop(original);
    assert_eq!(windows_for_one_more(&mut path), 1);
}

#[test]
fn a_window_that_the_application_leaves_unused_stays() {
    let mut path = path("reno");
    path.ack(10, true, false);
    assert_eq!(path.packets(), 10);
    path.ack(10, true, true);
    assert_eq!(path.packets(), 20);
}

#[test]
fn one_recovery_period_has_one_cut_and_no_growth() {
    let mut path = path("reno");
    path.ack(30, true, true);
    path.lose(true, false);
    assert_eq!(path.packets(), 20);
    path.ack(10, false, true);
    path.lose(false, false);
    path.ack(10, false, true);
    assert_eq!(path.packets(), 20);
    path.ack(20, true, true);
    assert_eq!(path.packets(), 21);
    path.lose(true, false);
    assert_eq!(path.packets(), 10);
}

#[test]
fn an_ack_that_shows_a_loss_or_a_mark_does_not_raise_the_window_before_the_cut() {
    for response in [Played::mark, Played::lose_with_ack] {
        let mut path = path("reno");
        path.ack(10, true, true);
        response(&mut path);
        assert_eq!(path.packets(), 5);
    }
}

#[test]
fn persistent_congestion_leaves_two_packets() {
    let mut path = path("reno");
    path.ack(30, true, true);
    path.lose(true, true);
    assert_eq!(path.packets(), 2);
    // Slow start, from the controller's own 1 to half of 40.
    path.ack(9, true, true);
    assert_eq!(path.packets(), 10);
    path.ack(10, true, true);
    path.ack(19, true, true);
    assert_eq!(path.packets(), 20);
}

#[test]
fn bytes_that_are_no_whole_packet_count_later() {
    let mut path = path("reno");
    let (start, estimate) = (now(), path.estimate());
    for ms in 1..=4 {
        let at = start + Duration::from_millis(ms);
        path.controller.on_ack(at, at, PACKET / 2, 0, false, &estimate);
        path.controller.on_end_acks(at, 0, false, None);
    }
    assert_eq!(path.packets(), 12);
}

#[test]
fn a_larger_packet_leaves_the_bytes_and_a_smaller_one_the_packets() {
    let mut path = path("reno");
    path.ack(20, true, true);
    assert_eq!(path.controller.window(), 30 * 1200);
    path.controller.on_mtu_update(1450);
    assert_eq!(path.controller.window(), 24 * 1450);
    path.controller.on_mtu_update(1200);
    assert_eq!(path.controller.window(), 24 * 1200);
}

#[test]
fn a_window_begins_with_ten_packets_or_what_rfc_9002_allows_of_large_ones() {
    for (packet, packets) in [(1200, 10), (1472, 10), (3000, 4), (9000, 2)] {
        let controller = factory("lia").build(now(), packet);
        assert_eq!(controller.window(), packets * u64::from(packet));
        assert_eq!(controller.initial_window(), controller.window());
    }
}

#[test]
fn a_path_too_many_is_not_coupled() {
    let factory = factory("lia");
    let paths: Vec<_> = (0..MAX_SUBFLOWS).map(|_| Arc::clone(&factory).build(now(), 1200)).collect();
    let mut last = Played::new(&factory, now(), RTT);
    in_congestion_avoidance(&mut last);
    assert_eq!(windows_for_one_more(&mut last), 1);
    drop(paths);
}
