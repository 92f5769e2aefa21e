//! DCTCP where losses meet marks, beside Linux's `tcp_dctcp.c` and `tcp_input.c` read in floating point.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tresse_controllers::trace::{Event, Script, play};
use tresse_controllers::{ConfiguredController, find};

/// `DCTCP_MAX_ALPHA` and `dctcp_shift_g`.
const G: f64 = 1.0 / 16.0;

/// A sender under Linux's DCTCP whose window is the limit: an ACK of all that is in flight ends a round.
struct Linux {
    cwnd: f64,
    ssthresh: f64,
    /// `snd_cwnd_cnt`.
    count: f64,
    alpha: f64,
    acked: f64,
    acked_ecn: f64,
    /// Packets to be ACKed until `next_seq`, and until `high_seq` in CWR and Recovery.
    round_left: f64,
    reduction_left: f64,
    /// `prior_cwnd` of a reduction in CWR: PRR lowers the window in proportion to what is delivered.
    marked_at: Option<f64>,
}

impl Linux {
    fn new(cwnd: f64, ssthresh: f64, alpha: f64) -> Self {
        Self {
            cwnd,
            ssthresh,
            count: 0.0,
            alpha,
            acked: 0.0,
            acked_ecn: 0.0,
            round_left: 0.0,
            reduction_left: 0.0,
            marked_at: None,
        }
    }

    /// `dctcp_update_alpha`, and what `tcp_ack` does then.
    fn ack(&mut self, packets: f64, marked: f64) {
        if packets > self.round_left && self.acked > 0.0 {
            self.alpha += G * (self.acked_ecn / self.acked - self.alpha);
            (self.acked, self.acked_ecn) = (0.0, 0.0);
        }
        self.round_left = if packets > self.round_left {
            self.cwnd + self.round_left - packets
        } else {
            self.round_left - packets
        };
        self.acked += packets;
        self.acked_ecn += marked;
        if self.reduction_left > 0.0 {
            self.reduction_left -= packets;
            if self.reduction_left > 0.0 {
                return;
            }
            self.cwnd = self.ssthresh;
            self.marked_at = None;
        }
        if marked > 0.0 {
            // `dctcp_ssthresh`.
            let ssthresh = (self.cwnd - (self.cwnd * self.alpha / 2.0).floor()).max(2.0);
            self.reduce(ssthresh);
            self.marked_at = Some(self.cwnd);
            return;
        }
        let slow = packets.min((self.ssthresh - self.cwnd).max(0.0));
        self.cwnd += slow;
        self.count += packets - slow;
        let more = (self.count / self.cwnd).floor();
        self.count -= more * self.cwnd;
        self.cwnd += more;
    }

    /// `dctcp_react_to_loss`: half of `snd_cwnd`, which PRR has lowered by as much as was delivered since a mark.
    fn lose(&mut self) {
        let half = |cwnd: f64| (cwnd / 2.0).floor().max(2.0);
        match self.marked_at.take() {
            Some(before) => {
                let delivered = (before - self.reduction_left) / before;
                self.ssthresh = half(before - (before - self.ssthresh) * delivered);
            }
            None if self.reduction_left > 0.0 => {}
            None => self.reduce(half(self.cwnd)),
        }
    }

    fn reduce(&mut self, ssthresh: f64) {
        (self.ssthresh, self.reduction_left, self.count) = (ssthresh, self.cwnd, 0.0);
    }

    /// What the window comes to: PRR is on its way there.
    fn window(&self) -> f64 {
        if self.reduction_left > 0.0 { self.ssthresh } else { self.cwnd }
    }
}

/// Mostly ACKs; the mark of a shared queue now and then, and a loss, by itself or with a mark before it.
fn events() -> impl Strategy<Value = Vec<Event>> {
    let ack = |marked| {
        (1..=8u32).prop_map(move |packets| Event::Ack {
            packets,
            marked: if marked { packets } else { 0 },
            rtt: None,
            limited: true,
            subflow: 0,
        })
    };
    let event = prop_oneof![
        800 => ack(false).prop_map(|e| vec![e]),
        20 => ack(true).prop_map(|e| vec![e]),
        2 => Just(vec![Event::Loss { subflow: 0 }]),
        4 => (ack(true), ack(false)).prop_map(|(mark, ack)| vec![mark, ack, Event::Loss { subflow: 0 }]),
    ];
    prop::collection::vec(event, 1500).prop_map(|events| events.concat())
}

/// How far the windows of a script lie from Linux's, as a share of them, on average over its events.
fn mean_difference(events: Vec<Event>, alpha: u64) -> f64 {
    let scheme = ConfiguredController::new(find("dctcp").expect("it is built in"), [("alpha_start", alpha)]);
    let window = Event::Window { cwnd: 400, ssthresh: Some(200), subflow: 0 };
    let events: Vec<_> = std::iter::once(window).chain(events).collect();
    let script = Script { subflows: 1, events };
    let steps = play(Arc::new(scheme.expect("in its range")), &script, 10);
    let mut linux = Linux::new(400.0, 200.0, alpha as f64 / 1024.0);
    let off = script.events.iter().zip(&steps).skip(1).map(|(event, step)| {
        match *event {
            Event::Ack { packets, marked, .. } => linux.ack(packets.into(), marked.into()),
            _ => linux.lose(),
        }
        (f64::from(step.cwnd) - linux.window()).abs() / linux.window()
    });
    off.sum::<f64>() / (steps.len() - 1) as f64
}

/// RFC 8257 §3.5 and Linux: a loss halves, also in the round after a mark's small cut. Linux halves what PRR has left
/// of the window by then, which is a little less; in single scripts a mark then falls on the other side of a round's
/// end, so the mean over all of them is what tells.
#[test]
fn windows_are_linuxs() {
    const SCRIPTS: u32 = 200;
    let mut runner = TestRunner::deterministic();
    let script = (events(), 0..=128u64);
    let differences = (0..SCRIPTS).map(|_| {
        let (events, alpha) = script.new_tree(&mut runner).expect("nothing is rejected").current();
        mean_difference(events, alpha)
    });
    let mean = differences.sum::<f64>() / f64::from(SCRIPTS);
    assert!(mean < 0.02, "{:.2} % off on average", 100.0 * mean);
}
