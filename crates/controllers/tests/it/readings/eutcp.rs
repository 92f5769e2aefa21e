//! THESIS §3.3.1: EUTCP as measured, (3.9) and (3.10), and from its own utility, (2.12), (2.13), (3.4)
//! and (3.5), without the steps that (3.7) leaves out (catalogue A6.3).

use tresse_controllers::Cause;

use super::semicoupled::{SUM_ERROR, pooled_increase};
use super::{Reading, Real, View};

/// Equal Utility MPTCP.
pub struct Eutcp {
    /// By the subflows' places, in thousandths, so that whole packets are exact.
    gammas: Vec<f64>,
    exact: bool,
}

/// How far the exact law may be off in fixed point, relative: two RTT ratios in Q36, each by 2^-18.4.
pub const EXACT_ERROR: f64 = 8e-6;

impl Eutcp {
    /// `given` are the first gammas, thousandths; those that are 0, and all others, are `gamma`.
    pub fn new(gamma: u64, given: &[u64], exact: bool, count: usize) -> Self {
        let of = |i| given.get(i).copied().filter(|&own| own > 0).unwrap_or(gamma) as f64;
        Self { gammas: (0..count).map(of).collect(), exact }
    }

    /// y = sum gamma_j x_j in packets of the own RTT. (2.12) and (2.13) in congestion avoidance, a round:
    /// z f and z (1 - f), z = mu + beta gamma W, f = 1 - (beta y/(mu + beta y))^gamma; mu = 1, beta = 1/2.
    fn exact_law(&self, all: &[View], i: usize) -> (f64, f64) {
        let (gamma, own) = (self.gammas[i] / 1000.0, &all[i]);
        let y = if own.rtt.is_infinite() {
            gamma * own.window
        } else {
            all.iter().zip(&self.gammas).map(|(k, gamma)| gamma / 1000.0 * k.window * own.rtt / k.rtt).sum()
        };
        let log = gamma * (-2.0 / (2.0 + y)).ln_1p();
        let z = 1.0 + gamma * own.window / 2.0;
        (-z * log.exp_m1(), z * log.exp())
    }
}

impl Reading for Eutcp {
    /// (3.9): gamma W a round; exactly, z f with z = (3/2) gamma W and f = 1 - 3^-gamma.
    fn start_gain(&self, _all: &[View], i: usize) -> Option<Real> {
        let gamma = self.gammas[i] / 1000.0;
        if !self.exact {
            return Some(Real { packets: gamma, within: 2f64.powi(-47) });
        }
        let packets = 1.5 * gamma * (1.0 - 3f64.powf(-gamma));
        Some(Real { packets, within: packets * EXACT_ERROR })
    }

    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        let (one, relative) = if self.exact {
            (self.exact_law(all, i).0 / all[i].window, EXACT_ERROR)
        } else {
            (pooled_increase(all, i), SUM_ERROR)
        };
        let increase = packets * one;
        Real { packets: increase, within: increase * relative + packets * 2f64.powi(-47) }
    }

    /// (3.9) and (3.10): gamma W/2, the window rounded down; exactly, z (1 - f). The floor is the caller's.
    fn cut(&mut self, all: &[View], i: usize, _cause: Cause) -> Real {
        let (own, gamma) = (&all[i], self.gammas[i] / 1000.0);
        if !self.exact {
            return Real { packets: (own.window * (2000.0 - self.gammas[i]) / 2000.0).floor(), within: 0.0 };
        }
        let cut = if own.window < own.threshold {
            1.5 * gamma * 3f64.powf(-gamma) * own.window
        } else {
            self.exact_law(all, i).1
        };
        super::whole(own.window - cut, own.window * EXACT_ERROR)
    }
}
