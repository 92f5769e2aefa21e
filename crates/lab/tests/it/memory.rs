//! What a run is expected to take: connections that stay and the routes of sprayed ones count.

use tresse_experiment::Source;
use tresse_lab::{Options, memory};

use crate::reading::plan;

const ALL_TO_ALL: &str = r#"
title = "t"
[fabric]
topology = "fat-tree"
k = 4
rate = "10Gbps"
delay = "1us"
queue = "100pkt"
host_queue = "unlimited"
routing = "two-level"
[transport]
profile = "spray"
[schemes.s]
controller = "nscc"
balancer = "reps"
paths = 1
[workloads.w]
pattern = "collective"
collective = "all-to-all"
size = "1MB"
parallel = 1
persistent = false
"#;

fn estimate(settings: &[&str]) -> u64 {
    let (_, plan) = plan(Source { name: "t.toml".into(), text: ALL_TO_ALL.into() }, settings);
    memory::estimate(&plan, &Options::default())
}

#[test]
fn connections_that_stay_and_their_routes_count() {
    let [gone, one, two, four] = [
        &["workloads.w.persistent=false"][..],
        &["workloads.w.persistent=true"],
        &["workloads.w.persistent=true", "schemes.s.paths=2"],
        &["workloads.w.persistent=true", "schemes.s.paths=4"],
    ]
    .map(estimate);
    assert!(one > gone, "{one} where 240 connections stay, {gone} where 16 exist at a time");
    assert!(two > one, "each path has its routes");
    assert_eq!(four - two, 2 * (two - one));
    let nodes = ["fabric.routing=ecmp", "workloads.w.persistent=true"];
    let decided = nodes.iter().copied().chain(["schemes.s.paths=4"]).collect::<Vec<_>>();
    assert_eq!(estimate(&nodes), estimate(&decided), "where the nodes decide there are no such routes");
}
