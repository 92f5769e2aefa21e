//! Large networks: the cost of building them.
//! `cargo test --release -p tresse-fabric --test it large -- --ignored --nocapture`

use tresse_fabric::{
    Balancing, FatTree, FatTreeConfig, Graph, GraphPort, LeafSpine, Node, NodeKind, NonEct, Probability,
    ShortestPaths, Threshold, Topology, bisection, narrowest_tier,
};
use tresse_units::MICROSECOND;

const GIGABIT: u64 = 1_000_000_000;

fn fat_tree(k: u32) -> FatTree {
    FatTree::new(FatTreeConfig {
        k,
        rate: [10 * GIGABIT; 3],
        delay: [MICROSECOND; 3],
        limit: [Threshold::packets(100); 3],
        mark: [Threshold::packets(10); 3],
        host: (Threshold::packets(1000), Threshold::UNLIMITED),
        non_ect: NonEct::Queue,
        loss: [Probability::ZERO; 3],
    })
    .expect("an even k")
}

fn leaf_spine() -> Topology {
    let config = LeafSpine {
        leaves: 40,
        spines: 20,
        hosts_per_leaf: 50,
        rate: [GIGABIT; 2],
        delay: [MICROSECOND; 2],
        limit: [Threshold::packets(100); 2],
        mark: [Threshold::packets(10); 2],
        host: (Threshold::packets(1000), Threshold::UNLIMITED),
        non_ect: NonEct::Queue,
        loss: [Probability::ZERO; 2],
    };
    config.topology().expect("a leaf-spine")
}

/// The same network as a graph, as a file would have it.
fn as_graph(topology: &Topology) -> Graph {
    let hosts = topology.hosts();
    let kind = |n: u32| match n < hosts {
        true => NodeKind::Host { rack: Some(topology.racks[n as usize]), pod: None },
        false => NodeKind::Switch,
    };
    let node = |(n, name): (u32, &String)| Node { name: name.clone(), kind: kind(n) };
    let ports = topology.network.ends.iter().zip(&topology.configs).zip(&topology.layers);
    Graph {
        nodes: (0..).zip(&topology.node_names).map(node).collect(),
        layers: topology.layer_names.clone(),
        ports: ports
            .map(|((ends, &config), &layer)| GraphPort { ends: ends.map(|n| n as usize), layer, config })
            .collect(),
    }
}

/// Prints how long `work` took; the limit is that of the whole network, in release builds.
#[expect(clippy::disallowed_methods, reason = "how long the work takes is what is tested")]
fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = std::time::Instant::now();
    let result = work();
    let took = start.elapsed();
    println!("{what}: {took:?}");
    assert!(took.as_secs_f64() < 2.0, "{what}: {took:?}");
    result
}

#[test]
#[ignore = "times a release build"]
fn a_fat_tree_of_8192_hosts_is_built_soon() {
    let tree = timed("k = 32", || fat_tree(32).topology());
    assert_eq!((tree.hosts(), tree.configs.len()), (8192, 49_152 * 2 - 49_152));
    let paths = timed("its shortest paths", || ShortestPaths::new(&tree));
    assert_eq!(paths.count(0, 8191), 256);
    timed("a copy of them", || paths.clone());
    timed("its twins", || tree.twins());
    timed("a fabric that decides for each packet", || {
        let fabric: tresse_fabric::Fabric<()> =
            tresse_fabric::Fabric::new(&tree.ports(1), paths.longest(), 1);
        fabric.with_forwarding(tree.network.clone(), Balancing::Ecmp, 1)
    });
    timed("it without a thousand links", || {
        let mut tree = tree.clone();
        let gone: Vec<u32> = (0..1000)
            .flat_map(|n| {
                let [edge, aggregation] =
                    [format!("edge {}", n / 2), format!("aggregation {}", n / 2 / 16 * 16 + n % 16)];
                let [a, b] = [edge, aggregation].map(|name| tree.node(&name).expect("it is there"));
                tree.ports_between(a, b)
            })
            .collect();
        tree.remove(&gone);
    });
    let graph = as_graph(&tree);
    timed("the same as a graph", || graph.topology().expect("a network"));
    timed("its narrowest tier", || {
        narrowest_tier(&tree, |host| host, |a, b| tree.racks[a as usize] != tree.racks[b as usize])
    });
    timed("its bisection bandwidth", || assert_eq!(bisection(&tree), 4096 * 10 * GIGABIT));
    timed("its base RTTs", || {
        let mut pairs = 0u64;
        paths.spans(|_| 1, |_| 0, |_, _, more, _| pairs += more);
        assert_eq!(pairs, 8192 * 8191);
    });
}

#[test]
#[ignore = "times a release build"]
fn opns_leaf_spine_of_2000_hosts_is_built_soon() {
    let topology = timed("40 x 20 x 2000", leaf_spine);
    timed("its shortest paths", || ShortestPaths::new(&topology));
    let graph = as_graph(&topology);
    timed("the same as a graph", || graph.topology().expect("a network"));
    timed("its narrowest tier", || {
        let tier = narrowest_tier(
            &topology,
            |host| host,
            |a, b| topology.racks[a as usize] != topology.racks[b as usize],
        );
        assert_eq!(tier.expect("they talk").capacity, 800 * GIGABIT);
    });
    timed("its bisection bandwidth", || assert_eq!(bisection(&topology), 400 * GIGABIT));
}
