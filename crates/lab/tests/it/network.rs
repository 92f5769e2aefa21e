//! What `[fabric]` makes of a network: topologies, single links, routing, and what is wrong with them.

use tresse_experiment::plan::network::Routing;
use tresse_experiment::{Plan, Profile, Source, load, resolve};
use tresse_fabric::Balancing;
use tresse_lab::judge::NotJudged;
use tresse_lab::runner::run;
use tresse_lab::{Options, Watch};
use tresse_results::{Report, Status};
use tresse_transport::Plb;
use tresse_units::SECOND;

const LEAF_SPINE: &str = r#"title = "t"
[fabric]
topology = "leaf-spine"
leaves = 4
spines = 4
hosts_per_leaf = 4
rate = { rack = "1Gbps", spine = "500Mbps" }
delay = "12.5us"
queue = "256pkt"
mark = "20pkt"
host_queue = "1000pkt"
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
[schemes.xmp]
controller = "xmp"
echo = "two-bit"
subflows = 4
[workloads.permutation]
pattern = "permutation"
size = "300kB"
rounds = 1
"#;

/// The experiment above with `new` in the place of `old`, and `more` at its end.
fn text(old: &str, new: &str, more: &str) -> String {
    assert!(LEAF_SPINE.contains(old));
    LEAF_SPINE.replacen(old, new, 1) + more
}

/// The same on a fat tree of 16 hosts.
fn fat_tree() -> String {
    LEAF_SPINE
        .replace("leaves = 4\nspines = 4\nhosts_per_leaf = 4\n", "k = 4\n")
        .replace("leaf-spine", "fat-tree")
        .replace("spine = \"500Mbps\"", "aggregation = \"1Gbps\", core = \"1Gbps\"")
}

fn plan(text: &str) -> Result<Plan, String> {
    let source = Source { name: "t.toml".to_owned(), text: text.to_owned() };
    let loaded = load(source, Profile::Full, &[]).map_err(|e| e.to_string())?;
    resolve(&loaded, &[]).map_err(|e| e.to_string())
}

fn report(text: &str) -> Report {
    let source = Source { name: "t.toml".to_owned(), text: text.to_owned() };
    let loaded = load(source, Profile::Full, &[]).expect("valid");
    let plan = resolve(&loaded, &[]).expect("valid");
    let out = tempfile::tempdir().expect("a folder");
    let options = Options {
        profile: Profile::Full,
        seed: 1,
        replications: 1.into(),
        parallel: 1,
        threads: 1,
        out: Some(out.path().to_owned()),
        judge: false,
        figure: None,
    };
    let watch = Watch::new(&plan, &options).expect("one seed");
    run(&loaded, &plan, &options, &watch, &NotJudged).expect("it runs")
}

#[test]
fn a_leaf_spine_has_its_layers_and_one_path_over_each_spine() {
    let plan = plan(LEAF_SPINE).expect("valid");
    assert_eq!((plan.fabric().hosts(), plan.fabric().configs.len()), (16, 64));
    for port in 0..64 {
        let rate = if plan.fabric().layer_name(port) == "spine" { 500_000_000 } else { 1_000_000_000 };
        assert_eq!(plan.fabric().rate(port), rate);
    }
    assert_eq!(plan.cases[0].bound_schemes[0].routing.most(), 4);
}

/// Each routing runs to the end. There is an optimum if it is known which paths packets may take: switches that spread them
/// leave all of them to each, and so have the same one.
#[test]
fn every_routing_runs_on_a_leaf_spine() {
    let (mut digests, mut optima) = (Vec::new(), Vec::new());
    for (routing, optimum) in [
        ("\"shortest\"", true),
        ("\"ecmp\"", false),
        ("\"spray\"", true),
        ("{ name = \"drill\", samples = 2, memory = 1 }", true),
        ("{ name = \"holnet-percentage\", period = \"40us\", by = \"flowlet\" }", true),
        ("\"holnet-rate\"", true),
    ] {
        let text = text("topology =", &format!("routing = {routing}\ntopology ="), "");
        let report = report(&text);
        assert!(report.status == Status::Complete, "{routing}");
        let case = &report.cases[0];
        assert_eq!(case.metrics["flows"].value(), 16.0, "{routing}");
        assert_eq!(case.no_optimum.is_none(), optimum, "{routing}: {:?}", case.no_optimum);
        if optimum {
            optima.push((routing, case.optimum["goodput_mean_bps"]));
        }
        digests.push(report.digest);
    }
    // Four subflows with fixed paths, one over each spine, can have as much.
    let (_, fixed) = optima[0];
    assert!(optima.iter().all(|(_, goodput)| (goodput / fixed - 1.0).abs() < 1e-6), "{optima:?}");
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), 6, "each routing sends packets by other ways");
}

