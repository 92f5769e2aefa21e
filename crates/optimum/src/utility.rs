//! Utilities of a rate, with their derivatives.
//!
//! Rates, including parameters that are rates, are in the problem's unit. The marginal utility is the price
//! (per unit of rate) at which a flow wants exactly that rate.

/// A concave, increasing utility U(x) of a rate x ≥ 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Utility {
    /// Alpha-fair, THESIS (2.7): x^(1-α)/(1-α), and log x for α = 1. α = 0 is the throughput; large α is
    /// close to max-min fairness.
    AlphaFair {
        /// α, 0 or more.
        alpha: f64,
    },
    /// Reno in congestion avoidance, THESIS (2.22). Its marginal, log(1 + μ/(βx)), has no unit, and depends
    /// only on μ/β: with μ one packet per RTT and RTT, β = 1/2 per RTT, μ/β is the rate of two packets per
    /// RTT.
    Tcp {
        /// μ, the additive increase: a rate per time, above 0.
        mu: f64,
        /// β, the multiplicative decrease: per the same time, above 0.
        beta: f64,
    },
    /// Reno in slow start, THESIS (2.21): x log(1 + ρ/β), linear in x.
    TcpSlowStart {
        /// ρ, the multiplicative increase, above 0.
        rho: f64,
        /// β, the multiplicative decrease, above 0.
        beta: f64,
    },
    /// BOS and XMP, XMP (4) and (6): s log(1 + x/s) with s = δβ/T. Its marginal, 1/(1 + x/s), is the
    /// probability that a round is marked. HOLNET's elastic log(1 + x) is s = 1 (THESIS §2.4.1).
    Bos {
        /// s, a rate, above 0; [`bos_scale`] computes it.
        scale: f64,
    },
}

/// The scale s = δβ/T of BOS's utility, XMP (4), in bit/s: `delta` and `beta` are BOS's, `rtt` is T in
/// seconds, `packet` a packet's size in bits. XMP's, (6), has δ = 1 and the minimum RTT of its paths.
pub fn bos_scale(delta: f64, beta: f64, rtt: f64, packet: f64) -> f64 {
    delta * beta * packet / rtt
}

/// The increase μ for [`Utility::Tcp`], in bit/s per RTT: one more packet of `packet` bits every `rtt`
/// seconds (THESIS (3.12)).
pub fn tcp_mu(rtt: f64, packet: f64) -> f64 {
    packet / rtt
}

impl Utility {
    /// U(x). At x = 0 it may be minus infinity (α ≥ 1).
    pub fn value(&self, x: f64) -> f64 {
        match *self {
            Self::AlphaFair { alpha: 1.0 } => libm::log(x),
            Self::AlphaFair { alpha } => libm::pow(x, 1.0 - alpha) / (1.0 - alpha),
            Self::Tcp { mu, beta } => {
                let all = mu + beta * x;
                // x log(βx) goes to 0 with x.
                let own = if x == 0.0 { 0.0 } else { x * (libm::log(beta * x) - 1.0) };
                all / beta * (libm::log(all) - 1.0) - own
            }
            Self::TcpSlowStart { rho, beta } => x * libm::log1p(rho / beta),
            Self::Bos { scale } => scale * libm::log1p(x / scale),
        }
    }

    /// U'(x). At x = 0 it may be infinite.
    pub fn marginal(&self, x: f64) -> f64 {
        match *self {
            Self::AlphaFair { alpha } => libm::pow(x, -alpha),
            Self::Tcp { mu, beta } => libm::log1p(mu / (beta * x)),
            Self::TcpSlowStart { rho, beta } => libm::log1p(rho / beta),
            Self::Bos { scale } => 1.0 / (1.0 + x / scale),
        }
    }

    /// -U''(x), 0 or more.
    pub fn curvature(&self, x: f64) -> f64 {
        match *self {
            Self::AlphaFair { alpha: 0.0 } | Self::TcpSlowStart { .. } => 0.0,
            Self::AlphaFair { alpha } => alpha * libm::pow(x, -alpha - 1.0),
            Self::Tcp { mu, beta } => mu / (x * (mu + beta * x)),
            Self::Bos { scale } => scale / ((scale + x) * (scale + x)),
        }
    }

    /// The rate at which the marginal utility is `price` (above 0): the rate of a flow that pays it. 0 if no
    /// rate is worth the price; `None` if the marginal is the same for all rates.
    pub fn rate_at(&self, price: f64) -> Option<f64> {
        match *self {
            Self::AlphaFair { alpha: 0.0 } | Self::TcpSlowStart { .. } => None,
            Self::AlphaFair { alpha } => Some(libm::pow(price, -1.0 / alpha)),
            Self::Tcp { mu, beta } => Some(mu / (beta * libm::expm1(price))),
            Self::Bos { scale } => Some(scale * (1.0 / price - 1.0).max(0.0)),
        }
    }

    /// Whether U'(0) is infinite: such a flow gets something, however expensive its links are.
    pub(crate) fn is_never_zero(&self) -> bool {
        match *self {
            Self::AlphaFair { alpha } => alpha > 0.0,
            Self::Tcp { .. } => true,
            Self::TcpSlowStart { .. } | Self::Bos { .. } => false,
        }
    }

    /// The same utility for rates in units of `unit`, up to a constant and a factor: U(unit y) is exp(f) V(y)
    /// + constant, with (V, f) the result.
    pub(crate) fn in_units_of(&self, unit: f64) -> (Self, f64) {
        let log_unit = libm::log(unit);
        match *self {
            Self::AlphaFair { alpha } => (*self, (1.0 - alpha) * log_unit),
            Self::Tcp { mu, beta } => (Self::Tcp { mu: mu / unit, beta }, log_unit),
            Self::TcpSlowStart { .. } => (*self, log_unit),
            Self::Bos { scale } => (Self::Bos { scale: scale / unit }, log_unit),
        }
    }

    /// What is wrong with the parameters.
    pub(crate) fn fault(&self) -> Option<String> {
        let positive = |name: &str, v: f64| {
            (!(v > 0.0 && v.is_finite())).then(|| format!("{name} = {v} is not a number above 0"))
        };
        match *self {
            Self::AlphaFair { alpha } => (!(0.0..=MAX_ALPHA).contains(&alpha))
                .then(|| format!("alpha = {alpha} is not from 0 to {MAX_ALPHA}")),
            Self::Tcp { mu, beta } => positive("mu", mu).or_else(|| positive("beta", beta)),
            Self::TcpSlowStart { rho, beta } => positive("rho", rho).or_else(|| positive("beta", beta)),
            Self::Bos { scale } => positive("the scale", scale),
        }
    }
}

/// The largest α: with it, the marginals of rates that differ by a factor of 1000 differ by 10^96.
pub const MAX_ALPHA: f64 = 32.0;
