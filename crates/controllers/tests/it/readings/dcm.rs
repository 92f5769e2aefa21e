//! The slides' DCMPTCP, slides 6 and 8: "DCTCP with MPTCP". MPTCP's increase and DCTCP's decrease.

use tresse_controllers::{Ack, Cause};

use super::dctcp::Dctcp;
use super::lia::Lia;
use super::{Reading, Real, View};

/// LIA's increase, and on each subflow DCTCP's cut.
pub struct Dcm {
    estimates: Dctcp,
}

impl Dcm {
    /// No round has ended.
    pub fn new(count: usize) -> Self {
        Self { estimates: Dctcp::new(count) }
    }
}

impl Reading for Dcm {
    fn ack(&mut self, all: &[View], i: usize, ack: &Ack) {
        self.estimates.ack(all, i, ack);
    }

    /// "Each ACK on subflow(s), increases w_s by min(a/w_total, 1/w_s)", a as in RFC 6356.
    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        Lia.increase(all, i, packets)
    }

    /// w (1 - alpha/2) for a mark, half for a loss.
    fn cut(&mut self, all: &[View], i: usize, cause: Cause) -> Real {
        self.estimates.cut(all, i, cause)
    }

    fn timeout(&mut self, i: usize) {
        self.estimates.timeout(i);
    }

    /// The author's simulator: CwndMin = 1 (catalogue S23).
    fn floor(&self) -> f64 {
        1.0
    }
}
