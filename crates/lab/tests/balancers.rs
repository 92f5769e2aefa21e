//! What the load balancers declare: names, ranges, and what an experiment file may set.

use std::collections::{BTreeMap, BTreeSet};

use tresse_lab::balancers::{Setting, all, find};

fn settings(pairs: &[(&str, Setting)]) -> BTreeMap<String, Setting> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

#[test]
fn names_are_distinct_and_defaults_are_allowed() {
    let names: BTreeSet<_> = all().iter().map(|d| d.name).collect();
    assert_eq!(names.len(), all().len());
    for d in all() {
        assert!(!d.title.is_empty() && !d.source.is_empty(), "{}", d.name);
        let parameters: BTreeSet<_> = d.parameters.iter().map(|p| p.name).collect();
        assert_eq!(parameters.len(), d.parameters.len(), "{}", d.name);
        for p in d.parameters {
            assert!(p.range.contains(&p.range.default()), "{} {}", d.name, p.name);
        }
    }
}

#[test]
fn settings_take_the_place_of_defaults() {
    let drill = find("drill").expect("drill is declared");
    let values = drill.values(&settings(&[("memory", Setting::Whole(3))])).expect("3 is allowed");
    assert_eq!((values.whole("samples"), values.whole("memory")), (2, 3));
    let leaf = find("holnet-percentage").expect("it is declared");
    let values = leaf.values(&settings(&[("by", Setting::Choice("flowlet".into()))])).expect("a choice");
    assert_eq!(values.choice("by"), "flowlet");
}

#[test]
fn a_wrong_setting_is_told_with_what_there_is() {
    let error = |name: &str, key: &str, value| {
        let balancer = find(name).expect("it is declared");
        balancer.values(&settings(&[(key, value)])).expect_err("it is wrong").to_string()
    };
    assert_eq!(
        error("drill", "d", Setting::Whole(2)),
        "drill has no parameter `d` (it has: samples, memory)"
    );
    assert_eq!(error("ecmp", "salt", Setting::Whole(2)), "ecmp has no parameter `salt` (it has: none)");
    assert_eq!(
        error("drill", "samples", Setting::Whole(0)),
        "samples = 0 is not a whole number in 1..=128 (drill)"
    );
    assert_eq!(
        error("drill", "samples", Setting::Choice("two".into())),
        "samples = two is not a whole number in 1..=128 (drill)"
    );
    assert_eq!(
        error("holnet-rate", "by", Setting::Choice("flow".into())),
        "by = flow is not one of packet, flowlet (holnet-rate)"
    );
}

/// In a file a number is a whole number and a word a string; anything else is refused when it is read.
#[test]
fn settings_are_read_from_a_file() {
    let read: BTreeMap<String, Setting> = toml::from_str("a = 3\nb = \"packet\"").expect("both are settings");
    assert_eq!(read, settings(&[("a", Setting::Whole(3)), ("b", Setting::Choice("packet".into()))]));
    let error = toml::from_str::<BTreeMap<String, Setting>>("a = 0.5").expect_err("a float is none");
    assert!(error.to_string().contains("a whole number or a word"), "{error}");
}
