//! Runs with windows, several seeds and claims, read back from their folders.

use std::fs;

use tempfile::TempDir;
use tresse_experiment::schema::stopping_rule::Replications;
use tresse_experiment::{Loaded, Plan, Profile, Source};
use tresse_lab::{Options, Watch};
use tresse_reproduction::{Publication, comparison, run};
use tresse_results::record::claim::Verdict;
use tresse_results::{Finished, Report};

use super::run_json;
use crate::OWNERS;

/// Two flows to one host, which share its link from 200 ms on.
const EXPERIMENT: &str = r#"
title = "t"
[fabric]
topology = "fat-tree"
k = 4
rate = "100Mbps"
delay = "20us"
queue = "100pkt"
mark = "10pkt"
host_mark = "10pkt"
host_queue = "unlimited"
[transport]
profile = "ns3"
[schemes.xmp]
controller = "xmp"
subflows = 2
[workloads.w]
duration = "1s"
[workloads.w.parts.long]
pattern = "flows"
flow = [
    { name = "first", from = 0, to = 15, stop = "1s" },
    { name = "second", from = 4, to = 15, start = "200ms", stop = "1s" },
]
[measure]
samples = "20ms"
[measure.windows]
alone = ["100ms", "200ms"]
both = ["600ms", "1s"]
[published]
source = "nobody"
values = [
    { scheme = "xmp", subflows = 2, pattern = "w", window = "alone", goodput_mean = "95Mbps" },
    { scheme = "xmp", subflows = 2, pattern = "w", window = "both", group = "first", goodput_mean = "10Mbps", differs = "It was made up." },
]
[[claims]]
id = "half"
text = "the second flow takes half of it"
metric = "goodput_mean_bps"
left = { window = "both", group = "first" }
right = { window = "alone", group = "first" }
ratio_above = 0.3
ratio_below = 0.7
[[claims]]
id = "subflows"
text = "both subflows of the first flow get something"
metric = "goodput_mean_bps"
of = [{ window = "alone", group = "first", subflow = 0 }, { window = "alone", group = "first", subflow = 1 }]
above = 1e6
[[claims]]
id = "unfair"
text = "the first flow gets nearly everything"
metric = "jain_ratio"
of = { window = "both" }
below = 0.6
expected = "does not hold"
because = "They share."
"#;

fn measured(folder: &TempDir, replications: u32, more: &str) -> (Loaded, Plan, Report) {
    let source = Source { name: "t.toml".to_owned(), text: format!("{EXPERIMENT}{more}") };
    let loaded = OWNERS.load(source, Profile::Full, &[]).unwrap_or_else(|e| panic!("{e}"));
    let plan = OWNERS.resolve(&loaded, &[]).unwrap_or_else(|e| panic!("{e}"));
    let out = folder.path().join("run");
    let options = Options {
        profile: Profile::Full,
        seed: 1,
        replications: Replications::Count(replications),
        parallel: 1,
        threads: 1,
        out: Some(out),
        judge: false,
        figure: None,
    };
    let watch = Watch::new(&plan, &options).expect("there are as many seeds");
    let report = run(&loaded, &plan, &options, &watch).expect("the folder can be written");
    (loaded, plan, report)
}

#[test]
fn windows_and_claims_of_a_run_and_of_its_file() {
    let folder = TempDir::new().expect("a folder");
    let (loaded, _, report) = measured(&folder, 1, "");
    let case = &report.cases[0];
    assert!(case.seeds.is_empty() && case.ci95_by.is_empty());
    let alone = &case.windows["alone"];
    let rate = alone.metrics["goodput_mean_bps"].value();
    assert!((90e6..100e6).contains(&rate), "{rate}: the bottleneck's, but for headers");
    assert_eq!(alone.groups.keys().collect::<Vec<_>>(), ["first"]);
    assert_eq!(alone.groups["first"].metrics, alone.metrics, "it was alone");
    let subflows = &alone.groups["first"].subflows;
    let sum: f64 = subflows.iter().map(|s| s["goodput_mean_bps"].value()).sum();
    assert_eq!(subflows.len(), 2);
    assert!((sum - rate).abs() <= 0.02 * rate, "{sum} of {rate}");
    let both = &case.windows["both"];
    assert_eq!(both.groups.keys().collect::<Vec<_>>(), ["first", "second"]);
    let jain = both.metrics["jain_ratio"].value();
    assert!(jain > 0.8, "{jain}: {both:?}");

    let verdicts: Vec<_> = report.claims.iter().map(|c| (c.id.as_str(), c.verdict)).collect();
    let expected = [("half", Verdict::Holds), ("subflows", Verdict::Holds), ("unfair", Verdict::DoesNotHold)];
    assert_eq!(verdicts, expected);
    let back = Finished::read(&folder.path().join("run"), OWNERS).unwrap_or_else(|e| panic!("{e}"));
    let json = |report: &Report| serde_json::to_value(report).expect("plain data");
    assert_eq!(json(&back.report), json(&report));
    let comparison = comparison(&Publication::of_run(&back).expect("it was checked"), &back.report);
    assert_eq!(
        comparison,
        tresse_reproduction::comparison(
            &Publication::of(&loaded.experiment).expect("it was checked"),
            &report
        )
    );
    assert_eq!(comparison.claims, report.claims);
    assert_eq!((comparison.summary.claims, comparison.summary.claims_hold), (3, 2));
    assert_eq!((comparison.summary.numbers, comparison.summary.numbers_within_20_percent), (2, 1));
    assert!(!comparison.fails(), "what is off says why");
}

