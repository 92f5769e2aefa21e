//! Nodes that choose: ECMP's collisions, the order of the balancers' queues, paths around links that fail;
//! and a queue with random arrivals, against the closed form.

use tresse_fabric::{
    Arrival, Balancing, Ecn, Fabric, FatTree, FatTreeConfig, Feedback, FlagConfig, Header, HolnetConfig,
    Loss, Network, NonEct, Port, PortConfig, Probability, Processing, QueuedPortConfig, Threshold,
};
use tresse_units::{MICROSECOND, NEVER, Time};

const GIGABIT: u64 = 1_000_000_000;

fn port(rate: u64) -> PortConfig {
    PortConfig {
        rate,
        delay: MICROSECOND,
        limit: Threshold::UNLIMITED,
        mark: Threshold::UNLIMITED,
        non_ect: NonEct::Queue,
        drop_until: None,
        processing: Processing::NONE,
        red: None,
        loss: Loss::NONE,
    }
}

/// Random numbers for the tests' own use (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// Exponential with mean 1.
    fn exponential(&mut self) -> f64 {
        -(-((self.next() >> 11) as f64 / (1u64 << 53) as f64)).ln_1p()
    }
}

/// `leaves` leaf switches with `hosts` hosts each, and `spines` spine switches: ports are, in this order,
/// host up, leaf down, leaf up (by leaf, then spine), spine down (by spine, then leaf).
fn leaf_spine(leaves: u32, spines: u32, hosts: u32) -> Network {
    let all = leaves * hosts;
    let (leaf, spine) = (|l: u32| all + l, |s: u32| all + leaves + s);
    let mut ends = Vec::new();
    ends.extend((0..all).map(|h| [h, leaf(h / hosts)]));
    ends.extend((0..all).map(|h| [leaf(h / hosts), h]));
    ends.extend((0..leaves).flat_map(|l| (0..spines).map(move |s| [leaf(l), spine(s)])));
    ends.extend((0..spines).flat_map(|s| (0..leaves).map(move |l| [spine(s), leaf(l)])));
    Network { hosts: all, nodes: all + leaves + spines, ends }
}

fn header(hash: u32) -> Header {
    Header { hash, ..Header::new(1500, Ecn::Ect) }
}

/// M/D/1 (Pollaczek and Khinchine): Poisson arrivals at load rho find rho^2 / (2 (1 - rho)) packets waiting.
#[test]
fn random_arrivals_wait_as_in_an_m_d_1_queue() {
    for load in [0.3, 0.6, 0.8] {
        let mut p = Port::new(port(GIGABIT));
        let service = p.transmission(1500) as f64;
        let (mut random, mut now, mut waiting) = (Random(7), 0.0, 0u64);
        let count = 1_500_000;
        for _ in 0..count {
            now += random.exponential() * service / load;
            waiting += p.waiting(now as Time);
            p.admit(now as Time, 1500, &mut Ecn::Ect);
        }
        let (mean, expected) = (waiting as f64 / f64::from(count), load * load / (2.0 * (1.0 - load)));
        assert!((mean / expected - 1.0).abs() < 0.02, "at {load}: {mean} instead of {expected}");
    }
}

/// Flows that ECMP puts on one of m ports are binomial: mean and variance over many sets of flows, and the
/// chance that two flows share a port is 1/m.
#[test]
fn ecmp_collides_as_often_as_the_binomial_says() {
    const SPINES: u32 = 8;
    let network = leaf_spine(2, SPINES, 32);
    let ports = vec![port(GIGABIT); network.ends.len()];
    let up = 2 * network.hosts;
    let (rounds, flows) = (400u64, 32u32);
    let (mut sum, mut squares, mut together) = (0u64, 0u64, 0u64);
    for seed in 0..rounds {
        let mut fabric: Fabric<u32> =
            Fabric::new(&ports, 4, 1).with_forwarding(network.clone(), Balancing::Ecmp, seed);
        let mut random = Random(seed + 1);
        for flow in 0..flows {
            let route = fabric.add_forwarded(flow, 32 + flow);
            // Three packets of a flow take one path.
            let hash = random.next() as u32;
            for _ in 0..3 {
                assert!(fabric.send(route, header(hash), flow));
            }
        }
        while fabric.advance(NEVER, &()).is_some() {}
        let load: Vec<u64> =
            (up..up + SPINES).map(|p| fabric.ports()[p as usize].counters().bytes / 4500).collect();
        assert_eq!(load.iter().sum::<u64>(), u64::from(flows));
        sum += load[0];
        squares += load[0] * load[0];
        together += load.iter().map(|n| n * n.saturating_sub(1) / 2).sum::<u64>();
    }
    let (n, p, samples) = (f64::from(flows), 1.0 / f64::from(SPINES), rounds as f64);
    let mean = sum as f64 / samples;
    let variance = squares as f64 / samples - mean * mean;
    let exact = n * p * (1.0 - p);
    assert!((mean - n * p).abs() < 4.0 * (exact / samples).sqrt(), "mean {mean}");
    assert!((variance / exact - 1.0).abs() < 4.0 * (2.0 / samples).sqrt(), "variance {variance} for {exact}");
    let pairs = samples * n * (n - 1.0) / 2.0;
    let share = together as f64 / pairs;
    assert!((share - p).abs() < 4.0 * (p * (1.0 - p) / pairs).sqrt(), "{share} of pairs share a port");
}

