//! Ideal completion times: by hand on every topology, and against packets.

use proptest::prelude::*;
use tresse_fabric::{
    Arrival, Ecn, Fabric, FatTree, FatTreeConfig, Header, Loss, Mapping, Network, NonEct, PortConfig,
    Probability, Processing, ShortestPaths, Topology, VirtualHosts, VirtualHostsConfig,
};
use tresse_lab::engine::ideal::Ideals;
use tresse_sim::Step;
use tresse_units::{MICROSECOND, NEVER, SECOND, Time};

use crate::alone::{GIGABIT, HEADER, MSS, UNLIMITED, alone, leaf_spine};

/// A full packet at 1 Gbit/s.
const PACKET: Time = 12 * MICROSECOND;

fn fat_tree(k: u32, rate: [u64; 3]) -> Topology {
    let config = FatTreeConfig {
        k,
        rate,
        delay: [20, 30, 40].map(|us| us * MICROSECOND),
        limit: [UNLIMITED; 3],
        mark: [UNLIMITED; 3],
        host: (UNLIMITED, UNLIMITED),
        non_ect: NonEct::Queue,
        loss: [Probability::ZERO; 3],
    };
    FatTree::new(config).expect("valid").topology()
}

fn ideal(topology: &Topology, from: u32, to: u32, bytes: u64) -> Time {
    Ideals::new(topology, MSS, HEADER).time(from, to, bytes).expect("there is a path")
}

#[test]
fn in_a_fat_tree_the_hosts_links_are_the_narrowest() {
    let tree = fat_tree(4, [GIGABIT; 3]);
    let message = 100 * u64::from(MSS);
    // The first packet at each hop, and 99 more.
    for (to, links, delays) in [(1, 2, 2 * 20), (2, 4, 2 * (20 + 30)), (4, 6, 2 * (20 + 30 + 40))] {
        assert_eq!(ideal(&tree, 0, to, message), delays * MICROSECOND + (links + 99) * PACKET, "to {to}");
        // A message of 960 bytes is a packet of 1000, which takes 8 us.
        assert_eq!(ideal(&tree, 0, to, 960), (delays + links * 8) * MICROSECOND, "to {to}");
        // One byte more than a packet: 41 bytes of a second packet.
        let one_more = delays * MICROSECOND + links * PACKET + 41 * 8 * SECOND / GIGABIT;
        assert_eq!(ideal(&tree, 0, to, u64::from(MSS) + 1), one_more, "to {to}");
    }
}

#[test]
fn several_paths_count_together() {
    // Two links of 250 Mbit/s to the aggregation switches: 500; and four of 100 to the core: 400.
    let tree = fat_tree(4, [GIGABIT, 250_000_000, 100_000_000]);
    let message = 11 * u64::from(MSS);
    let (slow, slower) = (4 * PACKET, 10 * PACKET);
    let rest = |rate| 10 * 1500 * 8 * SECOND / rate;
    assert_eq!(ideal(&tree, 0, 2, message), 100 * MICROSECOND + 2 * (PACKET + slow) + rest(500_000_000));
    let across = 180 * MICROSECOND + 2 * (PACKET + slow + slower) + rest(400_000_000);
    assert_eq!(ideal(&tree, 0, 4, message), across);
}

#[test]
fn an_oversubscribed_leaf_is_the_narrowest_until_a_link_is_missing() {
    let mut network = leaf_spine(2, [GIGABIT, 250_000_000]);
    let message = 11 * u64::from(MSS);
    let first = 30 * MICROSECOND + 2 * PACKET + 2 * 4 * PACKET;
    assert_eq!(ideal(&network, 0, 2, message), first + 10 * 2 * PACKET, "500 Mbit/s together");
    assert_eq!(ideal(&network, 0, 1, message), 20 * MICROSECOND + 12 * PACKET, "one leaf");
    // From leaf 0 only one way is left, though spine 0 still has a link to leaf 1.
    let [leaf, spine] = ["leaf 0", "spine 0"].map(|name| network.node(name).expect("it is there"));
    network.remove(&network.ports_between(leaf, spine));
    assert_eq!(ideal(&network, 0, 2, message), first + 10 * 4 * PACKET);
    let [leaf, spine] = ["leaf 0", "spine 1"].map(|name| network.node(name).expect("it is there"));
    network.remove(&network.ports_between(leaf, spine));
    assert_eq!(Ideals::new(&network, MSS, HEADER).time(0, 2, message), None, "no way is left");
}

