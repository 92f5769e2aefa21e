//! A law as a random walk: in a host, windows grow by the packet, and a signal cuts them at most once a round.
//!
//! A fluid's rest is where the mean change is 0 at the mean window. The mean window of the walk differs from it where
//! changes are not linear in the window: under losses of packets Reno's is 1.31/sqrt(p), its fluid's sqrt(2/p).

use tresse_controllers::check::rates::Connection;

use super::Signal;
use super::law::Law;
use super::laws::{ByPath, Subflow, alpha_gain, growths, holnet, taken};
use super::signals_of_round::once_a_round;

/// The connection of one law.
pub(crate) struct Walk {
    law: Law,
    signal: Signal,
    packet_bits: f64,
    floor: f64,
    subflows: Vec<Subflow>,
    senders: Vec<Sender>,
}

/// What a host knows of a subflow.
struct Sender {
    /// The window before its last cut, and packets that are outstanding since then.
    before: f64,
    outstanding: f64,
    /// Packets ACKed and marked in this round, and its length.
    acked: f64,
    marked: f64,
    round: f64,
}

/// Windows begin here, packets.
const FIRST_WINDOW: f64 = 10.0;

impl Walk {
    /// Windows do not fall below `floor` packets; `paths` have an RTT, seconds, and the probability of a signal.
    pub fn new(law: Law, signal: Signal, packet_bits: f64, floor: f64, paths: &[(f64, f64)]) -> Self {
        let subflow =
            |&(rtt, signalled): &(f64, f64)| Subflow::new(FIRST_WINDOW, rtt, 0.0, 1.0).with_signal(signalled);
        let sender =
            |_| Sender { before: 0.0, outstanding: 0.0, acked: 0.0, marked: 0.0, round: FIRST_WINDOW };
        let senders = paths.iter().map(sender).collect();
        Self { law, signal, packet_bits, floor, subflows: paths.iter().map(subflow).collect(), senders }
    }

    /// What a round without a signal adds to window `i`, packets.
    fn growth(&self, i: usize) -> f64 {
        match self.law {
            Law::Window { growth, .. } => {
                growths(growth, &self.subflows, |s| once_a_round(self.signal, s.signalled, s.window()).cut)[i]
            }
            _ => self.sliding(1.0)[i],
        }
    }

    /// What a signal takes from window `i`, packets.
    fn cut(&self, i: usize) -> f64 {
        match self.law {
            Law::Window { cut, .. } => taken(cut, &self.subflows[i], &self.subflows),
            _ => -self.sliding(0.0)[i],
        }
    }

    /// The changes of a round in a sliding mode: `free` is 0 in a congested one, else 1.
    fn sliding(&self, free: f64) -> ByPath<f64> {
        holnet(&self.law, &self.subflows, &ByPath::from_elem(free, self.subflows.len()), self.packet_bits)
    }

    /// The mean part of marked packets after a round.
    fn count(&mut self, i: usize, signalled: bool) {
        let Self { law, subflows, senders, .. } = self;
        let (s, sender) = (&mut subflows[i], &mut senders[i]);
        sender.acked += 1.0;
        sender.marked += f64::from(u8::from(signalled));
        if sender.acked >= sender.round {
            if let Some(g) = alpha_gain(law) {
                s.alpha += g * (sender.marked / sender.acked - s.alpha);
            }
            (sender.acked, sender.marked, sender.round) = (0.0, 0.0, s.window());
        }
    }
}

impl Connection for Walk {
    fn window(&self, i: usize) -> f64 {
        self.subflows[i].window()
    }

    fn window_before_cut(&self, i: usize) -> Option<f64> {
        (self.senders[i].outstanding > 0.0).then_some(self.senders[i].before)
    }

    fn packet(&mut self, i: usize, _: u32, signalled: bool) {
        self.count(i, signalled);
        let outstanding = self.senders[i].outstanding;
        self.senders[i].outstanding = (outstanding - 1.0).max(0.0);
        if outstanding > 0.0 {
            return;
        }
        let window = self.subflows[i].window();
        if signalled {
            (self.senders[i].before, self.senders[i].outstanding) = (window, window - 1.0);
            let cut = (window - self.cut(i)).max(self.floor.min(window));
            self.subflows[i].set_window(cut);
        } else {
            let grown = (window + (self.growth(i) / window).min(1.0)).max(self.floor.min(window));
            self.subflows[i].set_window(grown);
        }
    }
}
