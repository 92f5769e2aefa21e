//! THESIS §3.3.2, eq. (3.16) and (3.17).

use tresse_controllers::Cause;

use super::weighted::{Weights, weighted_increase};
use super::{Reading, Real, View, half, whole};

/// Weighted Utility MPTCP.
pub struct Wutcp {
    pub weights: Weights,
}

/// How far 1 - 3^-omega may be off in fixed point, relative, for weights from 1/4096 on, in Q30.
pub const POWER_ERROR: f64 = 1e-5;

impl Reading for Wutcp {
    /// (3.16): (3/2) (1 - 3^-omega) W a round.
    fn start_gain(&self, all: &[View], i: usize) -> Option<Real> {
        let packets = 1.5 * (1.0 - 3f64.powf(-self.weights.of(all, i)));
        Some(Real { packets, within: packets * POWER_ERROR })
    }

    /// (3.17): omega a round.
    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        weighted_increase(&self.weights, all, i, packets)
    }

    /// (3.16): 3^(1 - omega)/2 W, which may be more than the window: the caller has the floor. (3.17): half.
    fn cut(&mut self, all: &[View], i: usize, _cause: Cause) -> Real {
        let own = &all[i];
        if own.window >= own.threshold {
            return half(own);
        }
        let kept = 1.0 - 3f64.powf(1.0 - self.weights.of(all, i)) / 2.0;
        whole(own.window * kept, own.window * POWER_ERROR)
    }
}
