//! No packet is lost sight of: sent = delivered + dropped or lost + in flight, wherever time stops.
//!
//! The scenarios are drawn from random streams, so each case repeats by its number.

use tresse_fabric::{
    FatTree, FatTreeConfig, Loss, NonEct, Path, PortCounters, Probability, Spread, Threshold,
};
use tresse_sim::{FlowRecord, FlowSpec, Step, World};
use tresse_transport::{Blocked, BufferRule, Echo, Gro, ReceiveBuffer, Recovery, Reduction};
use tresse_units::{MICROSECOND, MILLISECOND, SECOND, Stream, Time};
use tresse_workload::{Permutation, Size};

use crate::common::{Acking, Bottleneck, GIGABIT, MSS, Net, PACKET, flow, scheme};

const SCHEMES: [&str; 4] = ["reno", "dctcp", "lia", "xmp"];

/// One packet in the world for each that was sent and not delivered or dropped.
fn check(world: &World) {
    let p = world.packets();
    let in_flight = world.in_flight() as u64;
    assert_eq!(p.sent, p.delivered + p.dropped + in_flight, "{p:?}, {in_flight} in flight");
}

/// Turns time with random stops until all connections have finished and no packet is left, and
/// checks at each stop. `later` start at their time.
fn run(world: &mut World, mut later: Vec<(Time, FlowSpec)>, random: &mut Stream) -> Vec<FlowRecord> {
    later.sort_by_key(|(time, spec)| (std::cmp::Reverse(*time), spec.id));
    let mut records = Vec::new();
    // A flow whose packets are dropped again and again backs off, 60 s at most.
    while world.now() < 600 * SECOND {
        while later.last().is_some_and(|(time, _)| *time <= world.now()) {
            world.start(later.pop().expect("there is one").1);
            check(world);
        }
        if world.live() == 0 && world.in_flight() == 0 && later.is_empty() {
            return records;
        }
        let next = later.last().map_or(600 * SECOND, |(time, _)| *time);
        let until = (world.now() + random.below(100 * MILLISECOND)).min(next);
        if let Step::Finished(record) = world.advance(until, 1 + random.below(500)) {
            let (sender, receiver) = world.ends(record.id).expect("it has just ended");
            let subflows = 0..sender.subflows();
            // Byte by byte, and on the subflow that each segment was given to; of data on two, one may be under way.
            let reinjected = record.counters.reinjections * u64::from(MSS);
            let arrived = subflows.clone().map(|i| receiver.arrived(i)).sum::<u64>();
            assert!((record.bytes..=record.bytes + reinjected).contains(&arrived), "{arrived} of {record:?}");
            for i in subflows {
                let segments = receiver.arrived(i).div_ceil(u64::from(MSS));
                let sent = sender.counters(i).sent;
                let late = record.counters.reinjections;
                assert!(segments <= sent && segments + late >= sent, "subflow {i} of {record:?}");
            }
            records.push(record);
        }
        check(world);
    }
    panic!("{} connections have not finished", world.live());
}

