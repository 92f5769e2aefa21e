//! Each pair of parts that makes no sense is refused with a reason, and nothing else is.

use tresse_experiment::plan::compatibility::{Combination, Culprit, check};
use tresse_fabric::balancers::{Follows, find};
use tresse_path_manager::{Config, ConfiguredManager};
use tresse_units::Value;

fn manager(name: &str, subflows: u64, by: &str) -> Config {
    let declaration = tresse_path_manager::find(name).expect("it is declared");
    let has = |parameter: &str| declaration.parameters.iter().any(|p| p.name == parameter);
    let settings = [("subflows", Value::Whole(subflows)), ("by", Value::Choice(by.to_owned()))];
    let settings = settings.into_iter().filter(|(name, _)| has(name));
    ConfiguredManager::new(declaration, settings).expect("they are allowed").config().clone()
}

fn parts<'a>(routing: &str, manager: &'a Config) -> Combination<'a> {
    let routing = find(routing).expect("it is declared");
    Combination {
        routing,
        flags: routing.follows == Follows::Flags,
        addresses: 1,
        address_pairs: 16,
        plb: false,
        ecn: true,
        next_hop: false,
        manager,
    }
}

/// The part that has to give way, for a reason with these words.
#[track_caller]
fn refused(parts: Combination, part: Culprit, words: &[&str]) {
    let senseless = check(&parts).expect_err("it makes no sense");
    assert_eq!(senseless.part, part, "{}", senseless.reason);
    for word in words {
        assert!(senseless.reason.contains(word), "{word}: {}", senseless.reason);
    }
    assert!(!senseless.reason.contains("  "), "{}", senseless.reason);
}

#[test]
fn plb_needs_switches_that_follow_the_hash() {
    let one = manager("fixed", 1, "address");
    for (routing, why) in [
        ("two-level", "two-level looks at addresses only"),
        ("shortest", "shortest fixes the route of each subflow"),
        ("spray", "spray chooses for each packet anew"),
        ("drill", "drill chooses for each packet anew"),
        ("holnet-percentage", "holnet-percentage follows congestion"),
        ("holnet-rate", "holnet-rate follows congestion"),
    ] {
        assert_eq!(check(&parts(routing, &one)), Ok(()));
        let words = ["PLB changes a flow's hash, but ", why, "routing = \"ecmp\""];
        refused(Combination { plb: true, ..parts(routing, &one) }, Culprit::Plb, &words);
    }
    assert_eq!(check(&Combination { plb: true, ..parts("ecmp", &one) }), Ok(()));
}

#[test]
fn plb_needs_marks() {
    let one = manager("fixed", 1, "port");
    refused(Combination { plb: true, ecn: false, ..parts("ecmp", &one) }, Culprit::Ecn, &["ecn = true"]);
    assert_eq!(check(&Combination { ecn: false, ..parts("ecmp", &one) }), Ok(()));
}

#[test]
fn a_controller_that_asks_the_next_hop_needs_flags() {
    let one = manager("fixed", 1, "address");
    for routing in ["two-level", "ecmp", "spray", "drill"] {
        let asks = Combination { next_hop: true, ..parts(routing, &one) };
        refused(asks, Culprit::Controller, &["next hop", "holnet-percentage"]);
        assert_eq!(check(&Combination { flags: true, ..asks }), Ok(()));
    }
    for routing in ["holnet-percentage", "holnet-rate"] {
        assert_eq!(check(&Combination { next_hop: true, ..parts(routing, &one) }), Ok(()));
    }
}

#[test]
fn mmptcp_needs_switches_that_follow_the_hash() {
    let mmptcp = manager("mmptcp", 8, "");
    for routing in ["two-level", "shortest", "spray", "drill", "holnet-percentage", "holnet-rate"] {
        refused(parts(routing, &mmptcp), Culprit::PathManager, &["mmptcp first sprays", routing, "\"ecmp\""]);
    }
    assert_eq!(check(&parts("ecmp", &mmptcp)), Ok(()));
}

#[test]
fn traffic_shifting_needs_paths() {
    for name in ["opn", "opn-shifting"] {
        let opn = manager(name, 1, "");
        for routing in ["spray", "drill", "holnet-percentage", "holnet-rate"] {
            refused(parts(routing, &opn), Culprit::PathManager, &["traffic shifting", routing, "opn-tuning"]);
        }
        for routing in ["two-level", "shortest", "ecmp"] {
            assert_eq!(check(&parts(routing, &opn)), Ok(()));
        }
    }
    let tuning = manager("opn-tuning", 1, "");
    assert_eq!(check(&parts("spray", &tuning)), Ok(()));
}

#[test]
fn path_sharing_needs_two_subflows_marks_and_paths() {
    let two = manager("path-sharing", 2, "address");
    assert_eq!(check(&parts("two-level", &two)), Ok(()));
    assert_eq!(check(&parts("ecmp", &two)), Ok(()));
    let one = manager("path-sharing", 1, "address");
    refused(parts("ecmp", &one), Culprit::Subflows, &["there is only one", "at least 2"]);
    refused(Combination { ecn: false, ..parts("ecmp", &two) }, Culprit::Ecn, &["marks", "ecn = true"]);
    for routing in ["spray", "drill", "holnet-percentage", "holnet-rate"] {
        refused(parts(routing, &two), Culprit::PathManager, &["all share all paths", routing]);
    }
}

#[test]
fn subflows_by_port_are_one_where_switches_look_at_addresses() {
    for name in ["fixed", "path-sharing"] {
        let by_port = manager(name, 4, "port");
        refused(parts("two-level", &by_port), Culprit::PathManager, &["one path", "by = \"address\""]);
        assert_eq!(check(&Combination { address_pairs: 1, ..parts("ecmp", &by_port) }), Ok(()));
    }
    assert_eq!(check(&parts("two-level", &manager("fixed", 1, "port"))), Ok(()));
    for routing in ["shortest", "spray"] {
        assert_eq!(check(&parts(routing, &manager("fixed", 4, "port"))), Ok(()));
    }
}

#[test]
fn there_are_no_more_subflows_by_address_than_address_pairs() {
    for name in ["fixed", "path-sharing"] {
        let four = manager(name, 4, "address");
        let with = |address_pairs| Combination { address_pairs, ..parts("ecmp", &four) };
        refused(with(3), Culprit::Subflows, &["4 subflows by address", "3 address pairs", "subflows = 3"]);
        assert_eq!(check(&with(4)), Ok(()));
    }
}

/// A source port goes with a machine's first virtual NIC where nodes decide.
#[test]
fn subflows_by_port_use_one_link_of_several() {
    fn several<'a>(routing: &str, manager: &'a Config) -> Combination<'a> {
        Combination { addresses: 2, address_pairs: 4, ..parts(routing, manager) }
    }
    for (name, by) in [("fixed", "port"), ("path-sharing", "port"), ("opn", ""), ("mmptcp", "")] {
        let by_port = manager(name, 4, by);
        refused(
            several("ecmp", &by_port),
            Culprit::PathManager,
            &["the first of a machine's 2 virtual NICs"],
        );
    }
    assert_eq!(check(&several("shortest", &manager("fixed", 4, "port"))), Ok(()));
    assert_eq!(check(&several("ecmp", &manager("fixed", 1, "port"))), Ok(()));
    assert_eq!(check(&several("ecmp", &manager("fixed", 4, "address"))), Ok(()));
}
