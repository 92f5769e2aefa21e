//! The k-ary fat tree: counts, the links that a route takes, and how addresses are spread.
//!
//! The ends of each port are stated here a second time, from the description in `fat_tree.rs`: ports are
//! numbered group by group, each group has as many ports as there are hosts, and within a group the number
//! counts by switch and then by link. With h = k/2, and switches numbered by pod:
//!
//! | group | port in it | from | to |
//! |---|---|---|---|
//! | 0 | host | host | edge host / h |
//! | 1 | host | edge host / h | host |
//! | 2 | edge * h + i | edge | aggregation i of its pod |
//! | 3 | aggregation * h + i | aggregation | edge i of its pod |
//! | 4 | aggregation * h + i | aggregation a of its pod | core a * h + i |
//! | 5 | core * k + pod | core | aggregation core / h of the pod |

use std::collections::{BTreeMap, BTreeSet};

use tresse_fabric::{FatTree, FatTreeConfig, FatTreeError, Locality, NonEct, Probability, Spread, Threshold};
use tresse_units::{MICROSECOND, NANOSECOND};

const GIGABIT: u64 = 1_000_000_000;

fn config(k: u32) -> FatTreeConfig {
    FatTreeConfig {
        k,
        rate: [GIGABIT; 3],
        delay: [20 * MICROSECOND, 30 * MICROSECOND, 40 * MICROSECOND],
        limit: [Threshold::packets(100); 3],
        mark: [Threshold::packets(10); 3],
        host: (Threshold::packets(1000), Threshold::UNLIMITED),
        non_ect: NonEct::Queue,
        loss: [Probability::ZERO; 3],
    }
}

fn tree(k: u32) -> FatTree {
    FatTree::new(config(k)).expect("k is even")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    Host(u32),
    Edge(u32),
    Aggregation(u32),
    Core(u32),
}

/// The two ends of a port's link, by the table above.
fn ends(k: u32, port: u32) -> (Node, Node) {
    let half = k / 2;
    let (group, i) = (port / (k * half * half), port % (k * half * half));
    let pod_of = |switch: u32| switch / half;
    match group {
        0 => (Node::Host(i), Node::Edge(i / half)),
        1 => (Node::Edge(i / half), Node::Host(i)),
        2 => (Node::Edge(i / half), Node::Aggregation(pod_of(i / half) * half + i % half)),
        3 => (Node::Aggregation(i / half), Node::Edge(pod_of(i / half) * half + i % half)),
        4 => (Node::Aggregation(i / half), Node::Core((i / half) % half * half + i % half)),
        5 => (Node::Core(i / k), Node::Aggregation(i % k * half + i / k / half)),
        _ => panic!("port {port} of a fat tree of {k}"),
    }
}

/// The nodes that a route passes; panics if one link does not begin where the last one ended.
fn nodes(k: u32, route: &[u32]) -> Vec<Node> {
    let mut nodes = vec![ends(k, route[0]).0];
    for &port in route {
        let (from, to) = ends(k, port);
        assert_eq!(Some(&from), nodes.last(), "{route:?}");
        nodes.push(to);
    }
    nodes
}

#[test]
fn hosts_switches_and_ports_are_as_many_as_al_fares_counts() {
    for (k, hosts, switches) in [(4, 16, 20), (6, 54, 45), (8, 128, 80)] {
        let tree = tree(k);
        assert_eq!((tree.hosts(), tree.switches()), (hosts, switches));
        // Three layers of as many links as hosts, two directions each.
        assert_eq!(tree.topology().configs.len(), 6 * hosts as usize);
    }
}

/// The table of ends above makes a fat tree: k links at every switch, one at every host, each link both ways.
/// So a route that is consistent with it is consistent with a fat tree.
#[test]
fn the_ports_are_the_links_of_a_fat_tree() {
    for k in [4, 6, 8] {
        let tree = tree(k);
        let links: BTreeSet<(Node, Node)> = (0..6 * tree.hosts()).map(|p| ends(k, p)).collect();
        assert_eq!(links.len() as u32, 6 * tree.hosts(), "no link twice");
        assert!(links.iter().all(|&(from, to)| links.contains(&(to, from))));
        let mut degree: BTreeMap<Node, u32> = BTreeMap::new();
        for (from, _) in &links {
            *degree.entry(*from).or_default() += 1;
        }
        assert_eq!(degree.len() as u32, tree.hosts() + tree.switches());
        for (node, links) in degree {
            assert_eq!(links, if matches!(node, Node::Host(_)) { 1 } else { k }, "{node:?}");
        }
        // No core switch has two links to one pod.
        for core in 0..k * k / 4 {
            let pods: BTreeSet<u32> = links
                .iter()
                .filter_map(|link| match *link {
                    (Node::Core(c), Node::Aggregation(a)) if c == core => Some(a / (k / 2)),
                    _ => None,
                })
                .collect();
            assert_eq!(pods.len() as u32, k);
        }
    }
}

