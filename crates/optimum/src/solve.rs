//! The optimum of a problem.

use crate::cone;
use crate::infeasible::{self, Infeasible};
use crate::interior::{NEAR, Point, Polished};
use crate::kkt::Residuals;
use crate::newton::Newton;
use crate::problem::{Pooling, Problem, ProblemError};
use crate::program::{Program, Row};
use crate::utility::Utility;

/// The rates that maximise the sum of the flows' utilities.
///
/// If several divisions among a flow's paths are optimal, the rates are one of them, between the extremes.
/// The total utility is the same for all; so are the totals, if every utility is strictly concave (not α = 0,
/// not slow start) and no pooled flow has paths with different γ: for such a flow, only Σ γ_j x_j is the
/// same.
#[derive(Debug, Clone, PartialEq)]
pub struct Optimum {
    /// By flow and path.
    pub rates: Vec<Vec<f64>>,
    /// Every flow's Σ x_j.
    pub totals: Vec<f64>,
    /// The load of every link.
    pub loads: Vec<f64>,
    /// By link: a price that supports the optimum, above 0 only on links that are full. It is the gain in
    /// total utility from one more unit of capacity, if this is a single number; if several links of a path
    /// are full, only some sums of their prices are determined.
    pub prices: Vec<f64>,
    /// For each flow, one price for its total or one for each path, whichever its limits bound: above 0 at
    /// the maximum rate, below 0 at the minimum, 0 between them. They are no more determined than the links'
    /// prices.
    pub limit_prices: Vec<Vec<f64>>,
    /// The links that are full: whose load is their capacity, to one millionth, or which have a price. (A
    /// link with almost no price can be up to a thousandth short of full.)
    pub binding: Vec<usize>,
    /// The sum of the flows' utilities.
    pub utility: f64,
    /// How well the optimality conditions hold.
    pub residuals: Residuals,
    /// Newton's steps: the cost of a solution, independent of the machine.
    pub newton_steps: usize,
}

/// Why there is no optimum.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum OptimumError {
    /// The problem is invalid.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The minimum rates do not fit the links, or leave another flow nothing.
    #[error("{0}")]
    Infeasible(Box<Infeasible>),
    /// The solver found no answer that satisfies the optimality conditions.
    #[error(
        "no optimum found: the best rates violate the optimality conditions by {:.1e} (relative; {ACCURACY:.0e} \
         is allowed). Marginal utilities that differ by very many powers of ten can be the cause",
        .0.worst()
    )]
    Inaccurate(Residuals),
}

/// The largest residual of an answer.
pub const ACCURACY: f64 = 1e-6;

/// The largest α that is solved from nothing; beyond it, Newton's method increases α in steps.
const FIRST_ALPHA: f64 = 2.0;
/// Newton's method from the middle arrives within this many steps, or a rate that must be above 0 runs towards it.
const FEW: usize = 50;
/// The factor of α in one such step.
const ALPHA_STEP: f64 = 1.4;
/// A link or a limit with less room than this part of it is full: the first of these values that is
/// consistent with the prices. A link that is just full, but that nobody would pay for, has a little room and
/// a small price.
const FULL: [f64; 4] = [1e-6, 1e-5, 1e-4, 1e-3];
/// A path's rate below this part of its maximum, with a price above its value, is 0.
const NOTHING: f64 = 1e-8;

