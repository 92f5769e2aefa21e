//! Balancers that break one rule each (tests/broken): the rule is named, and the script that shows it is as
//! short as possible.

use std::path::Path;
use std::sync::Arc;

use tresse_balancers::check::{Breach, Invariant, check, check_apart, examine};
use tresse_balancers::{Balancer, ConfiguredBalancer, load};

const SCRIPTS: usize = 1000;

fn loaded(name: &str) -> Balancer {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken").join(name).with_extension("c");
    let [balancer] = load(&file).expect("it compiles")[..] else { panic!("{name} declares one") };
    balancer
}

/// Checks `name`, and that `script`, one event after each semicolon, shows the breach of `invariant`.
fn assert_breach(name: &str, invariant: Invariant, script: &str) -> Breach {
    let balancer = loaded(name);
    let breach = *check(balancer, SCRIPTS).expect_err("it is broken");
    assert_eq!(breach.invariant, invariant, "{name}\n{breach}");
    assert_eq!(breach.script.to_string(), script.replace("; ", "\n") + "\n", "{name}\n{breach}");

    let scheme = ConfiguredBalancer::new(balancer, breach.settings.iter().copied()).expect("in range");
    let scheme = Arc::new(scheme);
    let again = examine(&scheme, &breach.script).expect_err("the script shows it");
    assert_eq!(again.invariant, invariant, "{name}");
    for k in 0..breach.script.events.len() {
        let mut shorter = breach.script.clone();
        shorter.events.remove(k);
        let still = examine(&scheme, &shorter).is_err_and(|b| b.invariant == invariant);
        assert!(!still, "{name}: event {} is not needed\n{breach}", k + 1);
    }
    breach
}

#[test]
fn what_a_single_call_does_wrong() {
    let breach = assert_breach("outside", Invariant::BelowPaths, "paths 5; stream 0; pick; pick");
    assert_eq!(breach.message, "afterwards packet 7 takes path 5 of 5");
    let breach = assert_breach("beside", Invariant::OwnMemory, "paths 1; stream 0; trim path=0");
    assert_eq!(breach.message, "`feedback` writes outside of its memory");
    let breach = assert_breach("meddles", Invariant::OwnMemory, "paths 1; stream 0; pick");
    assert_eq!(breach.message, "`pick` writes a field of the host");
    let breach = assert_breach("scribbles", Invariant::OwnMemory, "paths 1; stream 0");
    assert_eq!(breach.message, "`alive` writes memory that it may only read");
    let breach = assert_breach("revives", Invariant::OnlyAlive, "paths 2; stream 0; timeout path=0; pick");
    assert!(breach.to_string().ends_with("\ntimeout path=0\npick # path 0\n"), "{breach}");
    let steady = "paths 2; stream 0".to_owned() + &"; pick".repeat(101);
    assert_breach("hops", Invariant::FlowLevel, &steady);
}

#[test]
fn what_only_two_plays_show() {
    assert_breach("remembers", Invariant::Determinism, "paths 2; stream 0; pick");
    assert_breach("dates", Invariant::AnyTime, "paths 3; stream 0; pick");
}

#[test]
fn a_path_that_is_never_taken_again_is_told() {
    let breach = assert_breach("starves", Invariant::Reaches, "paths 2; stream 0; ecn path=0");
    assert!(breach.message.starts_with("path 0 is alive, but gets none of 512 packets"), "{breach}");
}

#[test]
fn the_ends_of_a_parameter_s_range_are_tried() {
    let breach = assert_breach("gives_up", Invariant::Reaches, "paths 2; stream 0");
    assert_eq!(breach.settings, [("last", 1)]);
    assert!(breach.to_string().contains("# with last = 1\n"), "{breach}");
}

/// Some of the scripts shorter than the one found never end.
#[test]
fn a_breach_is_told_though_shorter_scripts_do_not_return() {
    let result = check_apart(loaded("stalls"), SCRIPTS).expect("a process can be made");
    let breach = result.expect_err("it is broken");
    assert_eq!(breach.invariant, Invariant::Reaches, "{breach}");
    assert_eq!(breach.script.to_string(), "paths 2\nstream 0\necn path=0\n", "{breach}");
}

/// The test continues after it: so another process died.
#[test]
fn hooks_that_do_not_return_are_told() {
    for (name, script, message) in [
        ("divides", "paths 1\nstream 0\npick\n", "divides by 0 (SIGFPE) in hook pick"),
        ("endless", "paths 1\nstream 0\necn path=0\npick\n", "does not return from hook pick"),
    ] {
        let result = check_apart(loaded(name), SCRIPTS).expect("a process can be made");
        let breach = result.expect_err("it is broken");
        assert_eq!(breach.invariant, Invariant::Returns);
        assert!(breach.message.starts_with(&format!("{message}, /")), "{}", breach.message);
        assert!(breach.message.contains(&format!("/{name}.c:")), "its line: {}", breach.message);
        assert_eq!(breach.script.to_string(), script, "{breach}");
    }
}
