//! The bisection bandwidth against closed forms, and against every cut of small networks.

use proptest::prelude::*;
use tresse_fabric::{
    FatTree, FatTreeConfig, Graph, GraphPort, LeafSpine, LinkConfig, Links, Loss, Node, NodeKind, NonEct,
    PortConfig, Probability, Processing, Threshold, Topology, bisection,
};
use tresse_units::MICROSECOND;

const GIGABIT: u64 = 1_000_000_000;

fn fat_tree(k: u32, rate: [u64; 3]) -> Topology {
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

fn leaf_spine(leaves: u32, spines: u32, hosts_per_leaf: u32, rate: [u64; 2]) -> Topology {
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

#[test]
fn a_fat_trees_is_half_of_its_narrowest_layer() {
    for k in [2u32, 4, 8] {
        let hosts = u64::from(k.pow(3) / 4);
        assert_eq!(bisection(&fat_tree(k, [GIGABIT; 3])), hosts / 2 * GIGABIT);
        assert_eq!(bisection(&fat_tree(k, [GIGABIT, 3 * GIGABIT, GIGABIT / 4])), hosts / 2 * GIGABIT / 4);
        assert_eq!(bisection(&fat_tree(k, [GIGABIT, GIGABIT / 2, GIGABIT])), hosts / 2 * GIGABIT / 2);
    }
}

#[test]
fn a_leaf_spines_is_half_of_its_hosts_or_of_its_leaves_links() {
    assert_eq!(bisection(&leaf_spine(40, 20, 50, [GIGABIT; 2])), 20 * 20 * GIGABIT);
    assert_eq!(bisection(&leaf_spine(6, 6, 24, [10 * GIGABIT, 20 * GIGABIT])), 3 * 6 * 20 * GIGABIT);
    assert_eq!(bisection(&leaf_spine(4, 8, 4, [GIGABIT; 2])), 8 * GIGABIT, "the hosts' own links");
    // Three leaves: the middle one's halves meet within it.
    assert_eq!(bisection(&leaf_spine(3, 1, 4, [GIGABIT; 2])), (1 + 2) * GIGABIT);
}

#[test]
fn a_dumbbells_is_its_bottleneck() {
    let link = |rate| LinkConfig {
        rate,
        delay: MICROSECOND,
        limit: Threshold::UNLIMITED,
        mark: Threshold::UNLIMITED,
        loss: Probability::ZERO,
    };
    let links = Links {
        layers: [link(GIGABIT), link(3 * GIGABIT)],
        host: (Threshold::UNLIMITED, Threshold::UNLIMITED),
        non_ect: NonEct::Queue,
    };
    for (pairs, wanted) in [(1, 1), (3, 3), (8, 3)] {
        let topology = Graph::dumbbell(pairs, &links).topology().expect("a network");
        assert_eq!(bisection(&topology), wanted * GIGABIT);
    }
}

/// Hosts 0 to 3 and switches 4 to 8.
fn network(links: &[(usize, usize, u64, u64)]) -> Option<Topology> {
    let node = |n: usize| Node {
        name: format!("node {n}"),
        kind: if n < 4 { NodeKind::Host { rack: None, pod: None } } else { NodeKind::Switch },
    };
    let port = |ends, rate| GraphPort {
        ends,
        layer: 0,
        config: PortConfig {
            rate,
            delay: MICROSECOND,
            limit: Threshold::UNLIMITED,
            mark: Threshold::UNLIMITED,
            non_ect: NonEct::Queue,
            drop_until: None,
            processing: Processing::NONE,
            red: None,
            loss: Loss::NONE,
        },
    };
    let homes = (0..4).map(|host| (host, 4 + host, 7, 7));
    let links = homes.chain(links.iter().copied()).filter(|(a, b, ..)| a != b);
    let ports = links.flat_map(|(a, b, there, back)| [port([a, b], there), port([b, a], back)]);
    let graph =
        Graph { nodes: (0..9).map(node).collect(), layers: vec!["link".into()], ports: ports.collect() };
    graph.topology().ok()
}

proptest! {
    /// Maximum flow, minimum cut: the minimum over all ways to put the switches on either side.
    #[test]
    fn it_is_the_narrowest_of_all_cuts(
        links in prop::collection::vec((0usize..9, 4usize..9, 1u64..10, 1u64..10), 4..12),
    ) {
        let Some(topology) = network(&links) else { return Ok(()) };
        let cut = |side: u32| -> u64 {
            let first = |node: u32| if node < 4 { node < 2 } else { side >> (node - 4) & 1 == 1 };
            let crosses = |[from, to]: [u32; 2]| first(from) && !first(to);
            let ports = topology.network.ends.iter().zip(&topology.configs);
            ports.filter(|(ends, _)| crosses(**ends)).map(|(_, config)| config.rate).sum()
        };
        prop_assert_eq!(bisection(&topology), (0..32).map(cut).min().expect("some cut"));
    }
}