/// Solves `problem`. The answer's residuals are at most [`ACCURACY`].
///
/// Newton's steps from the middle are the same on every platform. Where they do not arrive, a conic solver begins,
/// which takes logarithms from the platform; the steps after it end at the same rates to about ten digits, not bit by
/// bit.
///
/// # Errors
/// An invalid problem; minimum rates that do not fit, with the links and flows that clash; or a problem that
/// is too ill-conditioned.
pub fn solve(problem: &Problem) -> Result<Optimum, OptimumError> {
    problem.check()?;
    if problem.flows.is_empty() {
        let none = Residuals { stationarity: 0.0, complementarity: 0.0, feasibility: 0.0 };
        return Ok(Optimum::new(problem, Vec::new(), vec![0.0; problem.links.len()], Vec::new(), none));
    }
    let (scaled, unit, log_factor) = scale(problem);
    let program = Program::new(&scaled);
    if let Some(clash) = infeasible::find(problem, &program) {
        return Err(OptimumError::Infeasible(Box::new(clash)));
    }
    let (point, newton_steps) = optimise(&program);

    let mut x = point.x;
    settle(&program, &mut x, &point.y);
    let rates = program.spread(&x, problem.flows.len());
    let judged = |full: &f64| {
        let y = settle_prices(&program, &x, &point.y, *full);
        let limit_prices = program.limit_prices(problem, &y);
        let residuals = Residuals::of(&scaled, &rates, &y[..program.links], &limit_prices);
        (y, limit_prices, residuals)
    };
    let holds = |(.., residuals): &(_, _, Residuals)| residuals.worst() <= ACCURACY;
    let (y, limit_prices, residuals) =
        FULL.iter().map(judged).find(holds).unwrap_or_else(|| judged(&f64::INFINITY));
    if residuals.worst() > ACCURACY {
        return Err(match infeasible::starving(problem, &program) {
            Some(clash) => OptimumError::Infeasible(Box::new(clash)),
            None => OptimumError::Inaccurate(residuals),
        });
    }
    let prices = &y[..program.links];
    let price = |p: f64| {
        if p == 0.0 { 0.0 } else { p.signum() * libm::exp(libm::log(p.abs()) + log_factor - libm::log(unit)) }
    };
    let optimum = Optimum::new(
        problem,
        rates.iter().map(|r| r.iter().map(|x| x * unit).collect()).collect(),
        prices.iter().map(|&p| price(p)).collect(),
        limit_prices.iter().map(|own| own.iter().map(|&p| price(p)).collect()).collect(),
        residuals,
    );
    Ok(Optimum { newton_steps, ..optimum })
}

impl Optimum {
    fn new(
        problem: &Problem,
        rates: Vec<Vec<f64>>,
        prices: Vec<f64>,
        limit_prices: Vec<Vec<f64>>,
        residuals: Residuals,
    ) -> Self {
        let mut loads = vec![0.0; problem.links.len()];
        for (flow, rates) in problem.flows.iter().zip(&rates) {
            for (path, x) in flow.paths.iter().zip(rates) {
                path.links.iter().for_each(|&l| loads[l] += x);
            }
        }
        let full = |&l: &usize| loads[l] >= problem.links[l].capacity * (1.0 - FULL[0]) || prices[l] > 0.0;
        Self {
            totals: rates.iter().map(|r| r.iter().sum()).collect(),
            utility: total_utility(problem, &rates),
            binding: (0..loads.len()).filter(full).collect(),
            loads,
            rates,
            prices,
            limit_prices,
            residuals,
            newton_steps: 0,
        }
    }
}

/// The sum of the flows' utilities at `rates`, by flow and path.
///
/// # Panics
/// If the lengths are not the problem's.
pub fn total_utility(problem: &Problem, rates: &[Vec<f64>]) -> f64 {
    let flows = problem.flows.iter().zip(rates).map(|(flow, rates)| {
        let parts = flow.paths.iter().zip(rates);
        let utility = match flow.pooling {
            Pooling::Pooled => flow.utility.value(parts.map(|(p, x)| p.coefficient * x).sum()),
            Pooling::Separate => parts.map(|(p, &x)| p.coefficient * flow.utility_of(p).value(x)).sum(),
        };
        flow.weight * utility
    });
    flows.sum()
}

/// The problem with the largest capacity as the unit of rate, and with weights such that the largest of the
/// flows' marginal utilities, times their rates, is about 1; and the unit and the logarithm of the factor.
fn scale(problem: &Problem) -> (Problem, f64, f64) {
    let mut scaled = problem.clone();
    let unit = problem.links.iter().map(|l| l.capacity).fold(f64::MIN_POSITIVE, f64::max);
    let mut users = vec![0.0f64; problem.links.len()];
    for path in problem.flows.iter().flat_map(|f| &f.paths) {
        path.links.iter().for_each(|&l| users[l] += 1.0);
    }
    scaled.links.iter_mut().for_each(|l| l.capacity /= unit);
    let mut factors = Vec::with_capacity(problem.flows.len());
    let mut largest = f64::NEG_INFINITY;
    for flow in &mut scaled.flows {
        let (utility, log_factor) = flow.utility.in_units_of(unit);
        flow.utility = utility;
        for path in &mut flow.paths {
            if let Some(own) = &mut path.utility {
                let (scaled, own_factor) = own.in_units_of(unit);
                *own = scaled;
                path.coefficient *= libm::exp(own_factor - log_factor);
            }
        }
        flow.min_rate /= unit;
        flow.max_rate /= unit;
        let share = |links: &Vec<usize>| {
            links.iter().map(|&l| scaled.links[l].capacity / users[l]).fold(f64::INFINITY, f64::min)
        };
        let rate: f64 = flow.paths.iter().map(|p| share(&p.links)).sum();
        let log_weight = libm::log(flow.weight) + log_factor;
        largest = largest.max(log_weight + libm::log(utility.marginal(rate) * rate));
        factors.push(log_weight);
    }
    for (flow, log_weight) in scaled.flows.iter_mut().zip(factors) {
        flow.weight = libm::exp(log_weight - largest);
    }
    (scaled, unit, if largest.is_finite() { largest } else { 0.0 })
}

