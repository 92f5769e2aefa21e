//! HOLNET's host controllers: THESIS chapter 2, eq. (2.12)-(2.14) and (2.19)-(2.25), with the corrections and
//! choices of the catalogue (S6, S7, S22): an update a round trip, so that a rate's change of a round is
//! spread over the round's packets, and a cut takes at once what a round of cg = 1 takes.

use tresse_controllers::Cause;

use super::{Reading, Real, View, standard_increase};

/// How far logarithms and powers in fixed point may carry an increase from its equation, relative.
const POWER_ERROR: f64 = 1e-6;

/// A rate, bit/s; the RTT is in 1/8 us.
fn bits_per_second(view: &View) -> f64 {
    view.window * view.packet * 8.0 / (view.rtt / 8.0 * 1e-6)
}

/// `window` in whole packets, the nearest below or at it; `off` packets may decide which that is.
fn whole(window: f64, off: f64) -> Real {
    let (low, high) = ((window - off).floor(), (window + off).floor());
    Real { packets: (low + high) / 2.0, within: (high - low) / 2.0 }
}

/// What an equation of the form z (r - e) is worth to each packet: at most one packet, the pace of slow
/// start.
fn change(z: f64, r: f64, e: f64, packets: f64) -> Real {
    let each = (z * (r - e)).clamp(-1.0, 1.0);
    Real {
        packets: packets * each,
        within: packets * (each.abs() * POWER_ERROR + z * POWER_ERROR * (r - 1.0).abs() + 2f64.powi(-46)),
    }
}

/// Eq. (2.19) as the thesis has it, with its constants.
#[derive(Debug, Clone, Copy)]
pub struct AlphaFair {
    /// alpha.
    pub alpha: f64,
    /// gamma T, in (bit/s)^(1 - alpha).
    pub gamma: f64,
    /// w, in (bit/s)^alpha.
    pub w: f64,
}

impl AlphaFair {
    /// The choices of the defaults: at X = 10 Mbit/s a cut is near X/2 and w x^-alpha is 1/10.
    pub fn new(alpha: f64, weight: f64) -> Self {
        let reference = 10e6f64;
        Self { alpha, gamma: 0.5 * reference.powf(1.0 - alpha), w: weight * 0.1 * reference.powf(alpha) }
    }

    /// What a round of cg = 0 adds to x, divided by x.
    pub fn rise(&self, x: f64, r: f64) -> f64 {
        self.z(x) * (r - self.e(x))
    }

    /// What a round of cg = 1 takes from x, divided by x.
    pub fn fall(&self, x: f64) -> f64 {
        self.z(x) * self.e(x)
    }

    /// z(x) T / x = gamma T x^alpha / x.
    fn z(&self, x: f64) -> f64 {
        self.gamma * x.powf(self.alpha) / x
    }

    /// e^(-w x^-alpha).
    fn e(&self, x: f64) -> f64 {
        (-self.w * x.powf(-self.alpha)).exp()
    }
}

/// Eq. (2.19) with r = 1, the defaults.
pub struct Cc(pub AlphaFair);

impl Reading for Cc {
    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        let x = bits_per_second(&all[i]);
        // 1 - e has the small relative error of its own; it is z (1 - e), not z - z e.
        let z = self.0.z(x);
        let each = (z * -(-self.0.w * x.powf(-self.0.alpha)).exp_m1()).min(1.0);
        Real { packets: packets * each, within: packets * (each * POWER_ERROR + 2f64.powi(-46)) }
    }

    /// To the nearest whole packet, but one at least, or a small window would not fall.
    fn cut(&mut self, all: &[View], i: usize, _cause: Cause) -> Real {
        let w = all[i].window;
        let by = (w * self.0.fall(bits_per_second(&all[i]))).clamp(1.0, w);
        whole(w - by + 0.5, w * POWER_ERROR)
    }

    fn keeps_fraction(&self) -> bool {
        true
    }
}

/// Eq. (2.14): r by the bounds theta and Theta (0: none) of a rate, bit/s; and who is beyond Theta.
///
/// A window that r has lowered is not given back by slow start, until a congestion begins another: the
/// controllers' own choice, on which the thesis is silent.
pub struct Class {
    least: f64,
    most: f64,
    r_max: f64,
    r_min: f64,
    lowered: Vec<bool>,
}

impl Class {
    /// `least` and `most` are theta and Theta, `r` r_max and r_min; for `count` subflows.
    pub fn new(least: f64, most: f64, (r_max, r_min): (f64, f64), count: usize) -> Self {
        Self { least, most, r_max, r_min, lowered: vec![false; count] }
    }

    fn r(&self, rate: f64) -> f64 {
        if rate < self.least {
            self.r_max
        } else if self.most > 0.0 && rate >= self.most {
            self.r_min
        } else {
            1.0
        }
    }

    /// Whether a subflow starts slowly at `rate`.
    fn starts_slowly(&self, view: &View, i: usize, rate: f64) -> bool {
        view.window < view.threshold && !self.lowered[i] && self.r(rate) >= 1.0
    }

    /// r for an ACK that found `rate`.
    fn met(&mut self, i: usize, rate: f64) -> f64 {
        let r = self.r(rate);
        self.lowered[i] |= r < 1.0;
        r
    }
}

/// Eq. (2.19) with the r of eq. (2.14).
pub struct CcCos {
    /// What is maximised.
    pub law: AlphaFair,
    /// What bounds it.
    pub class: Class,
}

