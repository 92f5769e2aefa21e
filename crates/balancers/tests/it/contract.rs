//! The built-in balancers keep the contract, and the Rust interface keeps its promises.

use std::sync::Arc;

use tresse_balancers::check::check;
use tresse_balancers::{ConfiguredBalancer, Feedback, MAX_PATHS, Spread, built_in, find};

fn spread(name: &str, paths: u32, stream: u64) -> Spread {
    let scheme = ConfiguredBalancer::new(find(name).expect("it is built in"), []).expect("defaults");
    Spread::new(Arc::new(scheme), paths, stream)
}

#[test]
fn the_built_in_balancers_keep_it() {
    for balancer in built_in() {
        let held = check(balancer, 1000);
        let statistics = held.unwrap_or_else(|breach| panic!("{balancer:?}:\n{breach}"));
        assert!(statistics.picks > 100_000, "{statistics:?}");
    }
}

#[test]
fn all_are_there_and_tell_of_themselves() {
    let all = built_in();
    let names: Vec<_> = all.iter().map(|b| b.name()).collect();
    assert_eq!(names, ["bitmap", "mixed", "mrc", "oblivious", "plb", "reps"]);
    for b in &all {
        let (file, header) = (b.source_file(), b.header());
        assert_eq!(file.to_str(), Some(format!("balancers/{}.c", b.name()).as_str()));
        assert!(header.lines().any(|line| line.starts_with("Source:")), "{file:?}: no `Source:`");
        assert!(!b.title().is_empty() && !b.source().is_empty(), "{file:?}: no title or source");
        assert!(b.text().contains("BALANCER("), "{file:?}");
        assert_eq!((b.file(), b.build()), (None, None));
        let lines = b.text().lines().count();
        assert!((30..=250).contains(&lines), "{file:?}: {lines} lines");
        for p in b.parameters() {
            assert!(!p.meaning.is_empty() && p.range.contains(p.range.default), "{file:?}: {}", p.name);
        }
    }
    let flags: Vec<_> = all.iter().map(|b| (b.is_flow_level(), b.recycles())).collect();
    assert_eq!(flags.iter().filter(|(flow_level, _)| *flow_level).count(), 1);
    assert_eq!(flags.iter().filter(|(_, recycles)| *recycles).count(), 2);
}

#[test]
fn parameters_are_checked() {
    let mrc = find("mrc").expect("it is built in");
    let scheme = ConfiguredBalancer::new(mrc, [("probe", 7)]).expect("in range");
    assert_eq!(scheme.values(), [20, 7]);
    let error = |settings| ConfiguredBalancer::new(mrc, settings).expect_err("a bad setting").to_string();
    assert_eq!(error([("prob", 4)]), "mrc has no parameter `prob` (it has: avoid, probe)");
    assert_eq!(error([("probe", 0)]), "probe = 0 is not from 1 to 10000000 (mrc)");
}

#[test]
fn the_same_stream_gives_the_same_paths_and_another_one_others() {
    for name in ["oblivious", "reps"] {
        let picks = |stream| {
            let mut spread = spread(name, 128, stream);
            (0..64).map(|i| spread.pick(0, 64, i)).collect::<Vec<_>>()
        };
        assert_eq!(picks(1), picks(1));
        assert_ne!(picks(1), picks(2));
    }
}

#[test]
fn a_copy_goes_its_own_way() {
    let mut one = spread("reps", 16, 5);
    let first = one.pick(0, 8, 0);
    let mut other = one.clone();
    one.feedback(0, first, Feedback::Good);
    assert_eq!(one.pick(0, 8, 1), first);
    let drawn: Vec<_> = (0..20).map(|i| other.pick(0, 8, i)).collect();
    let also: Vec<_> = (0..20).map(|i| one.pick(0, 8, i)).collect();
    assert_eq!(drawn, also, "the same numbers");
}

#[test]
fn a_spread_can_be_sent_and_shown() {
    fn assert_send<T: Send + Clone + std::fmt::Debug>(_: &T) {}
    let spread = spread("bitmap", MAX_PATHS, 1);
    assert_send(&spread);
    assert_eq!(format!("{spread:?}"), "Spread { balancer: \"bitmap\", paths: 4096 }");
    assert_eq!((spread.paths(), spread.scheme().balancer().name()), (MAX_PATHS, "bitmap"));
    assert!(spread.alive(MAX_PATHS - 1));
}

#[test]
#[should_panic(expected = "path 4 of 4")]
fn feedback_on_no_path_is_the_host_s_fault() {
    spread("bitmap", 4, 1).feedback(0, 4, Feedback::Good);
}

#[test]
#[should_panic(expected = "1 to 4096 paths, not 0")]
fn a_connection_has_a_path() {
    let _ = spread("bitmap", 0, 1);
}