/// The optimum, and the number of Newton's steps. For a large α, the optimum for a smaller one, followed to it.
fn optimise(program: &Program) -> (Point, usize) {
    let alphas =
        program.terms.iter().map(|t| if let Utility::AlphaFair { alpha } = t.utility { alpha } else { 0.0 });
    let last = alphas.fold(0.0, f64::max);
    let mut alpha = FIRST_ALPHA;
    let mut newton = Newton::new(program);
    let Polished { mut point, mut steps, .. } = from_nothing(&with_alpha(program, alpha), &mut newton);
    while alpha < last {
        let next = (alpha * ALPHA_STEP).min(last);
        let at = with_alpha(program, next);
        // If all α are equal, a price is a power of a rate, and changes with α as this power does.
        let y: Vec<f64> = point.y.iter().map(|&y| y.signum() * libm::pow(y.abs(), next / alpha)).collect();
        let polished = Point::near(&at, &point.x, &y).polish(&at, &mut newton);
        (point, steps) = (polished.point, steps + polished.steps);
        alpha = next;
    }
    (point, steps)
}

/// From the middle; if Newton's method does not arrive from there, from the conic solver's answer.
fn from_nothing(program: &Program, newton: &mut Newton) -> Polished {
    let first = Point::middle(program).polish(program, newton);
    if first.worst < NEAR && first.steps <= FEW {
        return first;
    }
    let rough = cone::solve(program);
    let (x, y) = (&rough.v[..program.reach.len()], &rough.multipliers[..program.rows.len()]);
    let second = Point::near(program, x, y).polish(program, newton);
    Polished { steps: first.steps + second.steps, ..second }
}

/// The program with α no larger than `most`; weights change so that (w/price)^(1/α) keeps the ratios of the
/// rates.
fn with_alpha(program: &Program, most: f64) -> Program {
    let mut program = program.clone();
    for term in &mut program.terms {
        if let Utility::AlphaFair { alpha } = term.utility
            && alpha > most
        {
            term.utility = Utility::AlphaFair { alpha: most };
            term.weight = libm::pow(term.weight, most / alpha);
        }
    }
    program
}

/// Sets rates to 0 that are above it only because the method stays in the interior.
fn settle(program: &Program, x: &mut [f64], y: &[f64]) {
    let mut price = vec![0.0; x.len()];
    for (row, y) in program.rows.iter().zip(y) {
        row.entries.iter().for_each(|&(p, c)| price[p] += c * y);
    }
    for term in &program.terms {
        let worth = term.utility.marginal(term.argument(x));
        let marginal = term.count * term.weight * worth;
        let unused = |&(p, c): &(usize, f64)| {
            x[p] < NOTHING * program.reach[p] && price[p] > c * marginal * (1.0 + NOTHING)
        };
        let (unused, used): (Vec<_>, Vec<_>) = term.parts.iter().copied().partition(unused);
        // A flow may depend even on a tiny rate.
        let without = term.utility.marginal(used.iter().map(|&(p, c)| c * x[p]).sum());
        if (without - worth).abs() <= NOTHING * worth {
            unused.into_iter().for_each(|(p, _)| x[p] = 0.0);
        }
    }
}

/// The prices of rows, but 0 where there is room: in the interior, every row has a price.
fn settle_prices(program: &Program, x: &[f64], y: &[f64], full: f64) -> Vec<f64> {
    let price = |(row, &y): (&Row, &f64)| {
        let has_room = row.used(x) < row.bound - full * row.bound.abs();
        if has_room && !row.equal { 0.0 } else { y }
    };
    program.rows.iter().zip(y).map(price).collect()
}
