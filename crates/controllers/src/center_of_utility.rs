//! Center-of-utility fairness: weights that share a bottleneck in the ratio of the rates that the flows'
//! users want on average (THESIS §2.3.1).

/// How a user's utility grows with the rate. Rates are in bit/s.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Elastic (NRE), log(1 + x) (THESIS §2.4.1).
    Log1p,
    /// α-fair (2.7), α < 1: from α = 1 on, its utility has no finite value at rate 0.
    AlphaFair {
        /// α, from 0 to below 1.
        alpha: f64,
    },
    /// Rate-adaptive (RRA), (x - x0)^(1/3) + x0^(1/3), steepest at x0 (THESIS §2.4.1).
    CubeRoot {
        /// x0, the lowest useful rate, bit/s, 0 or more.
        inflection: f64,
    },
    /// Hard real-time (HRT): nothing below this rate, everything from there on (THESIS Figure 2.1).
    Step {
        /// The rate, bit/s, above 0.
        rate: f64,
    },
    /// Straight lines between points given by a user.
    Points(Points),
}

/// Points (rate, utility) of a user's utility.
#[derive(Debug, Clone, PartialEq)]
pub struct Points(Vec<(f64, f64)>);

/// An error in a user's utility.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WeightError {
    /// Fewer than two points.
    #[error("a utility needs at least two points (rate, utility), not {0}")]
    Few(usize),
    /// The first point is not at rate 0.
    #[error("the first point is at rate {0}: begin with the utility at rate 0")]
    First(f64),
    /// A rate or a utility does not rise.
    #[error("point {place}, ({rate}, {utility}): {what} must be a number above that of the previous point")]
    Rises {
        /// Counted from 1.
        place: usize,
        /// Its rate.
        rate: f64,
        /// Its utility.
        utility: f64,
        /// The rate or the utility.
        what: &'static str,
    },
    /// A slope that grows above the minimum rate.
    #[error(
        "the utility is not concave above the minimum rate {min_rate}: its slope grows at rate {rate}. A \
         minimum rate of {rate} or more excludes the part below"
    )]
    Convex {
        /// Where.
        rate: f64,
        /// θ.
        min_rate: f64,
    },
    /// Points end before the saturated rate.
    #[error("the points end at rate {last}, below the saturated rate {saturated}")]
    Short {
        /// The last point's rate.
        last: f64,
        /// The saturated rate.
        saturated: f64,
    },
    /// A parameter outside its range.
    #[error("{name} = {value} is not {range}")]
    Range {
        /// What it is.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it should be.
        range: &'static str,
    },
}

impl Points {
    /// Points in the order of their rates, the first at rate 0; rates and utilities rise. Above `min_rate`, θ
    /// of (2.11), the slopes must not grow: below the guaranteed minimum rate a utility need not be concave,
    /// above it must be (THESIS §2.3.1). 0 requires concavity everywhere.
    ///
    /// # Errors
    /// Too few points, unordered points, or a slope that grows.
    pub fn new(points: Vec<(f64, f64)>, min_rate: f64) -> Result<Self, WeightError> {
        if points.len() < 2 {
            return Err(WeightError::Few(points.len()));
        }
        if points[0].0 != 0.0 {
            return Err(WeightError::First(points[0].0));
        }
        for (i, pair) in points.windows(2).enumerate() {
            let [(x0, u0), (x1, u1)] = [pair[0], pair[1]];
            let rises = |what| WeightError::Rises { place: i + 2, rate: x1, utility: u1, what };
            if !(x1 > x0 && x1.is_finite()) {
                return Err(rises("the rate"));
            }
            if !(u1 > u0 && u1.is_finite()) {
                return Err(rises("the utility"));
            }
        }
        for three in points.windows(3) {
            let slope = |a: (f64, f64), b: (f64, f64)| (b.1 - a.1) / (b.0 - a.0);
            let (before, after) = (slope(three[0], three[1]), slope(three[1], three[2]));
            // Utilities in a table are rounded.
            if three[1].0 > min_rate && after > before * (1.0 + 1e-9) {
                return Err(WeightError::Convex { rate: three[1].0, min_rate });
            }
        }
        Ok(Self(points))
    }
}

