//! What the path managers declare, and what they reject.

use std::collections::BTreeSet;

use tresse_path_manager::nstar::NStar;
use tresse_path_manager::{By, Config, ConfiguredManager, all, find, fixed, mmptcp, opn, path_sharing};
use tresse_units::{Range, Value, Whole};

#[test]
fn names_are_unique_sorted_and_told_of() {
    let names: Vec<_> = all().iter().map(|d| d.name).collect();
    assert!(names.is_sorted());
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    for d in all() {
        assert!(!d.title.is_empty() && !d.source.is_empty(), "{}", d.name);
        let parameters: BTreeSet<_> = d.parameters.iter().map(|p| p.name).collect();
        assert_eq!(parameters.len(), d.parameters.len(), "{}", d.name);
        for p in d.parameters {
            assert!(!p.meaning.is_empty(), "{} {}", d.name, p.name);
            assert!(p.range.contains(&p.range.default()), "{} {}", d.name, p.name);
        }
    }
}

#[test]
fn declared_defaults_are_the_machines() {
    let default = |name: &str| {
        let scheme = ConfiguredManager::new(find(name).expect("declared"), []).expect("defaults are valid");
        scheme.config().clone()
    };
    assert_eq!(default("fixed"), Config::Fixed(fixed::Config::default()));
    assert_eq!(default("mmptcp"), Config::Mmptcp(mmptcp::Config::default()));
    assert_eq!(default("path-sharing"), Config::PathSharing(path_sharing::Config::default()));
    let both = opn::Config::default();
    assert_eq!(default("opn-tuning"), Config::Opn(opn::Config { shifting: None, ..both.clone() }));
    assert_eq!(default("opn-shifting"), Config::Opn(opn::Config { tuning: None, ..both.clone() }));
    assert_eq!(default("opn"), Config::Opn(both));
}

/// Every parameter does something: another value gives another configuration.
#[test]
fn every_parameter_counts() {
    // The other settings that a parameter needs to have an effect.
    let beside = |name: &str| match name {
        "delta" => Some(("timer_1", Value::Choice("fixed".to_owned()))),
        "table" => Some(("nstar", Value::Choice("empirical".to_owned()))),
        _ => None,
    };
    for d in all() {
        for p in d.parameters {
            let other = |default: &Value| {
                match p.range {
                    Range::Whole(Whole { default, min, max }) => {
                        vec![Value::Whole(if default == min { max } else { min })]
                    }
                    Range::Choice(words) => {
                        words.iter().map(|word| Value::Choice((*word).to_owned())).collect()
                    }
                    Range::List { min, max, .. } => vec![Value::List(vec![min]), Value::List(vec![max])],
                }
                .into_iter()
                .filter(|value| value != default)
                .collect::<Vec<_>>()
            };
            let needed = beside(p.name).filter(|(name, _)| d.parameters.iter().any(|p| p.name == *name));
            let table = (p.name == "nstar").then(|| ("table", Value::List(vec![7])));
            let config = |value: Option<Value>| {
                let settings = needed.clone().into_iter().chain(table.clone());
                let settings = settings.chain(value.map(|value| (p.name, value)));
                ConfiguredManager::new(d, settings).ok().map(|scheme| scheme.config().clone())
            };
            for value in other(&p.range.default()) {
                let changed = config(Some(value.clone())).expect("the value is in the range");
                assert_ne!(Some(changed), config(None), "{} {} = {value}", d.name, p.name);
            }
        }
    }
}

#[test]
fn settings_reach_the_machine() {
    let table = Value::List(vec![20, 9, 2]);
    let settings = [
        ("nstar", Value::Choice("empirical".to_owned())),
        ("table", table),
        ("timer_1", Value::Choice("fixed".to_owned())),
        ("delta", Value::Whole(250)),
    ];
    let scheme = ConfiguredManager::new(find("opn").expect("declared"), settings).expect("valid");
    let mut expected = opn::Config::default();
    expected.tuning.as_mut().expect("on").n_star = NStar::Empirical(vec![20, 9, 2]);
    expected.shifting.as_mut().expect("on").timer_1 = opn::Silence::Fixed(250_000_000);
    assert_eq!(scheme.config(), &Config::Opn(expected));
    assert_eq!(scheme.declaration().name, "opn");

    let by = [("by", Value::Choice("port".to_owned())), ("subflows", Value::Whole(8))];
    let scheme = ConfiguredManager::new(find("fixed").expect("declared"), by).expect("valid");
    assert_eq!(
        scheme.config(),
        &Config::Fixed(fixed::Config { subflows: 8, by: By::Port, starts: Vec::new() })
    );
}

fn refused(name: &str, setting: (&str, Value)) -> String {
    ConfiguredManager::new(find(name).expect("declared"), [setting]).expect_err("it is refused").to_string()
}

#[test]
fn what_is_refused_says_what_was_expected() {
    let unknown = refused("fixed", ("subflow", Value::Whole(1)));
    assert_eq!(unknown, "fixed has no parameter `subflow` (it has: subflows, by)");
    let range = refused("fixed", ("subflows", Value::Whole(65)));
    assert_eq!(range, "subflows = 65 is not a whole number from 1 to 64 (fixed)");
    let word = refused("path-sharing", ("close", Value::Choice("first".to_owned())));
    assert_eq!(word, "close = first is not one of recent, second (path-sharing)");
    let kind = refused("fixed", ("by", Value::Whole(1)));
    assert_eq!(kind, "by = 1 is not one of address, port (fixed)");
    let list = refused("opn", ("table", Value::List(vec![32, 33])));
    assert_eq!(list, "table = [32, 33] is not a list of at most 101 whole numbers from 1 to 32 (opn)");
    let table = refused("opn-tuning", ("nstar", Value::Choice("empirical".to_owned())));
    assert!(table.starts_with("nstar = empirical needs `table`"), "{table}");
    assert!(find("vmcc").is_none());
}