#[test]
fn of_the_shortest_paths_the_fastest_has_the_first_packet() {
    let mut network = leaf_spine(2, [GIGABIT; 2]);
    let spine = network.node("spine 1").expect("it is there");
    for port in 0..network.configs.len() {
        if network.network.ends[port].contains(&spine) {
            network.configs[port].delay = MICROSECOND;
        }
    }
    assert_eq!(ideal(&network, 0, 2, 1460), 22 * MICROSECOND + 4 * PACKET);
}

/// Two physical NICs on each of two hosts, with caps of 250 Mbit/s on virtual ones.
fn virtual_hosts(mapping: [Mapping; 2]) -> Topology {
    let config = VirtualHostsConfig {
        hosts: 2,
        nics: 2,
        machines: 1,
        virtual_nics: 2,
        mapping: mapping.to_vec(),
        rate: [250_000_000, GIGABIT, 4 * GIGABIT],
        receive: None,
        delay: [MICROSECOND, 2 * MICROSECOND, 3 * MICROSECOND],
        limit: [UNLIMITED; 3],
        mark: [UNLIMITED; 3],
        host: (UNLIMITED, UNLIMITED),
        non_ect: NonEct::Queue,
        loss: [Probability::ZERO; 3],
        spare: Vec::new(),
    };
    VirtualHosts::new(config).expect("valid").topology()
}

#[test]
fn all_virtual_nics_of_a_machine_count() {
    let message = 11 * u64::from(MSS);
    // 250 Mbit/s at the cap, then 1 Gbit/s: no trunk on the fastest way. Two caps together have 500.
    let expected = 6 * MICROSECOND + 4 * PACKET + 3 * PACKET + 10 * 2 * PACKET;
    for mapping in [
        [Mapping::Disjoint, Mapping::Disjoint],
        // Both on one physical NIC, which has room for both; so has that of the receiver.
        [Mapping::Shared, Mapping::Shared],
        // One of the ways leads over a trunk.
        [Mapping::Disjoint, Mapping::Shared],
    ] {
        assert_eq!(ideal(&virtual_hosts(mapping), 0, 1, message), expected, "{mapping:?}");
    }
}

#[test]
fn a_host_with_two_links_counts_both() {
    // Host 0 has a link to each of two switches, host 1 too, and host 2 to the first one.
    let topology = network(3, 2, &[[0, 3], [0, 4], [1, 3], [1, 4], [2, 3]], &[GIGABIT; 5]);
    let message = 11 * u64::from(MSS);
    let first = 2 * MICROSECOND + 2 * PACKET;
    assert_eq!(ideal(&topology, 0, 1, message), first + 5 * PACKET);
    assert_eq!(ideal(&topology, 0, 2, message), first + 10 * PACKET);
    assert_eq!(ideal(&topology, 2, 1, message), first + 10 * PACKET);
    // A link between two hosts is their shortest path.
    let direct = network(2, 1, &[[0, 2], [1, 2], [0, 1]], &[GIGABIT; 3]);
    assert_eq!(ideal(&direct, 0, 1, message), MICROSECOND + 11 * PACKET);
}

/// What was asked before changes no answer.
#[test]
fn answers_do_not_depend_on_their_order() {
    let tree = fat_tree(4, [GIGABIT, GIGABIT / 2, GIGABIT / 3]);
    let mut ideals = Ideals::new(&tree, MSS, HEADER);
    for from in 0..16 {
        for to in (0..16).filter(|&to| to != from) {
            assert_eq!(
                ideals.time(from, to, 100_000),
                Some(ideal(&tree, from, to, 100_000)),
                "{from} to {to}"
            );
        }
    }
}

fn completion(topology: &Topology, from: u32, to: u32, bytes: u64) -> Time {
    match alone(topology, from, to, bytes).advance(NEVER, u64::MAX) {
        Step::Finished(record) => record.end - record.start,
        step => panic!("{step:?}"),
    }
}

