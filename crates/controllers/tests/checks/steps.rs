//! The increments of single events, tightly.
//!
//! The test follows where the fraction of a packet that the controller keeps may lie: each increase
//! of the reading widens the span by the stated tolerance only, and each whole packet that the
//! controller adds or holds back narrows it again. A span that becomes empty is a disagreement. The
//! reading is shown the controller's own windows, so that one rounding does not disturb the next
//! event.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use tresse_controllers::CWND_LIMIT;

use super::{READ, group, views};
use crate::host::{Call, Hook, calls, config, events, logarithmic, make, show};
use crate::readings::{reading, slow_start};

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn increments_and_cuts_agree(
        count in 1..=8usize,
        initial in logarithmic(2, 1000),
        events in events(400),
    ) {
        let calls = calls(count, &events);
        for name in READ {
            follow(name, count, initial, &calls)?;
        }
    }
}

fn follow(name: &str, count: usize, initial: u32, calls: &[Call]) -> Result<(), TestCaseError> {
    let mut group = group(name, count, initial);
    let mut reading = reading(name, count);
    let mut fractions = vec![(0.0, 0.0); count];
    for (step, call) in calls.iter().enumerate() {
        show(&mut group, call);
        let i = call.subflow;
        let mut all = views(&group);
        let before = all[i];
        let returned = make(&mut group, call);
        let after = f64::from(group[i].cwnd);
        match call.hook {
            Hook::Ack(ack) => {
                reading.ack(&all, i, &ack);
                prop_assert_eq!(after, before.window, "{}: `ack` moves the window", name);
            }
            Hook::Grow(ack) => {
                let (slow, left) = slow_start(&*reading, &before, i, f64::from(ack.delivered));
                all[i].window += slow;
                let by = reading.increase(&all, i, left);
                let grown = after - all[i].window;
                if group[i].cwnd == CWND_LIMIT - 1 {
                    fractions[i] = (0.0, 1.0); // the host stopped it: how far it went is unknown
                    continue;
                }
                let (low, high): (f64, f64) = fractions[i];
                let (mut low, mut high) =
                    (low + by.packets - by.within - grown, high + by.packets + by.within - grown);
                if after == 1.0 && by.packets < 0.0 {
                    (low, high) = (low.max(0.0), high.max(0.0)); // it falls no further
                }
                prop_assert!(
                    low < 1.0 && high >= 0.0,
                    "{name}, step {step}, {call:?}: {before:?} grew by {grown} packets after slow \
                     start; the reading adds {by:?} to a fraction of {:?}",
                    fractions[i]
                );
                fractions[i] = (low.max(0.0), high.min(1.0));
            }
            Hook::Congestion(cause) => {
                let cut = reading.cut(&all, i, cause);
                let returned = f64::from(returned.expect("`congestion` was asked"));
                // A window of 1 after a timeout may lie below the floor: either answer is right.
                let least = reading.floor().min(before.window);
                prop_assert!(
                    returned >= least
                        && (returned.min(before.window) - cut.packets.max(least)).abs() <= cut.within,
                    "{name}, step {step}, {call:?}: {before:?} became {returned}; the reading has \
                     {cut:?}"
                );
                if !reading.keeps_fraction() {
                    fractions[i] = (0.0, 0.0);
                }
            }
            Hook::Timeout => reading.timeout(i),
            Hook::Window(..) => {}
        }
    }
    Ok(())
}
