//! Files of other tools as networks: link speeds in their words, labels, links listed twice, and what is not read.

use std::fs;

use tresse_experiment::{Profile, find, load};
use tresse_fabric::Graph;

const GIGABIT: u64 = 1_000_000_000;

/// The network of a file with this content and its notes, or the error.
fn graph(content: &[u8]) -> Result<(Graph, Vec<String>), String> {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("net"), content).expect("it can be written");
    let path = dir.path().join("t.toml");
    fs::write(&path, crate::graph_file::experiment("net", KEYS)).expect("it can be written");
    let folder = format!("{}/", dir.path().display());
    let source = find(path.to_str().expect("UTF-8")).expect("it is there");
    let loaded = load(source, Profile::Full, &[]).map_err(|e| e.to_string().replace(&folder, ""))?;
    let graph = loaded.experiment.fabric.graph.as_ref().expect("a network").as_ref().clone();
    Ok((graph, loaded.files.notes().iter().map(|note| note.replace(&folder, "")).collect()))
}

const KEYS: &str = "rate = \"100Gbps\"\ndelay = \"1us\"\nqueue = \"100pkt\"";

/// The links as their two nodes and their rate, one direction of each, in the order of the file.
fn links(graph: &Graph) -> Vec<(String, u64)> {
    let name = |node: usize| graph.nodes[node].name.clone();
    let both =
        graph.ports.iter().map(|p| (format!("{}-{}", name(p.ends[0]), name(p.ends[1])), p.config.rate));
    both.step_by(2).collect()
}

fn has(notes: &[String], wanted: &str) {
    assert!(notes.iter().any(|note| note.contains(wanted)), "{wanted}: {notes:?}");
}

#[test]
fn link_speeds_of_the_topology_zoo_and_of_json_are_read() {
    let (zoo, notes) = graph(include_bytes!("cases/03-graphml-link-speed-ignored/net.graphml")).unwrap();
    assert_eq!(links(&zoo), [("a-b".to_owned(), GIGABIT), ("c-b".to_owned(), 10 * GIGABIT)]);
    assert_eq!(notes, ["net: the rate of 2 links is read from `LinkSpeedRaw`"]);

    let (json, notes) = graph(include_bytes!("cases/03-graphml-link-speed-ignored/net.json")).unwrap();
    assert_eq!(links(&json), [("a-b".to_owned(), GIGABIT), ("c-b".to_owned(), 100 * GIGABIT)]);
    has(&notes, "the rate of 1 link is read from `linkspeed`; 1 link has none, and what [fabric] says");
    has(&notes, "the rate of 1 link is read from `bandwidth_mbps`");
    has(&notes, "attributes of links that are not read: `cap`, `weight`");

    let speed = |data: &str| {
        let keys = ["LinkSpeed", "LinkSpeedUnits", "LinkSpeedRaw", "LinkLabel"]
            .map(|name| format!("<key id=\"{name}\" for=\"edge\" attr.name=\"{name}\"/>"))
            .concat();
        let text = format!(
            "<graphml>{keys}<graph edgedefault=\"undirected\"><node id=\"a\"/><node id=\"b\"/><node id=\"c\"/>\
             <edge source=\"a\" target=\"b\">{data}</edge><edge source=\"c\" target=\"b\"/></graph></graphml>"
        );
        graph(text.as_bytes()).map(|(graph, notes)| (links(&graph)[0].1, notes))
    };
    let data = |name: &str, value: &str| format!("<data key=\"{name}\">{value}</data>");
    let (rate, _) = speed(&(data("LinkSpeed", "2.5") + &data("LinkSpeedUnits", "G"))).unwrap();
    assert_eq!(rate, 2_500_000_000);
    let all = data("LinkSpeed", "155") + &data("LinkSpeedUnits", "M") + &data("LinkSpeedRaw", "155000000.0");
    let (rate, notes) = speed(&(all + &data("LinkLabel", "155 Mbit/s"))).unwrap();
    assert_eq!(rate, 155_000_000);
    has(&notes, "attributes of links that are not read: `LinkLabel`");
    let no_unit = speed(&data("LinkSpeed", "10")).unwrap_err();
    assert!(no_unit.contains("`LinkSpeed`: here it is called `rate`, with its unit"), "{no_unit}");
    let two = data("LinkSpeed", "10") + &data("LinkSpeedUnits", "G") + &data("LinkSpeedRaw", "1e9");
    assert!(speed(&two).unwrap_err().contains("has `rate` twice"));
}

