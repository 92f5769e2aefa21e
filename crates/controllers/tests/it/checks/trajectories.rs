//! Whole trajectories, loosely.
//!
//! Here the reading is on its own: it keeps its own windows from the first event to the last. Both
//! may gain a whole packet at different ACKs, and a cut that comes just then leaves them a packet
//! apart.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use tresse_controllers::Cause;

use super::{Variant, group_with, variants, views};
use crate::host::{Call, Event, Hook, config, events, happen, logarithmic, make, show};
use crate::readings::{Reading, View, reading, scaled_start, slow_start};

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn trajectories_agree(
        count in 1..=8usize,
        start in logarithmic(2, 1000),
        mut events in events(1000),
    ) {
        events.retain(|(_, event)| !matches!(event, Event::Window { .. }));
        for (_, event) in &mut events {
            // Steady RTTs: after a jump, XMP may leap by thousands of packets (see `xmp.rs`).
            if let Event::Ack { rtt: Some(rtt), .. } = event {
                *rtt = 800 + *rtt % 80; // 100 to 110 us
            }
        }
        for i in 0..count {
            events.insert(i, (i, Event::Window { cwnd: start, ssthresh: start }));
        }
        for variant in variants() {
            follow(variant, count, &events)?;
        }
    }
}

/// How far apart the windows may be when the reading has `window`, packets.
fn bound(name: &str, settings: &[(&str, u64)], window: f64) -> f64 {
    match name {
        // A packet decides on which side of a bound a rate lies, and so whether the window starts slowly:
        // `steps.rs` compares these.
        _ if settings.iter().any(|(parameter, _)| *parameter == "min_rate") => f64::INFINITY,
        // The increase is in proportion to the own window: a packet's difference at windows of 1
        // or 2 packets is never forgotten, it grows with the window.
        "xmp" => 4.0 + window / 2.0,
        // The increase falls as the window grows: a difference fades.
        _ => 3.0,
    }
}

/// A connection in the reading's own world.
struct Model {
    reading: Box<dyn Reading>,
    subflows: Vec<View>,
    fractions: Vec<f64>,
}

fn follow((name, settings): Variant, count: usize, events: &[(usize, Event)]) -> Result<(), TestCaseError> {
    let mut group = group_with(name, settings, count, 10);
    let mut model = Model {
        reading: reading(name, settings, count),
        subflows: views(&group),
        fractions: vec![0.0; count],
    };
    let mut step = 0;
    happen(count, events, |call| {
        step += 1;
        show(&mut group, call);
        let i = call.subflow;
        let shown = views(&group)[i];
        let own = &mut model.subflows[i];
        *own = View { window: own.window, threshold: own.threshold, found: own.window, ..shown };
        let answered = make(&mut group, call).is_some();
        model.make(call);
        let (theirs, own) = (f64::from(group[i].cwnd), model.subflows[i].window);
        prop_assert!(
            (theirs - own).abs() <= bound(name, settings, own),
            "{name} {settings:?}, step {step}, {call:?}: a window of {theirs}; the reading has {own}"
        );
        Ok(answered)
    })
}

impl Model {
    /// Slow start. Returns the packets that are left for congestion avoidance.
    fn start(&mut self, i: usize, delivered: f64) -> f64 {
        match self.reading.start_gain(&self.subflows, i) {
            Some(gain) if self.reading.starts_slowly(&self.subflows, i) => {
                let (grown, left) =
                    scaled_start(&self.subflows[i], self.fractions[i], delivered, gain.packets);
                self.subflows[i].window += grown.floor();
                self.fractions[i] = grown - grown.floor();
                left
            }
            _ => {
                let (slow, left) = slow_start(&*self.reading, &self.subflows, i, delivered);
                self.subflows[i].window += slow;
                left
            }
        }
    }

    fn make(&mut self, call: &Call) {
        let i = call.subflow;
        match call.hook {
            Hook::Ack(ack) => self.reading.ack(&self.subflows, i, &ack),
            Hook::Grow(ack) => {
                let delivered = f64::from(ack.delivered);
                let left = self.start(i, delivered);
                self.subflows[i].fraction = self.fractions[i];
                let by = self.reading.increase(&self.subflows, i, left).packets;
                let real = self.fractions[i] + by;
                self.subflows[i].window += real.floor();
                self.fractions[i] = real - real.floor();
                let least = self.reading.least().min(self.subflows[i].found);
                if self.subflows[i].window < least {
                    (self.subflows[i].window, self.fractions[i]) = (least, 0.0);
                }
            }
            Hook::Congestion(Cause::Mark) if self.reading.ignores_marks(&self.subflows[i], i) => {}
            Hook::Congestion(cause) => {
                // DCTCP's product is rounded as Linux does: the cut down, so the window up.
                let window = self.reading.cut(&self.subflows, i, cause).packets.ceil();
                let window = window.max(self.reading.floor());
                self.subflows[i].threshold = window;
                self.subflows[i].window = self.subflows[i].window.min(window);
                if !self.reading.keeps_fraction() {
                    self.fractions[i] = 0.0;
                }
            }
            Hook::Timeout => {
                self.reading.timeout(i);
                self.subflows[i].window = 1.0;
            }
            Hook::Window(cwnd, ssthresh) => {
                self.subflows[i].window = f64::from(cwnd);
                self.subflows[i].threshold = f64::from(ssthresh);
            }
        }
    }
}
