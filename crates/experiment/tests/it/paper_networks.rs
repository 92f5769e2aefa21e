//! The networks of the papers: which paths their hosts have, in which order.

use tresse_experiment::{Profile, Source, load, resolve};
use tresse_fabric::{ShortestPaths, Topology};
use tresse_units::MICROSECOND;

/// The network of an experiment with this `[fabric]`.
fn network(name: &str, links: &str) -> Topology {
    let text = format!(
        "title = \"t\"\n[fabric]\ntopology = \"{name}\"\n{links}\nqueue = \"100pkt\"\nhost_queue = \"1000pkt\"\n\
         [transport]\nprofile = \"linux\"\n[schemes.xmp]\ncontroller = \"xmp\"\n\
         [workloads.p]\npattern = \"permutation\"\nsize = \"1MB\"\n"
    );
    let loaded = load(Source { name: "t.toml".to_owned(), text }, Profile::Full, &[]).expect("valid");
    resolve(&loaded, &[]).expect("valid").fabric().clone()
}

fn node(topology: &Topology, name: &str) -> u32 {
    topology.node(name).expect("it is there")
}

/// The shortest paths between two hosts, as names, in their order.
fn paths(topology: &Topology, from: &str, to: &str) -> Vec<String> {
    let paths = ShortestPaths::new(topology);
    let [from, to] = [from, to].map(|name| node(topology, name));
    let names = |k: u32| {
        let route = paths.path(from, to, k).there;
        let first = topology.end_names(route[0])[0].to_owned();
        let rest = route.iter().map(|&p| topology.end_names(p)[1].to_owned());
        [first].into_iter().chain(rest).collect::<Vec<_>>().join(" - ")
    };
    (0..paths.count(from, to)).map(names).collect()
}

/// Propagation both ways on every path between two hosts, us; they must agree.
fn rtt(topology: &Topology, from: &str, to: &str) -> u64 {
    let all = ShortestPaths::new(topology);
    let [from, to] = [from, to].map(|name| node(topology, name));
    let rtts: Vec<u64> =
        (0..all.count(from, to)).map(|k| topology.base_rtt(&all.path(from, to, k).there, 0, 0)).collect();
    assert!(rtts.windows(2).all(|pair| pair[0] == pair[1]), "{rtts:?}");
    rtts[0] / MICROSECOND
}

/// XMP §4: 300 Mbit/s, 1.8 ms, so a BDP of 45 packets.
#[test]
fn xmps_testbeds_have_its_flows_paths() {
    let links = "rate = { access = \"1Gbps\", bottleneck = \"300Mbps\" }\ndelay = \"300us\"";
    let a = network("xmp-testbed-a", links);
    assert_eq!(a.node_names[..10].join(" "), "S1 S2 S3 B1 B2 D1 D2 D3 C1 C2");
    for (from, to, over) in
        [("S1", "D1", "DN1"), ("S3", "D3", "DN2"), ("B1", "C1", "DN1"), ("B2", "C2", "DN2")]
    {
        assert_eq!(paths(&a, from, to), [format!("{from} - {over} in - {over} out - {to}")]);
        assert_eq!(rtt(&a, from, to), 1800);
    }
    let flow2 = ["DN1", "DN2"].map(|over| format!("S2 - {over} in - {over} out - D2"));
    assert_eq!(paths(&a, "S2", "D2"), flow2);
    let b = network("xmp-testbed-b", links);
    for flow in 1..=4 {
        let [from, to] = [format!("S{flow}"), format!("D{flow}")];
        assert_eq!(paths(&b, &from, &to), [format!("{from} - DN in - DN out - {to}")]);
        assert_eq!(rtt(&b, &from, &to), 1800);
    }
    let bdp_bits = 300_000_000 * rtt(&b, "S1", "D1") / 1_000_000;
    assert_eq!(bdp_bits / 8 / 1500, 45);
}

