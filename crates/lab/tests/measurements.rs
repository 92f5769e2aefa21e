//! What a run measures, against what is known of it beforehand.

mod reading;

use reading::{Table, measure, plan};
use tempfile::TempDir;
use tresse_lab::{Loaded, Plan, Source};

/// 16 hosts at 1 Gbit/s, whose queues drop and mark nothing.
const FAT_TREE: &str = r#"
title = "t"
[fabric]
topology = "fat-tree"
k = 4
rate = "1Gbps"
delay = { rack = "20us", aggregation = "30us", core = "40us" }
queue = "unlimited"
host_queue = "unlimited"
[transport]
profile = "ns3"
initial_window = "10pkt"
[schemes.reno]
controller = "reno"
"#;

fn experiment(fabric: &str, workloads: &str, settings: &[&str]) -> (Loaded, Plan) {
    plan(Source { name: "t.toml".to_owned(), text: format!("{fabric}\n{workloads}") }, settings)
}

/// Each after the last one: what fits into the first window, with a last packet that is full or not, over every
/// distance.
#[test]
fn a_flow_alone_within_its_first_window_has_a_slowdown_of_one() {
    let flows = r#"
[workloads.w]
pattern = "flows"
flow = [
    { id = "a", from = 0, to = 1, size = "1B" },
    { id = "b", from = 0, to = 2, size = "14600B", after = "a" },
    { id = "c", from = 0, to = 15, size = "13141B", after = "b" },
    { id = "d", from = 3, to = 4, size = "1MB", after = "c" },
    { id = "e", from = 3, to = 4, size = "1MB", after = "d", stop = "1ms" },
]
"#;
    let dir = TempDir::new().expect("a temporary folder");
    let report = measure(&experiment(FAT_TREE, flows, &[]), dir.path(), 1, 1);
    let flows = Table::read(&dir.path().join("flows.parquet"));
    let (lasted, ideal) = (flows.numbers("lasted_ps"), flows.numbers("ideal_ps"));
    assert_eq!(lasted[..3], ideal[..3]);
    assert_eq!(flows.texts("locality")[..3], ["inner-rack", "inter-rack", "inter-pod"]);
    // Slow start takes a few round trips more than the 8.459 ms of 685 packets.
    assert!(lasted[3] > ideal[3] && ideal[3] / 1_000_000 == 8_459, "{} {}", lasted[3], ideal[3]);
    let metric = |name: &str| report.cases[0].metrics[name].value();
    assert_eq!(
        (metric("slowdown_p50_ratio"), metric("slowdown_p99_ratio")),
        (1.0, lasted[3] as f64 / ideal[3] as f64)
    );
    assert_eq!(metric("unfinished_flows"), 1.0, "it has no slowdown");
}

/// A link that has failed at time 0 is not there, and one with another rate has that.
#[test]
fn the_ideal_is_of_the_network_at_the_start() {
    let leaves = r#"
title = "t"
[fabric]
topology = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 1
rate = { rack = "1Gbps", spine = "100Mbps" }
delay = "1us"
queue = "unlimited"
host_queue = "unlimited"
routing = "ecmp"
[transport]
profile = "ns3"
[schemes.reno]
controller = "reno"
[workloads.w]
pattern = "flows"
flow = [{ from = 0, to = 1, size = "160600B" }, { from = 0, to = 1, datagrams = "1Mbps", stop = "1ms" }]
"#;
    let ideal = |settings: &[&str]| {
        let dir = TempDir::new().expect("a temporary folder");
        measure(&experiment(leaves, "", settings), dir.path(), 1, 1);
        let ideal = Table::read(&dir.path().join("flows.parquet")).maybe("ideal_ps");
        assert_eq!(ideal[1], None, "datagrams have no end");
        ideal[0].expect("it ends") / 1_000_000
    };
    // The first packet, and 109 more over both spines, over one, and over one of another rate.
    let first = 4 + 2 * 12;
    assert_eq!(ideal(&[]), first + 2 * 120 + 109 * 60);
    let fails =
        r#"changes=[{ at = "0s", link = ["leaf 0", "spine 1"], failed = true, reroute_after = "0s" }]"#;
    assert_eq!(ideal(&[fails]), first + 2 * 120 + 109 * 120);
    let slower = r#"changes=[{ at = "0s", link = ["leaf 0", "spine 1"], rate = "50Mbps" }]"#;
    assert_eq!(ideal(&[slower]), first + 2 * 120 + 109 * 80);
}
