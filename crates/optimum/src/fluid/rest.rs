//! Where a system comes to rest, found by steps that need not follow the motion.
//!
//! Pseudo-transient continuation (Kelley and Keyes, SIAM J. Numer. Anal. 1998): linearly implicit Euler steps
//! that grow as the motion dies down, and finally become Newton's steps. An explicit method must follow the
//! fastest part of a large network while its slowest part creeps to rest.
//!
//! This has two consequences. If there are several adjacent rest points, the start decides which one is
//! found, as it does for the motion. And an unstable rest point, which the motion would leave at the smallest
//! push, can be found too.

use super::columns::Columns;
use super::lu::Matrix;
use super::solve::UNMOVED;
use super::system::System;

/// The first step is as long as a round of each unknown.
const FIRST: f64 = 1.0;
/// A step grows by at most this factor, or shrinks by it if the motion has become stronger.
const FACTOR: f64 = 2.5;
/// Longer steps would divide by 0 if paths tie for being used.
const LONGEST: f64 = 1e9;
/// Unknowns are logarithms and shares: none moves farther than this in a step.
const FARTHEST: f64 = 1.5;
/// The increment of a difference quotient.
const NUDGE: f64 = 1e-7;
/// A step after which the motion is this many times as strong is undone.
const WORSE: f64 = 1.5;
/// Within this many steps, the motion must have fallen to a tenth.
const PATIENCE: usize = 60;
/// Where paths tie for being used, rates creep as 1/t, and rounding keeps the motion just above any limit. So a step of
/// this many natural times that moves no rate is rest as well …
const LONG: f64 = 1e3;
/// … if the motion before it was this weak.
const WEAK: f64 = 1e-6;
/// With more unknowns a step would take seconds: its cost is their number cubed.
const MOST_UNKNOWNS: usize = 1500;

/// Moves `y` to a point where the largest change is below `settled`, or where no rate moves in a long step. Returns
/// whether it got there. If not,
/// `y` is where the search ended, or where it began if there was less motion. Deterministic.
pub(super) fn find(system: &System, y: &mut Vec<f64>, settled: f64) -> bool {
    if y.len() > MOST_UNKNOWNS {
        return false;
    }
    let motion = |y: &[f64]| system.derivative(y, &mut vec![0.0; y.len()]);
    let start = y.clone();
    let found = search(system, y, settled);
    if !found && motion(y) > motion(&start) {
        *y = start;
    }
    found
}

fn search(system: &System, y: &mut Vec<f64>, settled: f64) -> bool {
    let n = y.len();
    let columns = Columns::new(system);
    let mut slope = vec![0.0; n];
    let mut residual = system.derivative(y, &mut slope);
    let (mut step, mut goal, mut tries) = (FIRST, residual, 0);
    while residual >= settled {
        let times = system.natural_times(y);
        let jacobian = jacobian(system, &columns, y, &slope, &times);
        loop {
            tries += 1;
            if tries > PATIENCE {
                return false;
            }
            let Some(change) = implicit_step(&jacobian, &slope, &times, step) else { return false };
            let bounded = change.iter().map(|c| c.clamp(-FARTHEST, FARTHEST));
            let next: Vec<f64> = y.iter().zip(bounded).map(|(y, c)| y + c).collect();
            let mut next_slope = vec![0.0; n];
            let now = system.derivative(&next, &mut next_slope);
            if step >= LONG && residual < WEAK && system.moved(y, &next) < UNMOVED {
                return true;
            }
            if now <= WORSE * residual {
                step = (step * (1.5 * residual / now).clamp(1.0 / FACTOR, FACTOR)).min(LONGEST);
                (*y, slope, residual) = (next, next_slope, now);
                break;
            }
            step /= 4.0;
        }
        if residual < 0.1 * goal {
            (goal, tries) = (residual, 0);
        }
    }
    true
}

/// -T J, with differences instead of derivatives.
fn jacobian(system: &System, columns: &Columns, y: &[f64], slope: &[f64], times: &[f64]) -> Matrix {
    let n = y.len();
    let mut nudged = y.to_vec();
    let mut moved = vec![0.0; n];
    let mut matrix = Matrix::zeros(n);
    for together in &columns.together {
        together.iter().for_each(|&j| nudged[j] = y[j] + NUDGE);
        system.derivative(&nudged, &mut moved);
        for &j in together {
            nudged[j] = y[j];
            for &i in &columns.rows[j] {
                matrix[(i, j)] = -times[i] * (moved[i] - slope[i]) / NUDGE;
            }
        }
    }
    matrix
}

/// The change of y in a step of `step` natural times: (1/step - T J) dy = T f.
fn implicit_step(jacobian: &Matrix, slope: &[f64], times: &[f64], step: f64) -> Option<Vec<f64>> {
    let mut matrix = jacobian.clone();
    (0..slope.len()).for_each(|i| matrix[(i, i)] += 1.0 / step);
    let right: Vec<f64> = slope.iter().zip(times).map(|(f, t)| f * t).collect();
    matrix.solve(&right)
}