/// The mean queue that packets find at a leaf's ports up, from `balancing`; flows of 20 packets on average at 90 % load.
fn mean_queue(balancing: Balancing) -> f64 {
    let network = leaf_spine(2, 6, 6);
    // Each host sends at most what one port up carries.
    let ports = vec![port(GIGABIT); network.ends.len()];
    let up = 2 * network.hosts;
    let mut fabric: Fabric<u32> = Fabric::new(&ports, 4, 1).with_forwarding(network, balancing, 1);
    let mut random = Random(3);
    let routes: Vec<_> = (0..6).map(|h| fabric.add_forwarded(h, 6 + h)).collect();
    let mut flows: Vec<(u32, u64)> = vec![(0, 0); 6];
    let (mut now, mut found, mut samples) = (0.0, 0u64, 0u64);
    for n in 0..60_000u32 {
        now += random.exponential() * 12e6 / (0.9 * 6.0);
        while fabric.advance(now as Time, &()).is_some() {}
        fabric.set_now(now as Time);
        let host = random.below(6) as usize;
        if flows[host].1 == 0 {
            flows[host] = (random.next() as u32, 1 + random.below(39));
        }
        flows[host].1 -= 1;
        fabric.send(routes[host], header(flows[host].0), n);
        found += (up..up + 6).map(|p| fabric.waiting(p)).sum::<u64>();
        samples += 6;
    }
    found as f64 / samples as f64
}

/// Ghorbani et al.: at high load DRILL's queues are the shortest, then those of random spraying, then ECMP's.
#[test]
fn drill_queues_less_than_spraying_and_spraying_less_than_ecmp() {
    let drill = mean_queue(Balancing::Drill { samples: 2, memory: 1 });
    let (spray, ecmp) = (mean_queue(Balancing::Spray), mean_queue(Balancing::Ecmp));
    assert!(drill < 0.7 * spray && spray < 0.7 * ecmp, "{drill}, {spray}, {ecmp}");
}

/// The nodes' tables are the fat tree's shortest paths: as many packets arrive as are sent, over as many hops
/// as the locality says, and spraying uses every port up equally.
#[test]
fn a_fat_tree_forwards_on_its_shortest_ways() {
    let config = FatTreeConfig {
        k: 4,
        rate: [GIGABIT; 3],
        delay: [MICROSECOND; 3],
        limit: [Threshold::packets(40); 3],
        mark: [Threshold::UNLIMITED; 3],
        host: (Threshold::packets(40), Threshold::UNLIMITED),
        non_ect: NonEct::Queue,
        loss: [Probability::ZERO; 3],
    };
    let tree = FatTree::new(config).expect("an even k");
    let topology = tree.topology();
    let (period, flowlet_gap) = (40 * MICROSECOND, Some(100 * MICROSECOND));
    let holnet = HolnetConfig { r_min: 100, r_max: 1500, kappa: 50, period, flowlet_gap };
    for balancing in [
        Balancing::Ecmp,
        Balancing::Spray,
        Balancing::Drill { samples: 1, memory: 1 },
        Balancing::HolnetPercentage(holnet),
        Balancing::HolnetRate(holnet),
    ] {
        // A tenth of the limit is reached, but not the limit.
        let mut fabric: Fabric<u32> = Fabric::new(&topology.ports(1), 6, 1)
            .with_flags(FlagConfig {
                fraction: 100,
                unlimited: Threshold::UNLIMITED,
                feedback: Feedback::Backward,
            })
            .with_forwarding(topology.network.clone(), balancing, 5);
        let mut expected = 0;
        for from in 0..16 {
            for to in (0..16).filter(|&to| to != from) {
                let route = fabric.add_forwarded(from, to);
                assert!(fabric.send(route, header(from * 16 + to), to));
                expected += tree.route(from, to, 0).len() as u64;
            }
        }
        let mut arrived = 0;
        while let Some(Arrival::Delivered(_)) = fabric.advance(NEVER, &()) {
            arrived += 1;
        }
        assert_eq!((arrived, fabric.hops()), (240, expected), "{balancing:?}");
    }
}

/// A node avoids its own dead link at once, and that of another node only when routes are recomputed.
#[test]
fn ways_around_a_link_that_fails() {
    let network = leaf_spine(2, 2, 1);
    let ports = [port(GIGABIT); 12];
    let (up, down) = ([4, 5], 8 + 1); // leaf 0 to each spine; spine 0 to leaf 1
    let queued_ports: Vec<_> =
        [up[0], up[1], down].map(|p| (p, QueuedPortConfig::plain(&port(GIGABIT)))).to_vec();
    let count = |change: &dyn Fn(&mut Fabric<u32>)| {
        let mut fabric: Fabric<u32> = Fabric::new(&ports, 4, 1)
            .with_queued_ports(&queued_ports, &[])
            .with_forwarding(network.clone(), Balancing::Spray, 2);
        let route = fabric.add_forwarded(0, 1);
        change(&mut fabric);
        let sent = (0..1000).filter(|&n| fabric.send(route, header(n), n)).count();
        let mut arrived = 0;
        while let Some(arrival) = fabric.advance(NEVER, &()) {
            arrived += usize::from(matches!(arrival, Arrival::Delivered(_)));
        }
        assert_eq!(sent, 1000);
        arrived
    };
    assert_eq!(count(&|_| ()), 1000);
    assert_eq!(count(&|f| f.set_link(up[0], false)), 1000, "the leaf knows its own link");
    let remote = count(&|f| f.set_link(down, false));
    assert!((400..600).contains(&remote), "half run into the remote failure: {remote}");
    let rerouted = count(&|f| {
        f.set_link(down, false);
        f.reroute();
    });
    assert_eq!(rerouted, 1000);
    let cut_off = count(&|f| {
        f.set_link(up[0], false);
        f.set_link(up[1], false);
    });
    assert_eq!(cut_off, 0);
}
