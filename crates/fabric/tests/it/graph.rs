//! Graphs: which of them are networks, what is wrong with others, and those that are drawn.

use proptest::prelude::*;
use tresse_fabric::{
    Direction, Graph, GraphError, GraphPort, LinkConfig, Links, Loss, Node, NodeKind, NonEct, PortConfig,
    Probability, Processing, ShortestPaths, Threshold, Topology, narrowest_tier,
};
use tresse_units::{MICROSECOND, NANOSECOND};

const MEGABIT: u64 = 1_000_000;
const GIGABIT: u64 = 1000 * MEGABIT;

fn link(rate: u64, delay_us: u64) -> LinkConfig {
    LinkConfig {
        rate,
        delay: delay_us * MICROSECOND,
        limit: Threshold::packets(100),
        mark: Threshold::packets(10),
        loss: Probability::ZERO,
    }
}

fn links<const N: usize>(layers: [LinkConfig; N]) -> Links<N> {
    let host = (Threshold::packets(1000), Threshold::UNLIMITED);
    Links { layers, host, non_ect: NonEct::Queue }
}

fn build(graph: &Graph) -> Topology {
    graph.topology().expect("a network")
}

fn host(topology: &Topology, name: &str) -> u32 {
    let node = topology.node(name).expect("it is there");
    assert!(node < topology.hosts(), "{name} is a host");
    node
}

/// The shortest paths between two hosts, as names, in their order.
fn paths(topology: &Topology, from: &str, to: &str) -> Vec<String> {
    let paths = ShortestPaths::new(topology);
    let [from, to] = [from, to].map(|name| host(topology, name));
    let names = |k: u32| {
        let route = paths.path(from, to, k).there;
        let first = topology.end_names(route[0])[0].to_owned();
        let rest = route.iter().map(|&p| topology.end_names(p)[1].to_owned());
        [first].into_iter().chain(rest).collect::<Vec<_>>().join(" - ")
    };
    (0..paths.count(from, to)).map(names).collect()
}

/// Propagation both ways on every path between two hosts; they must agree.
fn rtt(topology: &Topology, from: &str, to: &str) -> u64 {
    let all = ShortestPaths::new(topology);
    let [from, to] = [from, to].map(|name| host(topology, name));
    let rtts: Vec<u64> =
        (0..all.count(from, to)).map(|k| topology.base_rtt(&all.path(from, to, k).there, 0, 0)).collect();
    assert!(rtts.windows(2).all(|pair| pair[0] == pair[1]), "{rtts:?}");
    rtts[0] / MICROSECOND
}

/// XMP Fig. 1: four flows over 1 Gbit/s, an RTT of 225 us.
#[test]
fn a_dumbbell_is_pairs_over_one_bottleneck() {
    let bottleneck = LinkConfig { delay: 62_500 * NANOSECOND, ..link(GIGABIT, 0) };
    let topology = build(&Graph::dumbbell(4, &links([link(10 * GIGABIT, 25), bottleneck])));
    assert_eq!((topology.hosts(), topology.network.nodes, topology.configs.len()), (8, 10, 18));
    assert_eq!(topology.node_names[..8].join(" "), "S1 S2 S3 S4 D1 D2 D3 D4");
    for pair in 1..=4 {
        let [from, to] = [format!("S{pair}"), format!("D{pair}")];
        assert_eq!(paths(&topology, &from, &to), [format!("{from} - left - right - {to}")]);
        assert_eq!(rtt(&topology, &from, &to), 225);
    }
    assert_eq!(topology.racks, [0, 0, 0, 0, 1, 1, 1, 1]);
    // Hosts on the left send to hosts on the right: they have only one direction of the bottleneck.
    let tier = narrowest_tier(&topology, |host| host, |from, to| from < 4 && to >= 4).expect("they talk");
    assert_eq!((&*tier.layer, tier.direction, tier.throughput()), ("bottleneck", Direction::Level, 1e9));
    let both = narrowest_tier(&topology, |host| host, |from, to| from / 4 != to / 4).expect("they talk");
    assert_eq!((both.ports, both.throughput()), (2, 2e9));
}

#[test]
fn a_parking_lots_long_pair_crosses_every_bottleneck_and_the_others_one() {
    let topology = build(&Graph::parking_lot(3, &links([link(10 * GIGABIT, 5), link(GIGABIT, 10)])));
    assert_eq!((topology.hosts(), topology.network.nodes, topology.configs.len()), (8, 12, 22));
    let long = "S0 - switch 0 - switch 1 - switch 2 - switch 3 - D0";
    assert_eq!(paths(&topology, "S0", "D0"), [long]);
    assert_eq!((rtt(&topology, "S0", "D0"), rtt(&topology, "S2", "D2")), (80, 40));
    for hop in 1..=3 {
        let [from, to] = [format!("S{hop}"), format!("D{hop}")];
        let wanted = format!("{from} - switch {} - switch {hop} - {to}", hop - 1);
        assert_eq!(paths(&topology, &from, &to), [wanted]);
    }
    let tier = narrowest_tier(&topology, |host| host, |from, to| (from, to) == (0, 4)).expect("they talk");
    assert_eq!((tier.ports, tier.crossings, tier.throughput()), (3, 3.0, 1e9));
}

