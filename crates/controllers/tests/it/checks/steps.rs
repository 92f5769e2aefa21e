//! The increments of single events, tightly.
//!
//! The test follows where the fraction of a packet that the controller keeps may lie: each increase
//! of the reading widens the span by the stated tolerance only, and each whole packet that the
//! controller adds or holds back narrows it again. A span that becomes empty is a disagreement. The
//! reading is shown the controller's own windows, so that one rounding does not disturb the next
//! event.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use tresse_controllers::{CWND_LIMIT, Cause};

use super::{Variant, group_with, variants, views};
use crate::host::{Event, Hook, config, events, happen, logarithmic, make, show};
use crate::readings::{Reading, Real, View, reading, scaled_start, slow_start};

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn increments_and_cuts_agree(
        count in 1..=8usize,
        initial in logarithmic(2, 1000),
        events in events(400),
    ) {
        for variant in variants() {
            follow(variant, count, initial, &events)?;
        }
    }
}

fn follow(
    (name, settings): Variant,
    count: usize,
    initial: u32,
    events: &[(usize, Event)],
) -> Result<(), TestCaseError> {
    let mut group = group_with(name, settings, count, initial);
    let mut reading = reading(name, settings, count);
    let mut fractions = vec![(0.0, 0.0); count];
    let mut step = 0;
    happen(count, events, |call| {
        step += 1;
        show(&mut group, call);
        let i = call.subflow;
        let mut all = views(&group);
        let (low, high): (f64, f64) = fractions[i];
        (all[i].fraction, all[i].unsure) = ((low + high) / 2.0, (high - low) / 2.0);
        let before = all[i];
        let returned = make(&mut group, call);
        let after = f64::from(group[i].cwnd);
        match call.hook {
            Hook::Ack(ack) => {
                reading.ack(&all, i, &ack);
                prop_assert_eq!(after, before.window, "{}: `ack` moves the window", name);
            }
            Hook::Grow(ack) => {
                let delivered = f64::from(ack.delivered);
                let grown = after - before.window;
                let (mut low, mut high) = off(&mut *reading, &mut all, i, delivered, grown, fractions[i]);
                if group[i].cwnd == CWND_LIMIT - 1 {
                    fractions[i] = (0.0, 1.0); // the host stopped it: how far it went is unknown
                    return Ok(false);
                }
                if after <= reading.least() && grown <= 0.0 {
                    (low, high) = (low.max(0.0), high.max(0.0)); // it falls no further
                }
                if after < reading.least() && grown <= 0.0 {
                    low = 0.0; // below it a fraction may be forgotten
                }
                prop_assert!(
                    low < 1.0 && high >= 0.0,
                    "{name} {settings:?}, step {step}, {call:?}: {before:?}, fraction {:?}, grew by {grown} \
                     packets; the reading is {low} to {high} packets off",
                    fractions[i]
                );
                fractions[i] = (low.max(0.0), high.min(1.0));
            }
            Hook::Congestion(Cause::Mark) if reading.ignores_marks(&before, i) => {
                prop_assert_eq!(returned, None, "{}, step {}: the mark is not ignored", name, step);
            }
            Hook::Congestion(cause) => {
                let cut = reading.cut(&all, i, cause);
                let returned = f64::from(returned.expect("`congestion` was asked"));
                // A window of 1 after a timeout may lie below the floor: either answer is right.
                let least = reading.floor().min(before.window);
                prop_assert!(
                    returned >= least
                        && (returned.min(before.window) - cut.packets.max(least)).abs() <= cut.within,
                    "{name} {settings:?}, step {step}, {call:?}: {before:?} became {returned}; the \
                     reading has {cut:?}"
                );
                if !reading.keeps_fraction() {
                    fractions[i] = (0.0, 0.0);
                }
            }
            Hook::Timeout => reading.timeout(i),
            Hook::Window(..) => {}
        }
        Ok(returned.is_some())
    })
}

/// By how many packets, at least and at most, the reading's growth is above what the window has `grown`, for a `fraction`
/// before it.
fn off(
    reading: &mut dyn Reading,
    all: &mut [View],
    i: usize,
    delivered: f64,
    grown: f64,
    fraction: (f64, f64),
) -> (f64, f64) {
    match reading.start_gain(all, i) {
        Some(gain) if reading.starts_slowly(all, i) => {
            let (low, high) = scaled(reading, all, i, delivered, gain, fraction);
            (low - grown, high - grown)
        }
        _ => {
            let (slow, left) = slow_start(reading, all, i, delivered);
            all[i].window += slow;
            let by = reading.increase(all, i, left);
            let (low, high) = fraction;
            // Whole packets first: beside many of them a fraction would lose its last digits.
            let off = slow + by.packets - grown;
            (low + off - by.within, high + off + by.within)
        }
    }
}

/// By how many packets, at least and at most, the fraction grows in a slow start that has a gain of its
/// own. Its two ends may leave different packets for congestion avoidance, at different windows: then any
/// of these counts, and the packet that may be of either kind.
fn scaled(
    reading: &mut dyn Reading,
    all: &[View],
    i: usize,
    delivered: f64,
    gain: Real,
    (low, high): (f64, f64),
) -> (f64, f64) {
    let start = |fraction: f64, gain: f64| scaled_start(&all[i], fraction, delivered, gain);
    let ends = [start(low, gain.packets - gain.within), start(high, gain.packets + gain.within)];
    let slack = if ends[0].1 == ends[1].1 { 0.0 } else { gain.packets + gain.within };
    let (mut least, mut most) = (f64::INFINITY, 0.0f64);
    for reached in ends.map(|(grown, _)| all[i].window + grown.floor()) {
        let mut all = all.to_vec();
        all[i].window = reached;
        for (_, left) in ends {
            let by = reading.increase(&all, i, left);
            for (grown, _) in ends {
                least = least.min(grown + by.packets - by.within - slack);
                most = most.max(grown + by.packets + by.within + slack);
            }
        }
    }
    (least, most)
}
