//! Controllers that break one rule each (tests/broken): the rule is named, and the script that shows it
//! is as short as it can be.

use std::path::Path;
use std::sync::Arc;

use tresse_controllers::check::{Breach, INITIAL_WINDOW, Invariant, SCRIPTS, check, check_apart, examine};
use tresse_controllers::trace::{Script, play};
use tresse_controllers::{ConfiguredController, Controller, load};

fn loaded(name: &str) -> Controller {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken").join(name).with_extension("c");
    let [controller] = load(&file).expect("it compiles")[..] else { panic!("{name} declares one") };
    controller
}

fn scheme(controller: Controller, breach: &Breach) -> Arc<ConfiguredController> {
    Arc::new(
        ConfiguredController::new(controller, breach.settings.iter().copied()).expect("settings in range"),
    )
}

/// Checks `name`, and that `script`, one event after each semicolon, is what shows the breach of
/// `invariant`; the trace's last window is then `window`, if that is always the same.
fn assert_breach(name: &str, invariant: Invariant, script: &str, window: impl Into<Option<u32>>) -> Breach {
    let controller = loaded(name);
    let breach = *check(controller, SCRIPTS).expect_err("it is broken");
    assert_eq!(breach.invariant, invariant, "{name}\n{breach}");
    assert_eq!(breach.script.to_string(), script.replace("; ", "\n") + "\n", "{name}\n{breach}");
    assert_eq!(Script::parse(&breach.to_string()).as_ref(), Ok(&breach.script), "it can be played as it is");

    let scheme = scheme(controller, &breach);
    let again = examine(&scheme, &breach.script).expect_err("the script shows it");
    assert_eq!(again.invariant, invariant, "{name}");
    for k in 0..breach.script.events.len() {
        let mut shorter = breach.script.clone();
        shorter.events.remove(k);
        let still = examine(&scheme, &shorter).is_err_and(|b| b.invariant == invariant);
        assert!(!still, "{name}: event {} is not needed\n{breach}", k + 1);
    }
    let steps = play(scheme, &breach.script, INITIAL_WINDOW);
    if let Some(window) = window.into() {
        assert_eq!(steps.last().map(|step| step.cwnd), Some(window), "{name}\n{breach}");
    }
    breach
}

#[test]
fn what_a_single_call_does_wrong() {
    for (name, invariant, script, window) in [
        ("meddles", Invariant::OwnSubflow, "subflows 2; loss", 5),
        ("strays", Invariant::OwnSubflow, "loss", 5),
        ("acks_move", Invariant::OwnFields, "timeout; ack 1", 5),
        ("sets_threshold", Invariant::OwnFields, "ack 1; ack 1 rtt=901us", 12),
        ("lowers", Invariant::NeverLowers, "ack 1; ack 90 rtt=1.125us; ack 1", 100),
        ("sinks", Invariant::NeverLowers, "window 2; ack 1", 1),
        ("overflows", Invariant::NeverLowers, "window 65536; ack 1", 1),
        ("hurries", Invariant::Growth, "ack 1", 12),
        ("leaps", Invariant::Growth, "ack 1", 12),
        ("quadruples", Invariant::Growth, "ack 1", 14),
        ("rises_on_marks", Invariant::NeverRaisedByCongestion, "ack 1 marked=1", 10),
        ("ignores", Invariant::Floor, "ack 1 marked=1", 1),
        ("undercuts", Invariant::Floor, "window 2; loss", 1),
        ("outgrows", Invariant::NotAboveReno, "window 2 ssthresh=2; ack 4", 5),
        ("vanishes", Invariant::Window, "report lost=1", 1),
        ("races", Invariant::Pace, "report trimmed=1", 10),
        ("restless", Invariant::Nothing, "report", 12),
    ] {
        assert_breach(name, invariant, script, window);
    }
}

#[test]
fn what_only_two_plays_show() {
    assert_breach("remembers", Invariant::Determinism, "loss", None);
    assert_breach("pretends", Invariant::Single, "loss", 8);
    let breach =
        assert_breach("prefers", Invariant::Permutation, "subflows 2; window 2 ssthresh=2; ack 2", 3);
    let other = breach.other.expect("the other order");
    assert_eq!(other.to_string(), "subflows 2\nwindow 2 ssthresh=2 subflow=1\nack 2 subflow=1\n");
    let breach = assert_breach("depends", Invariant::RttRatios, "window 2 ssthresh=2; ack 6", 3);
    assert!(breach.other.is_some_and(|other| other.to_string().contains("ack 6 rtt=")));
}

/// Of queues, only RTTs that change tell.
#[test]
fn a_delay_in_microseconds_is_no_ratio_of_rtts() {
    let breach = *check(loaded("waits"), SCRIPTS).expect_err("it is broken");
    assert_eq!(breach.invariant, Invariant::RttRatios, "{breach}");
    assert!(breach.script.events.len() <= 4, "{breach}");
}

#[test]
fn the_ends_of_a_parameter_s_range_are_tried() {
    let breach = assert_breach("ends", Invariant::Floor, "loss", 1);
    assert_eq!(breach.settings, [("share", 1)]);
    assert_eq!(breach.arguments(), " --param share=1");
}

/// Some of the scripts that are shorter than the one that was found never end.
#[test]
fn a_breach_is_told_though_shorter_scripts_do_not_return() {
    let result = check_apart(loaded("stalls"), SCRIPTS).expect("a process can be made");
    let breach = result.expect_err("it is broken");
    assert_eq!(breach.invariant, Invariant::Growth, "{breach}");
    assert_eq!(breach.script.to_string(), "window 12; ack 1\n".replace("; ", "\n"), "{breach}");
}

#[test]
fn a_write_to_a_sibling_that_does_not_exist_is_told() {
    let result = check_apart(loaded("strays"), SCRIPTS).expect("a process can be made");
    let breach = result.expect_err("it is broken");
    assert_eq!(breach.invariant, Invariant::OwnSubflow, "{breach}");
    assert_eq!(breach.script.to_string(), "loss\n", "{breach}");
    let message = "`congestion` of subflow 0 writes to a subflow that does not exist";
    assert!(breach.message.starts_with(message), "{breach}");
}

/// The test goes on after it: so it was somebody else who died.
#[test]
fn hooks_that_do_not_return_are_told() {
    for (name, script, message) in [
        ("divides", "loss\n", "divides by 0 (SIGFPE) in hook congestion"),
        ("endless", "ack 2\nloss\n", "does not return from hook congestion"),
    ] {
        let result = check_apart(loaded(name), SCRIPTS).expect("a process can be made");
        let breach = result.expect_err("it is broken");
        assert_eq!(breach.invariant, Invariant::Returns);
        assert_eq!(breach.script.to_string(), script);
        assert!(breach.message.starts_with(&format!("{message}, /")), "{}", breach.message);
        assert!(breach.message.contains(&format!("/{name}.c:")), "its line: {}", breach.message);
    }
}
