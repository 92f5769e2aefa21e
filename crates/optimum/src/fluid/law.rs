//! The laws of fluid models, with their parameters.

/// The motion of windows in a fluid model: congestion avoidance without a floor of the window.
///
/// w is a subflow's window in packets, T its RTT, y the rate of the connection, sums run over its paths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Growth less cuts.
    Window {
        /// What a round without a signal adds.
        growth: Growth,
        /// What a signal takes.
        cut: Cut,
        /// Which signals count.
        answer: Answer,
    },
    /// HOLNET's CC and CC-CoS, on one path or several (THESIS eq. (2.12), (2.19)) with the base utility
    /// y^(1-alpha)/(1-alpha), y in bit/s: dx/dt = gain x^alpha (1 - cg - exp(-weight/y^alpha)) a round.
    HolnetCc {
        /// Above 0.
        alpha: f64,
        /// Above 0: w of THESIS eq. (2.9).
        weight: f64,
        /// Above 0: gamma of (2.12) times the RTT, in (bit/s)^(1-alpha). It moves no equilibrium.
        gain: f64,
        /// The class of service.
        bounds: RateBounds,
    },
    /// HOLNET's MCC (THESIS eq. (2.20)): dx/dt = x/2 (1 - cg - exp(-2/(T y))) a round, which is AIMD. epsilon
    /// is two packets per the subflow's own RTT (controllers/holnet_mcc.c), so paths with unequal RTTs do not
    /// have the same utility.
    HolnetMcc,
    /// HOLNET-UTA in congestion avoidance (THESIS eq. (2.25)), and EUTCP exactly as it follows from (2.12),
    /// (2.13) and (3.4), before the approximations of (3.7): dw/dt = (1 + b w) (c - (b Y/(1 + b Y))^(weight
    /// gamma)) a round, b = gamma/2, Y = T y, c = the share of rounds without congestion, times r and r^out.
    HolnetUta {
        /// Above 0.
        weight: f64,
        /// Above 0: EUTCP's rate scaling; 1 for UTA.
        gamma: f64,
        /// The class of service.
        bounds: RateBounds,
    },
}

/// Packets that a round without a signal adds to a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Growth {
    /// Reno's with weight 1; EWTCP's, WUTCP's and WMPTCP's (THESIS eq. (3.17), (4.2)).
    Separate {
        /// Packets a round, above 0.
        weight: f64,
    },
    /// RFC 6356: min(w max(w/T^2)/y^2, 1).
    Linked,
    /// Khalili et al. 2012: (x/y)^2 + a. In the algorithm, the sets behind `a` change at once; here a path partly
    /// belongs to them within 2 % of their edge, as it does on average when it slides along this edge.
    Opportunistic,
    /// Peng et al. 2016: (x/y)^2 (1 + a)/2 (4 + a)/5, a = max(x)/x.
    Balanced,
    /// EUTCP's and Semicoupled's (THESIS eq. (3.10)): x/y.
    Shared,
    /// H-MPTCP's (THESIS eq. (4.5)): max(weight, x/y).
    Larger {
        /// Packets a round, above 0.
        weight: f64,
    },
    /// XMP eq. (9): w/(y min T).
    ByShortest,
    /// w over the sum of w: what EUTCP's is if a controller counts packets a round instead of a second.
    ByWindow,
}

/// Packets that a signal takes from a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cut {
    /// factor w / divisor: half for Reno, gamma w/2 for EUTCP (THESIS eq. (3.10)), w/beta for XMP (eq. (2)).
    Part {
        /// Above 0.
        factor: f64,
        /// Above the factor.
        divisor: f64,
    },
    /// Peng et al. 2016: w/2 min(a, 3/2), a = max(x)/x.
    Balanced,
    /// DCTCP's (Alizadeh et al., SIGMETRICS 2011): w alpha/2, d(alpha)/dt = g (F - alpha) / T. A congested round
    /// has all its packets marked, so that F is the signal's probability.
    Marked {
        /// In (0, 1].
        g: f64,
    },
}

