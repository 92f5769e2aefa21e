//! Networks from files: networkx's output is read, and errors are reported with their line.

use std::fs;

use tresse_exchange::export::graph::{GraphFormat, graph_text};
use tresse_experiment::read::paper_networks;
use tresse_experiment::{Profile, Source, find, load, resolve};
use tresse_fabric::{ShortestPaths, Threshold, Topology};
use tresse_units::{MICROSECOND, MILLISECOND};

const GIGABIT: u64 = 1_000_000_000;

/// An experiment on `file` with these keys in `[fabric]`.
pub fn experiment(file: &str, keys: &str) -> String {
    format!(
        r#"title = "t"
[fabric]
topology = "file"
file = "{file}"
host_queue = "1000pkt"
{keys}
[transport]
mss = "1460B"
header = "40B"
ack = "40B"
initial_window = "10pkt"
rto_min = "10ms"
rto_initial = "1s"
rto_max = "60s"
recovery = "newreno"
reduction = "immediate"
ack_every = "2pkt"
ack_timer = "40ms"
quick_acks = "16pkt"
[schemes.reno]
controller = "reno"
subflows = 1
[workloads.permutation]
pattern = "permutation"
size = "300kB"
rounds = 1
"#
    )
}

/// The network of a file with this text.
fn topology(text: &str, keys: &str) -> Result<Topology, String> {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("net"), text).expect("it can be written");
    let path = dir.path().join("t.toml");
    fs::write(&path, experiment("net", keys)).expect("it can be written");
    let source = find(path.to_str().expect("UTF-8")).expect("it is there");
    let folder = format!("{}/", dir.path().display());
    let loaded = load(source, Profile::Full, &[]).map_err(|e| e.to_string().replace(&folder, ""))?;
    Ok(resolve(&loaded, &[]).map_err(|e| e.to_string().replace(&folder, ""))?.fabric().clone())
}

/// Links as `from - to: layer, rate, limit`, in the order of the ports.
fn links(topology: &Topology) -> Vec<String> {
    let link = |port: u32| {
        let [from, to] = topology.end_names(port);
        format!("{from} - {to}: {} {}", topology.layer_name(port), topology.rate(port))
    };
    (0..topology.configs.len() as u32).map(link).collect()
}

const LEAF_SPINE: &str = "rate = { rack = \"5Gbps\" }\ndelay = \"10us\"\nqueue = \"100pkt\"";

#[test]
fn networkx_writes_three_files_of_one_network() {
    let json = topology(include_str!("graphs/leaf-spine.json"), LEAF_SPINE).expect("a network");
    for text in [include_str!("graphs/leaf-spine-links.json"), include_str!("graphs/leaf-spine.graphml")] {
        let other = topology(text, LEAF_SPINE).expect("a network");
        assert_eq!(links(&other), links(&json));
        assert_eq!(other.configs, json.configs);
        assert_eq!((&other.node_names, &other.racks), (&json.node_names, &json.racks));
    }
    // The file does not mark hosts: nodes with one neighbour are hosts.
    assert_eq!(
        json.node_names.join(", "),
        "host 0, host 1, host 2, host 3, leaf 0, spine 0, spine 1, leaf 1"
    );
    assert_eq!((json.hosts(), &json.racks[..]), (4, &[0, 0, 1, 1][..]));
    assert_eq!(json.layer_names.iter().map(|l| &**l).collect::<Vec<_>>(), ["rack", "spine"]);
    let port = |from: &str, to: &str| {
        let ends = [from, to];
        let all = 0..json.configs.len() as u32;
        json.configs[all.into_iter().find(|&p| json.end_names(p) == ends).expect("a link") as usize]
    };
    assert_eq!((port("leaf 0", "spine 0").rate, port("leaf 1", "host 2").rate), (10 * GIGABIT, 5 * GIGABIT));
    let slow = [port("leaf 0", "spine 1"), port("spine 1", "leaf 0")];
    for port in slow {
        assert_eq!((port.rate, port.limit), (GIGABIT, Threshold::packets(50)));
        assert_eq!(port.loss.probability().parts(), 4_294_967); // 0.001 of 2^32
    }
    assert_eq!(port("host 0", "leaf 0").limit, Threshold::packets(1000), "a NIC's is that of [fabric]");
    assert_eq!(ShortestPaths::new(&json).count(0, 3), 2);
}