/// A window over all paths, which has more than a subflow on one of them: spread by switches, by a host over routes of its
/// own, or by a host whose packets switches hash.
#[test]
fn a_spread_flow_has_the_optimum_of_all_paths() {
    let optimum = |text: &str| {
        let case = report(text).cases.remove(0);
        assert_eq!(case.no_optimum, None);
        case.optimum["goodput_mean_bps"]
    };
    let one = text("subflows = 4\n", "", "");
    let fixed = optimum(&one);
    let sprayed = optimum(&one.replace("topology =", "routing = \"spray\"\ntopology ="));
    assert!(sprayed > 1.05 * fixed, "{sprayed} {fixed}");
    let (before, after) = one.split_once("[transport]").expect("a table");
    let (_, after) = after.split_once("[schemes.xmp]").expect("a table");
    let hosts = format!("{before}[transport]\nprofile = \"spray\"\n[schemes.xmp]{after}");
    let hosts = hosts.replace("echo = \"two-bit\"", "paths = 4");
    let by_routes = optimum(&hosts);
    let by_hashes = optimum(&hosts.replace("topology =", "routing = \"ecmp\"\ntopology ="));
    for other in [by_routes, by_hashes] {
        assert!(other > 1.05 * fixed, "{other} {fixed}");
    }
}

/// Every connection passes the only links of its two hosts; only what lies between them is a choice.
#[test]
fn a_hosts_only_link_is_no_shared_path() {
    let sharing = |text: &str| {
        let detects = "path_manager = { name = \"path-sharing\" }\nsubflows = 2";
        let report = report(&text.replace("subflows = 4", detects));
        report.cases[0].metrics["sharing_flows"].value()
    };
    assert_eq!(sharing(LEAF_SPINE), 0.0, "the routes are distinct");
    // Of the four cores of a fat tree, two and two are behind one aggregation switch.
    let sharing = sharing(&fat_tree());
    assert!(sharing > 0.0 && sharing < 16.0, "{sharing}");
}

/// The balancers run on a fat tree too, where two-level routing is the default.
#[test]
fn a_fat_tree_takes_balancers_and_shortest_paths() {
    let tree = fat_tree();
    let routing = |text: &str| plan(text).expect("valid").cases[0].bound_schemes[0].routing.clone();
    assert!(matches!(*routing(&tree), Routing::Fixed(tresse_fabric::FixedPaths::TwoLevel(..))));
    let with = |name: &str| tree.replace("topology =", &format!("routing = \"{name}\"\ntopology ="));
    let routing = routing(&with("ecmp"));
    let Routing::Nodes { balancing: Balancing::Ecmp, paths, .. } = &*routing else {
        panic!("ecmp is for the nodes to do");
    };
    assert_eq!(paths.most(), 4);
    for name in ["shortest", "spray"] {
        assert!(report(&with(name)).status == Status::Complete, "{name}");
    }
}

#[test]
fn single_links_have_their_own_rate_or_are_not_there() {
    let more = "[[fabric.links]]\nends = [\"leaf 0\", \"spine 3\"]\nrate = \"100Mbps\"\n\
                [[fabric.links]]\nends = [\"spine 0\", \"leaf 1\"]\nfailed = true\n";
    let plan = plan(&text("title", "title", more)).expect("valid");
    assert_eq!(plan.fabric().configs.len(), 62);
    let rate = |from: &str, to: &str| {
        let ports = (0..62).filter(|&p| plan.fabric().end_names(p) == [from, to]);
        ports.map(|p| plan.fabric().rate(p)).collect::<Vec<_>>()
    };
    assert_eq!(rate("leaf 0", "spine 3"), [100_000_000]);
    assert_eq!(rate("spine 3", "leaf 0"), [100_000_000]);
    assert_eq!(rate("leaf 0", "spine 2"), [500_000_000]);
    assert_eq!(rate("leaf 1", "spine 0"), [0; 0]);
    assert_eq!(rate("spine 0", "leaf 1"), [0; 0]);
    assert_eq!(rate("leaf 2", "spine 0"), [500_000_000]);
}

