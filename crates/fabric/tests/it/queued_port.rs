//! Queued ports: the same as a plain port where both apply; classes share as they should;
//! nothing is lost or invented when links change.

use proptest::prelude::*;
use tresse_fabric::{
    Arrival, ClassConfig, ClassMark, Ecn, Fabric, Feedback, FlagConfig, Header, Loss, MAX_CLASSES, NonEct,
    PoolConfig, PortConfig, Probability, Processing, QueuedPortConfig, RedConfig, RouteId, Threshold,
};
use tresse_units::{MICROSECOND, NEVER, SECOND, Time};

use crate::cases;

const GIGABIT: u64 = 1_000_000_000;

fn port(rate: u64, delay: Time, limit: Threshold, mark: Threshold) -> PortConfig {
    PortConfig {
        rate,
        delay,
        limit,
        mark,
        non_ect: NonEct::Queue,
        drop_until: None,
        processing: Processing::NONE,
        red: None,
        loss: Loss::NONE,
    }
}

/// What happened: when, to which packet, whether it arrived, and how it was marked.
type Fate = (Time, u32, bool, Ecn);

fn drain(fabric: &mut Fabric<u32>, limit: Time, fates: &mut Vec<Fate>) {
    while let Some(arrival) = fabric.advance(limit, &()) {
        let (packet, arrived) = match arrival {
            Arrival::Delivered(packet) => (packet, true),
            Arrival::Dropped(packet) => (packet, false),
        };
        fates.push((fabric.now(), packet.payload, arrived, packet.header.ecn));
    }
}

/// A change of a link, or a packet that is sent.
#[derive(Debug, Clone, Copy)]
enum Action {
    Send { route: usize, header: Header },
    Rate { port: u32, rate: u64 },
    Link { port: u32, up: bool },
}

/// Plays actions in order; returns the fates, and checks conservation throughout.
fn play(fabric: &mut Fabric<u32>, routes: &[Vec<u32>], actions: &[(Time, Action)]) -> Vec<Fate> {
    let routes: Vec<RouteId> = routes.iter().map(|r| fabric.add_route(r)).collect();
    let (mut fates, mut sent) = (Vec::new(), 0);
    for &(time, action) in actions {
        drain(fabric, time, &mut fates);
        fabric.set_now(time);
        match action {
            Action::Send { route, header } => {
                sent += 1;
                if !fabric.send(routes[route], header, sent) {
                    fates.push((time, sent, false, header.ecn));
                }
            }
            Action::Rate { port, rate } => fabric.set_rate(port, rate),
            Action::Link { port, up } => fabric.set_link(port, up),
        }
        assert_eq!(sent as usize, fates.len() + fabric.in_flight(), "sent = delivered + dropped + in flight");
    }
    drain(fabric, NEVER, &mut fates);
    assert_eq!((fabric.in_flight(), fates.len()), (0, sent as usize));
    let counted: u64 = fabric.ports().iter().map(|p| p.counters().drops + p.counters().lost).sum();
    assert_eq!(counted, fates.iter().filter(|f| !f.2).count() as u64, "every loss is counted at its port");
    fates
}

fn threshold() -> impl Strategy<Value = Threshold> {
    prop_oneof![
        3 => (0..12u64).prop_map(Threshold::packets),
        3 => (0..20_000u64).prop_map(Threshold::bytes),
        1 => Just(Threshold::UNLIMITED),
    ]
}

fn ports() -> impl Strategy<Value = Vec<PortConfig>> {
    let rate = prop_oneof![prop::sample::select(vec![GIGABIT / 10, GIGABIT]), 50_000_000..2 * GIGABIT];
    let delay = prop_oneof![Just(0), 0..(100 * MICROSECOND)];
    let red = prop::option::of((0..8u64, 0..8u64, 0..=65_536u32, 0..6u32, any::<bool>(), any::<u32>()));
    let loss = (prop_oneof![Just(0), 0..1u64 << 30], any::<u32>());
    let one = (rate, delay, threshold(), threshold(), any::<bool>(), red, loss).prop_map(
        |(rate, delay, limit, mark, drop, red, (loss, stream))| PortConfig {
            non_ect: if drop { NonEct::Drop } else { NonEct::Queue },
            red: red.map(|(min, range, probability, weight, gentle, stream)| {
                // At odd rates bytes are rounded in other places; in an average this can always decide.
                let length = |n| match (8 * SECOND).is_multiple_of(rate) && gentle {
                    true => Threshold::bytes(n * 1500),
                    false => Threshold::packets(n),
                };
                let (min, max) = (length(min), length(min + range));
                RedConfig { min, max, probability, weight, gentle, uniform: true, stream: (1, stream) }
            }),
            loss: Loss::new(Probability::from_parts(loss), 1, stream),
            ..port(rate, delay, limit, mark)
        },
    );
    prop::collection::vec(one, 1..5)
}

