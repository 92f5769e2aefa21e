//! The symmetric systems of Newton's steps on one program: they differ in their values, not in where these are.
//!
//! ```text
//!   | H   Aᵀ |   H by path: blocks of the paths that a term pools
//!   | A  -D  |   D by row: diagonal
//! ```
//!
//! The order of elimination decides how many zeros are lost. On a fat tree the order of the links' numbers loses nearly
//! all; that of least degree (AMD: Amestoy, Davis, Duff, SIAM J. Matrix Anal. Appl. 17, 1996) keeps most. There are two:
//!
//! - Paths and rows mixed, as their degrees have it: a row that few paths enter costs next to nothing then. With two
//!   paths a flow it takes a third of the multiplications. But a row's pivot may be its slack alone, and the solution is
//!   lost where slacks vanish.
//! - Paths first, as H is definite: the rows' pivots are then at least as large as the rates make them. This is for the
//!   last steps.

use clarabel::algebra::CscMatrix;
use clarabel::qdldl::{QDLDLFactorisation, QDLDLSettings};

use crate::program::Program;

/// As a pivot it leaves an unknown where it is.
const HUGE: f64 = 1e100;
/// Rounds of refinement.
const REFINEMENTS: usize = 5;

/// The system, with its factors once it has been solved.
pub(crate) struct Newton {
    /// The rows that some path enters, in the order in which they are eliminated after the paths.
    pub rows: Vec<usize>,
    paths: usize,
    /// Whether paths are eliminated first.
    paths_first: bool,
    /// The upper triangle.
    matrix: CscMatrix<f64>,
    /// By entry in the order of [`entries`]: its place among the matrix's values. Several entries may share one.
    places: Vec<usize>,
    factors: Option<QDLDLFactorisation>,
}

/// Row and column of every entry of the upper triangle, in the order in which [`Newton::solve`] gets their values.
fn entries(program: &Program, rows: &[usize]) -> Vec<(usize, usize)> {
    let paths = program.reach.len();
    let mut all: Vec<(usize, usize)> = (0..paths).map(|p| (p, p)).collect();
    for term in &program.terms {
        for (i, &(p, _)) in term.parts.iter().enumerate() {
            all.extend(term.parts[i..].iter().map(|&(q, _)| (p.min(q), p.max(q))));
        }
    }
    for (i, &r) in rows.iter().enumerate() {
        all.extend(program.rows[r].entries.iter().map(|&(p, _)| (p, paths + i)));
        all.push((paths + i, paths + i));
    }
    all
}

impl Newton {
    pub(crate) fn new(program: &Program) -> Self {
        let rows = elimination_order(program);
        let entries = entries(program, &rows);
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by_key(|&e| (entries[e].1, entries[e].0));
        let n = program.reach.len() + rows.len();
        let mut columns = vec![0; n + 1];
        let mut indices = Vec::with_capacity(entries.len());
        let mut places = vec![0; entries.len()];
        let mut last = None;
        for e in order {
            if last != Some(entries[e]) {
                last = Some(entries[e]);
                indices.push(entries[e].0);
                columns[entries[e].1 + 1] += 1;
            }
            places[e] = indices.len() - 1;
        }
        (0..n).for_each(|c| columns[c + 1] += columns[c]);
        let values = vec![0.0; indices.len()];
        let matrix = CscMatrix::new(n, n, columns, indices, values);
        Self { rows, paths: program.reach.len(), paths_first: false, matrix, places, factors: None }
    }

    /// The solution for `right`, which has the paths' part first and then that of [`Self::rows`]. `diagonal` is D by
    /// the same rows, `by_path` what H has on its diagonal besides the terms' `curvatures`. Paths are eliminated first
    /// from when a solution leaves more than `most` of `right`. `None` if the matrix is singular to working precision.
    pub(crate) fn solve(
        &mut self,
        program: &Program,
        by_path: impl Iterator<Item = f64>,
        curvatures: &[f64],
        diagonal: &[f64],
        right: &[f64],
        most: f64,
    ) -> Option<Vec<f64>> {
        let mut places = self.places.iter();
        let values = &mut self.matrix.nzval;
        values.fill(0.0);
        let mut add = |v: f64| values[*places.next().expect("a place for every entry")] += v;
        by_path.for_each(&mut add);
        for (term, h) in program.terms.iter().zip(curvatures) {
            for (i, &(_, a)) in term.parts.iter().enumerate() {
                term.parts[i..].iter().for_each(|&(_, b)| add(h * a * b));
            }
        }
        for (&r, d) in self.rows.iter().zip(diagonal) {
            program.rows[r].entries.iter().for_each(|&(_, c)| add(c));
            add(-d);
        }
        let solution = self.refined(right);
        if self.paths_first || solution.as_ref().is_some_and(|(_, error)| *error <= most) {
            return solution.map(|(x, _)| x);
        }
        self.eliminate_paths_first();
        self.refined(right).map(|(x, _)| x)
    }

