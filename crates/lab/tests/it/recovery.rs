//! Recovery times, of links that fail, come back and slow down.

use tempfile::TempDir;
use tresse_experiment::{Profile, Source, load, resolve};
use tresse_results::CaseResult;

use crate::reading::{measure, plan};

/// Sixteen flows from one leaf to another over two spines; each sends a packet in every interval of 1 ms.
const SPINES: &str = r#"
title = "t"
[fabric]
topology = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 1
rate = "1Gbps"
delay = "10us"
queue = "100pkt"
host_queue = "unlimited"
routing = "ecmp"
[transport]
profile = "ns3"
[schemes.reno]
controller = "reno"
[workloads.w]
pattern = "flows"
duration = "100ms"
flow = [{ from = 0, to = 1, datagrams = "11.68Mbps", count = 16 }]
[measure]
samples = "1ms"
recovery = {}
"#;

fn fails(at: &str, more: &str) -> String {
    format!("[[changes]]\nat = \"{at}\"\nlink = [\"spine 0\", \"leaf 1\"]\nfailed = true\n{more}\n")
}

fn comes_back(at: &str) -> String {
    fails(at, "").replace("true", "false")
}

fn source(text: String) -> Source {
    Source { name: "t.toml".to_owned(), text }
}

fn result(text: String, settings: &[&str], seeds: u32) -> CaseResult {
    let dir = TempDir::new().expect("a temporary folder");
    measure(&plan(source(text), settings), dir.path(), seeds, 1).cases.remove(0)
}

fn value(case: &CaseResult, name: &str) -> Option<f64> {
    case.metrics.get(name).map(|metric| metric.value())
}

/// The switch in front learns of it after 7 ms; until then what it sends over spine 0 is lost.
#[test]
fn flows_are_back_when_the_switches_have_learnt_of_a_failure() {
    let text = SPINES.to_owned() + &fails("50ms", "reroute_after = \"7ms\"");
    let case = result(text, &[], 2);
    for name in ["recovery_time_mean_s", "recovery_time_max_s", "flow_recovery_time_max_s"] {
        assert_eq!(value(&case, name), Some(0.007), "{name}");
    }
    assert_eq!((value(&case, "unrecovered"), value(&case, "unrecovered_flows")), (Some(0.0), Some(0.0)));
    assert_eq!(case.no_recovery, None);
    let of_seed =
        |seed: &tresse_results::record::results::SeedResult| seed.metrics["recovery_time_max_s"].value();
    assert_eq!(case.seeds.iter().map(of_seed).collect::<Vec<_>>(), [0.007; 2]);
}

#[test]
fn an_outage_lasts_until_the_link_is_back() {
    let text = SPINES.to_owned() + &fails("50ms", "") + &comes_back("73ms");
    let case = result(text, &[], 1);
    assert_eq!(
        value(&case, "recovery_time_max_s"),
        Some(0.023),
        "of the failure; the return is not judged by itself"
    );
    assert_eq!(value(&case, "flow_recovery_time_max_s"), Some(0.023));
}

/// Some flows lose all; together they keep the share that goes over the other spine.
#[test]
fn goodput_that_never_comes_back_is_told() {
    let case = result(SPINES.to_owned() + &fails("50ms", ""), &[], 1);
    assert_eq!(value(&case, "unrecovered"), Some(1.0));
    let lost = value(&case, "unrecovered_flows").expect("flows were judged");
    assert!((2.0..15.0).contains(&lost), "{lost}");
    for name in ["recovery_time_mean_s", "recovery_time_max_s", "flow_recovery_time_max_s"] {
        assert_eq!(value(&case, name), None, "{name}");
    }
    let left = format!("after the change at 50ms it ended at {:.0} %", 100.0 * (16.0 - lost) / 16.0);
    let why = case.no_recovery.expect("a reason");
    assert!(why.contains("after 1 of 1 changes") && why.contains(&left), "{why}");
    assert!(why.contains("at 90 % of what it was before, for 10ms"), "{why}");
}

#[test]
fn without_changes_there_is_no_recovery_and_no_reason() {
    let case = result(SPINES.to_owned(), &[], 1);
    assert!(case.metrics.keys().all(|name| !name.contains("recover")), "{:?}", case.metrics);
    assert_eq!(case.no_recovery, None);
}

#[test]
fn a_change_too_near_to_the_start_or_the_end_is_told() {
    let why = |at| {
        let case = result(SPINES.to_owned() + &fails(at, ""), &[], 1);
        assert_eq!(value(&case, "unrecovered"), None);
        case.no_recovery.expect("a reason")
    };
    for at in ["9ms", "91ms"] {
        let why = why(at);
        assert!(
            why.starts_with(&format!("after the change at {at} it is not known: there is less than 10ms")),
            "{why}"
        );
    }
}

/// A flow over a bottleneck that loses half its capacity.
const DUMBBELL: &str = r#"
title = "t"
[fabric]
topology = "dumbbell"
pairs = 1
rate = { access = "1Gbps", bottleneck = "100Mbps" }
delay = "500us"
queue = "100pkt"
mark = "20pkt"
host_queue = "unlimited"
[transport]
profile = "ns3"
[schemes.xmp]
controller = "xmp"
echo = "two-bit"
[workloads.w]
pattern = "flows"
duration = "2s"
flow = [{ from = "S1", to = "D1" }]
[measure]
samples = "20ms"
recovery = {}
[[changes]]
at = "1s"
link = ["left", "right"]
rate = "50Mbps"
"#;

#[test]
fn half_the_capacity_is_half_the_goodput() {
    let case = result(DUMBBELL.to_owned(), &[], 1);
    assert_eq!(value(&case, "unrecovered"), Some(1.0));
    assert!(
        case.no_recovery
            .is_some_and(|why| why.ends_with("it ended at 50 %; single flows without recovery: 1"))
    );
    // Whoever knows what is left can ask for it. The queue of 20 packets drains at half the rate: nothing is missing.
    let case = result(DUMBBELL.to_owned(), &["measure.recovery.share=0.45"], 1);
    assert_eq!(value(&case, "recovery_time_max_s"), Some(0.0));
    let case = result(DUMBBELL.to_owned(), &["measure.recovery={ share = 0.45, for = \"1001ms\" }"], 1);
    assert!(case.no_recovery.is_some_and(|why| why.contains("less than 1001ms of goodput before it")));
}

#[test]
fn what_recovery_means_is_checked() {
    let refused = |text: &str, settings: &[&str]| {
        let settings: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
        let loaded = load(source(text.to_owned()), Profile::Full, &settings).expect("valid");
        resolve(&loaded, &[]).expect_err("it is not").to_string()
    };
    let share = "a share of the former goodput above 0 and at most 1, such as 0.9";
    for (setting, message) in [
        ("measure.recovery.share=0.0", share),
        ("measure.recovery.share=1.1", share),
        ("measure.recovery.for=1001s", "a time of 1us to 1000s"),
    ] {
        assert!(refused(SPINES, &[setting]).ends_with(message), "{}", refused(SPINES, &[setting]));
    }
    let without = SPINES.replace("samples = \"1ms\"\n", "");
    let error = refused(&without, &[]);
    assert!(
        error.starts_with("t.toml:") && error.contains("set `samples = \"1ms\"` in [measure]"),
        "{error}"
    );
}
