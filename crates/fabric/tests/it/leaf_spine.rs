//! The leaf-spine: counts, links, names, and the paths between its hosts.

use std::collections::BTreeSet;

use tresse_fabric::{
    Exclusive, FixedPaths, LeafSpine, LeafSpineError, Locality, NonEct, Probability, ShortestPaths,
    Threshold, Topology,
};
use tresse_units::{MICROSECOND, NANOSECOND};

const GIGABIT: u64 = 1_000_000_000;

/// OPN's links: 1 Gbit/s and 12.5 us each (catalogue, note A6.5).
fn config(leaves: u32, spines: u32, hosts_per_leaf: u32) -> LeafSpine {
    LeafSpine {
        leaves,
        spines,
        hosts_per_leaf,
        rate: [GIGABIT; 2],
        delay: [12_500 * NANOSECOND; 2],
        limit: [Threshold::packets(256); 2],
        mark: [Threshold::UNLIMITED; 2],
        host: (Threshold::packets(1000), Threshold::UNLIMITED),
        non_ect: NonEct::Queue,
        loss: [Probability::ZERO; 2],
    }
}

fn build(leaves: u32, spines: u32, hosts_per_leaf: u32) -> Topology {
    config(leaves, spines, hosts_per_leaf).topology().expect("a leaf-spine")
}

#[test]
fn every_leaf_has_its_hosts_and_a_link_to_every_spine() {
    for (leaves, spines, per_leaf) in [(4, 4, 4), (6, 3, 2), (1, 1, 5), (40, 20, 50)] {
        let topology = build(leaves, spines, per_leaf);
        let hosts = leaves * per_leaf;
        assert_eq!((topology.hosts(), topology.network.nodes), (hosts, hosts + leaves + spines));
        let mut wanted = BTreeSet::new();
        for leaf in 0..leaves {
            let below = (0..per_leaf).map(|i| format!("host {}", leaf * per_leaf + i));
            for other in below.chain((0..spines).map(|s| format!("spine {s}"))) {
                let leaf = format!("leaf {leaf}");
                wanted.insert([leaf.clone(), other.clone()]);
                wanted.insert([other, leaf]);
            }
        }
        let ports = 0..topology.configs.len() as u32;
        let links: Vec<_> = ports.clone().map(|p| topology.end_names(p).map(str::to_owned)).collect();
        assert_eq!(links.len(), wanted.len(), "no link twice");
        assert_eq!(links.iter().cloned().collect::<BTreeSet<_>>(), wanted);
        for (port, twin) in ports.zip(topology.twins()) {
            let [from, to] = topology.end_names(port);
            assert_eq!(topology.end_names(twin), [to, from]);
            let layer = if [from, to].iter().any(|n| n.starts_with("spine")) { "spine" } else { "rack" };
            assert_eq!(topology.layer_name(port), layer);
        }
    }
}

#[test]
fn each_port_is_made_as_its_layer_says() {
    let config = LeafSpine {
        rate: [GIGABIT, 4 * GIGABIT],
        delay: [MICROSECOND, 2 * MICROSECOND],
        limit: [1, 2].map(Threshold::packets),
        mark: [3, 4].map(Threshold::packets),
        loss: [5, 6].map(Probability::from_parts),
        ..config(4, 3, 2)
    };
    let topology = config.topology().expect("a leaf-spine");
    for (port, made) in (0..).zip(topology.ports(7)) {
        let layer = usize::from(topology.layer_name(port) == "spine");
        assert_eq!((made.rate, made.delay), (config.rate[layer], config.delay[layer]));
        assert_eq!(made.loss.probability(), config.loss[layer]);
        let is_nic = topology.end_names(port)[0].starts_with("host");
        let queue = if is_nic { config.host } else { (config.limit[layer], config.mark[layer]) };
        assert_eq!((made.limit, made.mark), queue);
    }
    assert_ne!(topology.ports(7)[0].loss, topology.ports(8)[0].loss, "each seed draws its own losses");
    assert_ne!(topology.ports(7)[0].loss, topology.ports(7)[1].loss, "so does each port");
}

/// One path over each spine, and the same links back.
#[test]
fn between_leaves_there_is_one_path_over_each_spine() {
    let topology = build(4, 4, 4);
    let paths = ShortestPaths::new(&topology);
    assert_eq!((paths.most(), paths.longest()), (4, 4));
    for from in 0..16 {
        assert_eq!(paths.count(from, from), 0);
        for to in (0..16).filter(|&to| to != from) {
            let names = |route: &[u32]| {
                let mut names: Vec<&str> = route.iter().map(|&p| topology.end_names(p)[0]).collect();
                names.extend(route.last().map(|&p| topology.end_names(p)[1]));
                names.join(", ")
            };
            let count = paths.count(from, to);
            let one_rack = from / 4 == to / 4;
            let locality = if one_rack { Locality::InnerRack } else { Locality::InterRack };
            assert_eq!(topology.locality(from, to), locality);
            assert_eq!(count, if one_rack { 1 } else { 4 });
            for k in 0..count {
                let route = paths.path(from, to, k);
                let spine = if one_rack { String::new() } else { format!("spine {k}, leaf {}, ", to / 4) };
                let wanted = format!("host {from}, leaf {}, {spine}host {to}", from / 4);
                assert_eq!(names(&route.there), wanted);
                let mut back: Vec<&str> = wanted.split(", ").collect();
                back.reverse();
                assert_eq!(names(&route.back), back.join(", "));
            }
        }
    }
}

