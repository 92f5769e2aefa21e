//! Newton's method on the optimality conditions themselves, from the middle or a rough answer to the last digits.
//!
//! A conic solver's answer has errors relative to the largest marginal utility; where marginals differ by many
//! powers of ten (large α, starved flows), small ones are lost. Here every condition is measured on its own
//! scale. Primal-dual interior point: the unknowns are the rates x > 0 with multipliers z, and the rows'
//! slacks s with multipliers (prices) y:
//!
//!   U' - Aᵀy + z = 0,   A x + s = h,   x z = τ,   y s = τ     (τ → 0, each in its own scale)

use crate::newton::Newton;
use crate::program::{Program, Row, Term};

/// An iterate.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    /// Rates of the paths.
    pub x: Vec<f64>,
    /// Prices of the rows.
    pub y: Vec<f64>,
    z: Vec<f64>,
    s: Vec<f64>,
}

/// Complementarity and the other conditions are driven to this, relative.
const TOLERANCE: f64 = 1e-11;
/// The value to which a rough answer is raised before the first step, relative.
const LIFT: f64 = 1e-5;
const STEPS: usize = 300;
/// Steps without progress after which the best point is the answer …
const PATIENCE: usize = 20;
/// … or this many, if it is already this close: rounding then decides which step looks best, and where a rate and its
/// multiplier both vanish Newton's method only halves them.
const PATIENCE_NEAR: usize = 1;
/// A point whose largest violation is below this is an optimum but for rounding.
pub(crate) const NEAR: f64 = 1e-8;

/// By path: the scale of its rate, its marginal utility, the price of its links, and that of its links and
/// limits.
struct Prices {
    rate: Vec<f64>,
    marginal: Vec<f64>,
    links: Vec<f64>,
    path: Vec<f64>,
}

impl Prices {
    fn new(program: &Program, x: &[f64], y: &[f64]) -> Self {
        let mut marginal = vec![0.0; x.len()];
        let mut rate = program.reach.clone();
        for term in &program.terms {
            let argument = term.argument(x);
            let m = term.count * term.weight * term.utility.marginal(argument);
            for &(p, c) in &term.parts {
                marginal[p] = c * m;
                // The total of such a flow has to be right, however small it is.
                if term.utility.is_never_zero() {
                    rate[p] = rate[p].min(argument / c);
                }
            }
        }
        let pay = |mut paid: Vec<f64>, rows: &[Row], y: &[f64]| {
            for (row, y) in rows.iter().zip(y) {
                row.entries.iter().for_each(|&(p, c)| paid[p] += c * y);
            }
            paid
        };
        let (of_links, of_limits) = program.rows.split_at(program.links);
        let links = pay(vec![0.0; x.len()], of_links, y);
        let path = pay(links.clone(), of_limits, &y[program.links..]);
        Self { rate, marginal, links, path }
    }

    /// The scale of a path's prices.
    fn scale(&self, p: usize) -> f64 {
        self.marginal[p].max(self.links[p])
    }

    /// The scale of a row's price: the price that the cheapest path over it could pay.
    fn row_scale(&self, entries: &[(usize, f64)]) -> f64 {
        entries.iter().map(|&(p, c)| self.scale(p) / c.abs()).fold(f64::INFINITY, f64::min)
    }
}

/// In the middle, rates are this part of an even share of the narrowest row.
const MIDDLE: f64 = 0.5;
/// The least slack and every path's multiplier in the middle, relative.
const ROOM: f64 = 0.1;

impl Point {
    /// A point far from every bound: all products of complementarity are about equal, in their own scales.
    pub(crate) fn middle(program: &Program) -> Self {
        let mut x = program.reach.clone();
        let mut rows_of = vec![0.0; x.len()];
        for row in &program.rows {
            let users: f64 = row.entries.iter().map(|(_, c)| c.abs()).sum();
            for &(p, c) in &row.entries {
                rows_of[p] += 1.0;
                // A row with c < 0 is a minimum.
                if c > 0.0 {
                    x[p] = x[p].min(row.bound / users);
                }
            }
        }
        x.iter_mut().for_each(|x| *x *= MIDDLE);
        let marginal = Prices::new(program, &x, &vec![0.0; program.rows.len()]).marginal;
        // A path pays its marginal in equal parts.
        let price = |row: &Row| {
            let parts = row.entries.iter().map(|&(p, c)| marginal[p] / (c.abs() * rows_of[p]));
            parts.sum::<f64>() / row.entries.len().max(1) as f64
        };
        let slack = |row: &Row| match row.equal {
            true => 0.0,
            false => (row.bound - row.used(&x)).max(ROOM * row.bound.abs()),
        };
        let (y, s) = (program.rows.iter().map(price).collect(), program.rows.iter().map(slack).collect());
        let z = marginal.iter().map(|m| ROOM * m).collect();
        Self { x, y, z, s }
    }

