//! RFC 6356 §3.

use tresse_controllers::Cause;

use super::{Reading, Real, View, half};

/// Multipath TCP's Linked Increases.
pub struct Lia;

/// How far an increase in fixed point may be from the real one, relative, for RTTs from 5 us to 1 s:
/// T_min/T_k in Q36 by 2^-18.4 at most, which counts twice in the square of the sum.
pub const LIA_ERROR: f64 = 6e-6;

/// RFC 6356 eq. (1) and (2) for one packet, with alpha put in and w_total cancelled:
/// min( max_k(w_k/T_k^2) / (sum_k w_k/T_k)^2, 1/w_r ).
pub fn linked_increase(all: &[View], i: usize) -> f64 {
    let best = all.iter().map(|k| k.window / (k.rtt * k.rtt)).fold(0.0, f64::max);
    let total: f64 = all.iter().map(|k| k.window / k.rtt).sum();
    (best / (total * total)).min(1.0 / all[i].window)
}

impl Reading for Lia {
    /// For each packet; the last digit of Q48 is lost too.
    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        let increase = packets * linked_increase(all, i);
        Real { packets: increase, within: increase * LIA_ERROR + packets * 2f64.powi(-48) }
    }

    /// RFC 6356 §3: the decrease is that of standard TCP.
    fn cut(&mut self, all: &[View], i: usize, _cause: Cause) -> Real {
        half(&all[i])
    }
}
