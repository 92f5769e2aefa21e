//! Priority flow control: when ports are paused, that nothing is lost with enough headroom, and deadlocks.

use proptest::prelude::*;
use tresse_fabric::{
    Arrival, Balancing, ClassConfig, ClassMark, Ecn, Fabric, Header, Loss, MAX_CLASSES, Network, NonEct,
    PAUSE_FRAME, PfcConfig, PortConfig, Processing, QueuedPortConfig, RouteId, Threshold, headroom,
};
use tresse_units::{MICROSECOND, NEVER, Time};

/// A packet of 1250 bytes takes 10 us, a pause frame of 64 bytes 512 ns.
const RATE: u64 = 1_000_000_000;
const BYTES: u32 = 1250;
const PACKET: u64 = BYTES as u64;
const FRAME: Time = 64 * 8000;
const DELAY: Time = 5 * MICROSECOND;

fn port(rate: u64) -> PortConfig {
    PortConfig {
        rate,
        delay: DELAY,
        limit: Threshold::UNLIMITED,
        mark: Threshold::UNLIMITED,
        non_ect: NonEct::Queue,
        drop_until: None,
        processing: Processing::NONE,
        red: None,
        loss: Loss::NONE,
    }
}

/// Two classes without limits, of which the second goes first.
fn two_classes() -> QueuedPortConfig {
    let class = ClassConfig {
        quantum: 1500,
        limit: Threshold::UNLIMITED,
        mark: ClassMark::Above(Threshold::UNLIMITED),
    };
    QueuedPortConfig {
        classes: [class; MAX_CLASSES],
        count: 2,
        pool: None,
        priority: true,
        trim: None,
        marks_behind: false,
    }
}

/// A network of links, both ways: ports 2i and 2i + 1 are those of link i, there and back. Links have a rate each, but
/// only those that lead to a switch pause.
struct Bench {
    hosts: u32,
    links: Vec<([u32; 2], u64)>,
}

impl Bench {
    fn ends(&self) -> Vec<[u32; 2]> {
        self.links.iter().flat_map(|&([a, b], _)| [[a, b], [b, a]]).collect()
    }

    fn fabric(&self, xoff: u64, xon: u64, room: u64, seed: u64) -> Fabric<u32> {
        let ends = self.ends();
        let ports: Vec<PortConfig> = self.links.iter().flat_map(|&(_, rate)| [port(rate); 2]).collect();
        let queued: Vec<_> = (0..ports.len() as u32).map(|port| (port, two_classes())).collect();
        let pfc: Vec<PfcConfig> = (0..ends.len() as u32)
            .filter(|&port| ends[port as usize][1] >= self.hosts)
            .map(|port| PfcConfig { port, twin: port ^ 1, xoff, xon, headroom: room, reaction: 0 })
            .collect();
        let nodes = ends.iter().flatten().max().expect("there are links") + 1;
        let network = Network { hosts: self.hosts, nodes, ends };
        Fabric::new(&ports, 8, seed)
            .with_forwarding(network, Balancing::Ecmp, seed)
            .with_queued_ports(&queued, &[])
            .with_pfc(&pfc)
    }
}

/// Two hosts, 0 and 1, send over switch 3 to host 2, whose link has this rate.
fn two_to_one(last: u64) -> Bench {
    Bench { hosts: 3, links: vec![([0, 3], RATE), ([1, 3], RATE), ([3, 2], last)] }
}

fn data() -> Header {
    Header::new(BYTES, Ecn::NotEct)
}

/// The headroom of a link.
fn full() -> u64 {
    headroom(RATE, 2 * DELAY, 0, RATE, BYTES)
}

/// What was delivered and dropped until `until`.
fn play(fabric: &mut Fabric<u32>, until: Time) -> (Vec<(Time, u32)>, u64) {
    let (mut delivered, mut dropped) = (Vec::new(), 0);
    while let Some(arrival) = fabric.advance(until, &()) {
        match arrival {
            Arrival::Delivered(packet) => delivered.push((fabric.now(), packet.payload)),
            Arrival::Dropped(_) => dropped += 1,
        }
    }
    if until != NEVER {
        fabric.set_now(until);
    }
    (delivered, dropped)
}