#[test]
fn a_flow_alone_takes_exactly_its_ideal_time() {
    let message = 500 * u64::from(MSS);
    for (network, from, to, bytes) in [
        (fat_tree(2, [GIGABIT; 3]), 0, 1, 1),
        (fat_tree(2, [GIGABIT; 3]), 0, 1, message - 1000),
        // The core is the narrowest, or the host's link.
        (fat_tree(2, [4 * GIGABIT, 2 * GIGABIT, GIGABIT]), 0, 1, message),
        (fat_tree(2, [GIGABIT, 2 * GIGABIT, 4 * GIGABIT]), 0, 1, message - 1000),
        (leaf_spine(1, [GIGABIT, 250_000_000]), 0, 3, message),
        (leaf_spine(1, [10 * GIGABIT, 40 * GIGABIT]), 0, 3, message - 1),
        (fat_tree(4, [GIGABIT; 3]), 2, 3, message - 1459),
    ] {
        let ideal = ideal(&network, from, to, bytes);
        assert_eq!(completion(&network, from, to, bytes), ideal, "{bytes} bytes");
    }
}

fn network(hosts: u32, switches: u32, links: &[[u32; 2]], rates: &[u64]) -> Topology {
    let ends: Vec<[u32; 2]> = links.iter().flat_map(|&[a, b]| [[a, b], [b, a]]).collect();
    let port = |rate: u64| PortConfig {
        rate,
        delay: MICROSECOND,
        limit: UNLIMITED,
        mark: UNLIMITED,
        non_ect: NonEct::Queue,
        drop_until: None,
        processing: Processing::NONE,
        red: None,
        loss: Loss::NONE,
    };
    Topology {
        configs: rates.iter().flat_map(|&rate| [port(rate); 2]).collect(),
        streams: (0..ends.len() as u32).collect(),
        layers: vec![0; ends.len()],
        layer_names: vec!["link".into()],
        node_names: (0..hosts + switches).map(|n| format!("node {n}")).collect(),
        racks: (0..hosts).collect(),
        pods: vec![0; hosts as usize],
        network: Network { hosts, nodes: hosts + switches, ends },
    }
}

/// Two hosts among up to six switches, whose links have rates from 100 Mbit/s to 10 Gbit/s.
fn networks() -> impl Strategy<Value = Topology> {
    let link = ((0u32..8, 0u32..8), prop::sample::select(vec![1, 2, 10, 25, 100]));
    prop::collection::vec(link, 3..20).prop_map(|links| {
        let apart = links.into_iter().filter(|((a, b), _)| a != b);
        let (links, rates): (Vec<_>, Vec<_>) = apart.map(|((a, b), r)| ([a, b], r * GIGABIT / 10)).unzip();
        network(2, 6, &links, &rates)
    })
}

proptest! {
    /// However packets are spread over the shortest paths, they do not beat the ideal by more than the
    /// transmission of one of them.
    #[test]
    fn no_choice_of_ways_beats_the_ideal(topology in networks(), choice in prop::collection::vec(any::<u32>(), 1..60)) {
        let paths = ShortestPaths::new(&topology);
        let bytes = choice.len() as u64 * u64::from(MSS);
        let ideal = Ideals::new(&topology, MSS, HEADER).time(0, 1, bytes);
        prop_assert_eq!(ideal.is_some(), paths.count(0, 1) > 0);
        let Some(ideal) = ideal else { return Ok(()) };
        let mut fabric = Fabric::<u32>::new(&topology.ports(1), paths.longest(), 1);
        for choice in choice {
            let route = fabric.add_route(&paths.path(0, 1, choice % paths.count(0, 1)).there);
            let header = Header::new(MSS + HEADER, Ecn::NotEct);
            prop_assert!(fabric.send(route, header, 0));
        }
        while let Some(arrival) = fabric.advance(NEVER, &()) {
            prop_assert!(matches!(arrival, Arrival::Delivered(_)));
        }
        let slowest = topology.configs.iter().map(|c| c.rate).min().expect("a link");
        let packet = 1500 * 8 * SECOND / slowest;
        prop_assert!(fabric.now() + packet >= ideal, "{} and {packet} against {ideal}", fabric.now());
    }
}