    /// An interior point near the rates `x` and the prices `y` of the rows.
    pub(crate) fn near(program: &Program, x: &[f64], y: &[f64]) -> Self {
        let x: Vec<f64> = x.iter().zip(&program.reach).map(|(x, reach)| x.max(LIFT * reach)).collect();
        let prices = Prices::new(program, &x, y);
        let z =
            (0..x.len()).map(|p| (prices.path[p] - prices.marginal[p]).max(LIFT * prices.scale(p))).collect();
        let y = program.rows.iter().zip(y).map(|(row, &y)| {
            let scale = prices.row_scale(&row.entries);
            match row.entries.is_empty() {
                true => 0.0, // Nobody pays for a link that no path takes.
                false if row.equal => y,
                false => y.max(LIFT * scale),
            }
        });
        let y = y.collect();
        let s = program
            .rows
            .iter()
            .map(|row| if row.equal { 0.0 } else { (row.bound - row.used(&x)).max(LIFT * row.bound.abs()) })
            .collect();
        Self { x, y, z, s }
    }

    /// Takes Newton steps until every condition holds to [`TOLERANCE`], or no step helps any more. Returns
    /// the best point. `newton` is the program's, or that of one with the same paths.
    pub(crate) fn polish(mut self, program: &Program, newton: &mut Newton) -> Polished {
        let mut best = (f64::INFINITY, self.clone());
        // On the way, the worst condition may stay the same while the others improve.
        let (mut least, mut since, mut length) = (f64::INFINITY, 0, 0.0);
        let mut steps = 0;
        while steps < STEPS {
            let measure = self.measure(program);
            since += 1;
            if measure.complementarity < 0.9 * least {
                (least, since) = (measure.complementarity, 0);
            }
            if measure.worst < best.0 {
                (best, since) = ((measure.worst, self.clone()), 0);
            }
            // A step without progress may be one of an inaccurate direction.
            if since > 0 && best.0 >= TOLERANCE && newton.eliminate_paths_first() {
                (self, since, length) = (best.1.clone(), 0, 0.0);
                continue;
            }
            let patience = if best.0 < NEAR { PATIENCE_NEAR } else { PATIENCE };
            if best.0 < TOLERANCE || since > patience {
                break;
            }
            // After a full step the next one may aim far; after a short one, at the middle first.
            let centring = if length > 0.9 { 0.05 } else { 0.5 };
            let target = (centring * measure.complementarity).max(0.1 * TOLERANCE);
            let Some(moved) = self.step(program, newton, target, measure.worst) else { break };
            length = moved;
            steps += 1;
        }
        Polished { point: best.1, worst: best.0, steps }
    }

    fn measure(&self, program: &Program) -> Measure {
        let prices = Prices::new(program, &self.x, &self.y);
        let (mut worst, mut sum, mut count) = (0.0f64, 0.0, 0.0);
        for p in 0..self.x.len() {
            let scale = prices.scale(p);
            let gap = self.x[p] * self.z[p] / (prices.rate[p] * scale);
            let dual = (prices.marginal[p] - prices.path[p] + self.z[p]).abs() / scale;
            worst = worst.max(gap).max(dual);
            sum += gap;
            count += 1.0;
        }
        for (r, row) in program.rows.iter().enumerate().filter(|(_, row)| !row.entries.is_empty()) {
            let gap = self.y[r] * self.s[r] / (row.bound.abs() * prices.row_scale(&row.entries));
            worst = worst.max(gap).max((row.bound - row.used(&self.x) - self.s[r]).abs() / row.bound.abs());
            if !row.equal {
                sum += gap;
                count += 1.0;
            }
        }
        Measure { worst: if worst.is_nan() { f64::INFINITY } else { worst }, complementarity: sum / count }
    }

