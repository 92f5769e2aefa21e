//! Whether rates and prices are an optimum: the Karush-Kuhn-Tucker conditions, computed from the problem's
//! statement alone, so that they check the solver independently.

use crate::problem::{Bounded, Pooling, Problem};

/// How far the conditions are violated, each relative to its own scale; 0 is an optimum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Residuals {
    /// By how much a path's marginal utility exceeds its price, so that its flow would send more.
    pub stationarity: f64,
    /// A rate times the excess of its price over its marginal, a price times the free capacity of its link, a
    /// limit's price times the distance from the limit.
    pub complementarity: f64,
    /// By how much capacities, minimum and maximum rates are violated, or a rate is negative.
    pub feasibility: f64,
}

impl Residuals {
    /// The largest of the three.
    pub fn worst(&self) -> f64 {
        self.stationarity.max(self.complementarity).max(self.feasibility)
    }

    /// The residuals of `rates` (by flow and path) under the links' `prices` and the flows' `limit_prices`
    /// (above 0: held at the maximum rate, below 0: at the minimum; for each flow one price for its total, or
    /// one for each path).
    ///
    /// Scales: for a path, the larger of its marginal utility and its price, and its narrowest link or, if
    /// its marginal utility at 0 is infinite, the flow's own rate; for a link's price, the most that the
    /// cheapest path over it could pay.
    ///
    /// # Panics
    /// If the lengths are not the problem's.
    pub fn of(problem: &Problem, rates: &[Vec<f64>], prices: &[f64], limit_prices: &[Vec<f64>]) -> Self {
        let mut residuals = Self { stationarity: 0.0, complementarity: 0.0, feasibility: 0.0 };
        let mut loads = vec![0.0; problem.links.len()];
        let mut payable = vec![f64::INFINITY; problem.links.len()];
        for ((flow, rates), limits) in problem.flows.iter().zip(rates).zip(limit_prices) {
            let pooled: f64 = flow.paths.iter().zip(rates).map(|(p, x)| p.coefficient * x).sum();
            let mut worth = 0.0f64;
            for (j, (path, &x)) in flow.paths.iter().zip(rates).enumerate() {
                let limit = limits[if flow.bounded == Bounded::EachPath { j } else { 0 }];
                // The utility's argument, and the rate that would give it alone.
                let (argument, whole) = match flow.pooling {
                    Pooling::Pooled => (pooled, pooled / path.coefficient),
                    Pooling::Separate => (x, x),
                };
                let utility = flow.utility_of(path);
                let marginal = flow.weight * path.coefficient * utility.marginal(argument);
                let price: f64 = path.links.iter().map(|&l| prices[l]).sum();
                let scale = marginal.max(price);
                if !(marginal.is_finite() && price.is_finite() && limit.is_finite() && scale > 0.0) {
                    residuals.stationarity = f64::INFINITY;
                    continue;
                }
                let narrowest =
                    path.links.iter().map(|&l| problem.links[l].capacity).fold(f64::INFINITY, f64::min);
                let rate = if utility.is_never_zero() { whole.min(narrowest) } else { narrowest };
                let excess = (price + limit - marginal) / scale;
                residuals.stationarity = residuals.stationarity.max(-excess);
                residuals.complementarity = residuals.complementarity.max(x / rate * excess.max(0.0));
                residuals.feasibility = residuals.feasibility.max(-x / narrowest);
                for &l in &path.links {
                    loads[l] += x;
                    payable[l] = payable[l].min(scale);
                }
                worth = worth.max(scale);
            }
            for (rate, limit) in flow.bounded_rates(rates).into_iter().zip(limits) {
                if flow.min_rate > 0.0 {
                    residuals.feasibility = residuals.feasibility.max(1.0 - rate / flow.min_rate);
                }
                residuals.feasibility = residuals.feasibility.max(rate / flow.max_rate - 1.0);
                let distance = if *limit > 0.0 {
                    1.0 - rate / flow.max_rate
                } else if flow.min_rate > 0.0 {
                    rate / flow.min_rate - 1.0
                } else {
                    1.0
                };
                residuals.complementarity =
                    residuals.complementarity.max(limit.abs() / (limit.abs() + worth) * distance.max(0.0));
            }
        }
        for (l, link) in problem.links.iter().enumerate() {
            residuals.feasibility = residuals.feasibility.max(loads[l] / link.capacity - 1.0);
            let room = (1.0 - loads[l] / link.capacity).max(0.0);
            let share = match payable[l] {
                _ if prices[l] == 0.0 => 0.0,
                // No path takes the link: there is no scale, and any price is too high.
                f64::INFINITY => prices[l].signum(),
                payable => prices[l] / payable,
            };
            residuals.stationarity = residuals.stationarity.max(-share);
            residuals.complementarity = residuals.complementarity.max(share.clamp(0.0, 1.0) * room);
        }
        residuals
    }
}