#[test]
fn a_type_in_free_text_is_a_label_and_capitals_do_not_matter() {
    let (zoo, notes) = graph(include_bytes!("cases/04-graphml-foreign-type/net.graphml")).unwrap();
    let hosts = |graph: &Graph| -> Vec<String> {
        let is_host = |node: &&tresse_fabric::Node| node.kind != tresse_fabric::NodeKind::Switch;
        graph.nodes.iter().filter(is_host).map(|node| node.name.clone()).collect()
    };
    assert_eq!(hosts(&zoo), ["a", "c"]);
    has(&notes, "`type` of nodes is a label here (`PoP`), not read: nodes with one neighbour are hosts");
    let (json, notes) = graph(include_bytes!("cases/04-graphml-foreign-type/sibling.json")).unwrap();
    assert_eq!((hosts(&json), notes.len()), (vec!["a".to_owned(), "c".to_owned()], 0));
    // Where other nodes say what they are, a label is a mistake.
    let text = String::from_utf8_lossy(include_bytes!("cases/04-graphml-foreign-type/sibling.json"));
    let mixed = graph(text.replace("Switch", "Router").as_bytes()).unwrap_err();
    assert!(mixed.contains("the node `b`: type = `Router`: expected `host` or `switch`"), "{mixed}");
}

#[test]
fn a_link_to_itself_and_a_doctype_are_named() {
    let itself = graph(include_bytes!("cases/14-graph-messages/self-loop.json")).unwrap_err();
    assert!(itself.contains("net:1:82: a link from `a` to itself"), "{itself}");
    let (dtd, _) = graph(include_bytes!("cases/14-graph-messages/dtd.graphml")).unwrap();
    assert_eq!(links(&dtd).len(), 2);
    let declares = "<?xml version=\"1.0\"?>\n<!DOCTYPE graphml [<!ENTITY x \"y\">]>\n<graphml/>";
    let declares = graph(declares.as_bytes()).unwrap_err();
    assert!(
        declares.contains("net:2:1: this DOCTYPE declares") && declares.contains("delete it"),
        "{declares}"
    );
    let hyper = "<graphml><graph edgedefault=\"undirected\"><hyperedge/></graph></graphml>";
    assert!(graph(hyper.as_bytes()).unwrap_err().contains("a <hyperedge>"));
}

#[test]
fn a_link_listed_in_both_directions_is_one_link() {
    let list = |head: &str, links: &[(&str, &str, u64)]| {
        let nodes = "{\"id\":\"a\"},{\"id\":\"b\"},{\"id\":\"s\",\"x\":1}";
        let link = |(from, to, rate): &(&str, &str, u64)| {
            format!("{{\"source\":\"{from}\",\"target\":\"{to}\",\"rate\":\"{rate}Gbps\"}}")
        };
        let links: Vec<String> = links.iter().map(link).collect();
        graph(format!("{{{head}\"nodes\":[{nodes}],\"links\":[{}]}}", links.join(",")).as_bytes())
    };
    let both = [("a", "s", 1), ("s", "a", 1), ("b", "s", 2), ("s", "b", 2)];
    let (one, notes) = list("", &both).unwrap();
    assert_eq!(links(&one), [("a-s".to_owned(), GIGABIT), ("b-s".to_owned(), 2 * GIGABIT)]);
    has(&notes, "2 pairs of nodes listed more than once: one link each (the first: `a` and `s`)");
    has(&notes, "attributes of nodes that are not read: `x`");
    let differs = list("", &[("a", "s", 1), ("s", "a", 3), ("b", "s", 2)]).unwrap_err();
    assert!(differs.contains("it is listed twice, with different values"), "{differs}");
    // A file that says that it is no multigraph, and one that says that it is.
    let same = [("a", "s", 1), ("a", "s", 1), ("b", "s", 2)];
    assert_eq!(links(&list("\"multigraph\":false,", &same).unwrap().0).len(), 2);
    let (several, notes) = list("\"multigraph\":true,", &both).unwrap();
    assert_eq!((links(&several).len(), notes.len()), (4, 1), "{notes:?}");
    // Several in one direction are parallel links, and that is said.
    let (parallel, notes) = list("", &same).unwrap();
    assert_eq!(links(&parallel).len(), 3);
    has(&notes, "1 pair of nodes with several links: they are parallel links");
}