impl Shape {
    /// U(x), from 0 at rate 0.
    pub fn value(&self, x: f64) -> f64 {
        match self {
            Self::Log1p => libm::log1p(x),
            Self::AlphaFair { alpha } => libm::pow(x, 1.0 - alpha) / (1.0 - alpha),
            Self::CubeRoot { inflection } => libm::cbrt(x - inflection) + libm::cbrt(*inflection),
            Self::Step { rate } => f64::from(u8::from(x >= *rate)),
            Self::Points(Points(points)) => {
                let after = points.partition_point(|p| p.0 < x).clamp(1, points.len() - 1);
                let [(x0, u0), (x1, u1)] = [points[after - 1], points[after]];
                u0 + (u1 - u0) * ((x - x0) / (x1 - x0)).min(1.0) - points[0].1
            }
        }
    }

    /// u(x) = U(x)/U(R), (2.2): the degree of satisfaction, with R the saturated rate.
    pub fn normalised(&self, x: f64, saturated: f64) -> f64 {
        self.value(x) / self.value(saturated)
    }

    /// The center-of-utility x^c of (2.3), bit/s: the mean of the rate, weighted by the marginal utility
    /// up to the saturated rate R = `saturated`, bit/s.
    ///
    /// # Errors
    /// A parameter outside its range; points that end before R.
    pub fn center(&self, saturated: f64) -> Result<f64, WeightError> {
        let r = saturated;
        let within = |name, value: f64, range, fits: bool| {
            if fits && value.is_finite() { Ok(()) } else { Err(WeightError::Range { name, value, range }) }
        };
        within("the saturated rate", r, "a number above 0", r > 0.0)?;
        match self {
            // ∫ x/(1+x) dx = R - log(1+R).
            Self::Log1p => Ok(r / libm::log1p(r) - 1.0),
            Self::AlphaFair { alpha } => {
                within("alpha", *alpha, "from 0 to below 1", (0.0..1.0).contains(alpha))?;
                Ok(r * (1.0 - alpha) / (2.0 - alpha))
            }
            // By parts: R U(R) less ∫ U dx, which has a closed form.
            Self::CubeRoot { inflection: a } => {
                within("the inflection", *a, "from 0 to the saturated rate", (0.0..=r).contains(a))?;
                let power = |x: f64| x * libm::cbrt(x);
                let area = 0.75 * (power(r - a) - power(*a)) + libm::cbrt(*a) * r;
                Ok(r - area / self.value(r))
            }
            Self::Step { rate } => {
                within(
                    "the rate of the step",
                    *rate,
                    "above 0, at most the saturated rate",
                    *rate > 0.0 && *rate <= r,
                )?;
                Ok(*rate)
            }
            Self::Points(Points(points)) => {
                let last = points[points.len() - 1].0;
                if last < r {
                    return Err(WeightError::Short { last, saturated: r });
                }
                // On a straight line, the mean is in its middle.
                let mut moment = 0.0;
                for pair in points.windows(2).take_while(|pair| pair[0].0 < r) {
                    let end = pair[1].0.min(r);
                    moment += (self.value(end) - self.value(pair[0].0)) * (pair[0].0 + end) / 2.0;
                }
                Ok(moment / self.value(r))
            }
        }
    }
}

/// The weight of (2.9), (x^c/x0^c)^α: what a flow of center-of-utility `center` needs under the α-fair base
/// utility, next to a flow of weight 1 and center `base`.
pub fn weight(center: f64, base: f64, alpha: f64) -> f64 {
    libm::pow(center / base, alpha)
}

/// A class of service and the limits that (2.11) gives its flows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Class {
    /// Non-realtime elastic (NRE): no limit.
    Elastic,
    /// Realtime delay-adaptive (RDA) or rate-adaptive (RRA): a minimum rate.
    Adaptive {
        /// θ.
        min_rate: f64,
    },
    /// Hard realtime (HRT): exactly this rate.
    Hard {
        /// θ = Θ.
        rate: f64,
    },
}

impl Class {
    /// θ and Θ.
    pub fn limits(self) -> (f64, f64) {
        match self {
            Self::Elastic => (0.0, f64::INFINITY),
            Self::Adaptive { min_rate } => (min_rate, f64::INFINITY),
            Self::Hard { rate } => (rate, rate),
        }
    }
}
