//! vMCC, §V.B: "schemes similar to Lia" for unmarked ACKs, "a DCTCP-like window decrease" for marks.

use tresse_controllers::{Ack, Cause};

use super::dctcp::Dctcp;
use super::lia::Lia;
use super::{Reading, Real, View};

/// LIA's increase, and on each subflow DCTCP's cut with DCTCP's floor.
pub struct Vmcc {
    estimates: Dctcp,
}

impl Vmcc {
    /// No round has ended.
    pub fn new(count: usize) -> Self {
        Self { estimates: Dctcp::new(count) }
    }
}

impl Reading for Vmcc {
    fn ack(&mut self, all: &[View], i: usize, ack: &Ack) {
        self.estimates.ack(all, i, ack);
    }

    /// Algorithm 1, "increase subflow window w_r with Lia".
    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        Lia.increase(all, i, packets)
    }

    /// Algorithm 1, w_r = (1 - alpha_r/2) w_r; half for a loss.
    fn cut(&mut self, all: &[View], i: usize, cause: Cause) -> Real {
        self.estimates.cut(all, i, cause)
    }

    fn timeout(&mut self, i: usize) {
        self.estimates.timeout(i);
    }
}
