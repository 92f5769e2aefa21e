//! Packets that are cut to their headers: they go first, and no loss goes unreported that could be reported.

use proptest::prelude::*;
use tresse_fabric::{
    Arrival, ClassConfig, ClassMark, Ecn, Fabric, Header, Loss, MAX_CLASSES, NonEct, Packet, PortConfig,
    Processing, QueuedPortConfig, Threshold,
};
use tresse_units::{MICROSECOND, NEVER, Time};

/// A packet of 1250 bytes takes 10 us.
const RATE: u64 = 1_000_000_000;
const BYTES: u32 = 1250;

fn port(limit: u64) -> PortConfig {
    PortConfig {
        rate: RATE,
        delay: 0,
        limit: Threshold::packets(limit),
        mark: Threshold::UNLIMITED,
        non_ect: NonEct::Queue,
        drop_until: None,
        processing: Processing::NONE,
        red: None,
        loss: Loss::NONE,
    }
}

/// A port that trims to 125 bytes, 1 us; `headers` have room.
fn trimming(limit: u64, headers: u64) -> QueuedPortConfig {
    let class = |limit| ClassConfig {
        quantum: 1500,
        limit: Threshold::packets(limit),
        mark: ClassMark::Above(Threshold::UNLIMITED),
    };
    let mut classes = [class(limit); MAX_CLASSES];
    classes[1] = class(headers);
    QueuedPortConfig { classes, count: 2, pool: None, priority: true, trim: Some(125), marks_behind: false }
}

fn data() -> Header {
    Header::new(BYTES, Ecn::Ect).trimmable()
}

/// Sends packets 0, 1, … at once over ports of these limits, of which the first trims: returns the arrivals
/// and their times.
fn at_once(
    packets: u32,
    limit: u64,
    headers: u64,
    header: impl Fn(u32) -> Header,
) -> Vec<(Time, Packet<u32>)> {
    let ports = [port(limit), port(1000)];
    let mut fabric = Fabric::new(&ports, 2, 1).with_queued_ports(&[(0, trimming(limit, headers))], &[]);
    let route = fabric.add_route(&[0, 1]);
    for packet in 0..packets {
        fabric.send(route, header(packet), packet);
    }
    let mut arrivals = Vec::new();
    while let Some(arrival) = fabric.advance(NEVER, &()) {
        if let Arrival::Delivered(packet) = arrival {
            arrivals.push((fabric.now(), packet));
        }
    }
    arrivals
}

/// One is in transmission, three wait, the next two are cut: their headers go right after the packet in transmission.
#[test]
fn headers_go_before_the_data_that_waits() {
    let arrivals = at_once(6, 3, 10, |_| data());
    let order: Vec<u32> = arrivals.iter().map(|a| a.1.payload).collect();
    assert_eq!(order, [0, 4, 5, 1, 2, 3]);
    let trimmed: Vec<_> = arrivals.iter().map(|a| a.1.header.trimmed()).collect();
    assert_eq!(trimmed, [None, Some(false), Some(false), None, None, None], "the port is not the last one");
    assert_eq!(arrivals[1].1.header.bytes, 125);
    // Packet 0 has crossed the second port at 20 us; the headers follow it there, a microsecond each.
    let times: Vec<Time> = arrivals.iter().map(|a| a.0 / MICROSECOND).collect();
    assert_eq!(times, [20, 21, 22, 32, 42, 52]);
}

#[test]
fn what_is_not_to_be_trimmed_is_dropped_and_so_is_a_header_too_many() {
    let plain = at_once(6, 3, 10, |_| Header::new(BYTES, Ecn::Ect));
    assert_eq!(plain.len(), 4);
    let arrivals = at_once(9, 3, 2, |_| data());
    assert_eq!(arrivals.len(), 1 + 3 + 2);
}