/// XMP §5.1: every path has an RTT of 350 us, and a BDP of 15 to 60 packets.
#[test]
fn xmps_torus_has_two_paths_for_each_flow_over_neighbouring_bottlenecks() {
    let topology = network(
        "xmp-torus",
        "rate = { access = \"10Gbps\", L1 = \"0.8Gbps\", L2 = \"1.2Gbps\", L3 = \"2Gbps\", L4 = \"1.5Gbps\", L5 = \"0.5Gbps\" }\n\
         delay = { access = \"50us\", L1 = \"75us\", L2 = \"75us\", L3 = \"75us\", L4 = \"75us\", L5 = \"75us\" }",
    );
    assert_eq!(topology.hosts(), 18);
    assert_eq!(topology.layer_names.join(" "), "access L1 L2 L3 L4 L5");
    for flow in 1..=5 {
        let [from, to] = [format!("S{flow}"), format!("D{flow}")];
        let over = [flow, flow % 5 + 1].map(|l| format!("{from} - L{l} in - L{l} out - {to}"));
        assert_eq!(paths(&topology, &from, &to), over);
        assert_eq!(rtt(&topology, &from, &to), 350);
    }
    for flow in 1..=4 {
        let [from, to] = [format!("B{flow}"), format!("C{flow}")];
        assert_eq!(paths(&topology, &from, &to), [format!("{from} - L3 in - L3 out - {to}")]);
        assert_eq!(rtt(&topology, &from, &to), 350);
    }
    let port = |l: u32| {
        let [start, end] = ["in", "out"].map(|end| node(&topology, &format!("L{l} {end}")));
        topology.ports_between(start, end)[0]
    };
    let bdp = |l| topology.rate(port(l)) * 350 / 1_000_000 / 8 / 1500;
    assert_eq!((1..=5).map(bdp).collect::<Vec<_>>(), [23, 35, 58, 43, 14]);
    assert_eq!(
        (1..=5).map(|l| topology.layer_name(port(l))).collect::<Vec<_>>(),
        ["L1", "L2", "L3", "L4", "L5"]
    );
}

/// THESIS §2.4: x11 has 60 Mbit/s for itself, x12 and x2 share 100 Mbit/s; §3.4.2 and §4.4: C1 and C2.
#[test]
fn the_thesiss_networks_have_a_private_link_and_a_shared_one() {
    let of = "rate = { access = \"1Gbps\", private = \"60Mbps\", shared = \"100Mbps\" }\ndelay = \"10us\"";
    let b = network("thesis-2.2b", of);
    let over = ["private", "shared"].map(|over| format!("S1 - {over} in - {over} out - D1"));
    assert_eq!(paths(&b, "S1", "D1"), over);
    assert_eq!(paths(&b, "S2", "D2"), ["S2 - shared in - shared out - D2"]);
    let a = network("thesis-2.2a", "rate = \"100Mbps\"\ndelay = \"10us\"");
    assert_eq!(paths(&a, "S2", "D2"), ["S2 - left - right - D2"]);
    for (name, multipath, tcp) in [("thesis-3.2", "S1", "S2"), ("thesis-4.2", "S2", "S1")] {
        let topology = network(name, of);
        assert_eq!(topology.node_names[..3], [multipath, tcp, "D"]);
        assert_eq!(topology.layer_names.join(" "), "access private shared");
        assert_eq!(
            paths(&topology, multipath, "D"),
            [format!("{multipath} - a - D"), format!("{multipath} - b - D")]
        );
        assert_eq!(paths(&topology, tcp, "D"), [format!("{tcp} - b - D")]);
        // Two links of 10 us, there and back.
        assert_eq!((rtt(&topology, multipath, "D"), rtt(&topology, tcp, "D")), (40, 40));
        let [a, b, d] = ["a", "b", "D"].map(|name| node(&topology, name));
        let rate = |switch| topology.rate(topology.ports_between(switch, d)[0]);
        assert_eq!([a, b].map(rate), [60_000_000, 100_000_000]);
        assert_eq!(topology.racks, [0, 0, 1]);
    }
    let users = network("thesis-3.2-users", of);
    assert_eq!(users.node_names[..11].join(" "), "S1.1 S1.2 S1.3 S1.4 S1.5 S2.1 S2.2 S2.3 S2.4 S2.5 D");
    assert_eq!((paths(&users, "S1.5", "D").len(), paths(&users, "S2.3", "D").len()), (2, 1));
    assert_eq!(users.racks, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
}
