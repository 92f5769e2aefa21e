//! The metrics of slices are those of just their flows.

use tempfile::TempDir;
use tresse_experiment::Source;
use tresse_units::MICROSECOND;

use crate::reading::{Table, measure, plan};

const BOTH: &str = r#"
title = "t"
[fabric]
topology = "fat-tree"
k = 4
rate = "1Gbps"
delay = "20us"
queue = "100pkt"
mark = "10pkt"
host_queue = "100pkt"
[transport]
profile = "ns3"
[schemes.xmp]
controller = "xmp"
subflows = 2
[workloads.both.parts.small]
pattern = "random"
size = ["2kB", "40kB"]
flows = 60
[workloads.both.parts.large]
pattern = "random"
pairs = "inter-rack"
size = ["8kB", "2MB"]
flows = 60
[measure.slices]
some = { group = "large", size = "10kB to 400kB", distance = "inter-pod" }
up-to-100kB = { size = "up to 100kB" }
large = { group = "large" }
early = { starts = ["0s", "2ms"] }
none = { size = "above 1GB" }
"#;

#[test]
fn a_slice_is_a_group_a_size_and_a_distance_at_once() {
    let dir = TempDir::new().expect("a temporary folder");
    let loaded = plan(Source { name: "t.toml".to_owned(), text: BOTH.to_owned() }, &[]);
    let report = measure(&loaded, dir.path(), 2, 2);
    let case = &report.cases[0];
    let metric = |name: &str| case.metrics[name].value();

    let flows = Table::read(&dir.path().join("flows.parquet"));
    let [bytes, start, end] = ["size_bytes", "start_ps", "end_ps"].map(|name| flows.numbers(name));
    let [groups, distances] = ["group", "locality"].map(|name| flows.texts(name));
    let is = |i: &usize| {
        groups[*i] == "large" && (10_001..=400_000).contains(&bytes[*i]) && distances[*i] == "inter-pod"
    };
    let mut times: Vec<u64> = (0..bytes.len()).filter(is).map(|i| end[i] - start[i]).collect();
    times.sort_unstable();
    assert!(times.len() > 10 && times.len() < bytes.len() / 4, "{}", times.len());
    assert_eq!(metric("some.flows"), times.len() as f64);
    let p50 = times[times.len().div_ceil(2) - 1] as f64 / (1e6 * MICROSECOND as f64);
    assert!((metric("some.fct_p50_s") / p50 - 1.0).abs() < 1e-9, "{} {p50}", metric("some.fct_p50_s"));

    let early = (0..bytes.len()).filter(|i| start[*i] < 2000 * MICROSECOND).count();
    assert!(early > 10 && early < bytes.len(), "{early}");
    assert_eq!(metric("early.flows"), early as f64);

    // Where one property is enough, it is the part of that name.
    for (slice, part) in
        [("up-to-100kB", &case.by["size"]["up to 100kB"]), ("large", &case.by["group"]["large"])]
    {
        let own = case.metrics.iter().filter_map(|(name, value)| Some((name.strip_prefix(slice)?, value)));
        let own: Vec<_> = own.map(|(name, value)| (&name[1..], *value)).collect();
        assert!(own.len() > 15, "{own:?}");
        assert!(own.iter().all(|(name, value)| part[*name] == *value), "{slice}");
        assert_eq!(own.len(), part.keys().filter(|name| !name.starts_with("rtt_")).count());
    }
    assert!(!case.metrics.keys().any(|name| name.starts_with("none.")), "no flow, no value");

    // Over seeds they have intervals; a count is the sum of the seeds' counts.
    assert!(case.ci95["some.fct_mean_s"] > 0.0);
    let flows = |seed: usize| report.cases[0].seeds[seed].metrics["some.flows"].value();
    assert_eq!(flows(0) + flows(1), metric("some.flows"));
}
