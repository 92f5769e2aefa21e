//! Claims and published numbers against made-up results, and against runs.

mod decided;
mod errors;
mod for_all;
mod for_each;
mod numbers;
mod open_axes;
mod read_back;
mod readings;
mod verdicts;
mod witnesses;
mod written_once;

use serde_json::{Value, json};
use tresse_reproduction::{Comparison, Publication};
use tresse_results::{ClaimResult, Finished};

use crate::OWNERS;

/// Two schemes of several numbers of subflows and one of one, two patterns.
const EXPERIMENT: &str = r#"
title = "t"
[fabric]
topology = "fat-tree"
k = 4
rate = "1Gbps"
delay = "20us"
queue = "100pkt"
host_queue = "unlimited"
[transport]
profile = "ns3"
[schemes.dctcp]
controller = "dctcp"
[schemes.lia]
controller = "lia"
subflows = [2, 4]
[schemes.xmp]
controller = "xmp"
subflows = [2, 4]
[workloads.permutation]
pattern = "permutation"
size = "20kB"
[workloads.jobs]
pattern = "jobs"
jobs = 1
servers = 2
request = "2kB"
response = "20kB"
total = 3
"#;

/// A case without results: `xmp-2 permutation`, with the single number of subflows if the name has none.
fn case(label: &str) -> Value {
    let (scheme, pattern) = label.split_once(' ').expect("a scheme and a pattern");
    let (scheme, subflows) = scheme.split_once('-').unwrap_or((scheme, "1"));
    let subflows: u32 = subflows.parse().expect("a number");
    json!({
        "case": { "scheme": scheme, "subflows": subflows, "pattern": pattern },
        "metrics": {}, "by": {}, "ci95": {}, "ci95_over": "rounds", "published": {}, "published_by": {},
        "optimum": {}, "optimum_of": "round_start",
        "no_optimum": null, "no_convergence": null, "no_sharing_score": null,
    })
}

/// A case with a metric: under one seed its value, or a value under each of several.
fn measured(label: &str, metric: &str, values: &[f64]) -> Value {
    let mut case = case(label);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    case["metrics"] = json!({ metric: mean });
    if values.len() > 1 {
        let seeds = values.iter().enumerate();
        case["seeds"] = seeds
            .map(|(seed, value)| json!({ "seed": seed + 1, "metrics": { metric: value }, "by": {} }))
            .collect();
    }
    case
}

/// `run.json` for these cases, under a profile.
fn run_json(more: &str, profile: &str, cases: &[Value]) -> String {
    let resolved: toml::Table = toml::from_str(&format!("{EXPERIMENT}{more}")).expect("TOML");
    json!({
        "schema": "tresse/run/1", "experiment": "t.toml", "profile": profile, "seed": 1, "replications": 1,
        "status": "complete", "version": "0.0.0", "model_version": 1, "out": "runs/t-1", "wall_s": 2.5,
        "packet_hops": 1, "digest": "0", "cases": cases, "claims": [],
        "resolved": resolved, "host": { "os": "o", "architecture": "a", "threads": 1 },
    })
    .to_string()
}

/// The comparison of results with an experiment with `more` in its file.
fn comparison(more: &str, cases: &[Value]) -> Comparison {
    let text = run_json(more, "full", cases);
    let back = Finished::parse("run.json", &text, OWNERS).unwrap_or_else(|e| panic!("{e}"));
    let publication = Publication::of(&back.experiment).unwrap_or_else(|e| panic!("{}", e.message));
    tresse_reproduction::comparison(&publication, &back.report)
}

/// The only claim with these keys, if its cases were run.
fn claim(keys: &str, cases: &[Value]) -> Option<ClaimResult> {
    let more = format!("[[claims]]\nid = \"c\"\ntext = \"a claim\"\n{keys}\n");
    let mut claims = comparison(&more, cases).claims;
    assert!(claims.len() <= 1);
    claims.pop()
}
