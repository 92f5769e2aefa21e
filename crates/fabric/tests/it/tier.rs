//! Tiers against arithmetic: which ports traffic crosses, how often, and which of them are narrowest.

use tresse_fabric::{
    Direction, FatTree, FatTreeConfig, LeafSpine, Locality, NonEct, Probability, Threshold, Topology,
    narrowest_tier, tiers,
};
use tresse_units::MICROSECOND;

pub const GIGABIT: u64 = 1_000_000_000;

pub fn leaf_spine(leaves: u32, spines: u32, hosts_per_leaf: u32, rate: [u64; 2]) -> Topology {
    let config = LeafSpine {
        leaves,
        spines,
        hosts_per_leaf,
        rate,
        delay: [MICROSECOND; 2],
        limit: [Threshold::UNLIMITED; 2],
        mark: [Threshold::UNLIMITED; 2],
        host: (Threshold::UNLIMITED, Threshold::UNLIMITED),
        non_ect: NonEct::Queue,
        loss: [Probability::ZERO; 2],
    };
    config.topology().expect("a leaf-spine")
}

pub fn fat_tree(k: u32, rate: [u64; 3]) -> Topology {
    let config = FatTreeConfig {
        k,
        rate,
        delay: [MICROSECOND; 3],
        limit: [Threshold::UNLIMITED; 3],
        mark: [Threshold::UNLIMITED; 3],
        host: (Threshold::UNLIMITED, Threshold::UNLIMITED),
        non_ect: NonEct::Queue,
        loss: [Probability::ZERO; 3],
    };
    FatTree::new(config).expect("an even k").topology()
}

fn between_racks(topology: &Topology) -> impl Fn(u32, u32) -> bool {
    |from, to| topology.locality(from, to) != Locality::InnerRack
}

/// Layer, direction, ports, capacity in Gbit/s, crossings.
fn shown(topology: &Topology, talks: impl Fn(u32, u32) -> bool) -> Vec<(String, Direction, u32, f64, f64)> {
    let one = |t: tresse_fabric::Tier| {
        (t.layer.to_string(), t.direction, t.ports, t.capacity as f64 / 1e9, t.crossings)
    };
    tiers(topology, |host| host, talks).into_iter().map(one).collect()
}

/// OPN §Performance evaluation: 50 hosts a leaf over 20 spines, 2.5 to 1.
#[test]
fn opns_leaf_spine_is_narrowest_between_leaves_and_spines() {
    let topology = leaf_spine(40, 20, 50, [GIGABIT; 2]);
    let wanted = [
        ("rack", Direction::Up, 2000, 2000.0, 1.0),
        ("rack", Direction::Down, 2000, 2000.0, 1.0),
        ("spine", Direction::Up, 800, 800.0, 1.0),
        ("spine", Direction::Down, 800, 800.0, 1.0),
    ];
    assert_eq!(
        shown(&topology, between_racks(&topology)),
        wanted.map(|(n, d, p, c, x)| (n.to_owned(), d, p, c, x))
    );
    let narrowest = narrowest_tier(&topology, |host| host, between_racks(&topology)).expect("they talk");
    assert_eq!((&*narrowest.layer, narrowest.direction), ("spine", Direction::Up));
    assert_eq!(narrowest.throughput(), 800e9);
}

/// The senders and receivers decide which ports count.
#[test]
fn the_senders_of_one_rack_have_its_links_only_and_a_receiver_its_own() {
    let topology = leaf_spine(40, 20, 50, [GIGABIT; 2]);
    let from_the_first =
        narrowest_tier(&topology, |host| host, |from, to| from < 50 && to >= 50).expect("they talk");
    assert_eq!((&*from_the_first.layer, from_the_first.capacity), ("spine", 20 * GIGABIT));
    let incast = narrowest_tier(&topology, |host| host, |from, to| from >= 50 && to == 0).expect("they talk");
    assert_eq!((incast.direction, incast.ports, incast.throughput()), (Direction::Down, 1, 1e9));
    let in_racks = tiers(&topology, |host| host, |from, to| from / 50 == to / 50 && from != to);
    assert!(in_racks.iter().all(|t| &*t.layer == "rack"), "{in_racks:?}");
    assert_eq!(narrowest_tier(&topology, |host| host, |_, _| false), None);
}

/// THESIS §2.5: "24 hosts under each leaf", 10 and 20 Gbit/s, six spines: 2 to 1.
#[test]
fn the_thesiss_fabric_is_two_to_one() {
    let topology = leaf_spine(6, 6, 24, [10 * GIGABIT, 20 * GIGABIT]);
    let narrowest = narrowest_tier(&topology, |host| host, between_racks(&topology)).expect("they talk");
    assert_eq!((&*narrowest.layer, narrowest.throughput()), ("spine", 720e9));
}

/// Of the 14 hosts in other racks, 12 are in other pods.
#[test]
fn a_fat_trees_hosts_limit_it_unless_its_core_is_slow() {
    let topology = fat_tree(4, [GIGABIT; 3]);
    let all = tiers(&topology, |host| host, between_racks(&topology));
    assert_eq!(all.len(), 6);
    for tier in &all {
        assert_eq!((tier.ports, tier.capacity), (16, 16 * GIGABIT));
        let crossings = if &*tier.layer == "core" { 0.857_142_857 } else { 1.0 };
        assert_eq!(tier.crossings, crossings, "{tier:?}");
    }
    let narrowest = narrowest_tier(&topology, |host| host, between_racks(&topology)).expect("they talk");
    assert_eq!((&*narrowest.layer, narrowest.direction), ("rack", Direction::Up));
    // A quarter of the rate above: 4 Gbit/s for the 6/7 of the traffic that go there.
    let slow = fat_tree(4, [GIGABIT, GIGABIT, GIGABIT / 4]);
    let narrowest = narrowest_tier(&slow, |host| host, between_racks(&slow)).expect("they talk");
    assert_eq!((&*narrowest.layer, narrowest.capacity), ("core", 4 * GIGABIT));
    assert!((narrowest.throughput() / 1e9 - 4.0 * 7.0 / 6.0).abs() < 1e-6);
}

/// OPN Fig. 15: 8 of a leaf's 20 links at a tenth of the rate.
#[test]
fn slow_links_take_their_rate_from_the_tier() {
    let mut topology = leaf_spine(40, 20, 50, [GIGABIT; 2]);
    for leaf in 0..40 {
        for spine in 0..8 {
            let [leaf, spine] = [format!("leaf {leaf}"), format!("spine {spine}")]
                .map(|name| topology.node(&name).expect("it is"));
            topology
                .ports_between(leaf, spine)
                .iter()
                .for_each(|&p| topology.configs[p as usize].rate = GIGABIT / 10);
        }
    }
    let narrowest = narrowest_tier(&topology, |host| host, between_racks(&topology)).expect("they talk");
    assert_eq!(narrowest.capacity, 40 * (12 * GIGABIT + 8 * GIGABIT / 10));
}
