//! What the load balancers declare: names, ranges, and what an experiment file may set.

use std::collections::{BTreeMap, BTreeSet};

use tresse_experiment::schema::declared;
use tresse_fabric::balancers::{Declaration, Follows, all, find};
use tresse_fabric::{Balancing, Feedback, FlagConfig, HolnetConfig, Threshold};
use tresse_units::{MICROSECOND, Values};

fn balancer(name: &str) -> &'static Declaration {
    find(name).unwrap_or_else(|| panic!("{name} is declared"))
}

fn settings(text: &str) -> BTreeMap<String, toml::Value> {
    toml::from_str(text).expect("a TOML table")
}

fn read<'a>(
    of: &Declaration,
    settings: &'a BTreeMap<String, toml::Value>,
) -> Result<Values, (&'a str, String)> {
    declared::values(of.name, of.parameters, settings)
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
    let drill = balancer("drill");
    let values = read(drill, &settings("memory = 3")).expect("3 is allowed");
    assert_eq!((values.whole("samples"), values.whole("memory")), (2, 3));
    assert_eq!(drill.balancing(&values), Some(Balancing::Drill { samples: 2, memory: 3 }));
    assert_eq!(drill.flags(&values), None);
}

/// The thesis's numbers: r_min = 0.1, r_max = 1.5, 80 % of the queue, a quarter of 160 us.
#[test]
fn holnets_defaults_are_the_thesiss() {
    let leaf = balancer("holnet-percentage");
    let values = read(leaf, &settings("")).expect("defaults");
    let config =
        HolnetConfig { r_min: 100, r_max: 1500, kappa: 50, period: 40 * MICROSECOND, flowlet_gap: None };
    assert_eq!(leaf.balancing(&values), Some(Balancing::HolnetPercentage(config)));
    assert_eq!(
        leaf.flags(&values),
        Some(FlagConfig { fraction: 800, unlimited: Threshold::UNLIMITED, feedback: Feedback::Backward })
    );
    let rate = balancer("holnet-rate");
    let text = "by = \"flowlet\"\ngap = \"50us\"\nperiod = \"1ms\"\nfeedback = \"one_hop\"\nflag = 90";
    let values = read(rate, &settings(text)).expect("they are allowed");
    let config = HolnetConfig { period: 1000 * MICROSECOND, flowlet_gap: Some(50 * MICROSECOND), ..config };
    assert_eq!(rate.balancing(&values), Some(Balancing::HolnetRate(config)));
    assert_eq!(
        rate.flags(&values),
        Some(FlagConfig { fraction: 900, unlimited: Threshold::UNLIMITED, feedback: Feedback::OneHop })
    );
}

#[test]
fn whatever_a_switch_can_do_has_its_name() {
    let done = |d: &Declaration| d.balancing(&read(d, &settings("")).expect("defaults"));
    assert_eq!(done(balancer("ecmp")), Some(Balancing::Ecmp));
    assert_eq!(done(balancer("spray")), Some(Balancing::Spray));
    for d in all() {
        let by_switches = !matches!(d.follows, Follows::Address | Follows::Route | Follows::Host);
        assert_eq!(done(d).is_some(), by_switches, "{}", d.name);
    }
}

#[test]
fn a_wrong_setting_is_told_with_what_there_is() {
    for (name, text, key, message) in [
        ("drill", "d = 2", "d", "drill has no parameter `d` (it has: samples, memory)"),
        ("drill", "sample = 2", "sample", "drill has no parameter `sample`; did you mean `samples`?"),
        ("ecmp", "salt = 2", "salt", "ecmp has no parameter `salt` (it has: none)"),
        ("drill", "samples = 0", "samples", "samples = 0 is not a whole number from 1 to 128 ports"),
        ("drill", "samples = 1.5", "samples", "samples = 1.5 is not a whole number from 1 to 128 ports"),
        ("drill", "samples = \"2\"", "samples", "samples = \"2\" is not a whole number from 1 to 128 ports"),
        ("holnet-rate", "by = \"flow\"", "by", "by = \"flow\" is not one of packet, flowlet"),
        ("holnet-rate", "gap = 50", "gap", "gap = 50 has no unit; write a string with a unit, such as"),
        ("plb", "suspend_rto = \"1.5s\"", "suspend_rto", "\"1.5s\" is finer than one second"),
        ("plb", "suspend_rto = 60", "suspend_rto", "such as \"60s\""),
    ] {
        let settings = settings(text);
        let (at, error) = read(balancer(name), &settings).expect_err(text);
        assert_eq!(at, key);
        assert!(error.contains(message), "{error}");
    }
}