fn header() -> impl Strategy<Value = Header> {
    let bytes = prop_oneof![4 => Just(1500u32), 2 => Just(40), 1 => 1..1500u32];
    let ecn = prop::sample::select(vec![Ecn::NotEct, Ecn::Ect, Ecn::Ect]);
    (bytes, ecn, 0..4u8).prop_map(|(bytes, ecn, class)| Header { class, ..Header::new(bytes, ecn) })
}

/// Times in whole 100 ns: packets meet departures at the very same instant, too.
fn time() -> impl Strategy<Value = Time> {
    (0..20_000u64).prop_map(|t| t * MICROSECOND / 10)
}

fn routes(ports: usize) -> impl Strategy<Value = Vec<Vec<u32>>> {
    prop::collection::vec(prop::collection::vec(0..ports as u32, 1..4), 1..4)
}

prop_compose! {
    fn sends()(ports in ports())(
        routes in routes(ports.len()),
        sends in prop::collection::vec((time(), any::<prop::sample::Index>(), header()), 1..150),
        ports in Just(ports),
    ) -> (Vec<PortConfig>, Vec<Vec<u32>>, Vec<(Time, Action)>) {
        let send = |(time, route, header): (Time, prop::sample::Index, Header)| {
            (time, Action::Send { route: route.index(routes.len()), header })
        };
        let mut actions: Vec<_> = sends.into_iter().map(send).collect();
        actions.sort_by_key(|a| a.0);
        (ports, routes, actions)
    }
}

fn plain_queued_ports(ports: &[PortConfig]) -> Vec<(u32, QueuedPortConfig)> {
    ports.iter().enumerate().map(|(i, p)| (i as u32, QueuedPortConfig::plain(p))).collect()
}

proptest! {
    #![proptest_config(cases(400))]

    /// With two events per hop or one: the same departures, drops, losses and marks.
    #[test]
    fn a_server_with_one_class_is_a_plain_port((ports, routes, actions) in sends()) {
        let one = play(&mut Fabric::new(&ports, 4, 1), &routes, &actions);
        let mut served = Fabric::new(&ports, 4, 1).with_queued_ports(&plain_queued_ports(&ports), &[]);
        let two = play(&mut served, &routes, &actions);
        prop_assert_eq!(one, two);
    }

    /// Classes, shared buffers, rates that change, links that fail: nothing is lost uncounted, and a
    /// run repeats.
    #[test]
    fn packets_are_conserved_whatever_happens_to_the_links(
        (ports, routes, sends) in sends(),
        quanta in prop::collection::vec(1..6000u32, 4),
        limits in prop::collection::vec(threshold(), 4),
        pool in (3000..60_000u64, 100..4000u32),
        (shared, marks_behind) in any::<(bool, bool)>(),
        changes in prop::collection::vec((time(), any::<prop::sample::Index>(), 0..4u8, 10_000_000..GIGABIT), 0..40),
    ) {
        let class = |i: usize| ClassConfig {
            quantum: quanta[i % 4],
            limit: limits[i % 4],
            mark: ClassMark::Share { rtt: 100 * MICROSECOND, lambda: 170 },
        };
        let config = QueuedPortConfig {
            classes: std::array::from_fn(class),
            count: 3,
            pool: shared.then_some(0),
            priority: shared,
            trim: None,
            marks_behind,
        };
        let queued_ports: Vec<_> = (0..ports.len() as u32).map(|p| (p, config)).collect();
        let mut actions = sends;
        for (time, port, kind, rate) in changes {
            let port = port.index(ports.len()) as u32;
            actions.push((time, match kind {
                0 => Action::Rate { port, rate },
                1 => Action::Link { port, up: false },
                _ => Action::Link { port, up: true },
            }));
        }
        actions.sort_by_key(|a| a.0);
        let pools = [PoolConfig { bytes: pool.0, alpha: pool.1 }];
        let run = || play(&mut Fabric::new(&ports, 4, 1).with_queued_ports(&queued_ports, &pools), &routes, &actions);
        let fates = run();
        prop_assert_eq!(&fates, &run());
    }
}

