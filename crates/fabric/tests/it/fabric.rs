//! Packets on a fabric: none is lost or invented, each takes as long as its links say, and the same
//! input gives the same run.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::prelude::*;
use tresse_fabric::{
    ARRIVALS, Arrival, Ecn, Fabric, Header, Loss, NonEct, PortConfig, Processing, RouteId, Threshold, Ties,
};
use tresse_units::{MICROSECOND, MILLISECOND, NEVER, SECOND, Time};

const GIGABIT: u64 = 1_000_000_000;
/// For the order of events at one instant.
const SEED: u64 = 5;

/// Runs the fabric up to `limit`, or to the next packet that arrives or is dropped.
fn advance(fabric: &mut Fabric<u32>, limit: Time) -> Option<Arrival<u32>> {
    fabric.advance(limit, &())
}

/// Any ports, any routes over them (a route need not make sense to be followed), any packets.
#[derive(Debug, Clone)]
struct Scenario {
    ports: Vec<PortConfig>,
    /// The largest number of packets that wait, port by port, which `Threshold` hides.
    limits: Vec<u64>,
    routes: Vec<Vec<u32>>,
    /// When, on which route, how many bytes.
    packets: Vec<(Time, usize, u32)>,
}

fn scenario() -> impl Strategy<Value = Scenario> {
    // 8 bits divide these rates' 10^12 ps: the reference below need not round as the port does.
    let rate = prop::sample::select(vec![GIGABIT / 10, GIGABIT, 10 * GIGABIT, 400 * GIGABIT]);
    let delay = prop_oneof![Just(0), 0..(100 * MICROSECOND), 0..(2 * SECOND)];
    let limit = prop_oneof![3 => 0..6u64, 2 => 6..40u64, 1 => Just(u64::MAX)];
    let ports = prop::collection::vec((rate, delay, limit), 1..6);
    ports.prop_flat_map(|ports| {
        let routes = prop::collection::vec(prop::collection::vec(0..ports.len() as u32, 1..5), 1..5);
        let time = prop_oneof![4 => 0..(50 * MICROSECOND), 2 => 0..MILLISECOND, 1 => 0..(5 * SECOND)];
        let packets = routes.prop_flat_map(move |routes| {
            let bytes = prop_oneof![Just(1500), Just(40), 1..1500u32];
            let packets = prop::collection::vec((time.clone(), 0..routes.len(), bytes), 1..150);
            (Just(routes), packets)
        });
        (Just(ports), packets).prop_map(|(ports, (routes, mut packets))| {
            packets.sort_by_key(|p| p.0);
            let limits = ports.iter().map(|p| p.2).collect();
            let ports = ports
                .iter()
                .map(|&(rate, delay, limit)| PortConfig {
                    rate,
                    delay,
                    limit: Threshold::packets(limit),
                    mark: Threshold::UNLIMITED,
                    non_ect: NonEct::Queue,
                    drop_until: None,
                    processing: Processing::NONE,
                    red: None,
                    loss: Loss::NONE,
                })
                .collect();
            Scenario { ports, limits, routes, packets }
        })
    })
}

/// What happened: when, to which packet, and whether it arrived.
type Fate = (Time, u32, bool);

/// Plays a scenario on a fabric, checking that packets are conserved at every step.
fn play(scenario: &Scenario) -> Vec<Fate> {
    let mut fabric: Fabric<u32> = Fabric::new(&scenario.ports, 4, SEED);
    let routes: Vec<RouteId> = scenario.routes.iter().map(|r| fabric.add_route(r)).collect();
    for (id, ports) in routes.iter().zip(&scenario.routes) {
        assert_eq!(fabric.route(*id), ports);
    }
    let mut fates = Vec::new();
    let run = |fabric: &mut Fabric<u32>, fates: &mut Vec<Fate>, limit, sent: usize| {
        while let Some(arrival) = advance(fabric, limit) {
            fates.push(match arrival {
                Arrival::Delivered(packet) => (fabric.now(), packet.payload, true),
                Arrival::Dropped(packet) => (fabric.now(), packet.payload, false),
            });
            assert_eq!(sent, fates.len() + fabric.in_flight());
        }
    };
    for (name, &(time, route, bytes)) in scenario.packets.iter().enumerate() {
        run(&mut fabric, &mut fates, time, name);
        fabric.set_now(time);
        if !fabric.send(routes[route], Header::new(bytes, Ecn::Ect), name as u32) {
            fates.push((time, name as u32, false));
        }
        assert_eq!(name + 1, fates.len() + fabric.in_flight(), "sent = delivered + dropped + in flight");
    }
    run(&mut fabric, &mut fates, NEVER, scenario.packets.len());
    assert_eq!(fabric.in_flight(), 0);
    let hops: u64 = fabric.hops();
    let dropped = fates.iter().filter(|f| !f.2).count() as u64;
    assert_eq!(fabric.ports().iter().map(|p| p.counters().drops).sum::<u64>(), dropped);
    let routed: u64 = scenario.packets.iter().map(|p| scenario.routes[p.1].len() as u64).sum();
    assert!(hops <= routed && (dropped > 0 || hops == routed));
    fates
}