/// One host sends over a switch to a link of a tenth of its rate: the counts, the frames and the pauses by hand.
#[test]
fn a_port_is_paused_above_xoff_and_goes_on_at_xon() {
    let bench = Bench { hosts: 2, links: vec![([0, 2], RATE), ([2, 1], RATE / 10)] };
    let (xoff, xon) = (3 * PACKET, 2 * PACKET);
    let mut fabric = bench.fabric(xoff, xon, full(), 1);
    let route = fabric.add_forwarded(0, 1);
    for packet in 0..20 {
        assert!(fabric.send(route, data(), packet));
    }
    // Packet n arrives at the switch at 10 (n + 1) + 5 us; the first leaves it 100 us after its arrival, at 115 us. So
    // the fourth exceeds XOFF at 45 us. The frame is heard 5 us and its transmission later, while the host sends its
    // sixth packet, 50 to 60 us: six come.
    play(&mut fabric, 50 * MICROSECOND + FRAME - 1);
    assert_eq!(fabric.pfc_counters(0).pauses, 0);
    play(&mut fabric, 50 * MICROSECOND + FRAME);
    assert_eq!(fabric.pfc_counters(0).pauses, 1);
    play(&mut fabric, 114 * MICROSECOND);
    assert_eq!(fabric.held(0), 6 * PACKET);
    // At 115, 215, 315 and 415 us a packet leaves: then two are left, and the host continues. Its next one
    // comes at 440.512 us: two are held until then.
    play(&mut fabric, 415 * MICROSECOND);
    assert_eq!(fabric.held(0), 2 * PACKET);
    let heard = 420 * MICROSECOND + FRAME;
    play(&mut fabric, heard);
    let paused = heard - (50 * MICROSECOND + FRAME);
    assert_eq!(fabric.pfc_counters(0).paused, paused);
    let next = heard + 15 * MICROSECOND;
    play(&mut fabric, next - 1);
    assert_eq!(fabric.held(0), 2 * PACKET);
    play(&mut fabric, next);
    assert_eq!(fabric.held(0), 3 * PACKET);
    let (delivered, dropped) = play(&mut fabric, NEVER);
    assert_eq!((delivered.last().map(|d| d.1), dropped), (Some(19), 0));
    assert_eq!((fabric.held(0), fabric.in_flight()), (0, 0));
}

/// The last class is neither paused nor counted.
#[test]
fn what_goes_before_all_data_is_never_paused() {
    let bench = Bench { hosts: 2, links: vec![([0, 2], RATE), ([2, 1], RATE / 100)] };
    let mut fabric = bench.fabric(PACKET, PACKET, full(), 1);
    let route = fabric.add_forwarded(0, 1);
    for packet in 0..10 {
        fabric.send(route, data(), packet);
    }
    play(&mut fabric, 100 * MICROSECOND);
    assert_eq!(fabric.pfc_counters(0).pauses, 1);
    let held = fabric.held(0);
    let first = Header { class: Header::LAST_CLASS, ..Header::new(64, Ecn::NotEct) };
    assert!(fabric.send(route, first, 100));
    play(&mut fabric, 100 * MICROSECOND + FRAME + DELAY);
    assert_eq!(fabric.held(0), held);
    let (delivered, _) = play(&mut fabric, NEVER);
    assert_eq!(delivered[1].1, 100, "behind the packet in transmission only");
    assert_eq!(delivered.len(), 11);
}