/// Ten packets at once: those that meet more than three are marked at arrival, and those that leave more than
/// three behind at departure. RED with minimum and maximum 4 gives the same.
#[test]
fn a_packet_is_marked_by_what_it_meets_or_by_what_it_leaves() {
    let red = RedConfig {
        min: Threshold::packets(4),
        max: Threshold::packets(4),
        probability: 1 << 16,
        weight: 0,
        gentle: false,
        uniform: true,
        stream: (1, 1),
    };
    let marked = |red: Option<RedConfig>, marks_behind: bool, ecn: Ecn| {
        let mark = if red.is_some() { Threshold::UNLIMITED } else { Threshold::packets(3) };
        let port = PortConfig { red, ..port(GIGABIT, MICROSECOND, Threshold::packets(100), mark) };
        let queued = QueuedPortConfig { marks_behind, ..QueuedPortConfig::plain(&port) };
        let mut fabric = Fabric::new(&[port], 1, 1).with_queued_ports(&[(0, queued)], &[]);
        let route = fabric.add_route(&[0]);
        (0..10).for_each(|packet| assert!(fabric.send(route, Header::new(1500, ecn), packet)));
        let mut fates = Vec::new();
        drain(&mut fabric, NEVER, &mut fates);
        assert_eq!(fates.len(), 10);
        fates.iter().filter(|fate| fate.3 == Ecn::Ce).map(|fate| fate.1).collect::<Vec<u32>>()
    };
    for red in [None, Some(red)] {
        // The first is in transmission: the others meet 0 to 8, and leave 8 to 0.
        assert_eq!(marked(red, false, Ecn::Ect), [5, 6, 7, 8, 9]);
        assert_eq!(marked(red, true, Ecn::Ect), [1, 2, 3, 4, 5]);
        assert_eq!(marked(red, true, Ecn::NotEct), [0; 0]);
    }
}

fn classes(of: &[ClassConfig]) -> QueuedPortConfig {
    QueuedPortConfig {
        classes: std::array::from_fn(|i| of[i.min(of.len() - 1)]),
        count: of.len().min(MAX_CLASSES) as u8,
        pool: None,
        priority: false,
        trim: None,
        marks_behind: false,
    }
}

/// Deficit round robin (Shreedhar and Varghese, Theorem 2): while two classes are busy, what they sent differs,
/// in rounds, by less than 1 + (the largest packet / the smallest quantum) each way.
#[test]
fn busy_classes_share_as_their_quanta() {
    for (quanta, sizes) in
        [([1500, 4500], [1500, 1500]), ([3000, 1000], [64, 1500]), ([500, 700], [1500, 900])]
    {
        let of = |quantum| ClassConfig {
            quantum,
            limit: Threshold::UNLIMITED,
            mark: ClassMark::Above(Threshold::UNLIMITED),
        };
        let ports = [port(GIGABIT, 0, Threshold::UNLIMITED, Threshold::UNLIMITED)];
        let mut fabric = Fabric::new(&ports, 1, 1).with_queued_ports(&[(0, classes(&quanta.map(of)))], &[]);
        let route = fabric.add_route(&[0]);
        for _ in 0..4000 {
            for class in [0u8, 1] {
                let header = Header { class, ..Header::new(sizes[class as usize], Ecn::Ect) };
                assert!(fabric.send(route, header, class));
            }
        }
        let mut sent = [0u64; 2];
        for _ in 0..3000 {
            let Some(Arrival::Delivered(packet)) = fabric.advance(NEVER, &()) else {
                panic!("both classes are busy")
            };
            sent[packet.payload as usize] += u64::from(packet.header.bytes);
            if sent.iter().zip(sizes).any(|(&s, size)| s == 4000 * u64::from(size)) {
                break;
            }
            let rounds = |i: usize| sent[i] as f64 / f64::from(quanta[i]);
            let bound = 1.0 + 2.0 * 1500.0 / f64::from(quanta[0].min(quanta[1]));
            assert!((rounds(0) - rounds(1)).abs() <= bound, "{sent:?} with quanta {quanta:?}");
        }
    }
}