/// OPN's RTT of 100 us is the propagation on 8 links of 12.5 us; 4 x 12 us and 4 x 0.32 us of transmission come
/// on top.
#[test]
fn the_base_rtt_is_opns_and_the_transmissions() {
    let topology = build(40, 20, 50);
    let paths = ShortestPaths::new(&topology);
    assert_eq!((paths.most(), paths.count(0, 1999)), (20, 20));
    for k in 0..20 {
        let route = paths.path(0, 1999, k);
        assert_eq!(topology.base_rtt(&route.there, 0, 0), 100 * MICROSECOND);
        assert_eq!(topology.base_rtt(&route.there, 1500, 40), 149_280 * NANOSECOND);
    }
    assert_eq!(topology.base_rtt(&paths.path(0, 1, 0).there, 0, 0), 50 * MICROSECOND);
}

#[test]
fn subflows_take_distinct_spines_and_in_a_rack_the_same_path() {
    let topology = build(4, 4, 4);
    let routes = FixedPaths::Shortest(ShortestPaths::new(&topology), Exclusive::Path);
    assert_eq!(routes.most(), 4);
    let mut seed = 1u64;
    let mut draw = |n: u32| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((seed >> 32) * u64::from(n)) >> 32) as u32
    };
    let mut first = [0; 4];
    for _ in 0..4000 {
        let drawn = routes.draw(0, 5, 3, &mut draw);
        let spines: BTreeSet<u32> = drawn.iter().map(|r| r.there[1]).collect();
        assert_eq!((drawn.len(), spines.len()), (3, 3));
        // The ports of a leaf to its spines follow the two of each host.
        first[drawn[0].there[1] as usize - 32] += 1;
    }
    // Each spine is first a quarter of the time: five standard deviations of 4000 draws are 137.
    assert!(first.iter().all(|&n: &i32| (n - 1000).abs() < 137), "{first:?}");
    let near = routes.draw(0, 1, 3, &mut draw);
    assert!(near.len() == 3 && near.iter().all(|r| *r == near[0]));
    // The only links of the two hosts, and nothing between the leaves; in a rack there is nothing else.
    let far = routes.draw(0, 5, 1, &mut draw).remove(0);
    let only = routes.unavoidable(0, 5);
    assert_eq!([only.there, only.back], [far.there, far.back].map(|ports| vec![ports[0], ports[3]]));
    assert_eq!(routes.unavoidable(0, 1), near[0]);
}

/// A removed link takes its paths with it, and nothing else.
#[test]
fn paths_avoid_links_that_are_not_there() {
    let mut topology = build(4, 4, 4);
    let [leaf, spine] = ["leaf 0", "spine 3"].map(|name| topology.node(name).expect("it is there"));
    let ports = topology.ports_between(leaf, spine);
    assert_eq!(ports.len(), 2);
    topology.remove(&ports);
    assert!(topology.ports_between(spine, leaf).is_empty());
    assert_eq!((topology.configs.len(), topology.layers.len()), (62, 62));
    // The losses of the others stay what they were.
    let before = build(4, 4, 4).ports(7);
    let kept: Vec<_> = (0..).zip(before).filter(|(p, _)| !ports.contains(p)).map(|(_, port)| port).collect();
    assert_eq!(topology.ports(7), kept);
    let paths = ShortestPaths::new(&topology);
    assert_eq!(paths.unreachable(), None);
    for from in 0..16 {
        for to in (0..16).filter(|to| to / 4 != from / 4) {
            let wanted = if from / 4 == 0 || to / 4 == 0 { 3 } else { 4 };
            assert_eq!(paths.count(from, to), wanted);
        }
    }
    assert_eq!(topology.node("spine 4"), None);
}

#[test]
fn a_host_without_a_link_is_told() {
    let mut topology = build(2, 1, 2);
    let leaf = topology.node("leaf 1").expect("it is there");
    let spine = topology.node("spine 0").expect("it is there");
    topology.remove(&topology.ports_between(leaf, spine));
    assert_eq!(ShortestPaths::new(&topology).unreachable(), Some((0, 2)));
}

#[test]
fn a_leaf_spine_that_cannot_be_built_says_so() {
    assert_eq!(config(0, 1, 1).topology().err(), Some(LeafSpineError::None("leaves")));
    assert_eq!(config(1, 0, 1).topology().err(), Some(LeafSpineError::None("spines")));
    assert_eq!(config(1, 1, 0).topology().err(), Some(LeafSpineError::None("hosts")));
    let error = config(1 << 11, 1 << 10, 1 << 10).topology().err();
    assert_eq!(error, Some(LeafSpineError::Ports { ports: 1 << 23 }));
    assert!(config(u32::MAX, u32::MAX, u32::MAX).topology().is_err());
}
