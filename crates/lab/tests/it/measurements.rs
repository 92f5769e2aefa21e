//! What a run measures, against what is known of it beforehand.

use tempfile::TempDir;
use tresse_experiment::{Loaded, Plan, Source};

use crate::reading::{Table, measure, plan};

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

/// Under two seeds, against the rows of `links.parquet` and `queues.parquet`.
#[test]
fn layers_are_their_ports_under_all_seeds() {
    let permutation = "[workloads.w]\npattern = \"permutation\"\nsize = \"300kB\"";
    let dir = TempDir::new().expect("a temporary folder");
    let settings = ["measure.samples=50us", "measure.queues=50us"];
    let experiment = experiment(FAT_TREE, permutation, &settings);
    let case = measure(&experiment, dir.path(), 2, 2).cases.remove(0);
    let ends = &experiment.1.fabric().network.ends;
    let close = |value: f64, wanted: f64, what: &str| {
        assert!((value - wanted).abs() <= 1e-12 * wanted.max(1.0), "{what}: {value}, not {wanted}");
    };

    let links = Table::read(&dir.path().join("links.parquet"));
    let [bytes, duration] = ["carried_bytes", "duration_ps"].map(|name| links.numbers(name));
    // At 1 Gbit/s a byte takes 8 ns.
    let shares: Vec<f64> =
        bytes.iter().zip(&duration).map(|(b, d)| *b as f64 * 8_000.0 / *d as f64).collect();
    let of_layer = |layer: &str| {
        let rows = links.texts("layer").into_iter().zip(&shares);
        let mut shares: Vec<f64> =
            rows.filter(|(l, _)| layer.is_empty() || l == layer).map(|(_, s)| *s).collect();
        shares.sort_by(f64::total_cmp);
        shares
    };
    for (layer, ports) in [("rack", 32), ("aggregation", 32), ("core", 32), ("", 96)] {
        let metrics = if layer.is_empty() { &case.metrics } else { &case.by["layer"][layer] };
        let shares = of_layer(layer);
        assert_eq!(shares.len(), 2 * ports);
        let value = |name: &str| metrics[format!("utilisation_{name}_ratio").as_str()].value();
        close(value("mean"), shares.iter().sum::<f64>() / shares.len() as f64, layer);
        for (name, place) in [("min", 0), ("p10", shares.len().div_ceil(10) - 1), ("max", shares.len() - 1)] {
            close(value(name), shares[place], layer);
        }
    }

    // The ends of whole intervals are the instants of the looks. What neither sent nor held anything has no row.
    let queues = Table::read(&dir.path().join("queues.parquet"));
    let [start, lasted, port, waiting] =
        ["start_ps", "duration_ps", "port", "waiting_pkts"].map(|name| queues.numbers(name));
    let interval = 50_000_000;
    let looks: u64 = duration.iter().step_by(96).map(|d| d / interval).sum();
    let rows = queues.texts("layer").into_iter().zip(0..);
    let rows = rows.filter(|&(_, row): &(_, usize)| (start[row] + lasted[row]) % interval == 0);
    let rows: Vec<(String, u64)> = rows
        .map(|(layer, row)| match ends[port[row] as usize] {
            [0..16, _] => ("hosts".to_owned(), waiting[row]),
            _ => (layer, waiting[row]),
        })
        .collect();
    for (layer, ports) in [("hosts", 16), ("rack", 16), ("aggregation", 32), ("core", 32), ("", 80)] {
        let metrics = if layer.is_empty() { &case.metrics } else { &case.by["layer"][layer] };
        let rows = rows.iter().filter(|(l, _)| l == layer || layer.is_empty() && l != "hosts");
        let waiting: Vec<u64> = rows.map(|(_, waiting)| *waiting).collect();
        let value = |name: &str| metrics[format!("queue_{name}_pkts").as_str()].value();
        close(value("mean"), waiting.iter().sum::<u64>() as f64 / (ports * looks) as f64, layer);
        assert_eq!(value("max"), waiting.iter().copied().max().unwrap_or(0) as f64, "{layer}");
        assert!(value("p50") <= value("p99") && value("p99") <= value("max"), "{layer}");
    }
    assert!(case.metrics["queue_max_pkts"].value() > 5.0, "flows meet");
}

