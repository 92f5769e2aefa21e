//! Dense systems of linear equations.
//!
//! Gaussian elimination with partial pivoting, in panels of columns so that the rows in use stay in the
//! processor's cache (G. H. Golub, C. F. Van Loan, Matrix Computations, 4th ed. 2013, §3.4.2 and §3.2.11).
//! Panels change the order of memory accesses only: every element goes through the same operations in the
//! same order as without them, so the result has the same bits.

use std::ops::{Index, IndexMut};

/// Columns of a panel. Its rows, as long as the matrix is wide, should fit into the second-level cache.
const PANEL: usize = 32;

/// A square matrix, row by row.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    n: usize,
    elements: Vec<f64>,
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    fn index(&self, (row, column): (usize, usize)) -> &f64 {
        &self.elements[row * self.n + column]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut f64 {
        &mut self.elements[row * self.n + column]
    }
}

impl Matrix {
    /// `n` rows and columns of 0.
    pub fn zeros(n: usize) -> Self {
        Self { n, elements: vec![0.0; n * n] }
    }

    /// The solution x of `A x = right`, where A is this matrix and `right` has as many elements as A rows.
    /// `None` if A is singular: a pivot is exactly 0. An A that is singular only nearly gives large numbers.
    pub fn solve(mut self, right: &[f64]) -> Option<Vec<f64>> {
        let n = self.n;
        let mut x = right.to_vec();
        for begin in (0..n).step_by(PANEL) {
            let end = n.min(begin + PANEL);
            self.factor_panel(begin, end, &mut x)?;
            // The panel's rows, and then those below it, to its right.
            for row in begin + 1..n {
                let (above, own) = self.elements.split_at_mut(row * n);
                let (factors, rest) = own[begin..n].split_at_mut(end - begin);
                // A network's matrix is mostly 0.
                for (i, factor) in factors.iter().enumerate().take(row - begin).filter(|(_, f)| **f != 0.0) {
                    let pivot_row = &above[(begin + i) * n..][..n];
                    subtract(rest, *factor, &pivot_row[end..]);
                }
            }
        }
        for row in (0..n).rev() {
            let own = &self.elements[row * n..][..n];
            let known = own.iter().zip(&x).skip(row + 1).rev();
            x[row] = known.fold(x[row], |sum, (u, x)| sum - u * x) / own[row];
        }
        Some(x)
    }

    /// Eliminates columns `begin..end` below the diagonal, with the right-hand side `x`, and leaves the
    /// factors in their place. The columns to the right only have their rows exchanged.
    fn factor_panel(&mut self, begin: usize, end: usize, x: &mut [f64]) -> Option<()> {
        let n = self.n;
        for k in begin..end {
            let mut pivot = k;
            for row in k + 1..n {
                if self[(row, k)].abs() > self[(pivot, k)].abs() {
                    pivot = row;
                }
            }
            if self[(pivot, k)] == 0.0 {
                return None;
            }
            if pivot != k {
                let (above, below) = self.elements.split_at_mut(pivot * n);
                above[k * n..][..n].swap_with_slice(&mut below[..n]);
                x.swap(k, pivot);
            }
            let inverse = 1.0 / self[(k, k)];
            let (above, below) = self.elements.split_at_mut((k + 1) * n);
            let pivot_row = &above[k * n..][k + 1..end];
            for (row, x_row) in below.chunks_exact_mut(n).zip(k + 1..).filter(|(row, _)| row[k] != 0.0) {
                let factor = row[k] * inverse;
                row[k] = factor;
                subtract(&mut row[k + 1..end], factor, pivot_row);
                x[x_row] -= factor * x[k];
            }
        }
        Some(())
    }
}

/// `row -= factor * other`.
fn subtract(row: &mut [f64], factor: f64, other: &[f64]) {
    row.iter_mut().zip(other).for_each(|(r, o)| *r -= factor * o);
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::{Matrix, PANEL};

    fn matrix(rows: &[&[f64]]) -> Matrix {
        Matrix { n: rows.len(), elements: rows.concat() }
    }

    /// Every element of both is a number that a double holds exactly.
    #[test]
    fn small_systems_have_their_known_solutions() {
        // The first pivot is 0: rows must be exchanged, with their right-hand sides.
        let a = matrix(&[&[0.0, 2.0, 1.0], &[1.0, -2.0, -3.0], &[-1.0, 1.0, 2.0]]);
        assert_eq!(a.solve(&[-8.0, 0.0, 3.0]), Some(vec![-4.0, -5.0, 2.0]));
        assert_eq!(matrix(&[&[4.0]]).solve(&[2.0]), Some(vec![0.5]));
        assert_eq!(matrix(&[]).solve(&[]), Some(vec![]));
    }

    /// Without exchanging rows, 1e-20 would be the pivot, and x[0] come out as 0.
    #[test]
    fn the_largest_pivot_is_taken() {
        let a = matrix(&[&[1e-20, 1.0], &[1.0, 1.0]]);
        assert_eq!(a.solve(&[1.0, 2.0]), Some(vec![1.0, 1.0]));
    }

    #[test]
    fn a_singular_matrix_has_no_solution() {
        assert_eq!(Matrix::zeros(3).solve(&[0.0; 3]), None);
        assert_eq!(matrix(&[&[1.0, 2.0], &[2.0, 4.0]]).solve(&[1.0, 2.0]), None);
        // The last column of a matrix that has several panels.
        let n = 2 * PANEL + 1;
        let mut a = Matrix::zeros(n);
        (0..n - 1).for_each(|i| a[(i, i)] = 2.0);
        assert_eq!(a.clone().solve(&vec![2.0; n]), None);
        a[(n - 1, n - 1)] = 2.0;
        assert_eq!(a.solve(&vec![2.0; n]), Some(vec![1.0; n]));
    }

    /// Sizes below, at and above whole panels.
    #[test]
    fn large_systems_are_solved_to_the_last_digits() {
        let mut draws = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut draw = || (draws.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
        for n in [2, PANEL - 1, PANEL, PANEL + 1, 3 * PANEL, 5 * PANEL + 7] {
            let a = Matrix { n, elements: (0..n * n).map(|_| draw()).collect() };
            let right: Vec<f64> = (0..n).map(|_| draw()).collect();
            let x = a.clone().solve(&right).unwrap();
            for (row, right) in a.elements.chunks(n).zip(&right) {
                let sum: f64 = row.iter().zip(&x).map(|(a, x)| a * x).sum();
                let size: f64 = row.iter().zip(&x).map(|(a, x)| (a * x).abs()).sum();
                assert!((sum - right).abs() < 1e-13 * n as f64 * size, "{n}: {sum} is not {right}");
            }
        }
    }
}