/// One class alone gets the whole rate: the port is never idle while a packet waits.
#[test]
fn a_lone_class_gets_the_whole_rate() {
    let class = ClassConfig {
        quantum: 100,
        limit: Threshold::UNLIMITED,
        mark: ClassMark::Above(Threshold::UNLIMITED),
    };
    let ports = [port(GIGABIT, 0, Threshold::UNLIMITED, Threshold::UNLIMITED)];
    let mut fabric = Fabric::new(&ports, 1, 1).with_queued_ports(&[(0, classes(&[class; 4]))], &[]);
    let route = fabric.add_route(&[0]);
    for _ in 0..1000 {
        fabric.send(route, Header { class: 2, ..Header::new(1500, Ecn::Ect) }, 0u32);
    }
    let mut fates = Vec::new();
    drain(&mut fabric, NEVER, &mut fates);
    assert_eq!(fates.last().expect("packets").0, 1000 * 12 * MICROSECOND);
}

/// vMCC eq. (1) with the class's share: K_i = C RTT lambda for a class alone, half of it with an equal class.
#[test]
fn a_class_is_marked_above_its_share() {
    let mark = ClassMark::Share { rtt: 960 * MICROSECOND, lambda: 1000 };
    let class = ClassConfig { quantum: 1500, limit: Threshold::UNLIMITED, mark };
    let first_mark = |others: bool| {
        let ports = [port(GIGABIT, 0, Threshold::UNLIMITED, Threshold::UNLIMITED)];
        let mut fabric = Fabric::new(&ports, 1, 1).with_queued_ports(&[(0, classes(&[class; 2]))], &[]);
        let route = fabric.add_route(&[0]);
        let mut sent = Vec::new();
        for n in 0..200u32 {
            if others {
                fabric.send(route, Header { class: 1, ..Header::new(1500, Ecn::NotEct) }, u32::MAX);
            }
            fabric.send(route, Header::new(1500, Ecn::Ect), n);
        }
        drain(&mut fabric, NEVER, &mut sent);
        sent.iter().filter(|f| f.3 == Ecn::Ce).map(|f| f.1).min().expect("marks")
    };
    // 120 000 bytes are 80 packets. Alone, packet 0 is in transmission and packet n finds n times 1500 bytes
    // (the one in transmission counts whole at time 0): the first above 120 000 is packet 81. With an equal
    // class, the other class transmits, and packet n finds n packets: above 60 000 bytes is packet 41.
    assert_eq!(first_mark(false), 81);
    assert_eq!(first_mark(true), 41);
}

/// Dynamic thresholds (Choudhury and Hahne, eq. 4): n full queues hold alpha B / (1 + n alpha) each.
#[test]
fn full_queues_share_a_buffer_as_dynamic_thresholds_say() {
    for (alpha, full) in [(1000, 1), (1000, 3), (500, 2), (8000, 4)] {
        let pool = PoolConfig { bytes: 3_000_000, alpha };
        let ports = [port(GIGABIT, 0, Threshold::UNLIMITED, Threshold::UNLIMITED); 4];
        let config = |p: &PortConfig| QueuedPortConfig { pool: Some(0), ..QueuedPortConfig::plain(p) };
        let queued_ports: Vec<_> = (0..4).map(|i| (i, config(&ports[0]))).collect();
        let mut fabric = Fabric::new(&ports, 1, 1).with_queued_ports(&queued_ports, &[pool]);
        let routes: Vec<RouteId> = (0..full).map(|i| fabric.add_route(&[i])).collect();
        for _ in 0..5000 {
            for &route in &routes {
                fabric.send(route, Header::new(1000, Ecn::Ect), 0u32);
            }
        }
        let alpha = f64::from(alpha) / 1000.0;
        let expected = alpha * 3_000_000.0 / (1.0 + f64::from(full) * alpha);
        for i in 0..full {
            let held = fabric.waiting(i) as f64 * 1000.0;
            assert!((held - expected).abs() <= 2000.0, "alpha {alpha}, {full} full: {held}, {expected}");
        }
    }
}

