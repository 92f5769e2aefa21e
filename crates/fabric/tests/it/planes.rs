//! Hosts with a link to each of several planes.

use tresse_fabric::{Locality, NonEct, Probability, ShortestPaths, Threshold, Topology};
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
    // Every link has a way back, and a stream of random numbers of its own.
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
fn as_many_as_there_are_numbers_for() {
    assert!(leaf_spine().in_planes(0).is_none());
    assert!(leaf_spine().in_planes(1 << 23).is_none());
}
