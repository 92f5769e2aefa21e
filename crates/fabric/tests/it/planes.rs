//! Hosts with a link to each of several planes.

use std::collections::BTreeSet;

use tresse_fabric::{
    Exclusive, FixedPaths, Locality, NonEct, Probability, ShortestPaths, Threshold, Topology,
};
use tresse_units::MICROSECOND;

fn leaf_spine() -> Topology {
    tresse_fabric::LeafSpine {
        leaves: 3,
        spines: 2,
        hosts_per_leaf: 2,
        rate: [1_000_000_000; 2],
        delay: [MICROSECOND; 2],
        limit: [Threshold::packets(10); 2],
        mark: [Threshold::packets(5); 2],
        host: (Threshold::UNLIMITED, Threshold::UNLIMITED),
        non_ect: NonEct::Queue,
        loss: [Probability::ZERO; 2],
    }
    .topology()
    .expect("a leaf-spine")
}

#[test]
fn one_plane_is_the_network_itself() {
    let (one, planes) = (leaf_spine(), leaf_spine().in_planes(1).expect("it is small"));
    assert_eq!((one.network.ends, one.streams), (planes.network.ends, planes.streams));
}

#[test]
fn planes_meet_at_hosts_only() {
    let own = leaf_spine();
    let planes = leaf_spine().in_planes(4).expect("it is small");
    assert_eq!((planes.hosts(), planes.network.nodes), (6, 6 + 4 * 5));
    assert_eq!(planes.network.ends.len(), 4 * own.network.ends.len());
    assert_eq!((planes.locality(0, 1), planes.locality(0, 5)), (Locality::InnerRack, own.locality(0, 5)));
    let plane = |node: u32| planes.node_names[node as usize].split(' ').nth(1).expect("a plane").to_owned();
    for &[from, to] in &planes.network.ends {
        assert!(from < 6 || to < 6 || plane(from) == plane(to), "{from} to {to}");
    }
    assert_eq!(planes.node("plane 3 spine 1").map(plane), Some("3".to_owned()));
    // Every link has a way back, and its own stream of random numbers.
    assert_eq!(planes.twins().len(), planes.configs.len());
    let mut streams = planes.streams.clone();
    streams.sort_unstable();
    streams.dedup();
    assert_eq!(streams.len(), planes.configs.len());
    // Two spines in each of four planes between racks; a leaf in each within one.
    let paths = ShortestPaths::new(&planes);
    assert_eq!((paths.count(0, 5), paths.count(0, 1), paths.unreachable()), (8, 4, None));
}

#[test]
fn subflows_with_links_of_their_own_take_each_plane_once() {
    let planes = leaf_spine().in_planes(4).expect("it is small");
    let plane = |port: u32| {
        let switch = planes.network.ends[port as usize].map(|node| &planes.node_names[node as usize]);
        switch.into_iter().find_map(|name| name.strip_prefix("plane ")).expect("a switch")[..1].to_owned()
    };
    let mut seed = 1u64;
    let mut draw = |n: u32| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((seed >> 32) * u64::from(n)) >> 32) as u32
    };
    let routes = FixedPaths::Shortest(ShortestPaths::new(&planes), Exclusive::HostLink);
    let mut taken = BTreeSet::new();
    for _ in 0..50 {
        let paths = routes.draw(0, 5, 4, &mut draw);
        let used: BTreeSet<String> = paths.iter().map(|path| plane(path.there[0])).collect();
        assert_eq!(used.len(), 4, "{paths:?}");
        for path in &paths {
            assert!(path.there.iter().chain(&path.back).all(|&port| plane(port) == plane(path.there[0])));
        }
        taken.extend(paths.into_iter().map(|path| path.there));
        // More subflows than links: each link once more, before any a third time.
        let more = routes.draw(0, 5, 8, &mut draw);
        assert!((0..4).all(|i| plane(more[i].there[0]) == plane(more[i + 4].there[0])));
    }
    assert_eq!(taken.len(), 8, "both spines of each plane are used");
    // By paths, planes are left out.
    let by_path = FixedPaths::Shortest(ShortestPaths::new(&planes), Exclusive::Path);
    let used = |paths: Vec<tresse_fabric::Path>| {
        paths.iter().map(|path| plane(path.there[0])).collect::<BTreeSet<_>>().len()
    };
    assert!((0..50).any(|_| used(by_path.draw(0, 5, 4, &mut draw)) < 4));
}

#[test]
fn as_many_as_there_are_numbers_for() {
    assert!(leaf_spine().in_planes(0).is_none());
    assert!(leaf_spine().in_planes(1 << 23).is_none());
}