#[test]
fn every_address_gives_a_route_from_host_to_host_over_its_core_switch() {
    for k in [4, 6, 8] {
        let tree = tree(k);
        let topology = tree.topology();
        let cores = tree.addresses(Spread::Core);
        assert_eq!(cores, k * k / 4);
        for from in 0..tree.hosts() {
            for to in (0..tree.hosts()).filter(|&to| to != from) {
                let locality = topology.locality(from, to);
                let mut routes = BTreeSet::new();
                for core in 0..cores {
                    let route = tree.route(from, to, core);
                    let nodes = nodes(k, &route);
                    assert_eq!((nodes[0], nodes[route.len()]), (Node::Host(from), Node::Host(to)));
                    assert!(route.len() <= FatTree::LONGEST_ROUTE);
                    match locality {
                        Locality::InnerRack => assert_eq!(route.len(), 2),
                        Locality::InterRack => assert_eq!(route.len(), 4),
                        Locality::InterPod => assert_eq!(nodes[3], Node::Core(core)),
                    }
                    // ACKs come back by the same switches.
                    let mut back = self::nodes(k, &tree.route(to, from, core));
                    back.reverse();
                    assert_eq!(nodes, back);
                    routes.insert(route);
                }
                assert_eq!(routes.len() as u32, tree.paths(from, to));
            }
        }
    }
}

/// What each host sees: h - 1 neighbours in its rack, h (h - 1) more in its pod, the rest beyond.
#[test]
fn localities_are_as_many_as_the_tree_has_room_for() {
    for k in [4, 6, 8] {
        let (tree, half) = (tree(k).topology(), k / 2);
        for from in 0..tree.hosts() {
            let count = |locality| {
                (0..tree.hosts()).filter(|&to| to != from && tree.locality(from, to) == locality).count()
                    as u32
            };
            assert_eq!(count(Locality::InnerRack), half - 1);
            assert_eq!(count(Locality::InterRack), half * (half - 1));
            assert_eq!(count(Locality::InterPod), (k - 1) * half * half);
        }
    }
}

/// A linear congruential generator (Knuth's MMIX), of which the high bits are good.
fn generator(mut state: u64) -> impl FnMut(u32) -> u32 {
    move |n| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((state >> 32) * u64::from(n)) >> 32) as u32
    }
}

#[test]
fn addresses_are_distinct_as_their_spread_asks() {
    let mut draw = generator(1);
    for k in [4, 6, 8] {
        let (tree, half) = (tree(k), k / 2);
        for count in 1..=half * half + 2 {
            let cores = tree.draw_addresses(count, Spread::Core, &mut draw);
            assert_eq!(cores.len() as u32, count.min(half * half), "no more than there are");
            assert!(cores.iter().all(|&c| c < half * half));
            assert_eq!(cores.iter().collect::<BTreeSet<_>>().len(), cores.len());

            let cores = tree.draw_addresses(count, Spread::Aggregation, &mut draw);
            assert_eq!(cores.len() as u32, count.min(half));
            assert!(cores.iter().all(|&c| c < half * half));
            let aggregations: BTreeSet<u32> = cores.iter().map(|c| c / half).collect();
            assert_eq!(aggregations.len(), cores.len());

            // The switches that a route really passes say the same.
            let to = tree.hosts() - 1;
            let passed: BTreeSet<Node> = cores.iter().map(|&c| nodes(k, &tree.route(0, to, c))[2]).collect();
            assert_eq!(passed.len(), cores.len());
        }
    }
}

