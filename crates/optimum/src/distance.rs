//! How far rates are from an optimum.

use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::solve::{Optimum, total_utility};

/// How far rates are from an optimum: 0 if they are one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Distance {
    /// |x - x*| / max(x, x*) of a flow's rate x and its optimal rate x*, the mean over the flows; from 0 to 1.
    pub mean: f64,
    /// The largest of these.
    pub largest: f64,
    /// The loss of total utility, as a share of rate: the rates have the same utility as the optimal ones,
    /// all multiplied by 1 minus this. At most 1; below 0 only for rates that the links cannot carry.
    pub utility: f64,
}

impl Distance {
    /// The distance of `rates`, by flow and path, from the `optimum` of `problem`.
    ///
    /// It is a share of rate because a utility may be stated with any factor and any constant, which should
    /// not change a distance.
    ///
    /// # Panics
    /// If there is no flow, or if the lengths are not the problem's.
    pub fn of(problem: &Problem, optimum: &Optimum, rates: &[Vec<f64>]) -> Self {
        assert_eq!(rates.len(), optimum.totals.len(), "rates for every flow");
        let each: Vec<f64> = rates
            .iter()
            .zip(&optimum.totals)
            .map(|(rates, &best)| {
                let rate: f64 = rates.iter().sum();
                let larger = rate.max(best);
                if larger > 0.0 { (rate - best).abs() / larger } else { 0.0 }
            })
            .collect();
        Self {
            mean: each.iter().sum::<f64>() / each.len() as f64,
            largest: each.iter().copied().fold(0.0, f64::max),
            utility: 1.0 - worth(problem, optimum, total_utility(problem, rates)),
        }
    }

    /// The distance of flows if only their total rates are known: each is divided among its paths as at the
    /// optimum.
    ///
    /// # Panics
    /// As [`Self::of`].
    pub fn of_totals(problem: &Problem, optimum: &Optimum, totals: &[f64]) -> Self {
        let divided = optimum.rates.iter().zip(&optimum.totals).zip(totals).map(|((rates, &best), total)| {
            let even = 1.0 / rates.len() as f64;
            rates.iter().map(|x| total * if best > 0.0 { x / best } else { even }).collect()
        });
        Self::of(problem, optimum, &divided.collect::<Vec<_>>())
    }
}

/// The factor of the optimal rates at which their total utility is `utility`, from 0 to [`LARGEST`].
fn worth(problem: &Problem, optimum: &Optimum, utility: f64) -> f64 {
    // At 0 a utility may be minus infinity, and so may that of the given rates.
    let at = |factor: f64| {
        let rates: Vec<Vec<f64>> =
            optimum.rates.iter().map(|rates| rates.iter().map(|x| x * factor).collect()).collect();
        total_utility(problem, &rates)
    };
    let (mut low, mut high) = (0.0, 1.0);
    while at(high) < utility && high < LARGEST {
        (low, high) = (high, 2.0 * high);
    }
    // To the last bit: the utility rises with the factor.
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if at(middle) < utility { low = middle } else { high = middle }
    }
}

/// Larger than the factor of any rates that a network carries.
const LARGEST: f64 = 1024.0;
