//! The rest point of a network that is too large or too slow to be integrated until rest.

use std::collections::BTreeMap;

use tresse_fabric::{FatTree, FatTreeConfig, NonEct, Probability, Spread, Threshold};
use tresse_optimum::fluid::{Connection, Fluid, FluidError, Law, Link, Network, Path, Signal, State};
use tresse_units::Stream;
use tresse_workload::{Permutation, Size};

use crate::networks::{LIA, dctcp, xmp};

/// A permutation on a fat tree of 16 hosts, each flow over `count` cores; 1 Gbit/s.
fn fat_tree(scheme: &Law, count: u32) -> Network {
    let none = Threshold::UNLIMITED;
    let tree = FatTree::new(FatTreeConfig {
        k: 4,
        rate: [1_000_000_000; 3],
        delay: [20_000_000, 30_000_000, 40_000_000],
        limit: [none; 3],
        mark: [none; 3],
        host: (none, none),
        non_ect: NonEct::Queue,
        loss: [Probability::ZERO; 3],
    })
    .expect("an even k");
    let topology = tree.topology();
    let mut links = BTreeMap::new();
    let mut connections = Vec::new();
    for t in (Permutation { hosts: tree.hosts(), size: Size::Fixed(1), seed: 1 }).round(0) {
        let mut draw = Stream::new(1, "addresses", u64::from(t.from));
        let cores = tree.draw_addresses(count, Spread::Core, |n| draw.below(u64::from(n)) as u32);
        let rtt_ps = topology.base_rtt(&tree.route(t.from, t.to, 0), 1500, 40);
        let path = |core| {
            let mut place = |port| {
                let next = links.len();
                *links.entry(port).or_insert(next)
            };
            let links = tree.route(t.from, t.to, core).into_iter().map(&mut place).collect();
            Path { links, rtt_ps, loss: 0.0 }
        };
        let paths = cores.into_iter().map(path).collect();
        connections.push(Connection { scheme: *scheme, paths, min_window_pkts: 2.0, balancer: None });
    }
    let links = vec![Link::Capacity(1_000_000_000); links.len()];
    Network { packet_bytes: 1500, signal: Signal::PerRound, links, connections }
}

/// Too few steps of integration, so that implicit steps must find the rest.
const FEW: usize = 100;

fn distance(a: &State, b: &State) -> f64 {
    let rates = a.connection_rates_bps().into_iter().zip(b.connection_rates_bps());
    rates.map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max)
}

/// With one path per flow there is one rest point; both integration and implicit steps end there.
#[test]
fn implicit_steps_end_where_the_motion_ends() {
    let network = fat_tree(&dctcp(1.0 / 16.0), 1);
    let followed = Fluid::new(network.clone()).unwrap().equilibrium().unwrap();
    let found = Fluid::new(network).unwrap().equilibrium_within(FEW).unwrap();
    assert!(found.time_s < followed.time_s, "the motion was not followed to its end");
    assert!(distance(&found, &followed) < 1e-5, "{}", distance(&found, &followed));
}

/// The state found is at rest, stays there when integration continues, and fills the links that it can.
#[test]
fn what_is_found_is_at_rest() {
    for (scheme, count) in [(LIA, 2), (xmp(4.0), 2), (xmp(4.0), 4)] {
        let mut fluid = Fluid::new(fat_tree(&scheme, count)).unwrap();
        let found = fluid.equilibrium_within(FEW).unwrap();
        let later = fluid.advance(1.0, 1).unwrap().pop().unwrap();
        assert!(distance(&found, &later) < 1e-6, "{scheme:?}: {}", distance(&found, &later));
        assert!(found.loads_bps.iter().all(|&load| load < 1e9 * (1.0 + 1e-6)), "{scheme:?}");
        // Every flow has a full link on each path that it uses, or the path would grow.
        let full = found.loads_bps.iter().filter(|&&load| load > 0.999e9).count();
        assert!(full >= 16, "{scheme:?}: {full} full links");
    }
}

/// Windows that grow forever never come to rest, with any number of steps.
#[test]
fn what_never_rests_is_said_so() {
    let path = Path { links: vec![0], rtt_ps: 1_000_000_000, loss: 0.0 };
    let connection = Connection { scheme: LIA, paths: vec![path], min_window_pkts: 0.0, balancer: None };
    let network = Network {
        packet_bytes: 1500,
        signal: Signal::PerPacket,
        links: vec![Link::Random(0.0)],
        connections: vec![connection],
    };
    let result = Fluid::new(network).unwrap().equilibrium_within(FEW);
    assert!(matches!(result, Err(FluidError::NotSettled { .. })), "{result:?}");
}
