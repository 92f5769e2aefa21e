//! The program in clarabel's form: minimise q·v with b - A v in a product of cones.
//!
//! v holds the rates x and, for every term with curvature, the variables that represent its utility:
//!
//! | utility | cone |
//! |---|---|
//! | log u | exponential: (t, 1, u) |
//! | u^(1-α)/(1-α), α < 1 | power 1-α: (u, 1, t), U = t/(1-α) |
//! | u^(1-α)/(1-α), α > 1 | power 1/α: (t, u, 1), U = -t/(α-1) |
//! | TCP, k = μ/β | relative entropy, U = t1 + t2: exponential (t1, u, k+u) and (t2, k, k+u) |
//! | BOS, scale s | exponential: (t, 1, 1 + u/s), U = s t |

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT as Cone};

use crate::program::Program;
use crate::utility::Utility;

/// Triplets of a matrix, its right-hand side and the cones of its rows.
#[derive(Debug, Default)]
pub(crate) struct Conic {
    cost: Vec<f64>,
    at: (Vec<usize>, Vec<usize>, Vec<f64>),
    right: Vec<f64>,
    cones: Vec<Cone<f64>>,
}

/// The answer of clarabel: the variables, and the multiplier of every row.
#[derive(Debug)]
pub(crate) struct Answer {
    pub v: Vec<f64>,
    pub multipliers: Vec<f64>,
    pub solved: bool,
}

impl Conic {
    /// Adds a variable with this cost and returns its number.
    pub(crate) fn variable(&mut self, cost: f64) -> usize {
        self.cost.push(cost);
        self.cost.len() - 1
    }

    /// A row Σ c v ≤ bound, and its cone if it begins one.
    pub(crate) fn row(&mut self, entries: impl IntoIterator<Item = (usize, f64)>, bound: f64) {
        for (v, c) in entries {
            self.at.0.push(self.right.len());
            self.at.1.push(v);
            self.at.2.push(c);
        }
        self.right.push(bound);
    }

    /// The rows since the last cone are at least 0.
    pub(crate) fn close_nonnegative(&mut self) {
        let before: usize = self.cones.iter().map(size).sum();
        self.cones.push(Cone::NonnegativeConeT(self.right.len() - before));
    }

    fn triple(&mut self, cone: Cone<f64>, rows: [(&[(usize, f64)], f64); 3]) {
        for (entries, constant) in rows {
            self.row(entries.iter().map(|&(v, c)| (v, -c)), constant);
        }
        self.cones.push(cone);
    }

    /// Solves it. An answer that is not `solved` may still be close.
    pub(crate) fn solve(self) -> Answer {
        let (rows, columns) = (self.right.len(), self.cost.len());
        let (i, j, c) = self.at;
        let matrix = CscMatrix::new_from_triplets(rows, columns, i, j, c);
        let settings = DefaultSettings { verbose: false, max_iter: 100, ..DefaultSettings::default() };
        let quadratic = CscMatrix::zeros((columns, columns));
        let mut solver =
            DefaultSolver::new(&quadratic, &self.cost, &matrix, &self.right, &self.cones, settings)
                .expect("the sizes agree");
        solver.solve();
        let s = &solver.solution;
        let solved = matches!(s.status, SolverStatus::Solved | SolverStatus::AlmostSolved);
        Answer { v: s.x.clone(), multipliers: s.z.clone(), solved }
    }
}

fn size(cone: &Cone<f64>) -> usize {
    match cone {
        Cone::ZeroConeT(n) | Cone::NonnegativeConeT(n) => *n,
        _ => 3,
    }
}

/// Solves the program with cones: its rates, and the multipliers of its rows.
pub(crate) fn solve(program: &Program) -> Answer {
    let mut conic = Conic::default();
    let paths = program.reach.len();
    for _ in 0..paths {
        conic.variable(0.0);
    }
    let (equal, most): (Vec<usize>, Vec<usize>) =
        (0..program.rows.len()).partition(|&r| program.rows[r].equal);
    for &r in equal.iter().chain(&most) {
        conic.row(program.rows[r].entries.iter().copied(), program.rows[r].bound);
    }
    conic.cones.push(Cone::ZeroConeT(equal.len()));
    for p in 0..paths {
        conic.row([(p, -1.0)], 0.0);
    }
    conic.close_nonnegative();
    for term in &program.terms {
        let factor = term.count * term.weight;
        let u = &term.parts;
        match term.utility {
            Utility::AlphaFair { alpha: 0.0 } | Utility::TcpSlowStart { .. } => {
                for &(p, c) in u {
                    conic.cost[p] -= factor * c * term.utility.marginal(1.0);
                }
            }
            Utility::AlphaFair { alpha: 1.0 } => {
                let t = conic.variable(-factor);
                conic.triple(Cone::ExponentialConeT(), [(&[(t, 1.0)], 0.0), (&[], 1.0), (u, 0.0)]);
            }
            Utility::AlphaFair { alpha } if alpha < 1.0 => {
                let t = conic.variable(-factor / (1.0 - alpha));
                conic.triple(Cone::PowerConeT(1.0 - alpha), [(u, 0.0), (&[], 1.0), (&[(t, 1.0)], 0.0)]);
            }
            Utility::AlphaFair { alpha } => {
                let t = conic.variable(factor / (alpha - 1.0));
                conic.triple(Cone::PowerConeT(1.0 / alpha), [(&[(t, 1.0)], 0.0), (u, 0.0), (&[], 1.0)]);
            }
            Utility::Tcp { mu, beta } => {
                let k = mu / beta;
                let (t1, t2) = (conic.variable(-factor), conic.variable(-factor));
                conic.triple(Cone::ExponentialConeT(), [(&[(t1, 1.0)], 0.0), (u, 0.0), (u, k)]);
                conic.triple(Cone::ExponentialConeT(), [(&[(t2, 1.0)], 0.0), (&[], k), (u, k)]);
            }
            Utility::Bos { scale } => {
                let t = conic.variable(-factor * scale);
                let scaled: Vec<_> = u.iter().map(|&(p, c)| (p, c / scale)).collect();
                conic.triple(Cone::ExponentialConeT(), [(&[(t, 1.0)], 0.0), (&[], 1.0), (&scaled, 1.0)]);
            }
        }
    }
    let Answer { v, multipliers, solved } = conic.solve();
    let mut by_row = vec![0.0; program.rows.len()];
    equal.iter().chain(&most).zip(multipliers).for_each(|(&r, y)| by_row[r] = y);
    Answer { v, multipliers: by_row, solved }
}
