//! BOS, XMP §2.1, on a single path, with the corrections of the catalogue (S4, S10).

use tresse_controllers::{Ack, Cause};

use super::{Reading, Real, View, half};

/// "It increases cwnd by delta on the end of a round", delta = 1.
pub struct Bos {
    beta: f64,
    earned: Vec<f64>,
}

impl Bos {
    /// No round has ended; a mark takes 1/`beta` of the window.
    pub fn new(count: usize, beta: f64) -> Self {
        Self { beta, earned: vec![0.0; count] }
    }
}

impl Reading for Bos {
    fn ack(&mut self, all: &[View], i: usize, ack: &Ack) {
        if ack.new_round == 1 && !all[i].reduced {
            self.earned[i] = if all[i].window >= all[i].threshold { 1.0 } else { self.earned[i] };
        }
    }

    /// Slow start adds nothing but its packets: "It increases cwnd by delta" is for Congestion Avoidance.
    fn increase(&mut self, all: &[View], i: usize, _packets: f64) -> Real {
        let earned = std::mem::take(&mut self.earned[i]);
        Real { packets: if all[i].found < all[i].threshold { 0.0 } else { earned }, within: 0.0 }
    }

    /// "The source decreases cwnd by a factor of 1/beta"; by a whole packet at least (Algorithm 1).
    fn cut(&mut self, all: &[View], i: usize, cause: Cause) -> Real {
        let own = &all[i];
        self.earned[i] = 0.0;
        match cause {
            Cause::Mark | Cause::Local if own.window >= own.threshold => {
                Real { packets: own.window - (own.window / self.beta).floor().max(1.0), within: 0.0 }
            }
            // Slow start: "it stops increasing cwnd, and meanwhile enters Congestion Avoidance".
            Cause::Mark | Cause::Local => Real { packets: own.window, within: 0.0 },
            Cause::Loss => half(own),
        }
    }

    fn keeps_fraction(&self) -> bool {
        true
    }
}
