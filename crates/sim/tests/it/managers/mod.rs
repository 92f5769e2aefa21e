//! Random small experiments with every part that decides: path managers that open and close subflows at any
//! time, load balancers or fixed routes, PLB, RED, classes and shared buffers in the ports, links that fail and
//! change, handshakes. Packets are conserved, every byte is delivered once, and the same experiment has the same
//! result.

mod chaos;
mod network;

use tresse_path_manager::{ConfiguredManager, find};
use tresse_sim::{FlowRecord, FlowSpec, Manager, Packets, Paths, Step, World};
use tresse_transport::{Gro, Plb, Recovery, Reduction, Scheduler, Sender};
use tresse_units::{MICROSECOND, MILLISECOND, SECOND, Stream, Time, Value};

use crate::common::{Acking, MSS, flow, scheme, sprayed};
use chaos::chaos;
use network::{Drawn, HOSTS, Ports, leaf_spine, path};

const CONTROLLERS: [&str; 6] = ["reno", "dctcp", "lia", "xmp", "amp", "holnet_uta"];

/// One packet in the world for each that was sent and not delivered or dropped.
fn check(world: &World) {
    let p = world.packets();
    assert_eq!(p.sent, p.delivered + p.dropped + world.in_flight() as u64, "{p:?}");
}

/// A path manager with its defaults but for some settings, or one that does anything that is allowed; packets
/// are sprayed only where nodes choose.
fn manager(random: &mut Stream, spray: bool) -> Manager {
    let built_in = |name: &str, settings: &[(&str, Value)]| {
        let declaration = find(name).expect("a path manager");
        Manager::from(
            ConfiguredManager::new(declaration, settings.iter().cloned()).expect("settings that it has"),
        )
    };
    let word = |w: &str| Value::Choice(w.to_owned());
    match random.below(7) {
        0 => built_in("fixed", &[("subflows", Value::Whole(3)), ("by", word("port"))]),
        1 if spray => {
            built_in("mmptcp", &[("threshold", Value::Whole(20_000)), ("subflows", Value::Whole(4))])
        }
        2 => built_in("opn", &[("nstar", word("product"))]),
        3 => built_in("opn-shifting", &[("timer_1", word("fixed"))]),
        4 => built_in("path-sharing", &[("by", word("port")), ("theta", Value::Whole(100))]),
        _ => chaos(spray),
    }
}

fn plb(random: &mut Stream) -> Plb {
    Plb {
        cong_thresh: 1 + random.below(256) as u32,
        rehash_rounds: 1 + random.below(4) as u32,
        idle_rehash_rounds: random.below(3) as u32,
        suspend: 1 + random.below(10 * MILLISECOND),
        seed: random.below(u64::MAX),
    }
}

fn specs(random: &mut Stream, fixed: bool) -> Vec<(Time, FlowSpec)> {
    (0..2 + random.below(5))
        .map(|id| {
            let from = random.below((HOSTS / 2).into()) as u32;
            let to = HOSTS / 2 + random.below((HOSTS / 2).into()) as u32;
            let controller = scheme(CONTROLLERS[random.below(6) as usize], &[]);
            let acking = [Acking::Each, Acking::Delayed][random.below(2) as usize];
            let mut spec = flow(id, &controller, acking, 1 + random.below(600_000), Vec::new());
            spec.hosts = [from, to];
            let addresses = 1 + random.below(3) as usize;
            let stream = random.below(u64::MAX);
            spec.paths = if fixed {
                Paths::Fixed((0..addresses as u32).map(|spine| path(from, to, spine)).collect())
            } else {
                Paths::Forwarded { from: vec![from; addresses], to: vec![to; addresses], paths: 3, stream }
            };
            spec.stream = stream;
            spec.manager = manager(random, !fixed);
            spec.class = random.below(4) as u8;
            let c = &mut spec.config;
            c.handshake = random.below(2) == 0;
            c.stale_after = 1 + random.below(3) as u32;
            c.initial_window = 1 + random.below(10) as u32;
            c.scheduler =
                [Scheduler::LowestRtt, Scheduler::RoundRobin, Scheduler::Linux][random.below(3) as usize];
            let recoveries = [
                Recovery::GoBackN,
                Recovery::Reno,
                Recovery::RenoOnce,
                Recovery::NewReno,
                Recovery::Sack,
                Recovery::Rack,
            ];
            c.recovery = recoveries[random.below(6) as usize];
            c.reduction = [Reduction::Immediate, Reduction::Prr][random.below(2) as usize];
            c.plb = (random.below(3) == 0).then(|| plb(random));
            c.pacing = random.below(2) == 1;
            c.gro = [Gro::OFF, Gro { segments: 44, interval: 50 * MICROSECOND }][random.below(2) as usize];
            let spec = if random.below(4) == 0 { sprayed(spec, random) } else { spec };
            (random.below(3 * MILLISECOND), spec)
        })
        .collect()
}