/// The same by the book: a sorted set of events, a queue of departures a port, exact arithmetic.
fn reference(scenario: &Scenario) -> Vec<Fate> {
    let mut departures: Vec<VecDeque<Time>> = vec![VecDeque::new(); scenario.ports.len()];
    // An event is an arrival at the far end of a port, by its rank; sending comes after it at the same time.
    let mut events: BTreeSet<(Time, u32, u32)> = BTreeSet::new();
    for (name, packet) in scenario.packets.iter().enumerate() {
        events.insert((packet.0, u32::MAX, name as u32));
    }
    let ties = Ties::new(SEED);
    let mut hop: BTreeMap<u32, usize> = BTreeMap::new();
    let mut fates = Vec::new();
    while let Some((now, _, name)) = events.pop_first() {
        let (_, route, bytes) = scenario.packets[name as usize];
        let hop = hop.entry(name).or_default();
        let Some(&p) = scenario.routes[route].get(*hop) else {
            fates.push((now, name, true));
            continue;
        };
        *hop += 1;
        let (port, queue) = (&scenario.ports[p as usize], &mut departures[p as usize]);
        while queue.front().is_some_and(|&d| d <= now) {
            queue.pop_front();
        }
        // The first packet of the queue is in transmission, the others wait; an idle port takes any packet.
        if queue.len() as u64 > scenario.limits[p as usize] {
            fates.push((now, name, false));
            continue;
        }
        let departure = queue.back().copied().unwrap_or(now) + u64::from(bytes) * 8 * SECOND / port.rate;
        queue.push_back(departure);
        let arrival = departure + port.delay;
        events.insert((arrival, ties.rank(arrival, ARRIVALS | p), name));
    }
    fates
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_run_repeats_and_is_the_one_by_the_book(scenario in scenario()) {
        let fates = play(&scenario);
        prop_assert_eq!(fates.len(), scenario.packets.len());
        prop_assert_eq!(&play(&scenario), &fates);
        prop_assert_eq!(&reference(&scenario), &fates);
    }

    /// First in, first out at every port: packets of one route keep their order, whatever crosses it.
    #[test]
    fn packets_of_one_route_keep_their_order(scenario in scenario()) {
        // Packets that pass a port twice may meet themselves; a route without a loop is the claim.
        let mut last: BTreeMap<usize, u32> = BTreeMap::new();
        for (_, name, delivered) in play(&scenario) {
            let route = scenario.packets[name as usize].1;
            let distinct: BTreeSet<u32> = scenario.routes[route].iter().copied().collect();
            if delivered && distinct.len() == scenario.routes[route].len() {
                prop_assert!(last.insert(route, name).is_none_or(|before| before < name));
            }
        }
    }
}

/// A lone packet takes the sum of its links' transmissions and delays.
#[test]
fn a_lone_packet_takes_transmission_and_delay() {
    let port = |rate, delay| PortConfig {
        rate,
        delay,
        limit: Threshold::packets(100),
        mark: Threshold::packets(10),
        non_ect: NonEct::Queue,
        drop_until: None,
        processing: Processing::NONE,
        red: None,
        loss: Loss::NONE,
    };
    let ports = [
        port(GIGABIT, 20 * MICROSECOND),
        port(10 * GIGABIT, 30 * MICROSECOND),
        port(GIGABIT / 10, 3 * SECOND),
    ];
    let mut fabric: Fabric<u32> = Fabric::new(&ports, 3, 1);
    let route = fabric.add_route(&[0, 1, 2]);
    fabric.set_now(7 * MICROSECOND);
    assert!(fabric.send(route, Header::new(1500, Ecn::Ect), 9));
    let Some(Arrival::Delivered(packet)) = advance(&mut fabric, NEVER) else { panic!("it arrives") };
    assert_eq!((packet.payload, packet.header.bytes, packet.header.ecn), (9, 1500, Ecn::Ect));
    // 12 us, 1.2 us and 120 us on the wire.
    let wire = 133_200_000;
    assert_eq!(fabric.now(), 7 * MICROSECOND + wire + 50 * MICROSECOND + 3 * SECOND);
    assert_eq!(fabric.hops(), 3);
    assert!(advance(&mut fabric, NEVER).is_none());
}

/// The caller's own event comes after all arrivals at the same instant.
#[test]
fn the_callers_event_comes_after_the_arrivals() {
    let port = PortConfig {
        rate: GIGABIT,
        delay: 0,
        limit: Threshold::UNLIMITED,
        mark: Threshold::UNLIMITED,
        non_ect: NonEct::Queue,
        drop_until: None,
        processing: Processing::NONE,
        red: None,
        loss: Loss::NONE,
    };
    let mut fabric: Fabric<u32> = Fabric::new(&[port; 3], 1, SEED);
    for p in 0..3 {
        let route = fabric.add_route(&[p]);
        fabric.send(route, Header::new(1500, Ecn::NotEct), p);
    }
    let at = 12 * MICROSECOND;
    assert!(advance(&mut fabric, at - 1).is_none());
    let mut arrived: Vec<u32> = Vec::new();
    while let Some(Arrival::Delivered(packet)) = advance(&mut fabric, at) {
        arrived.push(packet.payload);
    }
    arrived.sort_unstable();
    assert_eq!((arrived, fabric.now()), (vec![0, 1, 2], at));
}

/// A removed route is reused, with its new ports.
#[test]
fn a_routes_place_is_used_again() {
    let port = PortConfig {
        rate: GIGABIT,
        delay: MICROSECOND,
        limit: Threshold::UNLIMITED,
        mark: Threshold::UNLIMITED,
        non_ect: NonEct::Queue,
        drop_until: None,
        processing: Processing::NONE,
        red: None,
        loss: Loss::NONE,
    };
    let mut fabric: Fabric<u32> = Fabric::new(&[port; 4], 3, 1);
    let long = fabric.add_route(&[0, 1, 2]);
    let other = fabric.add_route(&[3]);
    fabric.remove_route(long);
    let short = fabric.add_route(&[2]);
    assert_eq!((fabric.route(short), fabric.route(other)), (&[2][..], &[3][..]));
    fabric.send(short, Header::new(125, Ecn::Ect), 1);
    assert!(matches!(advance(&mut fabric, NEVER), Some(Arrival::Delivered(_))));
    assert_eq!(fabric.now(), 2 * MICROSECOND);
}