#[test]
fn a_range_of_links_is_each_of_them() {
    let rates = |more: &str| {
        let plan = plan(&text("title", "title", more)).map_err(|e| e.lines().next().map(str::to_owned))?;
        let fabric = plan.fabric();
        let slow = (0..fabric.configs.len() as u32).filter(|&p| fabric.rate(p) == 100_000_000);
        let names = |port: u32| fabric.end_names(port).join(" - ");
        Ok::<_, Option<String>>(slow.map(names).collect::<Vec<_>>())
    };
    let link = |ends: &str| format!("[[fabric.links]]\nends = [{ends}]\nrate = \"100Mbps\"\n");
    let one_by_one: String = ["\"leaf 0\", \"spine 1\"", "\"leaf 0\", \"spine 2\""].map(link).concat();
    let range = link("\"leaf 0\", \"spine 1..3\"");
    assert_eq!(rates(&range), rates(&one_by_one));
    assert_eq!(rates(&range).expect("valid").len(), 4);
    assert_eq!(rates(&link("\"leaf 0..4\", \"spine 0..2\"")).expect("valid").len(), 16);
    for (ends, expected) in [
        ("\"leaf 0\", \"spine 2..9\"", "there is no node `spine 4`"),
        ("\"leaf 0\", \"spine 2..2\"", "a range ends before its last number, as in `spine 0..8`"),
        ("\"leaf 0\", \"spine 2..\"", "there is no node `spine 2..`"),
    ] {
        let error = rates(&link(ends)).expect_err(ends).unwrap_or_default();
        assert!(error.starts_with("t.toml:34:8: ") && error.contains(expected), "{error}");
    }
    let twice = rates(&(link("\"leaf 0\", \"spine 2\"") + &range)).expect_err("spine 2 is listed twice");
    assert!(twice.is_some_and(|e| e.contains("the link of leaf 0 and spine 2 is listed twice")));
}

/// What is wrong, with its line, and what there is instead.
#[test]
fn what_is_wrong_with_a_network_is_told_with_its_line() {
    for (old, new, expected) in [
        ("leaves = 4", "leaves = 0", "t.toml:4:10: this leaf-spine has no leaves: at least 1 is needed"),
        ("leaves = 4\n", "", "t.toml:3:12: a leaf-spine needs `leaves`, such as leaves = 4"),
        ("leaves = 4", "leaves = 4\nk = 4", "t.toml:5:5: `k` is a fat tree's; a leaf-spine has `leaves`"),
        (
            "spine = \"500Mbps\"",
            "spin = \"1Gbps\"",
            "t.toml:7:8: there is no layer `spin`; did you mean `spine`?",
        ),
        (", spine = \"500Mbps\"", "", "t.toml:7:8: the layer `spine` has no value (available: rack, spine)"),
        ("500Mbps", "1bps", "t.toml:7:8: 1bps in the spine layer: a link's rate is 1kbps to 100Tbps"),
        (
            "leaves = 4",
            "leaves = 4\nrouting = \"two-level\"",
            "t.toml:5:11: two-level routing is a fat tree's",
        ),
        (
            "leaves = 4",
            "leaves = 4\nrouting = \"empc\"",
            "t.toml:5:11: there is no routing `empc`; did you mean `ecmp`?",
        ),
        ("leaves = 4", "leaves = 4\nrouting = \"plb\"", "t.toml:5:11: plb is set at the hosts"),
        (
            "leaves = 4",
            "leaves = 4\nrouting = { name = \"drill\", d = 2 }",
            "t.toml:5:33: drill has no parameter `d` (it has: samples, memory)",
        ),
        (
            "leaves = 4",
            "leaves = 4\nrouting = { name = \"drill\", samples = 0 }",
            "t.toml:5:39: samples = 0 is not a whole number from 1 to 128",
        ),
        ("leaves = 4", "leaves = 4\nrouting = { samples = 2 }", "`name` is missing"),
        (
            "leaves = 4",
            "leaves = 4\ndistinct = \"core\"",
            "t.toml:5:12: only a fat tree has core and aggregation switches",
        ),
        ("subflows = 4", "subflows = 5", "5 subflows: this fabric has 1 to 4 distinct paths"),
    ] {
        let error = plan(&text(old, new, "")).expect_err(expected);
        assert!(error.contains(expected), "{expected}:\n{error}");
    }
}

fn link(keys: &str) -> String {
    format!("[[fabric.links]]\n{keys}\n")
}