#[test]
fn the_last_port_says_so_of_itself() {
    let ports = [port(2)];
    let mut fabric = Fabric::new(&ports, 1, 1).with_queued_ports(&[(0, trimming(2, 10))], &[]);
    let route = fabric.add_route(&[0]);
    (0..4).for_each(|packet| assert!(fabric.send(route, data(), packet)));
    let mut trimmed = Vec::new();
    while let Some(Arrival::Delivered(packet)) = fabric.advance(NEVER, &()) {
        trimmed.push(packet.header.trimmed());
    }
    assert_eq!(trimmed, [None, Some(true), None, None]);
    let counters = fabric.ports()[0].counters();
    assert_eq!((counters.trims, counters.drops), (1, 0));
    assert_eq!(counters.bytes, u64::from(3 * BYTES + 125));
}

/// A port that has no room tells of its queue in what it leaves of the packet, and so do the ports behind it.
#[test]
fn headers_carry_telemetry_too() {
    let ports = [port(3), port(1000)];
    let queued = [(0, trimming(3, 10)), (1, trimming(1000, 10))];
    let mut fabric = Fabric::new(&ports, 2, 1).with_queued_ports(&queued, &[]).with_telemetry();
    let route = fabric.add_route(&[0, 1]);
    (0..5).for_each(|packet| assert!(fabric.send(route, data(), packet)));
    let mut told = Vec::new();
    while let Some(Arrival::Delivered(packet)) = fabric.advance(NEVER, &()) {
        let hops = fabric.hops_of_delivered();
        told.push((packet.payload, hops.iter().map(|hop| hop.queue).collect::<Vec<_>>()));
    }
    let waiting = |packets: u32| u64::from(packets * BYTES);
    let expected =
        [(0, [0, 0]), (4, [waiting(3), 0]), (1, [waiting(2), 0]), (2, [waiting(1), 0]), (3, [0, 0])];
    assert_eq!(told, expected.map(|(packet, queues)| (packet, queues.to_vec())));
}

proptest! {
    /// sent = delivered + trimmed + dropped + in flight, and data keeps its order.
    #[test]
    fn packets_are_conserved(
        limit in 0..6u64,
        headers in 0..4u64,
        sends in prop::collection::vec((0..200u64, 1..1500u32, any::<bool>()), 1..120),
    ) {
        let mut sends = sends;
        sends.sort_by_key(|s| s.0);
        let ports = [port(limit), port(limit)];
        let queued: Vec<_> = (0..2).map(|p| (p, trimming(limit, headers))).collect();
        let mut fabric = Fabric::new(&ports, 2, 1).with_queued_ports(&queued, &[]);
        let route = fabric.add_route(&[0, 1]);
        let (mut whole, mut cut, mut dropped) = (Vec::new(), Vec::new(), 0);
        let mut take = |arrival: Arrival<u32>| match arrival {
            Arrival::Delivered(packet) if packet.header.trimmed().is_some() => cut.push(packet.payload),
            Arrival::Delivered(packet) => whole.push(packet.payload),
            Arrival::Dropped(_) => dropped += 1,
        };
        let mut refused = 0;
        for (number, &(at, bytes, may)) in (0..).zip(&sends) {
            let at = at * MICROSECOND;
            while let Some(arrival) = fabric.advance(at, &()) {
                take(arrival);
            }
            fabric.set_now(at);
            let header = Header::new(bytes, Ecn::Ect);
            let header = if may { header.trimmable() } else { header };
            refused += u32::from(!fabric.send(route, header, number));
        }
        while let Some(arrival) = fabric.advance(NEVER, &()) {
            take(arrival);
        }
        prop_assert_eq!(fabric.in_flight(), 0);
        prop_assert_eq!(whole.len() + cut.len() + dropped + refused as usize, sends.len());
        prop_assert!(whole.is_sorted());
        let counters = fabric.ports().iter().map(|p| p.counters());
        let (trims, drops) = counters.fold((0, 0), |(t, d), c| (t + c.trims, d + c.drops));
        prop_assert!(trims >= cut.len() as u64, "some headers may be dropped later");
        prop_assert_eq!(drops, u64::from(dropped as u32 + refused));
    }
}