/// What an experiment leaves.
#[derive(Debug, PartialEq)]
struct Outcome {
    records: Vec<FlowRecord>,
    packets: Packets,
    hops: u64,
    /// Of the network: fixed routes, RED, shared buffers, several classes.
    parts: [bool; 4],
}

/// Runs until all is over, and checks at random stops.
fn run(case: u64, ports: Ports) -> Outcome {
    let random = &mut Stream::new(1, "managers", case);
    let Drawn { mut world, mut changes, fixed, red, shared, classes } = leaf_spine(random, case, ports);
    let mut later = specs(random, fixed);
    let total: Vec<u64> = later.iter().map(|(_, s)| s.bytes).collect();
    later.sort_by_key(|(time, spec)| (std::cmp::Reverse(*time), spec.id));
    let mut records: Vec<FlowRecord> = Vec::new();
    let mut delivered = vec![0u32; total.len()];
    while world.now() < 2000 * SECOND {
        changes.make(&mut world);
        while later.last().is_some_and(|(time, _)| *time <= world.now()) {
            world.start(later.pop().expect("there is one").1);
        }
        if world.live() == 0 && world.in_flight() == 0 && later.is_empty() {
            break;
        }
        let next = later.last().map_or(2000 * SECOND, |(time, _)| *time).min(changes.next());
        let until = (world.now() + 1 + random.below(100 * MILLISECOND)).min(next);
        if let Step::Finished(record) = world.advance(until, 1 + random.below(500)) {
            let (sender, receiver) = world.ends(record.id).expect("it has just ended");
            assert!(receiver.complete());
            let segments = record.bytes.div_ceil(MSS.into());
            assert_eq!(
                u64::from(receiver.messages().expect("a connection").delivered()),
                segments,
                "{record:?}"
            );
            // Each new segment carries new data, or data of another subflow.
            assert_eq!(record.counters.sent, segments + record.counters.reinjections, "{record:?}");
            let arrived: u64 = (0..record.opened as usize).map(|i| receiver.arrived(i)).sum();
            let most = record.bytes + record.counters.reinjections * u64::from(MSS);
            assert!((record.bytes..=most).contains(&arrived), "{arrived} of {record:?}");
            let open = (0..record.opened as usize).filter(|&i| sender.is_open(i)).count();
            let controllers = match sender {
                Sender::Tcp(sender) => sender.group().len(),
                Sender::Sprayed(sender) => sender.group().len(),
                Sender::Datagrams(_) => 0,
            };
            assert!(open >= 1 && open == controllers);
            records.push(record);
        }
        // In order and never back.
        for (id, before) in (0..).zip(&mut delivered) {
            if let Some(now) = world.delivered_segments(id) {
                assert!(now >= *before);
                *before = now;
            }
        }
        check(&world);
    }
    check(&world);
    assert_eq!(records.len(), total.len(), "case {case}: {} of {} have ended", records.len(), total.len());
    records.sort_by_key(|r| r.id);
    for (record, bytes) in records.iter().zip(&total) {
        assert_eq!(record.bytes, *bytes);
    }
    let parts = [fixed, red, shared, classes > 1];
    Outcome { records, packets: world.packets(), hops: world.hops(), parts }
}

#[test]
fn everything_arrives_once_whatever_comes_and_goes() {
    let (mut closed, mut reinjected, mut dropped, mut opened, mut parts) = (0, 0, 0, 0, [0; 4]);
    for case in 0..1500 {
        println!("case {case}"); // shown if it fails
        let outcome = run(case, Ports::Drawn);
        let any = |f: fn(&FlowRecord) -> bool| u32::from(outcome.records.iter().any(f));
        closed += any(|r| r.closed != 0);
        reinjected += any(|r| r.counters.reinjections > 0);
        opened += any(|r| r.opened > 3);
        dropped += u32::from(outcome.packets.dropped > 0);
        parts.iter_mut().zip(outcome.parts).for_each(|(n, part)| *n += u32::from(part));
        if case % 10 == 0 {
            assert_eq!(
                run(case, Ports::Drawn),
                outcome,
                "case {case}: the same experiment has the same result"
            );
        }
    }
    // Cases in which nothing happens would show little.
    let counts = [closed, reinjected, dropped, opened];
    assert!(counts.iter().all(|&n| n > 50), "closed, reinjected, dropped, opened: {counts:?}");
    assert!(parts.iter().all(|&n| n > 50), "fixed routes, RED, shared buffers, classes: {parts:?}");
}

#[test]
fn a_server_of_one_class_departs_as_a_plain_port() {
    let mut dropped = 0;
    for case in 0..300 {
        println!("case {case}"); // shown if it fails
        let outcome = run(case, Ports::Plain);
        assert_eq!(run(case, Ports::Served), outcome, "case {case}");
        dropped += u32::from(outcome.packets.dropped > 0);
    }
    assert!(dropped > 50, "{dropped} cases with full queues");
}