/// The packet in transmission continues at the old rate, the next one takes the new rate.
#[test]
fn a_new_rate_holds_from_the_next_packet_on() {
    let ports = [port(GIGABIT, 5 * MICROSECOND, Threshold::UNLIMITED, Threshold::UNLIMITED)];
    let mut fabric = Fabric::new(&ports, 1, 1).with_queued_ports(&plain_queued_ports(&ports), &[]);
    let send = Action::Send { route: 0, header: Header::new(1500, Ecn::Ect) };
    let actions = [
        (0, send),
        (0, send),
        (0, send),
        (6 * MICROSECOND, Action::Rate { port: 0, rate: GIGABIT / 10 }),
        (20 * MICROSECOND, Action::Rate { port: 0, rate: GIGABIT }),
    ];
    let fates = play(&mut fabric, &[vec![0]], &actions);
    let times: Vec<Time> = fates.iter().map(|f| f.0 / MICROSECOND).collect();
    // 12 us at 1 Gbit/s; 120 us at a tenth of it; 12 us again.
    assert_eq!(times, [17, 137, 149]);
}

/// The rest of the packet in transmission is computed with its own rate, not with the next one.
#[test]
fn a_new_rate_does_not_change_what_is_left() {
    let ports = [port(GIGABIT, 0, Threshold::bytes(700), Threshold::UNLIMITED)];
    for limit in [700, 800] {
        let limit = Threshold::bytes(limit);
        let ports = [PortConfig { limit, ..ports[0] }];
        let mut fabric = Fabric::new(&ports, 1, 1).with_queued_ports(&plain_queued_ports(&ports), &[]);
        let send = Action::Send { route: 0, header: Header::new(1500, Ecn::Ect) };
        let slower = Action::Rate { port: 0, rate: GIGABIT / 10 };
        let actions = [(0, send), (6 * MICROSECOND, slower), (6 * MICROSECOND, send)];
        // 750 bytes are left.
        let arrived = play(&mut fabric, &[vec![0]], &actions).iter().filter(|f| f.2).count();
        assert_eq!(arrived, if limit == Threshold::bytes(700) { 1 } else { 2 });
    }
    // Flagged from 700 bytes on: until 6.4 us, regardless of the other class.
    let class = ClassConfig {
        quantum: 1500,
        limit: Threshold::bytes(1400),
        mark: ClassMark::Above(Threshold::UNLIMITED),
    };
    let flags = FlagConfig { fraction: 500, unlimited: Threshold::UNLIMITED, feedback: Feedback::OneHop };
    let queued_ports = [(0, classes(&[class; 2]))];
    let mut fabric = Fabric::new(&ports, 1, 1).with_queued_ports(&queued_ports, &[]).with_flags(flags);
    let route = fabric.add_route(&[0]);
    fabric.send(route, Header::new(1500, Ecn::Ect), 0u32);
    fabric.set_now(MICROSECOND);
    fabric.set_rate(0, GIGABIT / 10);
    fabric.send(route, Header { class: 1, ..Header::new(40, Ecn::Ect) }, 0);
    for (time, congested) in [(6 * MICROSECOND, true), (7 * MICROSECOND, false)] {
        fabric.set_now(time);
        assert_eq!(fabric.heard(route, 0).local, congested, "at {time} ps");
    }
}

/// Packets that waited, were in transmission or on the wire are lost; those after the repair are not.
#[test]
fn a_link_that_fails_loses_what_is_on_it() {
    let ports = [port(GIGABIT, 30 * MICROSECOND, Threshold::UNLIMITED, Threshold::UNLIMITED)];
    let mut fabric = Fabric::new(&ports, 1, 1).with_queued_ports(&plain_queued_ports(&ports), &[]);
    let send = Action::Send { route: 0, header: Header::new(1500, Ecn::Ect) };
    let mut actions = vec![(0, send); 6];
    actions.extend([
        // Packet 1 arrives at 42 us; at 43 us 2 to 3 are on the wire, 4 in transmission, 5 and 6 wait.
        (43 * MICROSECOND, Action::Link { port: 0, up: false }),
        (44 * MICROSECOND, send),
        (45 * MICROSECOND, Action::Link { port: 0, up: true }),
        (46 * MICROSECOND, send),
    ]);
    let fates = play(&mut fabric, &[vec![0]], &actions);
    let arrived: Vec<(Time, u32)> = fates.iter().filter(|f| f.2).map(|f| (f.0 / MICROSECOND, f.1)).collect();
    // The transmitter is busy with packet 4 until 48 us.
    assert_eq!(arrived, [(42, 1), (90, 8)]);
    assert_eq!(fabric.ports()[0].counters().lost, 6);
}
