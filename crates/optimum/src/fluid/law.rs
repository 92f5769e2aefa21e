//! The schemes that have a fluid model, with their parameters.

/// The part of a scheme in its fluid model: congestion avoidance without a floor of the window.
///
/// w is a subflow's window in packets, T its RTT, y the rate of the connection, sums run over its paths.
/// "Increase" is per ACKed packet, "cut" per signal that is answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Reno on each path separately: increase 1/w, cut w/2.
    Reno,
    /// RFC 6356: increase min(max(w/T^2) / y^2, 1/w), cut w/2.
    Lia,
    /// Khalili et al. 2012: increase (w/T^2) / y^2 + a/w, cut w/2. In the algorithm, the sets behind `a`
    /// change at once; here a path partly belongs to them within 2 % of their edge, as it does on average
    /// when it slides along this edge.
    Olia,
    /// Peng et al. 2016: increase (w/T^2) / y^2 (1 + a)/2 (4 + a)/5, cut w/2 min(a, 3/2), a = max(x)/x.
    Balia,
    /// EWTCP, WUTCP, WMPTCP (THESIS eq. (3.17), (4.2)): increase weight/w, cut w/2.
    Weighted {
        /// Above 0.
        weight: f64,
    },
    /// EUTCP (THESIS eq. (3.10)): increase 1/(T y), cut gamma w/2. With gamma 1 Semicoupled and EMPTCP.
    Eutcp {
        /// Above 0 and below 2.
        gamma: f64,
    },
    /// H-MPTCP (THESIS eq. (4.5)): increase max(weight/w, 1/(T y)), cut w/2.
    Hmptcp {
        /// Above 0.
        weight: f64,
    },
    /// XMP eq. (2), (9): delta = w/(y min T) a round, cut w/beta, once a round.
    Xmp {
        /// At least 1.
        beta: f64,
    },
    /// DCTCP (Alizadeh et al., SIGMETRICS 2011): increase 1/w, cut w alpha/2, once a round, d(alpha)/dt =
    /// g (F - alpha) / T. It does not grow in a round that it answers, as in Linux; the paper's grows.
    /// A congested round has all its packets marked, so that F is the signal's probability.
    Dctcp {
        /// In (0, 1].
        g: f64,
    },
    /// vMCC and DCM: LIA's increase, DCTCP's cut (vMCC Alg. 1). vMCC eq. (2) prints the share that is kept
    /// instead of the share that is cut, and has no rate of marks; this is the corrected equation
    /// `dw/dt = (I w (1 - m) - m w alpha/2) / T - loss (w/T) w/2`, m the probability of a marked round.
    Vmcc {
        /// In (0, 1].
        g: f64,
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
            Self::Reno | Self::Lia | Self::Olia | Self::Balia | Self::HolnetMcc => None,
            Self::Weighted { weight } | Self::Hmptcp { weight } => {
                fault(positive(weight), "a weight above 0")
            }
            Self::Eutcp { gamma } => fault(gamma > 0.0 && gamma < 2.0, "gamma above 0 and below 2"),
            Self::Xmp { beta } => fault(beta >= 1.0 && beta.is_finite(), "beta of at least 1"),
            Self::Dctcp { g } | Self::Vmcc { g } => fault(g > 0.0 && g <= 1.0, "g above 0 and at most 1"),
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