#[test]
fn what_is_wrong_with_a_link_is_told_with_its_line() {
    for (links, expected) in [
        (
            link("ends = [\"leaf 0\", \"spime 3\"]\nfailed = true"),
            "t.toml:34:8: there is no node `spime 3`; did you mean `spine 3`?",
        ),
        (
            link("ends = [\"leaf 0\", \"leaf 1\"]\nfailed = true"),
            "there is no link between `leaf 0` and `leaf 1` (leaf 0 has links to host 0, host 1, host 2, host 3 …)",
        ),
        (link("ends = [\"leaf 0\", \"spine 1\"]"), "t.toml:34:8: nothing is set for this link"),
        (
            link("ends = [\"leaf 0\", \"spine 1\"]\nrate = \"0bps\""),
            "t.toml:35:8: 0bps: a link's rate is 1kbps to 100Tbps",
        ),
        (
            link("ends = [\"leaf 0\", \"spine 1\"]\nrate = \"1Gbps\"\nfailed = true"),
            "t.toml:35:8: a link that is missing has no rate",
        ),
        (
            link("ends = [\"leaf 0\", \"spine 1\"]\nfailed = true")
                + &link("ends = [\"spine 1\", \"leaf 0\"]\nrate = \"1Gbps\""),
            "t.toml:37:8: the link of spine 1 and leaf 0 is listed twice",
        ),
        (
            link("ends = [\"leaf 3\", \"host 15\"]\nfailed = true"),
            "with these links failed, host 0 cannot reach host 15",
        ),
    ] {
        let error = plan(&text("title", "title", &links)).expect_err(expected);
        assert!(error.contains(expected), "{expected}:\n{error}");
    }
}

#[test]
fn what_is_wrong_with_a_fat_tree_is_told_with_its_line() {
    let tree = LEAF_SPINE
        .replace("leaves = 4\nspines = 4\nhosts_per_leaf = 4\n", "k = 4\n")
        .replace("leaf-spine", "fat-tree")
        .replace("{ rack = \"1Gbps\", spine = \"500Mbps\" }", "\"1Gbps\"");
    let gone = link("ends = [\"edge 0\", \"aggregation 1\"]\nfailed = true");
    let error = plan(&(tree.clone() + &gone)).expect_err("two-level routing cannot avoid it");
    assert!(error.contains("t.toml:33:10: two-level routing uses every link"), "{error}");
    let shortest = tree.replace("topology =", "routing = \"shortest\"\ntopology =");
    assert_eq!(plan(&(shortest + &gone)).expect("it leads around").fabric().configs.len(), 94);
    let error = plan(&tree.replace("k = 4", "k = 4\nleaves = 3")).expect_err("leaves are a leaf-spine's");
    assert!(error.contains("t.toml:5:10: `leaves` is a leaf-spine's"), "{error}");
    let error = plan(&tree.replace("k = 4\n", "")).expect_err("k is missing");
    assert!(error.contains("t.toml:3:12: a fat tree needs `k`"), "{error}");
}

#[test]
fn hosts_may_change_the_hashes_that_switches_follow() {
    let plb = |plb: &str| {
        let fabric = text("[fabric]", "[fabric]\nrouting = \"ecmp\"", "");
        let text = fabric.replacen("[transport]", &format!("[transport]\nplb = {plb}"), 1);
        plan(&text).expect("valid").cases[0].bound_schemes[0].transport.plb
    };
    // Linux's, Documentation/networking/ip-sysctl.rst.
    let linux =
        Plb { cong_thresh: 128, rehash_rounds: 12, idle_rehash_rounds: 3, suspend: 60 * SECOND, seed: 0 };
    assert_eq!((plb("\"off\""), plb("\"on\"")), (None, Some(linux)));
    let set = Plb { rehash_rounds: 6, suspend: 10 * SECOND, ..linux };
    assert_eq!(plb("{ rehash_rounds = 6, suspend_rto = \"10s\" }"), Some(set));
}

/// What is wrong with a scheme's routing is told at the scheme's key, and what is wrong with the fabric under it
/// at the fabric's.
#[test]
fn what_is_wrong_with_a_schemes_routing_is_told_where_it_stands() {
    let one = "subflows = 4";
    for (routing, more, expected) in [
        ("\"empc\"", "", ":11: there is no routing `empc`"),
        ("{ name = \"drill\", samples = 0 }", "", ":39: samples = 0 is not a whole number from 1 to 128"),
        (
            "\"ecmp\"",
            "[[fabric.links]]\nends = [\"leaf 3\", \"host 15\"]\nfailed = true\n",
            "host 0 cannot reach host 15",
        ),
    ] {
        let error = plan(&text(one, &format!("routing = {routing}\n{one}"), more)).expect_err(expected);
        assert!(error.contains(expected), "{expected}:\n{error}");
    }
}

/// A port number has a fixed path as an address number has.
#[test]
fn fixed_paths_are_numbered_by_address_or_by_port() {
    let goodput = |text: &str| report(text).cases[0].metrics["goodput_mean_bps"].value();
    let manager = |by: &str| format!("subflows = 4\npath_manager = {{ name = \"fixed\", by = \"{by}\" }}");
    let by = |by: &str| goodput(&text("subflows = 4", &manager(by), ""));
    assert_eq!(by("address"), by("port"));
}
