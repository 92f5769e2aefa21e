//! The script of `tresse controller trace`: what it accepts, what it says to what it does not, and one short
//! trace for each controller that was worked out by hand.
//!
//! In the traces every ACK that is meant to begin a round delivers more than a window, and no sum
//! of fractions is meant to be exactly a whole packet: so they depend on the papers' arithmetic
//! alone, not on who counts a boundary's packet, nor on the last bit of a fixed-point number.

use std::sync::Arc;

use tresse_controllers::trace::{Script, Step, play};
use tresse_controllers::{ConfiguredController, INFINITE_SSTHRESH, find};

mod coupled;
mod language;
mod single;

/// Plays `script` and compares with one line an event: event, subflow, cwnd, ssthresh, state.
fn assert_trace(controller: &str, initial_window: u32, lines: &[(&str, &str)]) {
    assert_trace_with(controller, &[], initial_window, lines);
}

/// The same with `settings` in place of some defaults.
fn assert_trace_with(
    controller: &str,
    settings: &[(&str, u64)],
    initial_window: u32,
    lines: &[(&str, &str)],
) {
    let controller = find(controller).expect("it is built in");
    let scheme =
        ConfiguredController::new(controller, settings.iter().copied()).expect("values lie in their ranges");
    let scheme = Arc::new(scheme);
    let text: Vec<_> = lines.iter().map(|(event, _)| *event).collect();
    let script = Script::parse(&text.join("\n")).expect("the script is good");
    let steps = play(scheme, &script, initial_window);
    let expected: Vec<_> = lines.iter().filter(|(event, _)| !event.starts_with("subflows")).collect();
    assert_eq!(steps.len(), expected.len());
    for (step, (event, expected)) in steps.iter().zip(expected) {
        assert_eq!(told(step), *expected, "{controller:?} after `{event}`");
    }
}

fn told(step: &Step) -> String {
    let ssthresh = match step.ssthresh {
        INFINITE_SSTHRESH => "-".to_owned(),
        ssthresh => ssthresh.to_string(),
    };
    format!("{} {} {} {ssthresh} {}", step.event, step.subflow, step.cwnd, step.state.name())
}