/// Catalogue 0.4: of the (k/2)^2 - 1 other cores, k/2 - 1 are attached to the same aggregation switch: 20 %
/// at k = 8. And all cores are drawn equally often.
#[test]
fn two_random_cores_share_an_aggregation_switch_a_fifth_of_the_time() {
    const DRAWS: u32 = 40_000;
    let mut draw = generator(2);
    for k in [4, 6, 8] {
        let (tree, half) = (tree(k), k / 2);
        let (mut shared, mut drawn) = (0, vec![0u32; (half * half) as usize]);
        for _ in 0..DRAWS {
            let pair = tree.draw_addresses(2, Spread::Core, &mut draw);
            shared += u32::from(pair[0] / half == pair[1] / half);
            pair.iter().for_each(|&c| drawn[c as usize] += 1);
        }
        let expected = f64::from(half - 1) / f64::from(half * half - 1);
        let measured = f64::from(shared) / f64::from(DRAWS);
        // Four standard deviations of a share of 40 000 draws are below 0.0095.
        assert!((measured - expected).abs() < 0.0095, "k = {k}: {measured} instead of {expected}");
        let mean = f64::from(2 * DRAWS) / f64::from(half * half);
        assert!(drawn.iter().all(|&n| (f64::from(n) - mean).abs() < 5.0 * mean.sqrt()), "{drawn:?}");
    }
}

/// Catalogue D1: 4 x 20 + 2 x 12 + 2 x 0.32 = 104.64 us in a rack, 360 + 6 x 12 + 6 x 0.32 = 433.92
/// us between pods; the paper says 105 to 435 us.
#[test]
fn the_base_rtt_is_the_papers() {
    let tree = tree(8);
    let topology = tree.topology();
    for (to, expected) in [(1, 104_640), (4, 4 * 20_000 + 4 * 30_000 + 4 * 12_320), (16, 433_920)] {
        assert_eq!(topology.base_rtt(&tree.route(0, to, 0), 1500, 40), expected * NANOSECOND);
        assert_eq!(topology.base_rtt(&tree.route(to, 0, 0), 1500, 40), expected * NANOSECOND);
    }
}

#[test]
fn each_port_is_made_as_its_layer_says() {
    for k in [4, 6, 8] {
        let config = FatTreeConfig {
            rate: [GIGABIT, 2 * GIGABIT, 3 * GIGABIT],
            limit: [1, 2, 3].map(Threshold::packets),
            mark: [4, 5, 6].map(Threshold::packets),
            loss: [7, 8, 9].map(Probability::from_parts),
            ..config(k)
        };
        let tree = FatTree::new(config).expect("k is even").topology();
        for (p, port) in (0..).zip(tree.ports(1)) {
            let (layer, name) = match ends(k, p) {
                (Node::Host(_), _) | (_, Node::Host(_)) => (0, "rack"),
                (Node::Core(_), _) | (_, Node::Core(_)) => (2, "core"),
                _ => (1, "aggregation"),
            };
            assert_eq!(tree.layer_name(p), name);
            assert_eq!((port.rate, port.delay), (config.rate[layer], config.delay[layer]));
            assert_eq!((tree.rate(p), tree.loss(p)), (port.rate, port.loss.probability()));
            let switch = (config.limit[layer], config.mark[layer]);
            let is_nic = matches!(ends(k, p).0, Node::Host(_));
            assert_eq!(port.loss.probability(), config.loss[layer]);
            assert_eq!((port.limit, port.mark), if is_nic { config.host } else { switch });
        }
    }
}

#[test]
fn a_tree_that_cannot_be_built_says_so() {
    for k in [0, 1, 3, 7, 127, 129, 130, u32::MAX] {
        assert_eq!(FatTree::new(config(k)).err(), Some(FatTreeError { k }));
    }
    assert!(FatTreeError { k: 7 }.to_string().contains("k = 7"));
    assert_eq!(tree(2).hosts(), 2);
    assert_eq!(tree(128).hosts(), 524_288);
}

/// The names of a link's ends, against the table at the head of this file.
#[test]
fn ports_are_named_by_their_ends() {
    for k in [4, 6, 8] {
        let tree = tree(k).topology();
        for port in 0..6 * tree.hosts() {
            let name = |node: Node| match node {
                Node::Host(i) => format!("host {i}"),
                Node::Edge(i) => format!("edge {i}"),
                Node::Aggregation(i) => format!("aggregation {i}"),
                Node::Core(i) => format!("core {i}"),
            };
            let (from, to) = ends(k, port);
            assert_eq!(tree.end_names(port), [name(from), name(to)], "port {port} of k = {k}");
        }
    }
}
