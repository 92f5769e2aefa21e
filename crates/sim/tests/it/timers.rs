//! The retransmission timer and the delayed-ACK timer, to the picosecond.
//!
//! At the rates here a byte takes a whole number of picoseconds, so that every time is exact.

use tresse_fabric::Path;
use tresse_sim::{FlowRecord, World};
use tresse_units::{MICROSECOND, MILLISECOND, SECOND, Time};

use crate::common::{Acking, Bottleneck, GIGABIT, HEADER, MSS, Net, PACKET, flow, run_until, scheme};

const RTT: Time = 225 * MICROSECOND;

/// Turns time until one connection finishes.
fn finish(world: &mut World) -> FlowRecord {
    let finished = run_until(world, 10 * SECOND);
    assert_eq!(finished.len(), 1);
    finished[0]
}

/// How long a full packet takes to the receiver, and an ACK back.
fn latencies(net: &Net, path: &Path) -> (Time, Time) {
    let (there, back) = (net.latency(&path.there, PACKET), net.latency(&path.back, HEADER));
    assert_eq!(there + back, RTT);
    (there, back)
}

/// Of ten packets at once, one goes on the wire, eight wait and the last is dropped. The ninth ACK
/// arrives eight packet times after the first one and sets the timer for the last time. A timer that
/// stayed at its initial value, from before there was an RTT sample, would fire after 1 s.
#[test]
fn a_lost_last_packet_costs_one_timeout_of_200_ms() {
    for acking in [Acking::Each, Acking::Delayed] {
        let link = Bottleneck::drop_tail(GIGABIT, 8);
        let net = Net::new(RTT, &[link], 1);
        let (there, back) = latencies(&net, &net.path(0, 0));
        let mut world = net.world();
        let mut spec = flow(0, &scheme("reno", &[]), acking, 10 * u64::from(MSS), vec![net.path(0, 0)]);
        spec.config.initial_window = 10;
        world.start(spec);
        let record = finish(&mut world);
        assert_eq!(world.packets().dropped, 1);
        assert_eq!((record.counters.timeouts, record.counters.retransmissions), (1, 1));
        let ninth_ack = there + 8 * link.packet_time() + back;
        assert_eq!(record.end, ninth_ack + 200 * MILLISECOND + there, "{acking:?}");
    }
}

/// RFC 6298 §2.1: before the first RTT sample the timeout is 1 s, and it doubles when it expires in
/// vain. A queue of no packets drops what arrives while another packet is on the wire.
#[test]
fn a_lost_first_packet_costs_one_second() {
    let link = Bottleneck::drop_tail(GIGABIT, 0);
    let net = Net::new(RTT, &[link], 2);
    let (there, _) = latencies(&net, &net.path(0, 0));
    let reno = scheme("reno", &[]);
    let mut world = net.world();
    for id in 0..2 {
        world.start(flow(id, &reno, Acking::Delayed, u64::from(MSS), vec![net.path(id as u32, 0)]));
    }
    let finished = run_until(&mut world, 10 * SECOND);
    let ends: Vec<_> = finished.iter().map(|r| (r.end, r.counters.timeouts)).collect();
    assert_eq!(ends, [(there, 0), (SECOND + there, 1)]);
}

/// Without quick ACKs the first packet of a window of 1 is alone, and its ACK waits for the timer.
#[test]
fn a_lone_packet_is_acked_after_40_ms() {
    let net = Net::new(RTT, &[Bottleneck::drop_tail(GIGABIT, 100)], 1);
    let (there, back) = latencies(&net, &net.path(0, 0));
    let mut world = net.world();
    let reno = scheme("reno", &[]);
    let mut spec = flow(0, &reno, Acking::Delayed, 2 * u64::from(MSS), vec![net.path(0, 0)]);
    spec.config.delayed_ack.quick = 0;
    world.start(spec);
    let record = finish(&mut world);
    assert_eq!(record.end, there + 40 * MILLISECOND + back + there);
    assert_eq!(record.counters.timeouts, 0);
}

/// A packet that is left over while more are under way is ACKed with the next one. From a window of 3
/// the first packet of each round is ACKed with the last one of the round before.
#[test]
fn an_odd_packet_does_not_stall_a_flow_that_goes_on() {
    for window in [3, 5, 7] {
        let net = Net::new(RTT, &[Bottleneck::drop_tail(GIGABIT, 1000)], 1);
        let mut world = net.world();
        let reno = scheme("reno", &[]);
        let mut spec = flow(0, &reno, Acking::Delayed, 101 * u64::from(MSS), vec![net.path(0, 0)]);
        spec.config.delayed_ack.quick = 0;
        spec.config.initial_window = window;
        world.start(spec);
        let record = finish(&mut world);
        assert_eq!((record.counters.timeouts, record.counters.retransmissions), (0, 0));
        // Slow start from 3 needs 6 rounds for 101 packets (3, 6, 12, ...), one more if an ACK is late by a
        // packet, and a packet time for each packet at most.
        assert!(record.end < 7 * RTT + 101 * 12 * MICROSECOND, "window {window}: {} ps", record.end);
    }
}

/// The last packet of a message is ACKed at once, and so are the first 16 (catalogue 0.2): a 2 KB
/// request takes a round and a half.
#[test]
fn a_short_request_does_not_wait_for_the_timer() {
    let net = Net::new(RTT, &[Bottleneck::drop_tail(GIGABIT, 100)], 1);
    let (there, back) = latencies(&net, &net.path(0, 0));
    let path = net.path(0, 0);
    let last = net.latency(&path.there, 2000 - MSS + HEADER);
    let mut world = net.world();
    world.start(flow(0, &scheme("reno", &[]), Acking::Delayed, 2000, vec![path]));
    assert_eq!(finish(&mut world).end, there + back + last);
}
