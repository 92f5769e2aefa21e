//! Variants: what they put over an experiment, where its errors lie, and what results say of them.

use tempfile::TempDir;
use tresse_experiment::{Case, Loaded, Plan, Profile, Source, load, resolve};
use tresse_fabric::Threshold;

use crate::reading::{Table, measure};

/// A dumbbell of two pairs, with what follows its workload.
fn text(more: &str) -> String {
    format!(
        r#"title = "Variants"

[fabric]
topology = "dumbbell"
pairs = 2
rate = "1Gbps"
delay = "10us"
queue = "100pkt"
mark = "10pkt"
host_queue = "unlimited"

[transport]
profile = "ns3"

[schemes.dctcp]
controller = "dctcp"

[schemes.reno]
controller = "reno"

[workloads.pairs]
pattern = "permutation"
size = "20kB"
rounds = 2

[profile.quick]
workloads.pairs.rounds = 1
{more}"#
    )
}

const VARIANTS: &str = r#"
[variants.as-it-is]

[variants.queue-50]
fabric.queue = "50pkt"

[variants.lone]
only = ["scheme=reno"]
fabric.pairs = 1
transport.recovery = "reno"
workloads.long = { pattern = "permutation", size = "40kB", rounds = 1 }
"#;

fn loaded(more: &str, profile: Profile, settings: &[&str]) -> Result<Loaded, String> {
    let settings: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
    load(Source { name: "v.toml".into(), text: text(more) }, profile, &settings).map_err(|e| e.to_string())
}

fn plan(more: &str, settings: &[&str], only: &[&str]) -> Result<Plan, String> {
    let only: Vec<String> = only.iter().map(|&s| s.to_owned()).collect();
    resolve(&loaded(more, Profile::Full, settings)?, &only).map_err(|e| e.to_string())
}

fn labels(plan: &Plan) -> Vec<String> {
    plan.cases.iter().map(Case::label).collect()
}

/// Packets that the queue of the bottleneck holds.
fn queue(case: &Case) -> Threshold {
    let fabric = &case.setting.fabric;
    let bottleneck = (0..fabric.configs.len() as u32).find(|&p| fabric.layer_name(p) == "bottleneck");
    fabric.configs[bottleneck.expect("a dumbbell has one") as usize].limit
}

#[test]
fn the_cases_are_those_of_the_variants() {
    let plan = plan(VARIANTS, &[], &[]).expect("valid");
    let wanted = [
        "dctcp-1 pairs as-it-is",
        "reno-1 pairs as-it-is",
        "dctcp-1 pairs queue-50",
        "reno-1 pairs queue-50",
        "reno-1 pairs lone",
        "reno-1 long lone",
    ];
    assert_eq!(labels(&plan), wanted);
    assert_eq!(plan.cases.iter().map(|c| c.setting.fabric.hosts()).collect::<Vec<_>>(), [4, 4, 4, 4, 2, 2]);
    let [hundred, fifty] = [0, 2].map(|case| queue(&plan.cases[case]));
    assert_eq!((hundred.value(), fifty.value()), (100, 50));
    let axes: Vec<_> = plan.cases[4].axes().into_iter().collect();
    let axes: Vec<_> = axes.iter().map(|(axis, value)| (*axis, value.as_str())).collect();
    assert_eq!(axes, [("scheme", "reno"), ("subflows", "1"), ("pattern", "pairs"), ("variant", "lone")]);
}

#[test]
fn only_and_set_come_after_the_variants() {
    let chosen = |settings: &[&str], only: &[&str]| plan(VARIANTS, settings, only).expect("valid");
    assert_eq!(labels(&chosen(&[], &["variant=lone", "pattern=long"])), ["reno-1 long lone"]);
    let message = plan(VARIANTS, &[], &["variant=queue-5"]).expect_err("no such variant");
    assert!(message.contains("did you mean `queue-50`?"), "{message}");
    // Over what the file says and what a variant says; a variant itself can be set too.
    for (settings, wanted) in [
        (&["fabric.queue=70pkt"][..], [70, 70]),
        (&["variants.queue-50.fabric.queue=60pkt"], [100, 60]),
        (&["variants.queue-50.fabric.queue=60pkt", "fabric.queue=70pkt"], [70, 70]),
    ] {
        let plan = chosen(settings, &["scheme=dctcp"]);
        assert_eq!([0, 1].map(|case| queue(&plan.cases[case]).value()), wanted, "{settings:?}");
    }
    // Whoever reads run.json finds the experiment as it ran.
    let as_run = loaded(VARIANTS, Profile::Full, &["fabric.queue=70pkt"]).expect("valid");
    let again = toml::to_string(&as_run.resolved).expect("TOML");
    let again = load(Source { name: "again".into(), text: again }, Profile::Full, &[]).expect("valid");
    assert_eq!(queue(&resolve(&again, &[]).expect("valid").cases[2]).value(), 70);
}