/// What must be true when all is over: every message arrived whole, and the world, its ports and its
/// connections have counted the same packets.
fn check_end(world: &World, specs: &[FlowSpec], records: &[FlowRecord]) {
    let p = world.packets();
    assert_eq!(p.sent, p.delivered + p.dropped);
    let port_drops: u64 = world.ports().map(|port| port.counters().drops + port.counters().lost).sum();
    assert_eq!(p.dropped, port_drops);
    assert_eq!(records.len(), specs.len());
    for record in records {
        let spec = specs.iter().find(|s| s.id == record.id).expect("a record is of a connection");
        assert_eq!(record.bytes, spec.bytes);
        // Every segment was sent for the first time once, and reinjected ones on another subflow.
        let once = record.counters.sent - record.counters.reinjections;
        assert_eq!(once, spec.bytes.div_ceil(u64::from(MSS)), "{record:?}");
        let ports: Vec<_> = world.ports().collect();
        let rate = |path: &Path| path.there.iter().map(|&p| ports[p as usize].config().rate).min();
        let most: u64 = spec.paths.fixed().iter().filter_map(rate).sum();
        assert!(record.goodput() < most * u64::from(MSS) / u64::from(PACKET), "{record:?} over {most} bit/s");
    }
    // Payload that arrived twice was sent twice.
    let bytes: u64 = specs.iter().map(|s| s.bytes).sum();
    let again: u64 = records.iter().map(|r| r.counters.retransmissions).sum();
    let twice: u64 = records.iter().map(|r| r.counters.reinjections).sum();
    let delivered = world.delivered_bytes();
    assert!(
        delivered >= bytes && delivered <= bytes + (again + twice) * u64::from(MSS),
        "{delivered} of {bytes}"
    );
    if p.dropped == 0 {
        let probes: u64 = records.iter().map(|r| r.counters.probes).sum();
        assert!(again <= probes, "nothing was dropped and something but probes was retransmitted");
    }
}

/// A random small scenario: up to three links, six senders, four subflows each; in one of four, every port
/// loses up to 6 % besides. What all ports counted.
fn scenario(case: u64) -> PortCounters {
    let random = &mut Stream::new(1, "conservation", case);
    let links: Vec<_> = (0..1 + random.below(3))
        .map(|_| {
            let rate = [GIGABIT / 10, GIGABIT, 10 * GIGABIT][random.below(3) as usize];
            let mark = (random.below(2) == 0).then(|| random.below(30));
            Bottleneck { rate, limit: 1 + random.below(60), mark }
        })
        .collect();
    let rtt = (150 + random.below(400)) * MICROSECOND;
    let senders = 1 + random.below(6) as u32;
    let mut net = Net::new(rtt, &links, senders);
    if case.is_multiple_of(4) {
        let probability = Probability::from_parts(random.below(1 << 28));
        for (port, number) in net.ports.iter_mut().zip(0..) {
            port.loss = Loss::new(probability, case, number);
        }
    }
    let specs: Vec<_> = (0..senders)
        .map(|sender| {
            let paths = (0..1 + random.below(4))
                .map(|_| net.path(sender, random.below(links.len() as u64) as u32))
                .collect();
            let scheme = scheme(SCHEMES[random.below(4) as usize], &[]);
            let acking = [Acking::Each, Acking::Delayed][random.below(2) as usize];
            let mut spec = flow(sender.into(), &scheme, acking, 1 + random.below(400_000), paths);
            let c = &mut spec.config;
            c.initial_window = 1 + random.below(10) as u32;
            let recoveries =
                [Recovery::Reno, Recovery::RenoOnce, Recovery::NewReno, Recovery::Sack, Recovery::Rack];
            c.recovery = recoveries[random.below(5) as usize];
            c.pacing = random.below(2) == 1;
            c.tso = 1 + random.below(44) as u32;
            c.gro = [Gro::OFF, Gro { segments: 44, interval: 50 * MICROSECOND }][random.below(2) as usize];
            c.reduction = [Reduction::Immediate, Reduction::Prr][random.below(2) as usize];
            c.echo = [Echo::Rfc3168, Echo::Dctcp, Echo::TwoBit][random.below(3) as usize];
            c.port_limit = 1 + case % 7 * u64::from(PACKET);
            c.receive_buffer = (case % 5 == 1).then(|| ReceiveBuffer {
                bytes: (1 + case % 43) * u64::from(MSS),
                rule: [BufferRule::Fixed, BufferRule::Linux { most: 60 * u64::from(MSS) }]
                    [case as usize / 5 % 2],
                blocked: [Blocked::Wait, Blocked::Reinject][case as usize % 2],
            });
            spec
        })
        .collect();
    let later = specs.iter().map(|s| (random.below(2 * MILLISECOND), s.clone())).collect();
    let mut world = net.world();
    if case.is_multiple_of(3) {
        let first = net.path(0, 0).there[0];
        world = world.with_fair_ports(&(first..first + senders).collect::<Vec<_>>());
    }
    let records = run(&mut world, later, random);
    check_end(&world, &specs, &records);
    let counters = world.ports().map(|port| port.counters());
    counters.fold(PortCounters::default(), |sum, c| PortCounters {
        bytes: sum.bytes + c.bytes,
        drops: sum.drops + c.drops,
        trims: sum.trims + c.trims,
        lost: sum.lost + c.lost,
        marks: sum.marks + c.marks,
    })
}

