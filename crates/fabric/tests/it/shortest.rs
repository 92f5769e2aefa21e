//! Shortest paths against a search through all paths, on random networks, and against the fat tree's own.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tresse_fabric::{
    FatTree, FatTreeConfig, Loss, Network, NonEct, PortConfig, Probability, Processing, ShortestPaths,
    Spread, Threshold, Topology,
};
use tresse_units::MICROSECOND;

fn topology(hosts: u32, switches: u32, links: &[[u32; 2]]) -> Topology {
    let ends: Vec<[u32; 2]> = links.iter().flat_map(|&[a, b]| [[a, b], [b, a]]).collect();
    let port = PortConfig {
        rate: 1_000_000_000,
        delay: MICROSECOND,
        limit: Threshold::UNLIMITED,
        mark: Threshold::UNLIMITED,
        non_ect: NonEct::Queue,
        drop_until: None,
        processing: Processing::NONE,
        red: None,
        loss: Loss::NONE,
    };
    Topology {
        configs: vec![port; ends.len()],
        streams: (0..ends.len() as u32).collect(),
        layers: vec![0; ends.len()],
        layer_names: vec!["link".into()],
        node_names: (0..hosts + switches).map(|n| format!("node {n}")).collect(),
        racks: (0..hosts).collect(),
        pods: vec![0; hosts as usize],
        network: Network { hosts, nodes: hosts + switches, ends },
    }
}

/// Every path from `from` to `to` without a node twice and through no third host.
fn all_paths(topology: &Topology, from: u32, to: u32) -> Vec<Vec<u32>> {
    let ends = &topology.network.ends;
    let mut open: Vec<Vec<u32>> = vec![Vec::new()];
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        let at = path.last().map_or(from, |&p: &u32| ends[p as usize][1]);
        if at == to {
            found.push(path);
            continue;
        }
        if at < topology.hosts() && at != from {
            continue;
        }
        for (port, &[start, end]) in (0..).zip(ends) {
            let seen = end == from || path.iter().any(|&p| ends[p as usize][1] == end);
            if start == at && !seen {
                open.push(path.iter().copied().chain([port]).collect());
            }
        }
    }
    found
}

prop_compose! {
    /// Up to five hosts and six switches, hosts with one link or two, links in parallel too.
    fn networks()(hosts in 2u32..6, switches in 1u32..7)(
        links in prop::collection::vec((0..hosts + switches, 0..hosts + switches), 1..16),
        homes in prop::collection::vec(hosts..hosts + switches, hosts as usize),
        hosts in Just(hosts),
        switches in Just(switches),
    ) -> Topology {
        let homes = (0..).zip(homes).map(|(host, switch)| [host, switch]);
        let links = links.into_iter().filter(|(a, b)| a != b).map(|(a, b)| [a, b]);
        topology(hosts, switches, &homes.chain(links).collect::<Vec<_>>())
    }
}

proptest! {
    #[test]
    fn the_shortest_paths_are_those_of_a_search(topology in networks()) {
        let paths = ShortestPaths::new(&topology);
        let (mut most, mut longest) = (0, 0);
        let mut apart = None;
        for from in 0..topology.hosts() {
            for to in (0..topology.hosts()).filter(|&to| to != from) {
                let all = all_paths(&topology, from, to);
                let shortest = all.iter().map(Vec::len).min().unwrap_or(0);
                let wanted: BTreeSet<Vec<u32>> = all.into_iter().filter(|p| p.len() == shortest).collect();
                let count = paths.count(from, to);
                let routes: Vec<_> = (0..count).map(|k| paths.path(from, to, k)).collect();
                // In the order of their ports' numbers.
                let got: Vec<Vec<u32>> = routes.iter().map(|r| r.there.clone()).collect();
                prop_assert_eq!(got, wanted.into_iter().collect::<Vec<_>>());
                for route in routes {
                    let ends = |ports: &[u32]| -> Vec<[u32; 2]> {
                        ports.iter().map(|&p| topology.network.ends[p as usize]).collect()
                    };
                    let back: Vec<_> = ends(&route.back).into_iter().rev().map(|[a, b]| [b, a]).collect();
                    prop_assert_eq!(ends(&route.there), back);
                }
                most = most.max(count);
                longest = longest.max(shortest);
                apart = apart.or((count == 0).then_some((from, to)));
            }
        }
        prop_assert_eq!(paths.most(), most.max(1));
        prop_assert!((longest..=longest.max(1) + 1).contains(&paths.longest()));
        prop_assert_eq!(paths.unreachable(), apart);
    }
}

/// Two-level routing over all addresses takes exactly the shortest paths.
#[test]
fn a_fat_trees_shortest_paths_are_those_of_its_addresses() {
    let tree = FatTree::new(FatTreeConfig {
        k: 4,
        rate: [1_000_000_000; 3],
        delay: [MICROSECOND; 3],
        limit: [Threshold::UNLIMITED; 3],
        mark: [Threshold::UNLIMITED; 3],
        host: (Threshold::UNLIMITED, Threshold::UNLIMITED),
        non_ect: NonEct::Queue,
        loss: [Probability::ZERO; 3],
    })
    .expect("an even k");
    let paths = ShortestPaths::new(&tree.topology());
    assert_eq!((paths.most(), paths.longest()), (4, 6));
    for from in 0..16 {
        for to in (0..16).filter(|&to| to != from) {
            let addresses = 0..tree.addresses(Spread::Core);
            let by_address: BTreeSet<Vec<u32>> = addresses.map(|a| tree.route(from, to, a)).collect();
            let count = paths.count(from, to);
            let shortest: BTreeSet<_> = (0..count).map(|k| paths.path(from, to, k).there).collect();
            assert_eq!((shortest, count), (by_address, tree.paths(from, to)));
        }
    }
}

proptest! {
    /// The least and the greatest cost over the paths of each pair equal those found by enumeration.
    #[test]
    fn spans_are_those_of_all_shortest_paths(topology in networks()) {
        let paths = ShortestPaths::new(&topology);
        let cost = |port: u32| u64::from(port * 7919 % 13);
        let mut pairs = BTreeSet::new();
        let mut wrong = Vec::new();
        paths.spans(cost, |host| host, |from, to, _, span| {
            let costs = (0..paths.count(from, to)).map(|k| paths.path(from, to, k).there.iter().map(|&p| cost(p)).sum());
            let costs: Vec<u64> = costs.collect();
            if [costs.iter().min(), costs.iter().max()] != span.each_ref().map(Some) {
                wrong.push((from, to, span));
            }
            pairs.insert((from, to));
        });
        prop_assert!(wrong.is_empty(), "{:?}", wrong);
        let hosts = 0..topology.hosts();
        let all = hosts.clone().flat_map(|a| hosts.clone().map(move |b| (a, b)));
        let reach: BTreeSet<_> = all.filter(|&(a, b)| paths.count(a, b) > 0).collect();
        prop_assert_eq!(pairs, reach);
    }
}
