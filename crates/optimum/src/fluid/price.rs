//! The price of a capacity: the probability with which a full link signals.
//!
//! This probability follows from the link's senders alone: it is the one at which they send exactly what it
//! carries. It is found as an active queue would find it, by a controller with a proportional and an integral
//! part (as PI of Hollot et al., INFOCOM 2001), here on the logarithm of the odds p/(1 - p), so p stays in
//! (0, 1) and needs no scale:
//!
//! ```text
//! ln(p/(1 - p)) = z + B ln(y/c)      dz/dt = k ((y - c)/c + e exp(-z))
//! ```
//!
//! The second term is a barrier: it keeps the price of an idle link from falling forever, and makes the
//! equilibrium `exp(z) (c - y) = e c`, full to e/p. `k = (2 + B)/(T w)` and B = 4 damp AIMD, whose time
//! constant is T w, with w = c T/N the window of each of N subflows. None of the three moves the equilibrium.

/// B; [`Price::odds`] has its power.
const PROPORTIONAL: f64 = 4.0;
/// e: far below any probability that holds a window (2/w^2 = 2e-8 for 10^4 packets).
const BARRIER: f64 = 1e-14;
/// A link overloaded by windows at their floor would raise its price forever: near p = 1 it rises less and
/// less, and not above odds of about 1/sqrt(this).
const CEILING: f64 = 1e-9;
/// ln of the odds with which a link starts: 1e-3.
pub(super) const START: f64 = -6.907_755_278_982_137;

/// A capacity in use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Price {
    capacity_pps: f64,
    /// T w, seconds.
    pub time_s: f64,
    /// k, per second.
    gain: f64,
}

impl Price {
    /// For a link used by `subflows` subflows, at least one, with a mean RTT of `rtt_s` seconds.
    pub fn new(capacity_pps: f64, subflows: usize, rtt_s: f64) -> Self {
        let window = (capacity_pps * rtt_s / subflows as f64).max(1.0);
        let time_s = rtt_s * window;
        Self { capacity_pps, time_s, gain: (2.0 + PROPORTIONAL) / time_s }
    }

    /// The odds of a signal at `z` under a load.
    pub fn odds(&self, z: f64, load_pps: f64) -> Odds {
        let ratio = load_pps / self.capacity_pps;
        let square = ratio * ratio;
        let when_full = libm::exp(z);
        Odds { when_full, now: when_full * (square * square) }
    }

    /// dz/dt.
    pub fn change(&self, odds: Odds, load_pps: f64) -> f64 {
        let excess = (load_pps - self.capacity_pps) / self.capacity_pps;
        let excess = if excess > 0.0 { excess / (1.0 + odds.now) } else { excess };
        self.gain * (excess + BARRIER / odds.when_full - CEILING * odds.now)
    }
}

/// The odds with which a link signals.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Odds {
    /// At a load of its capacity: exp(z).
    when_full: f64,
    now: f64,
}

impl Odds {
    pub fn probability(self) -> f64 {
        1.0 / (1.0 + 1.0 / self.now)
    }
}
