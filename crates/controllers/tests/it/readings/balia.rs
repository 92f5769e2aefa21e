//! BALIA as the thesis's Table 3.1 writes it (catalogue S14).

use tresse_controllers::Cause;

use super::{Reading, Real, View, share};

/// The Balanced Linked Adaptation.
pub struct Balia;

/// How far an increase in fixed point may be from the real one, relative, for RTTs from 5 us to 1 s:
/// T_min/T_k in Q36 is off by 2^-18.4 at most, which counts twice in the square of the sum, and each
/// of two factors by 2^-23 where the best of 64 subflows has 1/64 of the sum: 6 * 10^-6.
pub const BALIA_ERROR: f64 = 1e-5;

/// a = max_k(x_k) / x_r.
pub fn rate_ratio(all: &[View], i: usize) -> f64 {
    let best = all.iter().map(|k| k.window / k.rtt).fold(0.0, f64::max);
    best / (all[i].window / all[i].rtt)
}

/// (w_r/T_r^2) / (sum_k w_k/T_k)^2 * (1 + a)/2 * (4 + a)/5.
pub fn balanced_increase(all: &[View], i: usize) -> f64 {
    let a = rate_ratio(all, i);
    share(all, i) * ((1.0 + a) / 2.0) * ((4.0 + a) / 5.0)
}

impl Reading for Balia {
    /// For each packet; the last digit of Q48 is lost too.
    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        let increase = packets * balanced_increase(all, i);
        Real { packets: increase, within: increase * BALIA_ERROR + packets * 2f64.powi(-48) }
    }

    /// w - w/2 min(a, 3/2), rounded down; alone with Reno's floor, as `balia.c` declares.
    fn cut(&mut self, all: &[View], i: usize, _cause: Cause) -> Real {
        let w = all[i].window;
        let window = (w - w / 2.0 * rate_ratio(all, i).min(1.5) + 1e-9).floor();
        let least = if all.len() == 1 { w.min(2.0) } else { 1.0 };
        Real { packets: window.max(least), within: 1.0 }
    }

    /// The thesis, §3.3: one packet for BALIA.
    fn floor(&self) -> f64 {
        1.0
    }
}