#[test]
fn parallel_links_stay_apart_and_nodes_have_names_racks_and_pods() {
    for text in [include_str!("graphs/parallel.json"), include_str!("graphs/parallel.graphml")] {
        let network = topology(text, "queue = \"100pkt\"").expect("a network");
        assert_eq!(network.node_names, ["source", "sink", "0", "1"]);
        assert_eq!((&network.racks[..], &network.pods[..]), (&[7, 9][..], &[1, 2][..]));
        assert_eq!(ShortestPaths::new(&network).count(0, 1), 2);
        let [a, b] = ["0", "1"].map(|name| network.node(name).expect("it is there"));
        let rates: Vec<u64> = network.ports_between(a, b).iter().map(|&p| network.rate(p)).collect();
        assert_eq!(rates, [GIGABIT, GIGABIT, 2 * GIGABIT, 2 * GIGABIT]);
        assert_eq!(network.twins(), [1, 0, 3, 2, 5, 4, 7, 6]);
    }
}

/// In a directed graph an edge is a port, even a host's.
#[test]
fn a_directed_graph_has_its_directions_apart() {
    let network = topology(include_str!("graphs/directed.json"), "").expect("a network");
    let wanted = [
        "client - modem: link 10000000",
        "modem - client: link 100000000",
        "modem - server: link 1000000000",
        "server - modem: link 1000000000",
    ];
    let mut all = links(&network);
    all.sort();
    assert_eq!(all, wanted);
    let find = |wanted: [&str; 2]| {
        let port = (0..4).find(|&p| network.end_names(p) == wanted).expect("a link");
        network.configs[port as usize]
    };
    assert_eq!(find(["client", "modem"]).limit, Threshold::packets(20));
    assert_eq!(find(["server", "modem"]).limit, Threshold::UNLIMITED);
    let down = find(["modem", "client"]);
    assert_eq!((down.limit, down.mark), (Threshold::bytes(64_000), Threshold::bytes(30_000)));
    assert_eq!(network.base_rtt(&ShortestPaths::new(&network).path(0, 1, 0).there, 0, 0), 12 * MILLISECOND);
}

/// Tuples are ids in networkx.
#[test]
fn a_grid_has_its_paths() {
    let keys = "rate = \"1Gbps\"\ndelay = \"1us\"\nqueue = \"9pkt\"";
    let network = topology(include_str!("graphs/grid.json"), keys).expect("a network");
    assert_eq!(&network.node_names[..5], ["h00", "h02", "h20", "h22", "[0,0]"]);
    let paths = ShortestPaths::new(&network);
    // From corner to corner 2 steps right and 2 down, in any order.
    assert_eq!(paths.count(0, 3), 6);
    assert_eq!(network.base_rtt(&paths.path(0, 3, 0).there, 0, 0), 12 * MICROSECOND);
}

/// Two hosts on a switch, one item per line.
const SMALL: &str = r#"{"directed": false, "multigraph": false,
"nodes": [
{"id": "a", "kind": "host"},
{"id": "s", "kind": "switch"},
{"id": "b", "kind": "host"}
],
"edges": [
{"source": "a", "target": "s", "rate": "1Gbps"},
{"source": "s", "target": "b", "rate": "1Gbps"}
]}
"#;

const KEYS: &str = "delay = \"1us\"\nqueue = \"9pkt\"";

