//! What can be wrong with slices, and with the names of their metrics.

use tresse_experiment::read::Source;
use tresse_experiment::schema::slice::Sizes;
use tresse_experiment::{Profile, load, resolve};

const TWO_GROUPS: &str = r#"
title = "two groups"
[fabric]
topology = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
rate = "100Gbps"
delay = "1us"
queue = "800kB"
routing = "ecmp"
[transport]
profile = "linux"
[schemes.dctcp]
controller = "dctcp"
[workloads.all.parts.web]
pattern = "random"
size = ["1kB", "1MB"]
flows = 10
[workloads.all.parts.bulk]
pattern = "permutation"
size = "1MB"
"#;

fn wrong(settings: &[&str]) -> Option<String> {
    let source = Source { name: "test.toml".into(), text: TWO_GROUPS.to_owned() };
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let plan = load(source, Profile::Full, &settings).and_then(|loaded| resolve(&loaded, &[]));
    plan.err().map(|e| e.to_string())
}

#[test]
fn slices_and_their_metrics_are_checked() {
    let slice = "measure.slices.small={ group = \"web\", size = \"up to 100kB\", distance = \"inter-rack\" }";
    assert_eq!(wrong(&[slice, "measure.table=[\"small.fct_p99_s\", \"fct_p99_s\"]"]), None);
    for (settings, expected) in [
        (&["measure.slices.small={ group = \"wep\" }"][..], "there is no group `wep`; did you mean `web`?"),
        (&["measure.slices.small={ size = \"small\" }"], "is not a range of sizes such as `up to 100kB`"),
        (&["measure.slices.small={ size = \"2kB to 1kB\" }"], "has no sizes"),
        (&["measure.slices.small={ size = \"up to 3\" }"], "\"3\""),
        (&["measure.slices.small={ distance = \"far\" }"], "there is no distance `far`"),
        (&["measure.slices.small={ starts = [\"2ms\", \"1ms\"] }"], "the earlier one first"),
        (
            &["variants={ one = { measure.slices.small = { distance = \"far\" } } }"],
            "there is no distance `far`",
        ),
        (&["measure.slices.small={}"], "which flows?"),
        (&["measure.slices.optimum={ group = \"web\" }"], "cannot be a slice's name"),
        (&["measure.table=[\"small.fct_p99_s\"]"], "define it in [measure.slices]"),
        (&[slice, "measure.table=[\"smal.fct_p99_s\"]"], "there is no slice `smal`; did you mean `small`?"),
        (&[slice, "measure.table=[\"small.drops_pkts\"]"], "there is no metric of slices `drops_pkts`"),
        (&[slice, "replications={ width = 0.1, of = \"small.fct_p9_s\" }"], "there is no metric of slices"),
    ] {
        let message = wrong(settings).unwrap_or_default();
        assert!(message.contains(expected), "{settings:?}: {message}");
    }
}

#[test]
fn sizes_are_read_as_they_are_written() {
    for (text, above, most) in
        [("up to 100kB", 0, 100_000), ("10kB to 1MB", 10_000, 1_000_000), ("above 1MB", 1_000_000, u64::MAX)]
    {
        let sizes: Sizes = text.parse().expect("sizes");
        assert_eq!((sizes.above, sizes.most), (above, most));
        assert_eq!(sizes.to_string(), text);
        assert!(!sizes.has(above) && sizes.has(above + 1) && sizes.has(most));
    }
}
