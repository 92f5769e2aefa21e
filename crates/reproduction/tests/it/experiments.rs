//! The built-in experiments, and the effects of profiles and settings on them.

use serde_json::Value;
use tresse_experiment::{Plan, Profile, find};
use tresse_lab::{Options, Watch, optimum};
use tresse_reproduction::run;
use tresse_results::Report;

use crate::OWNERS;

#[test]
fn the_quick_profile_cuts_rounds_and_says_so() {
    let quick = OWNERS.load(find("xmp/table1").expect("built in"), Profile::Quick, &[]).expect("valid");
    assert_eq!(quick.experiment.workloads["permutation"].own["rounds"].as_integer(), Some(4));
    let cut = ("workloads.permutation.rounds", "16", "4");
    let cuts: Vec<_> = quick.cuts.iter().map(|(a, b, c)| (a.as_str(), b.as_str(), c.as_str())).collect();
    assert!(cuts.contains(&cut), "{cuts:?}");
    let full = OWNERS.load(find("xmp/table1").expect("built in"), Profile::Full, &[]).expect("valid");
    assert_eq!(full.experiment.workloads["permutation"].own["rounds"].as_integer(), Some(16));
}

#[test]
fn settings_come_after_the_profile() {
    let settings = ["workloads.permutation.rounds=7", "fabric.k=4", "schemes.xmp.parameters.beta=6"];
    let settings = settings.map(str::to_owned);
    let loaded =
        OWNERS.load(find("xmp/table1").expect("built in"), Profile::Quick, &settings).expect("valid");
    let plan =
        OWNERS.resolve(&loaded, &["scheme=xmp", "pattern=permutation"].map(str::to_owned)).expect("valid");
    assert_eq!(plan.fabric().hosts(), 16);
    assert_eq!(plan.cases.len(), 2);
    assert!(plan.cases.iter().all(|c| c.bound_schemes[0].controllers.values()[0] == 6));
}

#[test]
fn filters_combine() {
    let loaded = OWNERS.load(find("xmp/table1").expect("built in"), Profile::Quick, &[]).expect("valid");
    let only = ["scheme=xmp,lia", "subflows=4", "pattern=permutation"].map(str::to_owned);
    let plan = OWNERS.resolve(&loaded, &only).expect("valid");
    let labels: Vec<_> = plan.cases.iter().map(|c| c.label()).collect();
    assert_eq!(labels, ["lia-4 permutation", "xmp-4 permutation"]);
}

/// Regardless of other schemes named earlier in its workload.
#[test]
fn a_case_is_called_by_its_own_scheme() {
    let settings = [
        r#"workloads={ w = { parts = { a = { pattern = "permutation", size = "1kB", scheme = "dctcp" }, b = { pattern = "permutation", size = "1kB" } } } }"#,
        "schemes.dctcp.axis=false",
        "published={}",
        "claims=[]",
        "profile.quick={}",
    ];
    let settings = settings.map(str::to_owned);
    let loaded = OWNERS.load(find("xmp/table1").expect("built in"), Profile::Full, &settings).expect("valid");
    let plan = OWNERS.resolve(&loaded, &[]).expect("valid");
    let labels: Vec<_> = plan.cases.iter().map(|c| c.label()).collect();
    assert_eq!(labels, ["lia-2 w", "lia-4 w", "xmp-2 w", "xmp-4 w"]);
}

