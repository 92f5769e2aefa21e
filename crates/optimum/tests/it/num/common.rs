//! Helpers of several tests.

use tresse_optimum::problem::{Flow, Problem};
use tresse_optimum::solve::{Optimum, solve};
use tresse_optimum::utility::Utility;

/// α-fair.
pub fn alpha(alpha: f64) -> Utility {
    Utility::AlphaFair { alpha }
}

/// The problem of these capacities and of flows (utility, paths).
pub fn problem<const N: usize>(capacities: &[f64], flows: [(Utility, Vec<Vec<usize>>); N]) -> Problem {
    let mut problem = Problem::default();
    for (i, &c) in capacities.iter().enumerate() {
        problem.link(format!("link {i}"), c);
    }
    for (i, (utility, paths)) in flows.into_iter().enumerate() {
        problem.flows.push(Flow::new(format!("flow {i}"), utility, paths));
    }
    problem
}

/// Its optimum, checked by the optimality conditions.
#[track_caller]
pub fn optimum(problem: &Problem) -> Optimum {
    let optimum = solve(problem).unwrap_or_else(|e| panic!("{e}\n{problem:?}"));
    assert!(optimum.residuals.worst() < 1e-6, "{:?}", optimum.residuals);
    optimum
}

/// Equal to `digits` relative.
#[track_caller]
pub fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance * expected.abs(), "{value}, not {expected}");
}