#[test]
fn looking_at_queues_changes_no_result() {
    let permutation = "[workloads.w]\npattern = \"permutation\"\nsize = \"100kB\"\nrounds = 2";
    let digest = |settings: &[&str]| {
        let dir = TempDir::new().expect("a temporary folder");
        let report = measure(&experiment(FAT_TREE, permutation, settings), dir.path(), 1, 1);
        assert_eq!(report.cases[0].metrics.contains_key("queue_mean_pkts"), !settings.is_empty());
        report.digest
    };
    assert_eq!(digest(&["measure.queues=17us"]), digest(&[]));
}

/// One after another, of one packet each but the last: what an ACK tells is the base RTT.
#[test]
fn rtts_of_flows_alone_are_base_rtts() {
    let flows = r#"
[workloads.w]
pattern = "flows"
flow = [
    { name = "near", from = 0, to = 1, size = "2920B" },
    { name = "far", from = 0, to = 15, size = "2920B", start = "10ms" },
    { name = "silent", from = 0, to = 15, size = "1460B", start = "20ms" },
]
"#;
    let run = |settings: &[&str]| {
        let settings = [&["transport.initial_window=1pkt"], settings].concat();
        let dir = TempDir::new().expect("a temporary folder");
        measure(&experiment(FAT_TREE, flows, &settings), dir.path(), 2, 2)
    };
    let report = run(&["measure.rtt=true"]);
    let case = &report.cases[0];
    // 40 B of an ACK take 0.32 us.
    let [near, far] = [(80.0 + 2.0 * 12.32) / 1e6, (360.0 + 6.0 * 12.32) / 1e6];
    for (metrics, mean, p50, max) in [
        (&case.by["group"]["near"], near, near, near),
        (&case.by["group"]["far"], far, far, far),
        (&case.metrics, (near + far) / 2.0, near, far),
    ] {
        let value = |name: &str| metrics[format!("rtt_{name}_s").as_str()].value();
        assert!((value("mean") - mean).abs() < 1e-15 && (value("max") - max).abs() < 1e-15, "{metrics:?}");
        for (got, wanted) in [(value("p50"), p50), (value("p90"), max), (value("p99"), max)] {
            assert!((got - wanted).abs() <= wanted / 128.0, "{got} {wanted}");
        }
    }
    assert!(!case.by["group"]["silent"].contains_key("rtt_mean_s"), "its only ACK comes too late");
    let without = run(&[]);
    assert_eq!(without.digest, report.digest);
    assert!(!without.cases[0].metrics.contains_key("rtt_mean_s"));
}

/// Every table that a run can leave, and each of its columns.
#[test]
fn the_page_of_columns_lists_every_one() {
    let page = tresse_results::tables::explain();
    let jobs = "[workloads.w]\npattern = \"incast\"\nsize = \"10kB\"\nservers = 3";
    let settings = [
        "measure.samples=1ms",
        "measure.convergence={}",
        "measure.rtt=true",
        "measure.queues=100us",
        "measure.packets.hosts=[0]",
    ];
    let dir = TempDir::new().expect("a temporary folder");
    measure(&experiment(FAT_TREE, jobs, &settings), dir.path(), 1, 1);
    let tables: Vec<_> = tresse_results::tables::names().collect();
    for name in &tables {
        let of_all = page.split("In every table:").nth(1).expect("a section");
        let own = page.split(&format!("## {name}.parquet")).nth(1).unwrap_or_else(|| panic!("{name}"));
        let (of_all, own) = (of_all.split("## ").next(), own.split("## ").next());
        for (column, unit, meaning) in Table::read(&dir.path().join(format!("{name}.parquet"))).columns() {
            let row = format!("| `{column}` | {unit} | {meaning} |");
            assert!([of_all, own].iter().flatten().any(|s| s.contains(&row)), "{name}: {row}");
        }
    }
    let left = std::fs::read_dir(dir.path()).expect("the folder").count();
    assert_eq!(left, tables.len() + 1, "these and run.json");
}