/// The number of links from a node to each other one, or back to it; hosts pass nothing on.
fn distances(topology: &Topology, start: u32, back: bool) -> Vec<u32> {
    let network = &topology.network;
    let mut distances = vec![u32::MAX; network.nodes as usize];
    distances[start as usize] = 0;
    let mut nearest = vec![start];
    while let Some(near) = nearest.first().copied() {
        nearest.remove(0);
        if near != start && near < network.hosts {
            continue;
        }
        for &[a, b] in &network.ends {
            let [from, to] = if back { [b, a] } else { [a, b] };
            if from == near && distances[to as usize] == u32::MAX {
                distances[to as usize] = distances[near as usize] + 1;
                nearest.push(to);
            }
        }
    }
    distances
}

/// The ideal of full packets, link by link: those on shortest paths, by their distance from the sender.
fn link_by_link(topology: &Topology, [from, to]: [u32; 2], packets: u64) -> Option<Time> {
    let network = &topology.network;
    let [there, back] = [distances(topology, from, false), distances(topology, to, true)];
    let length = there[to as usize];
    let mut rates = vec![0; length.checked_add(1)? as usize - 1];
    // By node: when the first packet is there.
    let mut first = vec![Time::MAX; network.nodes as usize];
    first[from as usize] = 0;
    for distance in 0..length {
        for (port, &[near, far]) in network.ends.iter().enumerate() {
            let leads = near == from || near >= network.hosts;
            let rest = back[far as usize].saturating_add(distance + 1);
            if leads && there[near as usize] == distance && rest == length {
                let config = topology.configs[port];
                rates[distance as usize] += config.rate;
                let packet = u64::from(MSS + HEADER) * 8 * SECOND / config.rate;
                let time = first[near as usize] + config.delay + packet;
                first[far as usize] = first[far as usize].min(time);
            }
        }
    }
    let rest = (packets - 1) * u64::from(MSS + HEADER) * 8;
    let narrowest = u128::from(*rates.iter().min()?);
    Some(first[to as usize] + (u128::from(rest) * u128::from(SECOND) / narrowest) as Time)
}

/// A fat tree or a leaf-spine fabric; some links are missing, others have another rate or delay, in one direction only.
fn changed_fabrics() -> impl Strategy<Value = Topology> {
    let rates = prop::sample::select(vec![[GIGABIT; 3], [GIGABIT, GIGABIT / 4, GIGABIT / 10]]);
    let fabric = (0..3, rates).prop_map(|(kind, rates)| match kind {
        0 => fat_tree(4, rates),
        1 => fat_tree(6, rates),
        _ => leaf_spine(8, [rates[0], rates[1]]),
    });
    (fabric, prop::collection::vec((any::<prop::sample::Index>(), 0..3), 0..4)).prop_map(
        |(mut fabric, changes)| {
            for (link, what) in changes {
                let port = link.index(fabric.configs.len());
                let [a, b] = fabric.network.ends[port];
                match what {
                    0 if a.min(b) >= fabric.network.hosts => {
                        fabric.remove(&fabric.ports_between(a, b));
                    }
                    1 => fabric.configs[port].delay = MICROSECOND,
                    _ => fabric.configs[port].rate = GIGABIT / 3,
                }
            }
            fabric
        },
    )
}

proptest! {
    /// Switches that are alike are looked at once; that changes no answer.
    #[test]
    fn it_is_what_all_links_say(topology in changed_fabrics(), pairs in prop::collection::vec(any::<[u32; 2]>(), 1..10)) {
        let mut ideals = Ideals::new(&topology, MSS, HEADER);
        for pair in pairs {
            let pair = pair.map(|host| host % topology.network.hosts);
            if pair[0] != pair[1] {
                let ideal = ideals.time(pair[0], pair[1], 11 * u64::from(MSS));
                let expected = link_by_link(&topology, pair, 11);
                prop_assert_eq!(ideal.is_some(), expected.is_some(), "{:?}", pair);
                if let Some((ideal, expected)) = ideal.zip(expected) {
                    // Each of six hops is rounded.
                    prop_assert!(ideal.abs_diff(expected) <= 7, "{:?}: {} instead of {}", pair, ideal, expected);
                }
            }
        }
    }
}
