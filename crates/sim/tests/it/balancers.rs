//! Connections over switches that choose: whatever the load balancer, each message arrives whole and once,
//! also while links fail; and HOLNET's keep away from a spine that is slow.

use std::sync::Arc;

use tresse_controllers::ConfiguredController;
use tresse_fabric::{
    Balancing, Fabric, Feedback, FlagConfig, HolnetConfig, Loss, Network, NonEct, PortConfig, Processing,
    QueuedPortConfig, Threshold,
};
use tresse_sim::{FlowRecord, FlowSpec, Manager, Paths, Step, World};
use tresse_transport::Recovery;
use tresse_units::{MICROSECOND, MILLISECOND, SECOND, Stream, Time};

use crate::common::{Acking, GIGABIT, MSS, scheme, transport};

const HOSTS: u32 = 4;
const SPINES: u32 = 3;
/// The leaves' ports up, by leaf and spine; then the spines' down, by spine and leaf.
const UP: u32 = 4 * HOSTS;
const DOWN: u32 = UP + 2 * SPINES;
/// The first spine has a port for each leaf.
const LAST_SLOW: u32 = DOWN + 1;

/// Two leaves of four hosts under three spines. No link oversubscribes the hosts' but the way down from the
/// first spine, whose rate is given. Queues of 50 packets mark above 20.
fn leaf_spine(slow: u64) -> (Network, Vec<PortConfig>) {
    let all = 2 * HOSTS;
    let (leaf, spine) = (|l: u32| all + l, |s: u32| all + 2 + s);
    let mut ends: Vec<[u32; 2]> = (0..all).map(|h| [h, leaf(h / HOSTS)]).collect();
    ends.extend((0..all).map(|h| [leaf(h / HOSTS), h]));
    ends.extend((0..2).flat_map(|l| (0..SPINES).map(move |s| [leaf(l), spine(s)])));
    ends.extend((0..SPINES).flat_map(|s| (0..2).map(move |l| [spine(s), leaf(l)])));
    let port = |rate| PortConfig {
        rate,
        delay: 10 * MICROSECOND,
        limit: Threshold::packets(50),
        mark: Threshold::packets(20),
        non_ect: NonEct::Queue,
        drop_until: None,
        processing: Processing::NONE,
        red: None,
        loss: Loss::NONE,
    };
    let mut ports: Vec<_> =
        ends.iter().map(|e| port(if e[0] < all { GIGABIT } else { 2 * GIGABIT })).collect();
    for (port, config) in (0..).zip(&mut ports) {
        match port {
            UP..DOWN => config.rate = 4 * GIGABIT, // what all hosts of a leaf send
            DOWN..=LAST_SLOW => config.rate = slow,
            _ => {}
        }
    }
    (Network { hosts: all, nodes: all + 2 + SPINES, ends }, ports)
}

fn world(slow: u64, balancing: Balancing, seed: u64) -> World {
    world_with(Feedback::Backward, slow, balancing, seed)
}

fn world_with(feedback: Feedback, slow: u64, balancing: Balancing, seed: u64) -> World {
    let (network, ports) = leaf_spine(slow);
    let queued_ports: Vec<_> =
        (UP..DOWN + 2 * SPINES).map(|p| (p, QueuedPortConfig::plain(&ports[p as usize]))).collect();
    let fabric = Fabric::new(&ports, 4, 1)
        .with_queued_ports(&queued_ports, &[])
        .with_flags(FlagConfig { fraction: 800, unlimited: Threshold::UNLIMITED, feedback })
        .with_forwarding(network, balancing, seed);
    World::on(fabric)
}

fn balancers() -> [Balancing; 6] {
    let holnet =
        HolnetConfig { r_min: 100, r_max: 1500, kappa: 50, period: 40 * MICROSECOND, flowlet_gap: None };
    let flowlets = HolnetConfig { flowlet_gap: Some(200 * MICROSECOND), ..holnet };
    [
        Balancing::Ecmp,
        Balancing::Spray,
        Balancing::Drill { samples: 2, memory: 1 },
        Balancing::HolnetPercentage(holnet),
        Balancing::HolnetPercentage(flowlets),
        Balancing::HolnetRate(flowlets),
    ]
}

fn connection(id: u64, scheme: &Arc<ConfiguredController>, ends: [u32; 2], bytes: u64) -> FlowSpec {
    // Packets overtake each other where each takes a path for itself.
    let (recovery, rto_min) = (Recovery::Sack, 10 * MILLISECOND);
    let config = tresse_transport::Config { recovery, rto_min, ..transport(scheme, Acking::Each) };
    let paths = Paths::Forwarded { from: vec![ends[0]], to: vec![ends[1]], paths: SPINES as u16, stream: id };
    let manager = Manager::fixed(1);
    FlowSpec { hosts: ends, paths, manager, ..FlowSpec::on_paths(id, config, scheme.clone(), bytes, vec![]) }
}

/// Turns time until nothing is left; `change` is called every millisecond. One packet in the world for each
/// that was sent and has not arrived or been dropped; each message has arrived byte by byte.
fn finish(world: &mut World, mut change: impl FnMut(&mut World, Time)) -> Vec<FlowRecord> {
    let mut records = Vec::new();
    while world.live() > 0 || world.in_flight() > 0 {
        assert!(world.now() < 300 * SECOND, "{} connections have not finished", world.live());
        let until = world.now() + MILLISECOND;
        while let step @ (Step::Finished(_) | Step::Budget) = world.advance(until, u64::MAX) {
            if let Step::Finished(record) = step {
                let (sender, receiver) = world.ends(record.id).expect("it has just ended");
                assert_eq!(receiver.arrived(0), record.bytes);
                assert_eq!(record.bytes.div_ceil(u64::from(MSS)), sender.counters(0).sent);
                records.push(record);
            }
        }
        let (p, in_flight) = (world.packets(), world.in_flight() as u64);
        assert_eq!(p.sent, p.delivered + p.dropped + in_flight);
        let now = world.now();
        change(world, now);
    }
    records
}