/// What is replaced in [`SMALL`], by what, and the message.
const WRONG_JSON: &[(&str, &str, &str)] = &[
    ("\"rate\": \"1Gbps\"}\n]", "\"rate\": \"1Gbps\"\n]", "net:10:1: expected `,` or `}`"),
    ("\n]}\n", "", "net:9:47: EOF while parsing"),
    ("{\"directed\": false", "[", "net:1:1: this is neither node-link JSON"),
    ("\"nodes\"", "\"vertices\"", "net:1:1: no `nodes`: expected node-link JSON"),
    ("\"edges\"", "\"adjacency\"", "net:1:1: neither `links` nor `edges`"),
    ("\"edges\": [", "\"links\": [], \"edges\": [", "net:1:1: both `links` and `edges`"),
    ("\"directed\": false", "\"directed\": 0", "net:1:14: expected true or false"),
    ("{\"id\": \"a\", \"kind\": \"host\"}", "7", "net:3:1: expected an object"),
    ("\"id\": \"a\", ", "", "net:3:1: a node without `id`"),
    ("\"target\": \"s\", ", "", "net:8:1: a link without `target`"),
    ("\"target\": \"b\"", "\"target\": \"bb\"", "net:9:27: no node has the id `bb`"),
    ("\"target\": \"b\"", "\"target\": 2", "net:9:27: no node has the id `2`"),
    ("\"id\": \"b\"", "\"id\": \"a\"", "net:5:8: two nodes have the id `a`"),
    ("\"id\": \"b\",", "\"id\": \"b\", \"name\": \"a\",", "net:5:1: two nodes are called `a`"),
    ("\"switch\"", "\"router\"", "net:4:21: the node `s`: kind = `router`: expected `host` or `switch`"),
    (
        "\"kind\": \"switch\"",
        "\"rack\": 1",
        "net:4:1: the node `s` has neither kind = \"host\" nor \"switch\"",
    ),
    ("\"switch\"", "\"switch\", \"type\": \"switch\"", "the node `s` has a `kind` and a `type`"),
    ("\"switch\"", "\"switch\", \"kind\": \"switch\"", "the node `s` has `kind` twice"),
    (
        "\"b\", \"kind\"",
        "\"b\", \"rack\": -1, \"kind\"",
        "net:5:21: the node `b`: rack = -1: expected a whole number of at least 0",
    ),
    (
        "\"b\", \"kind\"",
        "\"b\", \"rack\": 1, \"kind\"",
        "net:3:1: `b` has a rack, `a` has none: give all hosts a rack, or none",
    ),
    (
        "\"b\", \"rate\": \"1Gbps\"",
        "\"b\", \"rate\": 10",
        "net:9:40: the link of `s` and `b`: \"10\" has no unit",
    ),
    ("\"b\", \"rate\": \"1Gbps\"", "\"b\", \"rate\": \"1bps\"", "1bps: a link's rate is 1kbps to 100Tbps"),
    (
        "\"b\", \"rate\": \"1Gbps\"",
        "\"b\", \"rate\": [1]",
        "the link of `s` and `b`: `rate` is not a plain value",
    ),
    (
        "\"b\", \"rate\": \"1Gbps\"",
        "\"b\"",
        "net:9:1: the link of `s` and `b`: no rate: add an attribute `rate` such as \"10Gbps\", or `rate` in [fabric]",
    ),
    (
        "\"b\", \"rate\": \"1Gbps\"",
        "\"b\", \"bandwidth\": 1000",
        "net:9:45: the link of `s` and `b` has an attribute `bandwidth`: here it is called `rate`, with its unit",
    ),
    ("\"b\", \"rate\": \"1Gbps\"", "\"b\", \"Rate\": 1e9", "here it is called `rate`"),
    ("\"b\", \"rate\"", "\"b\", \"bandwidth\": \"2Gbps\", \"rate\"", "has `rate` twice, as 2Gbps and 1Gbps"),
    ("\"b\", \"rate\"", "\"b\", \"delya\": \"1us\", \"rate\"", "here it is called `delay`"),
    ("\"b\", \"rate\"", "\"b\", \"loss\": 1, \"rate\"", "1: no flow would ever finish"),
    ("\"b\", \"rate\"", "\"b\", \"loss\": 2, \"rate\"", "2 is not a probability"),
    ("\"b\", \"rate\"", "\"b\", \"queue\": \"9us\", \"rate\"", "\"us\" is not a unit of a queue length"),
    ("\"b\", \"rate\"", "\"s\", \"rate\"", "net:9:1: a link from `s` to itself"),
    (
        "\"source\": \"s\", \"target\": \"b\"",
        "\"source\": \"s\", \"target\": \"a\"",
        "net:5:1: the host `b` has no link",
    ),
    (
        "\"directed\": false",
        "\"directed\": true",
        "net:8:1: a link leads from `a` to `s`, but not back: a link of a directed graph is two edges",
    ),
    (
        "\"b\", \"kind\": \"host\"",
        "\"b\", \"kind\": \"switch\"",
        "number of hosts: 1; a network needs at least two: hosts are nodes with",
    ),
];

