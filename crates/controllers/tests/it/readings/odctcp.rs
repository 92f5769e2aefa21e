//! The thesis's O-DCTCP, (5.14), with the decisions of the catalogue (S8, 0.6).

use tresse_controllers::{Ack, Cause};

use super::{Reading, Real, View, half};

/// O-DCTCP on each subflow, none looking at the others.
pub struct Odctcp {
    subflows: Vec<Round>,
}

/// The fraction of the last round, and the counts of this one.
#[derive(Clone, Default)]
struct Round {
    alpha: f64,
    delivered: f64,
    marked: f64,
}

/// A fraction that is cut off in Q20.
const ALPHA_ERROR: f64 = 1.0 / 1_048_576.0;

impl Odctcp {
    /// Nothing has been marked.
    pub fn new(count: usize) -> Self {
        Self { subflows: vec![Round::default(); count] }
    }
}

impl Reading for Odctcp {
    /// "the fraction of packets that are marked in one RTT"
    fn ack(&mut self, _all: &[View], i: usize, ack: &Ack) {
        let s = &mut self.subflows[i];
        if ack.new_round == 1 && s.delivered > 0.0 {
            *s = Round { alpha: s.marked / s.delivered, ..Round::default() };
        }
        s.delivered += f64::from(ack.delivered);
        s.marked += f64::from(ack.marked);
    }

    /// (5.14), cg = 0: (1 - alpha) mu a round, mu = 1 packet; nothing from alpha = 0.5 on.
    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        let alpha = self.subflows[i].alpha;
        if alpha >= 0.5 {
            return Real { packets: 0.0, within: 0.0 };
        }
        let within = packets * (ALPHA_ERROR / all[i].window + 2f64.powi(-48));
        Real { packets: packets * (1.0 - alpha) / all[i].window, within }
    }

    /// Below 0.5 a mark is not congestion, but in slow start, which is DCTCP's.
    fn ignores_marks(&self, view: &View, i: usize) -> bool {
        view.window >= view.threshold && self.subflows[i].alpha < 0.5
    }

    /// (5.14), cg = 1: alpha beta w a round, beta = 1/2. A drop in the host's own queue counts as a mark; the
    /// thesis lets marks be ignored, and nothing else. A loss is DCTCP's.
    fn cut(&mut self, all: &[View], i: usize, cause: Cause) -> Real {
        let w = all[i].window;
        match cause {
            Cause::Mark | Cause::Local => Real {
                packets: w * (1.0 - self.subflows[i].alpha * 0.5),
                within: 1.0 + w * ALPHA_ERROR / 2.0,
            },
            Cause::Loss => half(&all[i]),
        }
    }

    /// As `dctcp.c`: what was counted belongs to packets that are given up.
    fn timeout(&mut self, i: usize) {
        let s = &mut self.subflows[i];
        (s.delivered, s.marked) = (0.0, 0.0);
    }
}