    /// From now on, as slacks only become smaller; returns whether that is new.
    pub(crate) fn eliminate_paths_first(&mut self) -> bool {
        let is_new = !self.paths_first;
        if is_new {
            (self.paths_first, self.factors) = (true, None);
        }
        is_new
    }

    /// The solution for `right`, and the Euclidean norm of what it leaves of it.
    fn refined(&mut self, right: &[f64]) -> Option<(Vec<f64>, f64)> {
        self.factor()?;
        let mut x = right.to_vec();
        self.factors.as_mut()?.solve(&mut x);
        // The matrix becomes ill-conditioned as slacks vanish: refine the solution while that helps.
        let (mut rest, mut error) = self.rest(&x, right);
        for _ in 0..REFINEMENTS {
            let mut better = rest;
            self.factors.as_mut()?.solve(&mut better);
            better.iter_mut().zip(&x).for_each(|(b, x)| *b += x);
            let (next_rest, next_error) = self.rest(&better, right);
            let enough = next_error.is_nan() || next_error > 0.5 * error;
            if next_error < error {
                (x, error) = (better, next_error);
            }
            if enough {
                break;
            }
            rest = next_rest;
        }
        x.iter().all(|v| v.is_finite()).then_some((x, error))
    }

    /// What `x` leaves of `right`, and its Euclidean norm.
    fn rest(&self, x: &[f64], right: &[f64]) -> (Vec<f64>, f64) {
        let mut rest = right.to_vec();
        let matrix = &self.matrix;
        for c in 0..x.len() {
            for k in matrix.colptr[c]..matrix.colptr[c + 1] {
                let (r, v) = (matrix.rowval[k], matrix.nzval[k]);
                rest[r] -= v * x[c];
                if r != c {
                    rest[c] -= v * x[r];
                }
            }
        }
        let norm = rest.iter().map(|r| r * r).sum::<f64>().sqrt();
        (rest, norm)
    }

    fn factor(&mut self) -> Option<()> {
        let n = self.paths + self.rows.len();
        if let Some(factors) = &mut self.factors {
            let all: Vec<usize> = (0..self.matrix.nzval.len()).collect();
            factors.update_values(&all, &self.matrix.nzval);
            return factors.refactor().ok();
        }
        // With the paths first the matrix is in the order of elimination already; without an order, the least degree
        // decides. A pivot of the wrong sign is what rounding leaves of a row that those before it imply, such as a
        // second full link in series: its price stays in this step.
        let settings = QDLDLSettings {
            perm: self.paths_first.then(|| (0..n).collect()),
            Dsigns: Some((0..n).map(|i| if i < self.paths { 1 } else { -1 }).collect()),
            regularize_eps: f64::MIN_POSITIVE,
            regularize_delta: HUGE,
            ..QDLDLSettings::default()
        };
        self.factors = Some(QDLDLFactorisation::new(&self.matrix, Some(settings)).ok()?);
        Some(())
    }
}

/// The rows that some path enters: by least degree in the graph in which two rows are neighbours if paths of one term
/// enter both. That is the pattern of what is left once the paths are eliminated.
fn elimination_order(program: &Program) -> Vec<usize> {
    let rows: Vec<usize> = (0..program.rows.len()).filter(|&r| !program.rows[r].entries.is_empty()).collect();
    let mut of_path = vec![Vec::new(); program.reach.len()];
    for (i, &r) in rows.iter().enumerate() {
        program.rows[r].entries.iter().for_each(|&(p, _)| of_path[p].push(i));
    }
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
    for term in &program.terms {
        let mut met: Vec<usize> = term.parts.iter().flat_map(|&(p, _)| of_path[p].iter().copied()).collect();
        met.sort_unstable();
        met.dedup();
        for (at, &j) in met.iter().enumerate() {
            above[j].extend(&met[..=at]);
        }
    }
    let (mut columns, mut indices) = (vec![0], Vec::new());
    for column in &mut above {
        column.sort_unstable();
        column.dedup();
        indices.append(column);
        columns.push(indices.len());
    }
    let order = amd::order(rows.len(), &columns, &indices, &amd::Control::default());
    order.map_or(rows.clone(), |(order, ..)| order.into_iter().map(|i| rows[i]).collect())
}