#[test]
fn what_is_wrong_with_json_is_told_with_its_line() {
    assert!(topology(SMALL, KEYS).is_ok());
    for (old, new, expected) in WRONG_JSON.iter().copied() {
        assert!(SMALL.contains(old), "{old}");
        let error = topology(&SMALL.replacen(old, new, 1), KEYS).map(drop).expect_err(expected);
        assert!(error.contains(expected), "{expected}:\n{error}");
    }
}

#[test]
fn two_hosts_without_a_way_are_named_where_the_first_stands() {
    let more = SMALL
        .replace("\"kind\": \"host\"}\n]", "\"kind\": \"host\"},\n{\"id\": \"t\", \"kind\": \"switch\"}\n]")
        .replace("\"source\": \"s\", \"target\": \"b\"", "\"source\": \"t\", \"target\": \"b\"");
    let error = topology(&more, KEYS).map(drop).expect_err("two parts");
    assert!(error.contains("net:3:1: the host `a` cannot reach the host `b`"), "{error}");
}

#[test]
fn what_is_wrong_with_graphml_is_told_with_its_line() {
    let small = r#"<graphml>
<key id="k" for="node" attr.name="kind"><default>host</default></key>
<key id="r" for="edge" attr.name="rate"/>
<key id="y" for="edge" yfiles.type="edgegraphics"/>
<graph edgedefault="undirected">
<node id="a"/><node id="b"/>
<node id="s"><data key="k">switch</data></node>
<edge source="a" target="s"><data key="r">1Gbps</data></edge>
<edge source="s" target="b"><data key="r">1Gbps</data><data key="y"><line width="1"/></data></edge>
</graph></graphml>
"#;
    let network = topology(small, KEYS).expect("a network, with a default, and a drawing program's data");
    assert_eq!(network.node_names, ["a", "b", "s"]);
    for (old, new, expected) in [
        ("</graph></graphml>", "</graph>", "net:1:1: the root node was opened but never closed"),
        ("<graphml>", "<svg>", "net:10:9: expected 'svg' tag, not 'graphml'"),
        (" edgedefault=\"undirected\"", "", "net:5:1: expected edgedefault"),
        ("</graphml>", "<graph edgedefault=\"directed\"/></graphml>", "a second <graph>"),
        ("<node id=\"b\"/>", "<node/>", "net:6:15: a <node> without `id`"),
        ("target=\"b\"", "target=\"c\"", "net:9:18: no node has the id `c`"),
        (
            "<data key=\"k\">",
            "<data key=\"q\">",
            "net:7:14: there is no <key> for data of a node with the id `q`",
        ),
        (
            "<edge source=\"s\"",
            "<edge directed=\"true\" source=\"s\"",
            "some edges are directed and others are not",
        ),
        (
            "<data key=\"r\">1Gbps</data><data key=\"y\">",
            "<data key=\"y\">",
            "net:9:1: the link of `s` and `b`: no rate",
        ),
        (
            "<data key=\"r\">1Gbps</data><data",
            "<data key=\"r\">fast</data><data",
            "net:9:29: the link of `s` and `b`: \"fast\"",
        ),
    ] {
        assert!(small.contains(old), "{old}");
        let error = topology(&small.replacen(old, new, 1), KEYS).map(drop).expect_err(expected);
        assert!(error.contains(expected), "{expected}:\n{error}");
    }
    let slip = include_str!("graphs/leaf-spine.graphml").replace("target=\"spine 1\"", "target=\"spin 1\"");
    let slip = topology(&slip, LEAF_SPINE).map(drop).expect_err("no such node");
    assert!(slip.contains("no node has the id `spin 1`; did you mean `spine 1`?"), "{slip}");
    let other = topology("<svg></svg>", KEYS).map(drop).expect_err("no GraphML");
    assert!(other.contains("net:1:1: <svg> is not GraphML"), "{other}");
}

