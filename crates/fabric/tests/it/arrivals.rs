//! What arrives at hosts in a window is known when it begins.

use std::iter;
use std::sync::Arc;

use tresse_fabric::{
    Arrival, Ecn, Exclusive, Fabric, FatTree, FatTreeConfig, FixedPaths, Happening, Header, NonEct,
    Probability, ShortestPaths, Sites, Threshold, Topology,
};
use tresse_units::{MICROSECOND, NEVER, Stream};

/// A fat tree whose links from hosts have this delay.
fn tree(host_delay: u64) -> Topology {
    let tree = FatTree::new(FatTreeConfig {
        k: 4,
        rate: [1_000_000_000; 3],
        delay: [host_delay, 30 * MICROSECOND, 40 * MICROSECOND],
        limit: [Threshold::UNLIMITED; 3],
        mark: [Threshold::UNLIMITED; 3],
        host: (Threshold::UNLIMITED, Threshold::UNLIMITED),
        non_ect: NonEct::Queue,
        loss: [Probability::ZERO; 3],
    });
    tree.expect("k is even").topology()
}

/// Half of the first window is gone through in the order of time.
#[test]
fn arrivals_at_hosts_are_foretold() {
    let topology = tree(20 * MICROSECOND);
    let paths = FixedPaths::Shortest(ShortestPaths::new(&topology), Exclusive::Path);
    let sites = Arc::new(Sites::new(&topology, false));
    let mut fabric = Fabric::new(&topology.ports(1), 6, 1).with_sites(sites);
    let mut random = Stream::new(1, "arrivals", 0);
    for id in 0..500u32 {
        let from = random.below(16) as u32;
        let to = (from + 1 + random.below(15) as u32) % 16;
        let path = &paths.draw(from, to, 1, |n| random.below(n.into()) as u32)[0];
        let route = fabric.add_route(&path.there);
        fabric.send(route, Header::new(1500, Ecn::NotEct), id);
    }
    let (mut arrived, mut windows) = (0, 0);
    loop {
        let next = fabric.earliest();
        if next == NEVER {
            break;
        }
        let end = fabric.turn_end(next);
        let whole = fabric.deliveries(next).filter(|packet| packet.is_whole());
        let foretold = whole.map(|packet| (packet.time(), *fabric.payload(&packet)));
        let mut foretold: Vec<(u64, u32)> = foretold.collect();
        let mut delivered = Vec::new();
        if windows % 3 == 0 {
            while let Some(Arrival::Delivered(packet)) = fabric.advance(end, &()) {
                delivered.push((fabric.now(), packet.payload));
                if delivered.len() == 1 {
                    // What is left of a window that is open in the order of time is known too.
                    let rest = fabric.deliveries(next).count();
                    assert_eq!(rest + 1, foretold.len());
                }
            }
        } else {
            fabric.open_window(end, None, iter::empty());
            while let Some(happening) = fabric.next_of_site(&()) {
                let Happening::Arrival(Arrival::Delivered(packet)) = happening else {
                    panic!("nothing else")
                };
                delivered.push((fabric.now(), packet.payload));
            }
        }
        foretold.sort_unstable();
        delivered.sort_unstable();
        assert_eq!(foretold, delivered, "up to {end}");
        (arrived, windows) = (arrived + delivered.len(), windows + 1);
    }
    assert_eq!(arrived, 500);
    assert!(windows > 20, "{windows} windows");
}

#[test]
fn where_a_host_hears_at_once_nothing_is_foretold() {
    let topology = tree(0);
    let sites = Arc::new(Sites::new(&topology, false));
    let fabric: Fabric<u32> = Fabric::new(&topology.ports(1), 6, 1).with_sites(sites);
    assert!(!fabric.knows_deliveries());
}