/// The queue of a host's NIC is not that of a switch's port; a layer's values are those of both directions.
#[test]
fn ports_are_made_as_their_layer_and_their_end_say() {
    let topology = build(&Graph::dumbbell(2, &links([link(10 * GIGABIT, 25), link(GIGABIT, 62)])));
    for (port, &[from, _]) in (0..).zip(&topology.network.ends) {
        let config = topology.configs[port as usize];
        let is_nic = from < topology.hosts();
        let limit = if is_nic { 1000 } else { 100 };
        assert_eq!(config.limit, Threshold::packets(limit));
        let rate = if topology.layer_name(port) == "access" { 10 * GIGABIT } else { GIGABIT };
        assert_eq!(config.rate, rate);
    }
    // The two ports of a link are neighbours.
    let twins: Vec<u32> = (0..topology.configs.len() as u32).map(|p| p ^ 1).collect();
    assert_eq!(topology.twins(), twins);
}

fn port() -> PortConfig {
    PortConfig {
        rate: GIGABIT,
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

/// A graph of nodes `h…` (hosts) and `s…` (switches), and links between their places.
fn graph(names: &[&str], links: &[[usize; 2]]) -> Graph {
    let kind = |name: &str| match name.starts_with('h') {
        true => NodeKind::Host { rack: None, pod: None },
        false => NodeKind::Switch,
    };
    let node = |&name: &&str| Node { name: name.to_owned(), kind: kind(name) };
    let both = links.iter().flat_map(|&[a, b]| [[a, b], [b, a]]);
    Graph {
        nodes: names.iter().map(node).collect(),
        layers: vec!["link".into(), "other".into()],
        ports: both.map(|ends| GraphPort { ends, layer: 0, config: port() }).collect(),
    }
}

#[test]
fn what_is_no_network_is_told_by_name() {
    let error = |graph: Graph| graph.topology().expect_err("no network").to_string();
    let fine = || graph(&["h1", "s", "h2"], &[[0, 1], [1, 2]]);
    assert!(fine().topology().is_ok());
    let with = |change: &dyn Fn(&mut Graph)| {
        let mut graph = fine();
        change(&mut graph);
        error(graph)
    };
    assert_eq!(with(&|g| g.ports[2].ends = [1, 7]), "a link to a node that does not exist");
    assert_eq!(with(&|g| g.ports[2].ends = [1, 1]), "a link from `s` to itself");
    assert_eq!(with(&|g| g.nodes[2].name = "h1".into()), "two nodes are called `h1`");
    assert_eq!(with(&|g| g.ports.truncate(3)), "a link leads from `s` to `h2`, but not back");
    let layers = "the link between `h1` and `s` is in different layers in its two directions";
    assert_eq!(with(&|g| g.ports[1].layer = 1), layers);
    let rack = |g: &mut Graph| g.nodes[0].kind = NodeKind::Host { rack: Some(3), pod: None };
    assert!(with(&rack).starts_with("`h1` has a rack, `h2` has none"));
    assert_eq!(error(graph(&["h1", "s"], &[[0, 1]])), "number of hosts: 1; a network needs at least two");
    assert_eq!(error(graph(&["s1", "s2"], &[[0, 1]])), "number of hosts: 0; a network needs at least two");
    assert_eq!(error(graph(&["h1", "s", "h2"], &[[0, 1]])), "the host `h2` has no link");
    let two = graph(&["h1", "s1", "h2", "h3", "s2", "h4"], &[[0, 1], [1, 2], [3, 4], [4, 5]]);
    assert_eq!(error(two), "the host `h1` cannot reach the host `h3`: hosts do not forward");
    // A host with a link to each side reaches all; those on the sides do not reach each other through it.
    let between = graph(&["h1", "s1", "h2", "s2", "h3"], &[[0, 1], [1, 2], [2, 3], [3, 4]]);
    let wanted = GraphError::Unreachable { node: 0, from: "h1".to_owned(), to: "h3".to_owned() };
    assert_eq!(between.topology().expect_err("no network"), wanted);
    // Back to back there is no switch, and none is needed.
    assert!(graph(&["h1", "h2"], &[[0, 1]]).topology().is_ok());
}

proptest! {
    /// A network is rejected exactly if a search over all paths finds two hosts without one.
    #[test]
    fn every_host_reaches_every_other_or_two_are_named(
        links in prop::collection::vec((0usize..9, 0usize..9), 4..14),
    ) {
        let names = ["h1", "h2", "h3", "h4", "s1", "s2", "s3", "s4", "s5"];
        let links: Vec<_> = links.into_iter().filter(|(a, b)| a != b).map(|(a, b)| [a, b]).collect();
        let reaches = |from: usize, to: usize| {
            let (mut seen, mut open) = ([false; 9], vec![from]);
            while let Some(node) = open.pop() {
                if !std::mem::replace(&mut seen[node], true) && (node == from || node >= 4) {
                    open.extend(links.iter().flat_map(|&[a, b]| [[a, b], [b, a]]).filter(|l| l[0] == node).map(|l| l[1]));
                }
            }
            seen[to]
        };
        let pairs = || (0..4).flat_map(|a| (0..4).map(move |b| (a, b))).filter(|(a, b)| a != b);
        let apart = pairs().find(|&(a, b)| !reaches(a, b));
        match graph(&names, &links).topology() {
            Ok(topology) => {
                prop_assert_eq!(apart, None);
                prop_assert_eq!(ShortestPaths::new(&topology).unreachable(), None);
            }
            Err(GraphError::NoLink { node, .. }) => prop_assert!(links.iter().all(|l| !l.contains(&node))),
            Err(GraphError::Unreachable { from, to, .. }) => {
                let [from, to] = [from, to].map(|name| names.iter().position(|n| *n == name).expect("a node"));
                prop_assert!(!reaches(from, to));
            }
            Err(e) => prop_assert!(false, "{}", e),
        }
    }
}