#[test]
fn the_table_names_metrics_that_there_are() {
    let settings = [r#"measure.table=["fct_mean_s", "fct_p98_s"]"#.to_owned()];
    let loaded =
        OWNERS.load(find("xmp/table1").expect("built in"), Profile::Quick, &settings).expect("valid");
    let message = OWNERS.resolve(&loaded, &[]).expect_err("there is no fct_p98_s").to_string();
    assert!(message.contains("no metric `fct_p98_s`; did you mean `fct_p99_s`?"), "{message}");
}

/// XMP's table 1 from rack to rack in a fat tree of 16 hosts, two per rack, with these settings.
fn rack_to_rack(settings: &[&str], only: &str, replications: u32) -> Report {
    let small = ["fabric.k=4", "workloads.permutation.pattern=rack-to-rack"];
    let settings: Vec<String> = small.iter().chain(settings).map(|&s| s.to_owned()).collect();
    let loaded =
        OWNERS.load(find("xmp/table1").expect("built in"), Profile::Quick, &settings).expect("valid");
    let only = [only, "pattern=permutation"].map(str::to_owned);
    let plan = OWNERS.resolve(&loaded, &only).unwrap_or_else(|e| panic!("{e}"));
    let out = tempfile::tempdir().expect("a temporary folder");
    let (replications, out) = (replications.into(), out.path().to_owned());
    let options = Options {
        profile: Profile::Quick,
        seed: 1,
        replications,
        parallel: 1,
        threads: 1,
        out: Some(out),
        judge: false,
        figure: None,
    };
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

/// The cases of DCTCP over ECMP with this path manager and no `subflows`, or the error.
fn managed(manager: &str) -> Result<Plan, String> {
    let settings = [
        "fabric.k=4".to_owned(),
        "fabric.routing=ecmp".to_owned(),
        format!("schemes.dctcp.path_manager={manager}"),
    ];
    let mut source = find("xmp/table1").expect("built in");
    source.text = source.text.replace("subflows = 1\n", "");
    let loaded = OWNERS.load(source, Profile::Quick, &settings).expect("valid");
    OWNERS
        .resolve(&loaded, &["scheme=dctcp", "pattern=permutation"].map(str::to_owned))
        .map_err(|e| e.to_string())
}

#[test]
fn without_a_number_of_subflows_there_are_as_many_as_declared() {
    for (manager, subflows, label) in [
        (r#"{ name = "fixed", by = "port" }"#, Some(2), "dctcp-2 permutation"),
        (r#"{ name = "path-sharing", by = "port" }"#, Some(2), "dctcp-2 permutation"),
        ("mmptcp", Some(8), "dctcp-8 permutation"),
        ("opn-tuning", None, "dctcp permutation"),
    ] {
        let plan = managed(manager).unwrap_or_else(|e| panic!("{manager}: {e}"));
        let case = &plan.cases[0];
        assert_eq!((plan.cases.len(), case.subflows, &*case.label()), (1, subflows, label), "{manager}");
    }
}

#[test]
fn a_case_whose_path_manager_decides_is_on_no_axis_of_subflows() {
    let settings = ["schemes.lia.subflows=1", "schemes.lia.path_manager=opn", "measure.samples=10ms"];
    let loaded =
        OWNERS.load(find("xmp/table1").expect("built in"), Profile::Quick, &settings.map(str::to_owned));
    let loaded = loaded.expect("valid");
    let all = OWNERS.resolve(&loaded, &[]).expect("valid");
    assert!(all.cases.iter().any(|c| c.label() == "lia permutation" && c.axes().len() == 2));
    let one =
        OWNERS.resolve(&loaded, &["subflows=1", "pattern=permutation"].map(str::to_owned)).expect("valid");
    assert_eq!(one.cases.iter().map(|c| c.label()).collect::<Vec<_>>(), ["dctcp-1 permutation"]);
    let message = OWNERS.resolve(&loaded, &["scheme=lia".to_owned(), "subflows=1".to_owned()]);
    let message = message.expect_err("lia has no number").to_string();
    assert!(message.contains("there is no axis `subflows`"), "{message}");
}

#[test]
fn what_a_path_manager_opens_is_told_and_has_no_optimum() {
    let settings =
        ["workloads.permutation.size=100kB", "schemes.xmp.subflows=1", "schemes.xmp.path_manager=opn"];
    let report = rack_to_rack(&settings, "scheme=xmp", 1);
    let [case] = &report.cases[..] else { panic!("{} cases", report.cases.len()) };
    // Four paths, and no loss rate yet: one subflow on each.
    assert_eq!((&case.case["subflows"], case.metrics["subflows_opened_mean"].value()), (&Value::Null, 4.0));
    assert!(case.optimum.is_empty());
    let why = case.no_optimum.as_deref().unwrap_or_default();
    assert!(why.contains("opn opens and closes subflows while flows run"), "{why}");
    let fixed = rack_to_rack(&["workloads.permutation.size=100kB"], "subflows=4", 1);
    assert!(fixed.cases.iter().all(|c| c.metrics["subflows_opened_mean"].value() == 4.0));
    assert!(fixed.cases.iter().any(|c| !c.optimum.is_empty()));
}

/// A round from rack to rack of a large fabric has few flows: 8 of 128 hosts, here with more subflows than 1024 in all
/// if every host sent.
#[test]
fn a_small_round_of_a_large_fabric_has_an_optimum() {
    let settings = ["fabric.k=8", "workloads.permutation.size=10kB", "schemes.xmp.subflows=10"];
    let report = rack_to_rack(&settings, "scheme=xmp", 1);
    assert!(!report.cases[0].optimum.is_empty(), "{:?}", report.cases[0].no_optimum);
}

#[test]
fn links_that_change_have_an_optimum_for_each_state() {
    let mut source = find("xmp/table1").expect("built in");
    source.text += "[[changes]]\nat = \"1ms\"\nlink = [\"host 0\", \"edge 0\"]\nrate = \"100Mbps\"\n";
    let loaded = OWNERS.load(source, Profile::Quick, &["fabric.k=4".to_owned()]).expect("valid");
    let only = ["scheme=xmp", "pattern=permutation"].map(str::to_owned);
    let plan = OWNERS.resolve(&loaded, &only).unwrap_or_else(|e| panic!("{e}"));
    // Before the change and after it: host 0 has a tenth of its link then, less than any flow had.
    let cases = optimum(&loaded, &plan, Profile::Quick, 1, 1, &|| ()).cases;
    assert_eq!(cases.iter().map(|c| c.since_s).collect::<Vec<_>>(), [0.0, 0.001, 0.0, 0.001].map(Some));
    for states in cases.chunks(2) {
        let goodput = |i: usize| states[i].optimum.as_ref().expect("an optimum").goodput["goodput_p10_bps"];
        // Another flow takes what it leaves, so the mean stays.
        assert!(goodput(1) < goodput(0) - 1e6, "{} {}", goodput(1), goodput(0));
    }
}

#[test]
fn a_path_manager_that_cannot_run_is_refused() {
    for (manager, subflows, expected) in [
        ("opn", "2", "opn decides the number of subflows itself"),
        ("fixd", "2", "did you mean `fixed`?"),
        ("mmptcp", "2", "mmptcp first sprays"),
        (r#"{ name = "fixed", by = "port" }"#, "2", "take one path"),
    ] {
        let settings =
            [format!("schemes.lia.path_manager={manager}"), format!("schemes.lia.subflows={subflows}")];
        let loaded =
            OWNERS.load(find("xmp/table1").expect("built in"), Profile::Quick, &settings).expect("valid");
        let message = OWNERS.resolve(&loaded, &[]).expect_err(manager).to_string();
        assert!(message.contains(expected), "{manager}: {message}");
    }
}
