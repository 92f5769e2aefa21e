//! The built-in experiments, and what the profile and the settings make of them.

use tresse_lab::{Options, Profile, Report, Watch, find, load, papers, resolve, run};

#[test]
fn every_built_in_experiment_resolves_in_both_profiles() {
    for name in papers::names() {
        for profile in [Profile::Quick, Profile::Full] {
            let source = find(name).expect("a built-in experiment");
            let loaded = load(source, profile, &[]).unwrap_or_else(|e| panic!("{name}: {e}"));
            let plan = resolve(&loaded, &[]).unwrap_or_else(|e| panic!("{name}: {e}"));
            for value in &loaded.experiment.published.values {
                let known = plan.cases.iter().any(|c| {
                    c.scheme == value.scheme && c.subflows == value.subflows && c.pattern == value.pattern
                });
                assert!(known, "{name}: a number was published of {value:?}, which is no case");
            }
        }
    }
}

#[test]
fn the_quick_profile_cuts_rounds_and_says_so() {
    let quick = load(find("xmp/table1").expect("built in"), Profile::Quick, &[]).expect("valid");
    assert_eq!(quick.experiment.workloads["permutation"].rounds, 4);
    let cut = ("workloads.permutation.rounds", "16", "4");
    let cuts: Vec<_> = quick.cuts.iter().map(|(a, b, c)| (a.as_str(), b.as_str(), c.as_str())).collect();
    assert_eq!(cuts, [cut]);
    let full = load(find("xmp/table1").expect("built in"), Profile::Full, &[]).expect("valid");
    assert_eq!(full.experiment.workloads["permutation"].rounds, 16);
}

#[test]
fn settings_come_after_the_profile() {
    let settings = ["workloads.permutation.rounds=7", "fabric.k=4", "schemes.xmp.parameters.beta=6"];
    let settings = settings.map(str::to_owned);
    let loaded = load(find("xmp/table1").expect("built in"), Profile::Quick, &settings).expect("valid");
    let plan = resolve(&loaded, &["scheme=xmp".to_owned()]).expect("valid");
    assert_eq!(plan.fabric.hosts(), 16);
    assert_eq!(plan.cases.len(), 2);
    assert!(plan.cases.iter().all(|c| c.rounds == 7 && c.controllers.values()[0] == 6));
}

#[test]
fn filters_combine() {
    let loaded = load(find("xmp/table1").expect("built in"), Profile::Quick, &[]).expect("valid");
    let only = ["scheme=xmp,lia", "subflows=4"].map(str::to_owned);
    let plan = resolve(&loaded, &only).expect("valid");
    let labels: Vec<_> = plan.cases.iter().map(|c| c.label()).collect();
    assert_eq!(labels, ["lia-4 permutation", "xmp-4 permutation"]);
}

#[test]
fn the_table_names_metrics_that_there_are() {
    let settings = [r#"measure.table=["fct_mean_s", "fct_p98_s"]"#.to_owned()];
    let loaded = load(find("xmp/table1").expect("built in"), Profile::Quick, &settings).expect("valid");
    let message = resolve(&loaded, &[]).expect_err("there is no fct_p98_s").to_string();
    assert!(message.contains("no metric `fct_p98_s`; did you mean `fct_p99_s`?"), "{message}");
}

/// XMP's table 1 from rack to rack in a fat tree of 16 hosts, two a rack, with these settings.
fn rack_to_rack(settings: &[&str], only: &str, replications: u32) -> Report {
    let small = ["fabric.k=4", "workloads.permutation.pattern=rack-to-rack"];
    let settings: Vec<String> = small.iter().chain(settings).map(|&s| s.to_owned()).collect();
    let loaded = load(find("xmp/table1").expect("built in"), Profile::Quick, &settings).expect("valid");
    let plan = resolve(&loaded, &[only.to_owned()]).unwrap_or_else(|e| panic!("{e}"));
    let out = tempfile::tempdir().expect("a temporary folder");
    let options =
        Options { profile: Profile::Quick, seed: 1, replications, parallel: 1, out: out.path().to_owned() };
    let watch = Watch::new(&plan, &options).expect("few seeds");
    run(&loaded, &plan, &options, &watch).expect("it runs")
}

#[test]
fn a_rack_of_a_small_fat_tree_sends_to_the_next() {
    let report = rack_to_rack(&["workloads.permutation.size=10kB"], "scheme=dctcp", 2);
    let metric = |name: &str| report.cases[0].metrics[name].value();
    // Two seeds of four rounds of two flows.
    assert_eq!((metric("flows"), metric("delivered_bytes")), (16.0, 160_000.0));
    assert!(metric("cwnd_mean_pkts") > 1.0 && metric("fct_p50_s") <= metric("fct_max_s"));
}

#[test]
fn a_handshake_takes_a_round_trip() {
    let fct = |handshake: &str| {
        let report = rack_to_rack(&["workloads.permutation.size=1kB", handshake], "scheme=dctcp", 1);
        report.cases[0].metrics["fct_p50_s"].value()
    };
    // Four links of 100 us together each way, on each of which 40 B take 0.32 us; two SYNs may meet.
    let round_trip = fct("transport.handshake=true") - fct("transport.handshake=false");
    assert!((202.56e-6..204e-6).contains(&round_trip), "{round_trip}");
}

#[test]
fn a_path_manager_that_cannot_run_is_refused() {
    for (manager, subflows, expected) in [
        ("opn", "2", "opn decides itself how many subflows there are"),
        ("fixd", "2", "did you mean `fixed`?"),
        ("mmptcp", "2", "mmptcp sprays"),
        (r#"{ name = "fixed", by = "port" }"#, "2", "take one path"),
    ] {
        let settings =
            [format!("schemes.lia.path_manager={manager}"), format!("schemes.lia.subflows={subflows}")];
        let loaded = load(find("xmp/table1").expect("built in"), Profile::Quick, &settings).expect("valid");
        let message = resolve(&loaded, &[]).expect_err(manager).to_string();
        assert!(message.contains(expected), "{manager}: {message}");
    }
}