#[test]
fn what_is_wrong_in_the_experiment_is_told_there() {
    let error = |keys: &str| topology(SMALL, keys).map(drop).expect_err(keys);
    let missing = error("delay = \"1us\"");
    assert!(missing.contains("net:8:1: the link of `a` and `s`: no queue"), "{missing}");
    let layer = error(&format!("{KEYS}\nloss = {{ core = 0.1 }}"));
    assert!(layer.contains("t.toml:8:8: there is no layer `core` (available: link)"), "{layer}");
    let key = error(&format!("{KEYS}\nk = 4"));
    assert!(key.contains("`k` is a fat tree's; this topology has a `file`"), "{key}");
    let flags = error("delay = \"1us\"\nqueue = \"unlimited\"\nflags = {}");
    assert!(flags.contains("in the link layer the port from s to a has no limit"), "{flags}");
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("t.toml");
    let load = |text: &str| {
        fs::write(&path, text).expect("it can be written");
        let source = find(path.to_str().expect("UTF-8")).expect("it is there");
        load(source, Profile::Full, &[])
            .and_then(|l| resolve(&l, &[]))
            .map(drop)
            .expect_err("wrong")
            .to_string()
    };
    let gone = load(&experiment("gone.json", KEYS));
    assert!(
        gone.contains("t.toml:4:8: ") && gone.contains("gone.json: cannot be read: No such file"),
        "{gone}"
    );
    let none = load(&experiment("net", KEYS).replace("file = \"net\"\n", ""));
    assert!(none.contains("t.toml:3:12: topology = \"file\" needs `file`"), "{none}");
    let other = load(&experiment("net", KEYS).replace("\"file\"\n", "\"xmp-testbed-b\"\n"));
    assert!(other.contains("`file` is that of topology = \"file\""), "{other}");
}

/// A written network is the same when it is read again: nodes, ports in their order, and all of their values.
#[test]
fn every_topology_comes_back_from_its_file() {
    let drawn =
        |name: &str| format!("topology = \"{name}\"\nrate = \"1Gbps\"\ndelay = \"3us\"\nqueue = \"64kB\"");
    let mut fabrics: Vec<String> = paper_networks::all().iter().map(|network| drawn(network.name)).collect();
    fabrics.extend([
        drawn("dumbbell") + "\npairs = 3",
        drawn("parking-lot") + "\nhops = 3",
        drawn("fat-tree") + "\nk = 4\nmark = \"9pkt\"\nrouting = \"ecmp\"",
        drawn("leaf-spine").replace("\"1Gbps\"", "{ rack = \"2.5Gbps\", spine = \"1Gbps\" }")
            + "\nleaves = 3\nspines = 2\nhosts_per_leaf = 2\nloss = { rack = 0, spine = 0.001 }\n\
               [[fabric.links]]\nends = [\"leaf 0\", \"spine 1\"]\nqueue = \"unlimited\"\ndelay = \"7ns\"",
    ]);
    for fabric in fabrics {
        let file = experiment("net", "");
        let text = file.replace("topology = \"file\"\nfile = \"net\"\n", "").replace(
            "host_queue = \"1000pkt\"",
            &format!("host_queue = \"1000pkt\"\nhost_mark = \"7pkt\"\n{fabric}"),
        );
        let loaded = load(Source { name: "t.toml".to_owned(), text }, Profile::Full, &[]).expect("valid");
        let wanted = resolve(&loaded, &[]).expect("valid").fabric().clone();
        for format in [GraphFormat::Json, GraphFormat::Graphml] {
            let text = graph_text(&loaded, format).expect("a network");
            let read = topology(&text, "").expect("a network");
            assert_eq!(read.configs, wanted.configs, "{fabric}");
            assert_eq!(read.network.ends, wanted.network.ends, "{fabric}");
            assert_eq!((&read.node_names, &read.layers), (&wanted.node_names, &wanted.layers), "{fabric}");
            assert_eq!((&read.racks, &read.pods), (&wanted.racks, &wanted.pods), "{fabric}");
            assert_eq!(
                (&read.layer_names, &read.streams),
                (&wanted.layer_names, &wanted.streams),
                "{fabric}"
            );
        }
    }
}