    /// One damped step towards complementarity `target`, from where the conditions' largest violation is `worst`.
    /// Returns how much of it was taken.
    fn step(&mut self, program: &Program, newton: &mut Newton, target: f64, worst: f64) -> Option<f64> {
        let d = self.direction(program, newton, target, worst)?;
        let length = self.longest(program, &d);
        // Too little, or not a number.
        if length.is_nan() || length < 1e-12 {
            return None;
        }
        let go = |v: &mut [f64], d: &[f64]| v.iter_mut().zip(d).for_each(|(v, d)| *v += length * d);
        go(&mut self.x, &d.x);
        go(&mut self.y, &d.y);
        go(&mut self.z, &d.z);
        go(&mut self.s, &d.s);
        Some(length)
    }

    /// Newton's direction. After eliminating z and s, the rest is symmetric:
    ///
    ///   | -U'' + Z/X   Aᵀ  | dx     U' - Aᵀy + τ/x
    ///   |     A       -S/Y | dy  =  h - A x - τ/y
    ///
    /// It may leave as much as it is to correct, `worst`, in the scale of the largest capacity and marginal utility.
    fn direction(&self, program: &Program, newton: &mut Newton, target: f64, worst: f64) -> Option<Self> {
        let prices = Prices::new(program, &self.x, &self.y);
        let paths = self.x.len();
        let goal_x: Vec<f64> = (0..paths).map(|p| target * prices.rate[p] * prices.scale(p)).collect();
        let of_path = |p: usize| prices.marginal[p] - prices.path[p] + goal_x[p] / self.x[p];
        let mut right: Vec<f64> = (0..paths).map(of_path).collect();
        let curvature = |t: &Term| t.count * t.weight * t.utility.curvature(t.argument(&self.x));
        let curvatures: Vec<f64> = program.terms.iter().map(curvature).collect();
        let mut goal_y = vec![0.0; program.rows.len()];
        let mut slopes = Vec::with_capacity(newton.rows.len());
        for &r in &newton.rows {
            let row = &program.rows[r];
            let (slope, part) = if row.equal {
                (0.0, 0.0)
            } else {
                goal_y[r] = target * row.bound.abs() * prices.row_scale(&row.entries);
                (self.s[r] / self.y[r], goal_y[r] / self.y[r])
            };
            slopes.push(slope);
            right.push(row.bound - row.used(&self.x) - part);
        }

        let by_path = (0..paths).map(|p| self.z[p] / self.x[p]);
        let mut x = newton.solve(program, by_path, &curvatures, &slopes, &right, worst)?;
        let mut y = vec![0.0; program.rows.len()];
        newton.rows.iter().zip(x.split_off(paths)).for_each(|(&r, d)| y[r] = d);
        let z = (0..paths).map(|p| (goal_x[p] - self.z[p] * (self.x[p] + x[p])) / self.x[p]).collect();
        let mut s = vec![0.0; program.rows.len()];
        for &r in newton.rows.iter().filter(|&&r| !program.rows[r].equal) {
            s[r] = (goal_y[r] - self.s[r] * (self.y[r] + y[r])) / self.y[r];
        }
        Some(Self { x, y, z, s })
    }

    /// How much of the direction can be taken so that everything stays above 0 and Newton's model valid.
    fn longest(&self, program: &Program, d: &Self) -> f64 {
        let mut length = 1.0f64;
        let mut bound = |v: f64, dv: f64| {
            if dv < 0.0 {
                length = length.min(-0.99 * v / dv);
            }
        };
        for p in 0..self.x.len() {
            bound(self.x[p], d.x[p]);
            bound(self.z[p], d.z[p]);
        }
        for r in (0..program.rows.len()).filter(|&r| !program.rows[r].equal) {
            bound(self.y[r], d.y[r]);
            bound(self.s[r], d.s[r]);
        }
        // The model of a marginal x^-α is valid for changes of x by a part of about 1/α.
        for term in &program.terms {
            let u = term.argument(&self.x);
            let elasticity = u * term.utility.curvature(u) / term.utility.marginal(u);
            length = length.min((2.0 / elasticity).max(0.05) * u / term.argument(&d.x).abs());
        }
        length
    }
}

/// The best point of Newton's method.
pub(crate) struct Polished {
    pub point: Point,
    /// The largest violation of any condition, relative.
    pub worst: f64,
    /// How many steps were taken.
    pub steps: usize,
}

struct Measure {
    /// The largest violation of any condition, relative.
    worst: f64,
    /// The mean of the complementarity products, relative.
    complementarity: f64,
}