/// A pause frame does not interrupt the packet that is being sent its way.
#[test]
fn a_pause_frame_waits_for_the_packet_before_it() {
    let heard = |busy: bool| {
        let bench = two_to_one(RATE / 100);
        let mut fabric = bench.fabric(PACKET, PACKET, full(), 1);
        let there = fabric.add_forwarded(0, 2);
        for packet in 0..10 {
            fabric.send(there, data(), packet);
        }
        if busy {
            // It is at the switch at 24 us, and leaves it for host 0 until 34 us; XOFF is exceeded at 25 us.
            let back = fabric.add_forwarded(1, 0);
            let first = Header { class: Header::LAST_CLASS, ..Header::new(1125, Ecn::NotEct) };
            fabric.send(back, first, 10);
            play(&mut fabric, 10 * MICROSECOND);
            fabric.send(back, Header { class: Header::LAST_CLASS, ..data() }, 11);
        }
        while fabric.pfc_counters(0).pauses == 0 {
            let next = fabric.now() + MICROSECOND / 8;
            play(&mut fabric, next);
        }
        fabric.now()
    };
    let free = 25 * MICROSECOND + FRAME + DELAY;
    assert_eq!(heard(false), free.next_multiple_of(MICROSECOND / 8));
    // The second packet back arrives at 25 us too; whichever comes first, the frame waits at most for it.
    let busy = heard(true);
    let most = free + 10 * MICROSECOND;
    assert!(busy >= free && busy <= most.next_multiple_of(MICROSECOND / 8), "{busy}");
}

/// Many hosts send at once to one, over one switch or two: `room` is the headroom. Packets sent, delivered, dropped, in
/// flight, and what ports counted.
fn incast(senders: u32, packets: u32, room: u64, seed: u64, until: Time) -> [u64; 4] {
    let (a, b, to) = (senders + 1, senders + 2, senders);
    let mut links: Vec<_> = (0..senders).map(|host| ([host, a], RATE)).collect();
    links.extend([([a, b], RATE), ([b, to], RATE / 2)]);
    let bench = Bench { hosts: senders + 1, links };
    let mut fabric = bench.fabric(4 * PACKET, 2 * PACKET, room, seed);
    let mut sent = 0;
    for packet in 0..packets {
        for host in 0..senders {
            let route = fabric.add_forwarded(host, to);
            fabric.send(route, data(), packet);
            sent += 1;
        }
    }
    let (delivered, dropped) = play(&mut fabric, until);
    let overflows: u64 = (0..2 * senders + 4).map(|port| fabric.pfc_counters(port).overflows).sum();
    let drops: u64 = fabric.ports().iter().map(|port| port.counters().drops).sum();
    assert_eq!((dropped, dropped), (overflows, drops), "nothing else drops");
    [sent, delivered.len() as u64, dropped, fabric.in_flight() as u64]
}

#[test]
fn the_headroom_is_enough_and_half_of_it_is_not() {
    let room = full();
    for seed in 1..20 {
        let [sent, delivered, dropped, in_flight] = incast(12, 40, room, seed, NEVER);
        assert_eq!((delivered, dropped, in_flight), (sent, 0, 0), "seed {seed}");
    }
    let lost = |room| (1..20).filter(|&seed| incast(12, 40, room, seed, NEVER)[2] > 0).count();
    assert_eq!(lost(room / 2), 19);
}