/// The signals that a window answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Every one, a mark like a loss.
    Signals,
    /// Marks at most once a round, and no growth in a round with one, as in Linux (DCTCP's paper grows); a loss
    /// halves the window. vMCC eq. (2) prints the share that is kept instead of the share that is cut, and has no
    /// rate of marks; with [`Growth::Linked`] and [`Cut::Marked`] this is the corrected equation
    /// `dw/dt = (I w (1 - m) - m w alpha/2) / T - loss (w/T) w/2`, m the probability of a marked round.
    Rounds,
}

/// A class of service: the bounds of THESIS eq. (2.11) and the factors of (2.14).
///
/// The factors change at once in the paper. Here they change over 2 % of the rate inside the bounds: this is
/// the average of sliding along the bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateBounds {
    /// theta, bit/s; 0: none.
    pub min_bps: f64,
    /// Theta, bit/s; infinity: none.
    pub max_bps: f64,
    /// r below `min_bps`, above 1.
    pub r_max: f64,
    /// r above `max_bps`, in [0, 1).
    pub r_min: f64,
}

impl RateBounds {
    /// No bounds: an elastic flow. The factors are the thesis's.
    pub const NONE: Self = Self { min_bps: 0.0, max_bps: f64::INFINITY, r_max: 3.0, r_min: 0.1 };
}

impl Law {
    /// What is wrong with the parameters, if anything.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        let fault = |good: bool, expected| (!good).then_some(expected);
        match *self {
            Self::HolnetMcc => None,
            Self::Window { growth, cut, .. } => growth.fault().or_else(|| cut.fault()),
            Self::HolnetCc { alpha, weight, gain, bounds } => {
                let good = positive(alpha) && positive(weight) && positive(gain);
                fault(good, "alpha, weight and gain above 0").or_else(|| bounds.fault())
            }
            Self::HolnetUta { gamma, weight, bounds } => {
                fault(positive(gamma) && positive(weight), "gamma and weight above 0")
                    .or_else(|| bounds.fault())
            }
        }
    }
}

impl Growth {
    fn fault(self) -> Option<&'static str> {
        match self {
            Self::Separate { weight } | Self::Larger { weight } => {
                (!(weight > 0.0 && weight.is_finite())).then_some("a weight above 0")
            }
            _ => None,
        }
    }
}

impl Cut {
    fn fault(self) -> Option<&'static str> {
        match self {
            Self::Part { factor, divisor } => {
                let part = factor > 0.0 && divisor.is_finite() && factor < divisor;
                (!part).then_some("a cut above 0 and below the window")
            }
            Self::Balanced => None,
            Self::Marked { g } => (!(g > 0.0 && g <= 1.0)).then_some("g above 0 and at most 1"),
        }
    }
}

impl RateBounds {
    fn fault(&self) -> Option<&'static str> {
        let ordered = 0.0 <= self.min_bps && self.min_bps <= self.max_bps;
        let factors = self.r_max > 1.0 && (0.0..1.0).contains(&self.r_min);
        (!(ordered && factors)).then_some("0 <= min <= max, r_max above 1 and r_min in [0, 1)")
    }

    /// r of THESIS eq. (2.14) at `rate_bps`, smoothed inside the bounds.
    ///
    /// A rate held at a bound has an r that differs from 1 by no more than the congestion, often only by
    /// 1e-4. So the ramp is flat near 1, to keep the equations from being stiff there.
    pub(super) fn factor(&self, rate_bps: f64) -> f64 {
        const BAND: f64 = 0.02;
        let ramp = |inside: f64| libm::pow(1.0 - inside.clamp(0.0, 1.0), 8.0);
        let below = ramp((rate_bps - self.min_bps) / (BAND * self.min_bps).max(1.0));
        let above = ramp((1.0 - rate_bps / self.max_bps) / BAND);
        (1.0 + (self.r_max - 1.0) * below) * (1.0 + (self.r_min - 1.0) * above)
    }
}