#[test]
fn the_profile_comes_before_the_variants() {
    let more = format!("{VARIANTS}workloads.pairs.rounds = 3\n");
    let quick = loaded(&more, Profile::Quick, &[]).expect("valid");
    let rounds = |name: &str| {
        quick.variant(name).expect("it is there").experiment.workloads["pairs"].own["rounds"].as_integer()
    };
    assert_eq!((rounds("queue-50"), rounds("lone")), (Some(1), Some(3)));
    let message = quick.variant("alone").expect_err("there is none").to_string();
    assert!(message.contains("v.toml: there is no variant `alone`; did you mean `lone`?"), "{message}");
}

/// The line of the file in which this stands, from 1.
fn line(more: &str, what: &str) -> usize {
    text(more).lines().position(|l| l.contains(what)).expect("it stands there") + 1
}

#[test]
fn an_error_in_a_variant_has_its_line() {
    for (body, at, message) in [
        ("fabric.pairs = 0", "fabric.pairs = 0", "pairs"),
        ("fabric.kolour = 3", "fabric.kolour", "unknown key `kolour`"),
        ("fabric.queue = 7", "fabric.queue = 7", "a bare number 7 has no unit"),
        ("schemes.reno.controller = \"rino\"", "rino", "did you mean `reno`?"),
        ("only = [\"scheme=rino\"]", "scheme=rino", "no case has scheme = rino; did you mean `reno`?"),
        (
            "replications = 3",
            "replications",
            "a variant changes what is run: `replications` belongs to the whole",
        ),
        ("measure.table = [\"flows\"]", "measure.table", "all variants share the table"),
    ] {
        let more = format!("{VARIANTS}[variants.bad]\n{body}\n");
        let error = plan(&more, &[], &[]).expect_err(body);
        let place = format!("v.toml:{}:", line(&more, at));
        assert!(error.starts_with(&place) && error.contains(message), "{body}: {place} {error}");
    }
    // What --set put there is its own fault.
    let error = plan(VARIANTS, &["variants.queue-50.fabric.pairs=0"], &[]).expect_err("no pairs");
    assert!(error.starts_with("--set variants.queue-50.fabric.pairs=0: "), "{error}");
    let error = plan(VARIANTS, &["fabric.pairs=0"], &["variant=lone"]).expect_err("no pairs");
    assert!(error.starts_with("--set fabric.pairs=0: "), "{error}");
}

#[test]
fn results_name_the_variant_and_without_variants_nothing_does() {
    let dir = TempDir::new().expect("a temporary folder");
    let measured = "[variants.lone.measure]\nlinks = false\nsamples = \"100us\"\n";
    let loaded = loaded(&format!("{VARIANTS}{measured}"), Profile::Full, &[]).expect("valid");
    let plan = resolve(&loaded, &[]).expect("valid");
    let report = measure(&(loaded, plan), &dir.path().join("with"), 1, 2);
    let names: Vec<_> = report.cases.iter().map(|c| c.case["variant"].as_str().expect("a name")).collect();
    assert_eq!(names, ["as-it-is", "as-it-is", "queue-50", "queue-50", "lone", "lone"]);
    let read = |run: &str, table: &str| Table::read(&dir.path().join(run).join(format!("{table}.parquet")));
    let flows = read("with", "flows");
    let rows = |name: &str| flows.texts("variant").iter().filter(|v| *v == name).count();
    // Two rounds of four hosts under two schemes; of two hosts, and one round of long flows.
    assert_eq!(["as-it-is", "queue-50", "lone"].map(rows), [16, 16, 4 + 2]);
    // One variant measures what others do not.
    assert!(read("with", "links").texts("variant").iter().all(|v| v != "lone"));
    assert!(read("with", "samples").texts("variant").iter().all(|v| v == "lone"));
    assert!(!dir.path().join("with/queues.parquet").exists());

    let without = crate::reading::plan(Source { name: "v.toml".into(), text: text("") }, &[]);
    let alone = measure(&without, &dir.path().join("without"), 1, 2);
    assert!(!alone.cases[0].case.contains_key("variant"));
    let plain = read("without", "flows");
    assert!(plain.columns().iter().all(|(name, ..)| name != "variant"));
    assert_eq!(flows.columns()[3].0, "variant");
    // The variant that changes nothing has the same flows.
    for (case, same) in alone.cases.iter().zip(&report.cases) {
        assert_eq!(case.metrics["goodput_mean_bps"].value(), same.metrics["goodput_mean_bps"].value());
    }
}
