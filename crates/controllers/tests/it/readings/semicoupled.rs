//! THESIS Table 3.1, the line "Semicoupled", and eq. (4.1).

use tresse_controllers::Cause;

use super::{Reading, Real, View, half};

/// Semicoupled, EMPTCP, EUTCP(1).
pub struct Semicoupled;

/// How far 1/(T_l sum_k W_k/T_k) may be off in fixed point, relative, for RTTs from 5 us to 1 s: the
/// T_min/T_k of the sum in Q36 by 2^-18.4 at most, and the quotient by 2^-27.
pub const SUM_ERROR: f64 = 3e-6;

/// Eq. (4.1) for one packet, its increase of a round divided by W_l: 1/(tau_l sum W_j/tau_j). A subflow
/// without an RTT has no rate; its own increase is standard TCP's.
pub fn pooled_increase(all: &[View], i: usize) -> f64 {
    if all[i].rtt.is_infinite() {
        return 1.0 / all[i].window;
    }
    1.0 / (all[i].rtt * all.iter().map(|k| k.window / k.rtt).sum::<f64>())
}

impl Reading for Semicoupled {
    /// The last digit of Q48 is lost too.
    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        let increase = packets * pooled_increase(all, i);
        Real { packets: increase, within: increase * SUM_ERROR + packets * 2f64.powi(-47) }
    }

    /// Eq. (4.1): -W_l/2.
    fn cut(&mut self, all: &[View], i: usize, _cause: Cause) -> Real {
        half(&all[i])
    }
}
