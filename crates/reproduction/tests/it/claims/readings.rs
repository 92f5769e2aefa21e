//! What counts once under several readings: claims by `reading_of`, numbers because they are the same.

use serde_json::json;
use tresse_reproduction::pages::{Reproduced, Reproduction, runs_alike};
use tresse_results::Finished;

use super::{comparison, measured, run_json};
use crate::OWNERS;

fn claim(id: &str, more: &str, above: f64) -> String {
    format!(
        "[[claims]]\nid = \"{id}\"\n{more}\ntext = \"a claim\"\nmetric = \"goodput_mean_bps\"\n\
         of = {{ scheme = \"dctcp\", pattern = \"permutation\" }}\nabove = {above:?}\n"
    )
}

fn result() -> serde_json::Value {
    measured("dctcp permutation", "goodput_mean_bps", &[100.0])
}

/// The run of an experiment with this name.
fn run(name: &str, more: &str) -> Reproduced {
    let mut file: serde_json::Value =
        serde_json::from_str(&run_json(more, "full", &[result()])).expect("JSON");
    file["experiment"] = name.into();
    Reproduced::of(Finished::parse("run.json", &file.to_string(), OWNERS).expect("a run"), false)
        .expect("of this version")
        .1
}

#[test]
fn a_sentence_counts_once_under_all_its_readings() {
    let fast = claim("fast", "", 200.0);
    let slow_reading = claim("fast-b", "reading_of = \"fast\"", 300.0);
    let good_reading = claim("fast-c", "reading_of = \"fast\"", 50.0);
    let own = claim("other", "", 10.0);
    let tally = |claims: &[&String]| {
        let found = comparison(&claims.iter().map(|c| c.as_str()).collect::<String>(), &[result()]);
        let s = found.summary;
        (found.claims.len(), s.claims, s.claims_hold, s.claims_hold_in_a_reading)
    };
    assert_eq!(tally(&[&fast, &own]), (2, 2, 1, 1));
    assert_eq!(tally(&[&fast, &slow_reading, &own]), (3, 2, 1, 1));
    assert_eq!(tally(&[&fast, &slow_reading, &good_reading, &own]), (4, 2, 1, 2));
}

#[test]
fn a_reading_may_stand_in_another_experiment() {
    let of = |name: &str, claims: String| run(name, &claims);
    let table = of("p/table1", claim("fast", "", 200.0));
    let reading = of("p/recovery", claim("fast-reno", "reading_of = \"p/table1 fast\"", 50.0));
    let elsewhere = of("p/table2", claim("fast", "", 200.0));
    let tally = |runs: &[&Reproduced]| {
        let s = Reproduction::of(runs.iter().map(|&r| r.clone()).collect()).summary;
        (s.claims, s.claims_hold, s.claims_hold_in_a_reading)
    };
    assert_eq!(tally(&[&table, &elsewhere]), (2, 0, 0));
    assert_eq!(tally(&[&table, &elsewhere, &reading]), (2, 0, 1));
}

#[test]
fn a_number_counts_once_wherever_it_stands() {
    let value = |published: f64| {
        format!(
            "[published]\nvalues = [{{ scheme = \"dctcp\", pattern = \"permutation\", \
             metrics = {{ goodput_mean_bps = {published:?} }} }}]\n"
        )
    };
    let tally = |runs: Vec<Reproduced>| {
        let s = Reproduction::of(runs).summary;
        (s.numbers, s.numbers_within_20_percent, s.numbers_within_20_percent_in_a_reading)
    };
    let far = run("p/table1", &value(200.0));
    assert_eq!(tally(vec![far.clone(), run("p/recovery", &value(200.0))]), (1, 0, 0));
    assert_eq!(tally(vec![far.clone(), run("p/table2", &value(90.0))]), (2, 1, 1));
    // In its second place, ours is closer.
    let mut near = run("p/recovery", &value(200.0));
    near.comparison.numbers[0].within_20_percent = Some(true);
    near.comparison.numbers[0].case.insert("variant".to_owned(), json!("reno"));
    assert_eq!(tally(vec![far.clone(), near.clone()]), (1, 0, 1));
    assert_eq!(tally(vec![near, far]), (1, 1, 1), "the first place is the default");
}

#[test]
fn a_run_may_be_judged_by_other_claims_but_not_by_other_measurements() {
    let experiment = json!({
        "fabric": { "k": 4 }, "published": { "values": [] },
        "claims": [
            { "id": "a", "metric": "goodput_mean_bps", "above": 1 },
            { "id": "j", "metric": "jct_s", "jumps": { "apart": "200ms", "within": "20ms" } },
        ],
    });
    let with = |path: &str, value: serde_json::Value| {
        let mut other = experiment.clone();
        *other.pointer_mut(path).expect("it is there") = value;
        runs_alike(experiment.clone(), other)
    };
    assert!(with("/claims/0/above", json!(2)));
    assert!(with("/published/values", json!([{ "scheme": "dctcp" }])));
    assert!(!with("/fabric/k", json!(6)));
    assert!(!with("/claims/1/jumps/apart", json!("300ms")), "what jumps are is found while it runs");
    let mut without = experiment.clone();
    without["claims"] = json!([]);
    let mut none = experiment;
    none.as_object_mut().expect("a table").remove("claims");
    assert!(runs_alike(without, none));
}

#[test]
fn a_run_that_goes_on_until_its_claims_are_decided_depends_on_them() {
    let experiment = |until: serde_json::Value, above: f64, text: &str| {
        let claim = json!({ "id": "a", "text": text, "metric": "goodput_mean_bps", "above": above });
        json!({ "replications": until, "claims": [claim] })
    };
    let decided = || json!({ "until": "decided", "most": 9 });
    assert!(!runs_alike(experiment(decided(), 1.0, "t"), experiment(decided(), 2.0, "t")));
    assert!(runs_alike(experiment(decided(), 1.0, "t"), experiment(decided(), 1.0, "another")));
    assert!(runs_alike(experiment(json!(3), 1.0, "t"), experiment(json!(3), 2.0, "t")));
}