/// As the ACK at hand found it.
fn found(view: &View) -> View {
    View { window: view.found, ..*view }
}

impl Reading for CcCos {
    fn starts_slowly(&self, all: &[View], i: usize) -> bool {
        self.class.starts_slowly(&all[i], i, bits_per_second(&found(&all[i])))
    }

    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        let r = self.class.met(i, bits_per_second(&found(&all[i])));
        let x = bits_per_second(&all[i]);
        change(self.law.z(x), r, self.law.e(x), packets)
    }

    fn cut(&mut self, all: &[View], i: usize, cause: Cause) -> Real {
        self.class.lowered[i] = false;
        Cc(self.law).cut(all, i, cause)
    }

    fn least(&self) -> f64 {
        2.0
    }

    fn keeps_fraction(&self) -> bool {
        true
    }
}

/// Eq. (2.20) with the r of eq. (2.14), for the connection's rate.
pub struct MccCos(pub Class);

/// The sum of the subflows' rates as the ACK at hand found them, bit/s.
fn total(all: &[View], i: usize) -> f64 {
    let packet = all[i].packet; // each subflow reckons with its own packets
    all.iter().map(|k| bits_per_second(&View { packet, ..found(k) })).sum()
}

impl Reading for MccCos {
    fn starts_slowly(&self, all: &[View], i: usize) -> bool {
        self.0.starts_slowly(&all[i], i, total(all, i))
    }

    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        let r = self.0.met(i, total(all, i));
        // The price is that of the windows before slow start has raised the own one.
        let mut all = all.to_vec();
        all[i] = found(&all[i]);
        let exact = change(0.5, r, log_utility(&all, i).exp(), packets);
        Real { within: exact.within + packets * RATIO_ERROR, ..exact }
    }

    fn cut(&mut self, all: &[View], i: usize, cause: Cause) -> Real {
        self.0.lowered[i] = false;
        Mcc.cut(all, i, cause)
    }

    fn least(&self) -> f64 {
        2.0
    }
}

/// e^(-eps/x), eps = 2 MSS/T_l (catalogue S22), x the sum of the subflows' rates.
fn log_utility(all: &[View], i: usize) -> f64 {
    let x: f64 = all.iter().map(|k| k.window / k.rtt).sum();
    -2.0 / all[i].rtt / x
}

/// Eq. (2.20), gamma = 1/2 a round.
pub struct Mcc;

/// T_min/T_k in Q36 is off by 2^-18.4 for RTTs from 5 us to 1 s, and so is the sum: for two rates each.
const RATIO_ERROR: f64 = 6e-6;

impl Reading for Mcc {
    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        let each = 0.5 * -log_utility(all, i).exp_m1();
        Real { packets: packets * each, within: packets * (each * RATIO_ERROR + 2f64.powi(-46)) }
    }

    /// The window is rounded down to whole packets, as Reno's.
    fn cut(&mut self, all: &[View], i: usize, _cause: Cause) -> Real {
        let w = all[i].window;
        let left = w - 0.5 * w * log_utility(all, i).exp();
        whole(left, w * RATIO_ERROR)
    }
}

/// Eq. (2.24) and (2.25), rho = 1, beta = 1/2 and mu = 1 packet, a round.
#[derive(Debug, Clone, Copy)]
pub struct Uta {
    /// The weight.
    pub w: f64,
    /// r r^out.
    pub r: f64,
}

const RHO: f64 = 1.0;
const BETA: f64 = 0.5;
const MU: f64 = 1.0;

impl Uta {
    /// What a packet is worth in slow start: eq. (2.24), cg = 0, by a window's packets.
    pub fn slow(&self, packets: f64) -> Real {
        change(RHO + BETA, self.r, (1.0 + RHO / BETA).powf(-self.w), packets)
    }

    /// What a packet is worth in congestion avoidance: eq. (2.25), cg = 0, by a window's packets.
    pub fn avoiding(&self, window: f64, packets: f64) -> Real {
        let base = BETA * window / (MU + BETA * window);
        change((MU + BETA * window) / window, self.r, base.powf(self.w), packets)
    }

    /// The window after a round of cg = 1.
    pub fn cut(&self, window: f64, slow: bool) -> f64 {
        let base = BETA * window / (MU + BETA * window);
        window
            - if slow {
                (1.0 + RHO / BETA).powf(-self.w) * (RHO + BETA) * window
            } else {
                base.powf(self.w) * (MU + BETA * window)
            }
    }
}

impl Reading for Uta {
    fn increase(&mut self, all: &[View], i: usize, packets: f64) -> Real {
        if self.w == 1.0 && self.r == 1.0 {
            // Then (2.25) is mu, whatever the window is: backward compatible with Reno.
            let exact = standard_increase(&all[i], packets);
            return Real { within: exact.packets * POWER_ERROR + packets * 2f64.powi(-46), ..exact };
        }
        self.avoiding(all[i].window, packets)
    }

    /// A loss tells nothing (§2.5, "packet loss recovery"): a timeout does not change the rate, and
    /// there is no fast retransmit.
    fn cut(&mut self, all: &[View], i: usize, cause: Cause) -> Real {
        let own = &all[i];
        if cause == Cause::Loss {
            return Real { packets: own.window, within: 0.0 };
        }
        whole(Uta::cut(self, own.window, own.window < own.threshold), own.window * POWER_ERROR)
    }

    /// Without fast retransmit a window needs no duplicate ACKs.
    fn floor(&self) -> f64 {
        1.0
    }
}