#[test]
fn packets_are_conserved_in_random_scenarios() {
    let (mut dropped, mut lost, mut marked) = (0, 0, 0);
    for case in 0..300 {
        // Shown if the case fails.
        println!("case {case}");
        let total = scenario(case);
        dropped += u32::from(total.drops > 0);
        lost += u32::from(total.lost > 0);
        marked += u32::from(total.marks > 0);
    }
    // A test without drops, losses and marks would show little: many cases must have them.
    assert!(
        dropped > 100 && lost > 50 && marked > 50,
        "{dropped} cases with drops, {lost} with losses, {marked} with marks"
    );
}

/// XMP's fat tree at k = 4, two rounds of a permutation, with each scheme.
#[test]
fn packets_are_conserved_on_a_fat_tree() {
    let threshold = Threshold::packets;
    let tree = FatTree::new(FatTreeConfig {
        k: 4,
        rate: [GIGABIT; 3],
        delay: [20 * MICROSECOND, 30 * MICROSECOND, 40 * MICROSECOND],
        limit: [threshold(100); 3],
        mark: [threshold(10); 3],
        host: (Threshold::UNLIMITED, threshold(10)),
        non_ect: NonEct::Queue,
        loss: [Probability::ZERO; 3],
    })
    .expect("4 is even");
    for (name, subflows) in [("dctcp", 1), ("reno", 1), ("lia", 2), ("xmp", 2), ("xmp", 4)] {
        let scheme = scheme(name, &[]);
        let random = &mut Stream::new(1, name, u64::from(subflows));
        let mut world = World::new(&tree.topology().ports(1), FatTree::LONGEST_ROUTE, 1);
        let pattern = Permutation { hosts: tree.hosts(), size: Size::Uniform(200_000, 2_000_000), seed: 1 };
        let (mut specs, mut records) = (Vec::new(), Vec::new());
        for round in 0..2 {
            for (i, transfer) in (0..).zip(pattern.round(round)) {
                let (from, to) = (transfer.from, transfer.to);
                let id = u64::from(round) << 32 | i;
                let mut draws = Stream::new(1, "addresses", id);
                let paths = tree
                    .draw_addresses(subflows, Spread::Core, |n| draws.below(n.into()) as u32)
                    .into_iter()
                    .map(|core| Path { there: tree.route(from, to, core), back: tree.route(to, from, core) })
                    .collect();
                specs.push(flow(id, &scheme, Acking::Delayed, transfer.bytes, paths));
            }
            let now = world.now();
            let hosts = tree.hosts() as usize;
            let later = specs[round as usize * hosts..].iter().map(|s| (now, s.clone())).collect();
            records.extend(run(&mut world, later, random));
        }
        check_end(&world, &specs, &records);
        let goodput = records.iter().map(|r| r.goodput() as f64 / 1e6).sum::<f64>() / records.len() as f64;
        println!("{name}, {subflows} subflows: mean goodput {goodput:.0} Mbit/s, {:?}", world.packets());
        // Routes have 2, 4 or 6 ports; a packet that was dropped may have passed fewer.
        let hops = world.hops();
        let packets = world.packets();
        assert!((2 * packets.delivered..=6 * packets.sent).contains(&hops), "{hops} hops of {packets:?}");
    }
}
