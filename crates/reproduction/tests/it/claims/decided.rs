//! Runs that continue until their claims are decided.

use tempfile::TempDir;
use tresse_experiment::{Profile, Source};
use tresse_lab::{Options, Watch};
use tresse_reproduction::run;
use tresse_results::Report;
use tresse_results::record::claim::Verdict;

use crate::OWNERS;

/// Two schemes whose flows have random sizes, so that their goodput depends on the seed.
const TEXT: &str = r#"
title = "Until decided"
[fabric]
topology = "dumbbell"
pairs = 2
rate = "1Gbps"
delay = "10us"
queue = "100pkt"
host_queue = "unlimited"
[transport]
profile = "ns3"
[schemes.reno]
controller = "reno"
[schemes.dctcp]
controller = "dctcp"
[workloads.pairs]
pattern = "permutation"
size = ["10kB", "90kB"]
[[claims]]
id = "flows"
text = "DCTCP has flows"
metric = "flows"
of = { scheme = "dctcp" }
above = 1
[[claims]]
id = "fast"
text = "Reno is fast"
metric = "goodput_mean_bps"
of = { scheme = "reno" }
"#;

fn measured(rule: &str, bound: f64, parallel: usize) -> Report {
    let text = format!("replications = {rule}\n{TEXT}above = {bound:?}\n");
    let loaded = OWNERS.load(Source { name: "t.toml".to_owned(), text }, Profile::Full, &[]);
    let loaded = loaded.unwrap_or_else(|e| panic!("{e}"));
    let plan = OWNERS.resolve(&loaded, &[]).unwrap_or_else(|e| panic!("{e}"));
    let folder = TempDir::new().expect("a folder");
    let options = Options {
        profile: Profile::Full,
        seed: 1,
        replications: loaded.experiment.replications.clone(),
        parallel,
        threads: 1,
        out: Some(folder.path().join("run")),
        judge: false,
        figure: None,
    };
    let watch = Watch::new(&plan, &options).expect("there are as many seeds");
    run(&loaded, &plan, &options, &watch).expect("the folder can be written")
}

#[test]
fn seeds_are_run_until_the_claims_are_decided() {
    let three = measured("3", 1.0, 1);
    let (reno, claim) = (&three.cases[0], &three.claims[1]);
    assert_eq!((reno.case["scheme"].as_str(), claim.verdict), (Some("reno"), Verdict::Holds));
    let (mean, width) = (claim.value.expect("a value"), claim.ci95.expect("several seeds"));
    assert!(width > 0.1 * mean, "{mean} ± {width}");
    // A bound within the interval of three seeds: with three the claim is inconclusive.
    let bound = mean - 0.8 * width;
    assert_eq!(measured("3", bound, 1).claims[1].verdict, Verdict::Inconclusive);
    let rule = "{ until = \"decided\", most = 60 }";
    let report = measured(rule, bound, 1);
    assert!(report.claims.iter().all(|claim| claim.verdict != Verdict::Inconclusive), "{:?}", report.claims);
    let seeds: Vec<usize> = report.cases.iter().map(|case| case.seeds.len()).collect();
    assert!(seeds[0] > 3 && seeds[0] < 60, "{seeds:?}");
    assert_eq!(seeds[1], 3, "DCTCP's claim was decided");
    assert_eq!(report.replications as usize, seeds[0]);
    let again = measured(rule, bound, 3);
    assert_eq!((&again.digest, &again.claims), (&report.digest, &report.claims));
}