/// The worst case for which the headroom is made: the switch has just begun its own packet when the pause
/// frame is due, and the host has just begun a packet when it receives the frame. With two packets less of
/// headroom, one is lost.
#[test]
fn the_headroom_is_tight() {
    // 10 us for each packet, and 10 us of propagation: 2 packets there, 1.05 packets of waiting and frame, 2 more.
    let frames = |bytes: u32| u64::from(bytes) * 8 * 1_000_000_000_000 / RATE;
    assert_eq!(full(), (2 * DELAY + frames(BYTES + PAUSE_FRAME)) * RATE / 8_000_000_000_000 + 2 * PACKET);
    let most = |seed: u64| {
        let bench = two_to_one(RATE / 100);
        let mut fabric = bench.fabric(10 * PACKET, PACKET, 1 << 30, seed);
        let (there, back) = (fabric.add_forwarded(0, 2), fabric.add_forwarded(1, 0));
        for packet in 0..40 {
            fabric.send(there, data(), packet);
            fabric.send(back, data(), packet);
        }
        let mut most = 0;
        while fabric.now() < 400 * MICROSECOND {
            let next = fabric.now() + MICROSECOND;
            play(&mut fabric, next);
            most = most.max(fabric.held(0));
        }
        most - 10 * PACKET
    };
    let most = (1..50).map(most).max().expect("some seeds");
    assert!(most <= full() && most + PACKET > full(), "{most} of {}", full());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn packets_are_conserved_and_none_is_lost_with_headroom(
        (senders, packets, seed) in (1u32..20, 1u32..40, 0u64..1000),
        (parts, until) in (0u64..4, 1u64..3000),
    ) {
        let [sent, delivered, dropped, in_flight] =
            incast(senders, packets, full() * (4 - parts) / 4, seed, until * MICROSECOND);
        prop_assert_eq!(sent, delivered + dropped + in_flight);
        prop_assert!(parts > 0 || dropped == 0);
    }
}

/// Host 0 sends to host 2, whose link has a tenth of the rate, and host 1 to host 3; both cross the link from
/// switch 4 to 5. Pausing it holds the victim back too: switch 5 lets packets in as host 2's link lets them
/// out, and as many of the victim's come in between, because switch 4 holds about as much of either host.
#[test]
fn a_victim_behind_a_paused_link_gets_no_more_than_the_congested_flow() {
    let links = vec![([0, 4], RATE), ([1, 4], RATE), ([4, 5], RATE), ([5, 2], RATE / 10), ([5, 3], RATE)];
    let bench = Bench { hosts: 4, links };
    for seed in 1..=5 {
        let mut fabric = bench.fabric(100 * PACKET, 98 * PACKET, full(), seed);
        let routes: [RouteId; 2] = [fabric.add_forwarded(0, 2), fabric.add_forwarded(1, 3)];
        for packet in 0..4000 {
            fabric.send(routes[(packet % 2) as usize], data(), packet % 2);
        }
        // A tenth of the rate is a packet in 100 us.
        let (delivered, dropped) = play(&mut fabric, 100_000 * MICROSECOND);
        assert_eq!(dropped, 0);
        let of = |flow: u32| delivered.iter().filter(|d| d.1 == flow).count() as u64;
        assert!((990..=1001).contains(&of(0)), "{}", of(0));
        let (crossed, victim) = (of(0) + fabric.held(4) / PACKET, of(1));
        assert!(victim.abs_diff(crossed) * 50 < crossed, "{victim} beside {crossed}");
        // The link between the switches carries both, a fifth of what it could; their hosts' links a tenth each.
        let share = |port: u32| fabric.pfc_counters(port).paused as f64 / fabric.now() as f64;
        let carried = |packets: u64| packets as f64 / 10_000.0;
        assert!((share(4) - (1.0 - carried(crossed + victim))).abs() < 0.03, "{}", share(4));
        assert!(share(0) > 0.8 && share(2) > 0.8, "{} {}", share(0), share(2));
    }
}

/// Three switches in a ring, each with a host whose packets go two links round it.
fn ring() -> Bench {
    let hosts = (0..3).map(|host| ([host, 3 + host], RATE));
    let between = (0..3).map(|own| ([3 + own, 3 + (own + 1) % 3], RATE));
    Bench { hosts: 3, links: hosts.chain(between).collect() }
}