/// Random messages between the leaves while a leaf's and a spine's links fail and come back, with and without
/// new routes: all arrive, and a second time at the same times.
#[test]
fn messages_arrive_whole_whatever_balances_and_fails() {
    for balancing in balancers() {
        for name in ["dctcp", "reno"] {
            let run = || {
                let mut world = world(GIGABIT, balancing, 7);
                let mut random = Stream::new(3, "balancers", 0);
                let scheme = scheme(name, &[]);
                for id in 0..24 {
                    let (from, to) = (random.below(8) as u32, random.below(u64::from(HOSTS)) as u32);
                    let to = if from < HOSTS { HOSTS + to } else { to };
                    world.start(connection(id, &scheme, [from, to], 1 + random.below(400_000)));
                }
                let records = finish(&mut world, |world, now| match now / MILLISECOND {
                    2 => world.set_link(UP, false),
                    4 => world.set_link(DOWN + 2, false),
                    6 => world.reroute(),
                    9 => world.set_link(UP, true),
                    12 => world.set_link(DOWN + 2, true),
                    13 => world.reroute(),
                    _ => {}
                });
                let mut ids: Vec<u64> = records.iter().map(|r| r.id).collect();
                ids.sort_unstable();
                assert_eq!(ids, (0..24).collect::<Vec<_>>(), "{name} under {balancing:?}");
                records
            };
            assert_eq!(run(), run(), "{name} under {balancing:?}");
        }
    }
}

/// All hosts of a leaf send to those of the other, four messages each. The leaf's links up are alike, but
/// behind the first spine the path is a quarter as fast: ECMP leaves the flows that its hash puts there to
/// crawl, HOLNET's balancers move flowlets away from it, and the last message is there in much less time.
#[test]
fn holnet_keeps_away_from_a_slow_spine() {
    let run = |balancing, seed| {
        let mut world = world(GIGABIT / 2, balancing, seed);
        let scheme = scheme("reno", &[]);
        for id in 0..4 * HOSTS {
            world.start(connection(id.into(), &scheme, [id % HOSTS, HOSTS + id % HOSTS], 1_500_000));
        }
        let mut least = u64::MAX;
        let records = finish(&mut world, |world, _| {
            least = least.min(world.shares(2 * HOSTS, HOSTS).first().map_or(0, |s| s.1));
        });
        (records.iter().map(|r| r.end).max().expect("connections"), least)
    };
    let [ecmp, .., percentage, rate] = balancers();
    // The mean time of the last message, and the mean of the least share of the slow spine.
    let mean = |balancing| {
        let runs: Vec<_> = (0..6).map(|seed| run(balancing, seed)).collect();
        (runs.iter().map(|r| r.0).sum::<Time>() / 6, runs.iter().map(|r| r.1).sum::<u64>() / 6)
    };
    let before = mean(ecmp).0;
    for balancing in [percentage, rate] {
        let (after, least) = mean(balancing);
        assert!(after < before * 4 / 5, "{after} ps under {balancing:?}, {before} under ECMP");
        assert!(least < (1 << 32) / 6, "half of its third: {least}");
    }
}

/// A host that sends as fast as the way leads has its queue in its own port, which has no limit. HOLNET-UTA keeps it
/// short if the host says from where on that is congestion; else nothing stops the window.
#[test]
fn a_host_hears_of_its_own_port() {
    let longest = |unlimited| {
        let (network, mut ports) = leaf_spine(2 * GIGABIT);
        ports[0].limit = Threshold::UNLIMITED;
        let [.., flowlets, _] = balancers();
        let fabric = Fabric::new(&ports, 4, 1)
            .with_flags(FlagConfig { fraction: 800, unlimited, feedback: Feedback::OneHop })
            .with_forwarding(network, flowlets, 1);
        let mut world = World::on(fabric);
        world.start(connection(0, &scheme("holnet_uta", &[]), [0, HOSTS], 20_000_000));
        let mut longest = 0;
        finish(&mut world, |world, _| longest = longest.max(world.waiting(0)));
        longest
    };
    let (unheard, heard) = (longest(Threshold::UNLIMITED), longest(Threshold::packets(20)));
    assert!(
        (10..60).contains(&heard) && unheard > 10 * heard,
        "{heard} packets, {unheard} where it is not heard"
    );
}

/// Four hosts of a leaf send to one of the other, whose last port is congested. HOLNET-UTA, which knows
/// losses by nothing else, hears of that if it is reported backward, and hardly anything is dropped there;
/// with one-hop feedback it stays invisible (catalogue 0.7).
#[test]
fn congestion_at_the_last_hop_is_heard_backward_only() {
    let drops = |feedback| {
        let [.., flowlets, _] = balancers();
        let mut world = world_with(feedback, 2 * GIGABIT, flowlets, 1);
        let scheme = scheme("holnet_uta", &[]);
        for id in 0..HOSTS {
            world.start(connection(id.into(), &scheme, [id, HOSTS], 4_000_000));
        }
        finish(&mut world, |_, _| {});
        world.port(3 * HOSTS).counters().drops
    };
    let (one_hop, backward) = (drops(Feedback::OneHop), drops(Feedback::Backward));
    assert!(backward * 5 < one_hop, "{backward} drops instead of {one_hop}");
}
