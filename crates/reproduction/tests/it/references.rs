//! Published numbers and claims of parts of a case.

use tresse_experiment::{Loaded, Profile, Source};
use tresse_lab::{Options, Watch};
use tresse_reproduction::Publication;
use tresse_results::Report;

use crate::OWNERS;

/// Two flows in a pod and one between pods, in two groups; two schemes side by side.
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
[schemes.reno]
controller = "reno"
[schemes.lia]
controller = "lia"
subflows = 2
axis = false
[workloads.list]
pattern = "flows"
flow = [
    { name = "near", from = 0, to = 2, size = "5kB" },
    { name = "near", from = 4, to = 7, size = "300kB" },
    { name = "far", from = 1, to = 15, size = "5kB", scheme = "lia" },
]
[workloads.apart]
pattern = "permutation"
size = "20kB"
scheme = "lia"
"#;

/// The experiment and its results, with what was published.
fn judged(source: Source) -> (Loaded, Report) {
    let loaded = OWNERS.load(source, Profile::Full, &[]).unwrap_or_else(|e| panic!("{e}"));
    let plan = OWNERS.resolve(&loaded, &[]).unwrap_or_else(|e| panic!("{e}"));
    let options = Options {
        profile: Profile::Full,
        seed: 1,
        replications: 1.into(),
        parallel: 1,
        threads: 1,
        out: None,
        judge: false,
        figure: None,
    };
    let watch = Watch::new(&plan, &options).expect("one seed");
    let report = tresse_reproduction::measure(&loaded, &plan, &options, &watch).expect("it runs");
    (loaded, report)
}

fn publication(loaded: &Loaded) -> Publication {
    Publication::of(&loaded.experiment).expect("it was checked")
}

fn source(more: &str) -> Source {
    Source { name: "t.toml".to_owned(), text: format!("{EXPERIMENT}{more}") }
}

#[test]
fn claims_and_published_numbers_are_those_of_parts() {
    let more = r#"
[published]
values = [
    { scheme = "reno", pattern = "list", metrics = { flows = 3 } },
    { scheme = "reno", pattern = "list", goodput_mean = "1Mbps", metrics = { jain_ratio = 0.5 } },
    { scheme = "reno", pattern = "list", group = "far", goodput_mean = "2Mbps" },
    { scheme = "reno", pattern = "list", size = "up to 10kB", metrics = { flows = 2 } },
    { scheme = "lia-2", pattern = "apart", layer = "core", metrics = { utilisation_max_ratio = 1 } },
]
[[claims]]
id = "near"
text = "there are twice as many near ones"
metric = "flows"
left = { scheme = "reno", pattern = "list", group = "near" }
right = { scheme = "reno", pattern = "list", distance = "inter-pod" }
ratio_above = 1.9
[[claims]]
id = "large"
text = "no flow is above 1 MB"
metric = "fct_p99_s"
left = { scheme = "reno", pattern = "list", size = "above 1MB" }
right = { scheme = "lia-2", pattern = "apart" }
ratio_below = 1
"#;
    let (loaded, report) = judged(source(more));
    let [list, apart] = &report.cases[..] else { panic!("two cases") };
    let published = |case| serde_json::to_value(case).expect("it can be written");
    assert_eq!(
        published(&list.published),
        serde_json::json!({ "flows": 3.0, "goodput_mean_bps": 1e6, "jain_ratio": 0.5 })
    );
    let parts = serde_json::json!({
        "group": { "far": { "goodput_mean_bps": 2e6 } }, "size": { "up to 10kB": { "flows": 2.0 } },
    });
    assert_eq!(serde_json::to_value(&list.published_by).expect("it can be written"), parts);
    assert_eq!(apart.published_by["layer"]["core"]["utilisation_max_ratio"], 1.0);
    let judged = tresse_reproduction::comparison(&publication(&loaded), &report).claims;
    let claims: Vec<_> = judged.iter().map(|c| (c.value, c.holds, c.why.as_deref())).collect();
    let why = "reno-1 list, size above 1MB has no fct_p99_s";
    assert_eq!(claims, [(Some(2.0), Some(true), None), (None, None, Some(why))]);
}