#[test]
fn a_ring_of_paused_ports_is_a_deadlock() {
    let bench = ring();
    let mut fabric = bench.fabric(4 * PACKET, 2 * PACKET, full(), 1);
    // Link 3 + i leads from switch i to the next, with port 6 + 2i; link i to host i, with port 2i + 1 from its switch.
    let routes: Vec<RouteId> = (0..3u32)
        .map(|own| {
            let between = |i: u32| 6 + 2 * (i % 3);
            fabric.add_route(&[2 * own, between(own), between(own + 1), 2 * ((own + 2) % 3) + 1])
        })
        .collect();
    for packet in 0..200 {
        for &route in &routes {
            fabric.send(route, data(), packet);
        }
    }
    let deadlock = |fabric: &Fabric<u32>| Fabric::deadlock([fabric].into_iter());
    assert_eq!(deadlock(&fabric), None);
    let mut found = None;
    while found.is_none() && fabric.now() < 10_000 * MICROSECOND {
        let next = fabric.now() + 50 * MICROSECOND;
        play(&mut fabric, next);
        found = deadlock(&fabric);
    }
    let found = found.expect("a deadlock");
    assert_eq!(
        (&found.ring[..], found.ports),
        (&[6, 8, 10][..], 6),
        "and the hosts' ports wait for the ring"
    );
    assert!(found.since <= fabric.now());
    // Nothing will ever happen again.
    let before = fabric.in_flight();
    let (delivered, dropped) = play(&mut fabric, NEVER);
    assert!(before > 0 && delivered.is_empty() && dropped == 0, "{before} {delivered:?} {dropped}");
    assert_eq!(deadlock(&fabric).map(|d| d.since), Some(found.since));
    // A link failure breaks it; packets waiting there are lost, the others continue.
    for port in [6, 7] {
        fabric.set_link(port, false);
    }
    let later = fabric.now() + 100_000 * MICROSECOND;
    let (_, lost) = play(&mut fabric, later);
    assert_eq!(deadlock(&fabric), None);
    assert!(lost > 0);
    for port in [6, 7] {
        fabric.set_link(port, true);
    }
    let (_, _) = play(&mut fabric, NEVER);
    assert_eq!(fabric.in_flight(), 0);
    assert!((0..12).all(|port| fabric.held(port) == 0));
}

/// Every port is paused except the last one, which sends: no deadlock, however long it takes.
#[test]
fn a_chain_of_paused_ports_is_none() {
    let links = vec![([0, 2], RATE), ([2, 3], RATE), ([3, 4], RATE), ([4, 1], RATE / 10_000)];
    let bench = Bench { hosts: 2, links };
    let mut fabric = bench.fabric(4 * PACKET, 2 * PACKET, full(), 1);
    let route = fabric.add_forwarded(0, 1);
    for packet in 0..100 {
        fabric.send(route, data(), packet);
    }
    play(&mut fabric, 90_000 * MICROSECOND);
    assert_eq!([0, 2, 4].map(|port| fabric.pfc_counters(port).pauses), [1; 3]);
    assert_eq!(Fabric::deadlock([&fabric].into_iter()), None);
    assert_eq!(play(&mut fabric, NEVER).0.len(), 100);
}

/// A failed link forgets its pause. If the switch still holds too much when it is back, it is paused again.
#[test]
fn a_link_that_fails_and_comes_back_is_paused_again() {
    let bench = Bench { hosts: 2, links: vec![([0, 2], RATE), ([2, 1], RATE / 1000)] };
    let mut fabric = bench.fabric(2 * PACKET, PACKET, full(), 1);
    let route = fabric.add_forwarded(0, 1);
    let send =
        |fabric: &mut Fabric<u32>| (0..10).filter(|&packet| fabric.send(route, data(), packet)).count();
    assert_eq!(send(&mut fabric), 10);
    play(&mut fabric, 100 * MICROSECOND);
    assert_eq!(fabric.pfc_counters(0).pauses, 1);
    for up in [false, true] {
        fabric.set_link(0, up);
        fabric.set_link(1, up);
    }
    let paused = fabric.pfc_counters(0).paused;
    assert_eq!(send(&mut fabric), 10);
    let (_, lost) = play(&mut fabric, 200 * MICROSECOND);
    assert!(lost > 0, "what waited at the host");
    assert_eq!(fabric.pfc_counters(0).pauses, 2);
    assert!(fabric.pfc_counters(0).paused > paused);
    assert_eq!(play(&mut fabric, NEVER).1, 0);
    assert_eq!((fabric.in_flight(), fabric.held(0)), (0, 0));
}