#[test]
fn several_seeds_have_intervals_of_everything() {
    let folder = TempDir::new().expect("a folder");
    // A list does not depend on the seed; a permutation does.
    let more = "[workloads.w.parts.mice]\npattern = \"poisson\"\nload = 0.1\nload_on = \"access\"\nsize = \"20kB\"\n\
                pairs = \"any\"\nflows = 40\n";
    let random = EXPERIMENT.replace("[measure]\n", &format!("{more}[measure]\n"));
    assert_ne!(random, EXPERIMENT);
    let source = Source { name: "t.toml".to_owned(), text: random };
    let loaded = OWNERS.load(source, Profile::Full, &[]).unwrap_or_else(|e| panic!("{e}"));
    let plan = OWNERS.resolve(&loaded, &[]).unwrap_or_else(|e| panic!("{e}"));
    let out = folder.path().join("run");
    let options = Options {
        profile: Profile::Full,
        seed: 5,
        replications: Replications::Count(3),
        parallel: 2,
        threads: 1,
        out: Some(out.clone()),
        judge: false,
        figure: None,
    };
    let watch = Watch::new(&plan, &options).expect("there are as many seeds");
    let report = run(&loaded, &plan, &options, &watch).expect("the folder can be written");
    let case = &report.cases[0];
    assert_eq!(case.ci95_over, "seeds");
    assert_eq!(case.seeds.iter().map(|s| s.seed).collect::<Vec<_>>(), [5, 6, 7]);
    assert!(case.ci95["fct_p99_s"] > 0.0, "not of means only");
    assert!(case.ci95_by["group"]["mice"]["fct_mean_s"] > 0.0);
    let of = |name: &str| -> Vec<f64> { case.seeds.iter().map(|s| s.metrics[name].value()).collect() };
    assert_eq!(of("flows").iter().sum::<f64>(), case.metrics["flows"].value(), "a count is of all seeds");
    let rates: Vec<f64> =
        case.seeds.iter().map(|s| s.windows["both"].metrics["goodput_mean_bps"].value()).collect();
    let mean = rates.iter().sum::<f64>() / 3.0;
    assert!((case.windows["both"].metrics["goodput_mean_bps"].value() - mean).abs() <= 1e-9 * mean);
    let claim = &report.claims[0];
    let paired: Vec<f64> = case
        .seeds
        .iter()
        .map(|s| {
            let first = |window: &str| s.windows[window].groups["first"].metrics["goodput_mean_bps"].value();
            first("both") / first("alone")
        })
        .collect();
    assert!((claim.value.expect("a value") - paired.iter().sum::<f64>() / 3.0).abs() < 1e-12);
    assert!(claim.ci95.expect("an interval") > 0.0);
    assert_eq!(Finished::read(&out, OWNERS).unwrap_or_else(|e| panic!("{e}")).report.claims, report.claims);
}

#[test]
fn what_is_no_run_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let error = Finished::read(folder.path(), OWNERS).expect_err("there is no file").to_string();
    assert!(error.contains("run.json: cannot be read"), "{error}");
    let path = folder.path().join("run.json");
    for (text, why) in [
        ("{}".to_owned(), "the key `resolved` is missing"),
        ("[".to_owned(), "not the results of a run"),
        (run_json("", "full", &[]).replace("tresse/run/1", "tresse/run/9"), "its schema is tresse/run/9"),
        (run_json("", "full", &[]).replace("\"fat-tree\"", "\"torus\""), "unknown value `torus`"),
    ] {
        fs::write(&path, text).expect("it can be written");
        let error = Finished::read(folder.path(), OWNERS).expect_err(why).to_string();
        assert!(error.contains(why) && error.contains("run the experiment again"), "{error}");
    }
}

/// Built-in experiments, written as JSON and read back, stay the same.
#[test]
fn experiments_survive_their_way_through_a_file() {
    for name in tresse_experiment::read::built_in::names() {
        let source = tresse_experiment::find(name).expect("built in");
        let loaded = OWNERS.load(source, Profile::Full, &[]).unwrap_or_else(|e| panic!("{e}"));
        let text = serde_json::to_string(&loaded.resolved).expect("plain data");
        let back: toml::Table = serde_json::from_str(&text).expect("a table");
        assert_eq!(back, loaded.resolved, "{name}");
    }
}