#[test]
fn a_number_of_one_variant_is_of_no_other() {
    let more = "[variants.as-it-is]\n[variants.queue-50.fabric]\nqueue = \"50pkt\"\n[published]\nvalues = \
                [{ scheme = \"reno\", pattern = \"list\", variant = \"queue-50\", goodput_mean = \"1Gbps\" }]\n";
    let (_, report) = judged(source(more));
    let published: Vec<_> = report.cases.iter().map(|case| case.published.len()).collect();
    assert_eq!(published, [0, 0, 1, 0]);
    let error = |text: &str| {
        let loaded = OWNERS.load(source(text), Profile::Full, &[]).expect("it can be read");
        OWNERS.resolve(&loaded, &[]).expect_err("no such variant").to_string()
    };
    let wrong = error(&more.replace("variant = \"queue-50\"", "variant = \"queue-5\""));
    assert!(wrong.contains("there is no variant `queue-5`; did you mean `queue-50`?"), "{wrong}");
    let none = error(&more[more.find("[published]").expect("numbers")..]);
    assert!(none.contains("there is no variant `queue-50`: the experiment has none"), "{none}");
}

#[test]
fn parts_that_there_are_not_are_refused() {
    let refused = |key: &str, pattern: &str, scheme: &str, metric: &str| {
        let more = format!(
            "[[claims]]\nid = \"c\"\ntext = \"c\"\nmetric = \"{metric}\"\nleft = {{ scheme = \"{scheme}\", pattern = \
             \"{pattern}\", {key} }}\nright = {{ scheme = \"reno\" }}\nratio_above = 1\n"
        );
        let loaded = OWNERS.load(source(&more), Profile::Full, &[]).expect("valid");
        OWNERS.resolve(&loaded, &[]).expect_err("it is not there").to_string()
    };
    for (key, pattern, scheme, metric, message) in [
        (
            "group = \"nera\"",
            "list",
            "reno",
            "flows",
            "no group `nera`; did you mean `near`? (available: near, far)",
        ),
        ("group = \"near\"", "apart", "lia-2", "flows", "the flows of lia-2 are in one group"),
        (
            "distance = \"inner-pod\"",
            "list",
            "reno",
            "flows",
            "no distance `inner-pod`; did you mean `inter-pod`?",
        ),
        ("size = \"up to 1kB\"", "list", "reno", "flows", "no size `up to 1kB`; did you mean `up to 10kB`?"),
        (
            "layer = \"hosts\"",
            "list",
            "reno",
            "queue_max_pkts",
            "no layer `hosts` (available: rack, aggregation, core)",
        ),
        (
            "layer = \"core\"",
            "list",
            "reno",
            "flows",
            "`flows` is not a metric of layers (available: utilisation_mean_ratio, ",
        ),
        (
            "group = \"far\"",
            "list",
            "reno",
            "queue_max_pkts",
            "`queue_max_pkts` is a metric of layers: a group has none",
        ),
        (
            "group = \"far\"",
            "list",
            "reno",
            "drops_pkts",
            "`drops_pkts` is a metric of whole cases: a group has none",
        ),
        (
            "size = \"up to 10kB\"",
            "list",
            "reno",
            "rtt_p50_s",
            "`rtt_p50_s` is a metric of cases and groups: a size has none",
        ),
        (
            "group = \"far\"",
            "list",
            "reno",
            "srtt_mean_s",
            "`srtt_mean_s` is a metric of windows of time: set `window = \"…\"`",
        ),
        ("group = \"far\", size = \"up to 10kB\"", "list", "reno", "flows", "either a `group` or a `size`"),
    ] {
        let error = refused(key, pattern, scheme, metric);
        assert!(error.starts_with("t.toml:") && error.contains("c: ") && error.contains(message), "{error}");
    }
}
