//! The Runge-Kutta method of Dormand and Prince, of order 5 with an error estimate of order 4.
//!
//! J. R. Dormand, P. J. Prince, "A family of embedded Runge-Kutta formulae", J. Comput. Appl. Math. 6 (1980):
//! RK5(4)7M. The steps are chosen as in E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential
//! Equations I (2nd ed. 1993, "HNW"), II.4, and in their program DOPRI5.

/// a of HNW Table II.5.2, from its second row on. The last row is b: the last stage is the first one of the
/// next step.
const A: [&[f64]; 6] = [
    &[1.0 / 5.0],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
    &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
    &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];
/// b minus the weights of order 4.
const ERROR: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];
/// One over the order of the error of a step that is estimated.
const EXPONENT: f64 = 1.0 / 5.0;
/// fac, facmin and facmax of HNW (4.13).
const SAFETY: f64 = 0.9;
const SHRINK: f64 = 0.2;
const GROW: f64 = 10.0;
/// The method is stable on the negative real axis up to about here (HNW II, IV.2).
const STABLE: f64 = 3.25;
/// As many steps at this limit make a problem stiff; as many below it in a row, not stiff.
const STIFF_STEPS: usize = 15;
const FREE_STEPS: usize = 6;

/// Why an integration ended early.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub(super) enum Reason {
    /// The steps allowed were used up; accuracy determined their length.
    #[error("too many steps")]
    TooManySteps,
    /// The steps allowed were used up; stability determined their length.
    #[error("too stiff")]
    Stiff,
    /// A step would not move the time any more, or the derivative is not a number.
    #[error("the steps became too small")]
    StepSize,
}

/// An integration that ended early.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Failure {
    /// The time that was reached.
    pub time: f64,
    pub reason: Reason,
}

/// The state of a step.
struct Step {
    /// The stages' derivatives.
    k: [Vec<f64>; 7],
    /// The arguments of the last two stages; that of the last one is the end of the step.
    sixth: Vec<f64>,
    end: Vec<f64>,
}

/// Integrates dy/dt = f(y) over `duration` (above 0) from `y`. The estimated error of each step stays below
/// `tolerance`, absolute for small values and relative for large ones. Returns the state at the end and the number
/// of steps, which is at most `most_steps`, with those that were rejected.
///
/// # Errors
///
/// A [`Failure`] if the steps run out or become too small.
pub(super) fn integrate(
    f: impl Fn(&[f64], &mut [f64]),
    mut y: Vec<f64>,
    duration: f64,
    tolerance: f64,
    most_steps: usize,
) -> Result<(Vec<f64>, usize), Failure> {
    let mut step = Step::new(y.len());
    f(&y, &mut step.k[0]);
    let mut h = step.first_length(&f, &y, tolerance).min(duration);
    let (mut time, mut steps, mut rejected) = (0.0, 0, false);
    let mut stiffness = Stiffness::default();
    loop {
        let fail = |reason| Err(Failure { time, reason });
        if steps == most_steps {
            return fail(if stiffness.found() { Reason::Stiff } else { Reason::TooManySteps });
        }
        if 0.1 * h <= time * f64::EPSILON {
            return fail(Reason::StepSize);
        }
        // Rather one step that is a little longer than a tiny one at the end.
        let last = time + 1.01 * h >= duration;
        if last {
            h = duration - time;
        }
        step.take(&f, &y, h);
        steps += 1;
        let error = step.error(&y, h, tolerance);
        let factor = (SAFETY * libm::pow(error, -EXPONENT)).clamp(SHRINK, GROW);
        if error <= 1.0 {
            stiffness.note(h * step.eigenvalue());
            time += h;
            std::mem::swap(&mut y, &mut step.end);
            step.k.swap(0, 6);
            if last {
                return Ok((y, steps));
            }
            h *= if rejected { factor.min(1.0) } else { factor };
            rejected = false;
        } else {
            h *= if factor.is_nan() { SHRINK } else { factor };
            rejected = true;
        }
    }
}

impl Step {
    fn new(n: usize) -> Self {
        Self { k: std::array::from_fn(|_| vec![0.0; n]), sixth: vec![0.0; n], end: vec![0.0; n] }
    }

    /// Goes from `y` over `h` to `end`. The derivative at `y` is in the first stage.
    fn take(&mut self, f: &impl Fn(&[f64], &mut [f64]), y: &[f64], h: f64) {
        for (stage, row) in A.iter().enumerate() {
            let (before, after) = self.k.split_at_mut(stage + 1);
            self.end.copy_from_slice(y);
            for (a, k) in row.iter().zip(&*before) {
                let part = a * h;
                self.end.iter_mut().zip(k).for_each(|(end, k)| *end += part * k);
            }
            if stage == 4 {
                self.sixth.copy_from_slice(&self.end);
            }
            f(&self.end, &mut after[0]);
        }
    }

    /// The estimated error of the step from `y`, relative to what is tolerated: HNW (4.10), (4.11).
    fn error(&self, y: &[f64], h: f64, tolerance: f64) -> f64 {
        let relative = |i: usize| {
            let error: f64 = ERROR.iter().zip(&self.k).map(|(e, k)| e * k[i]).sum();
            error / (tolerance + tolerance * y[i].abs().max(self.end[i].abs()))
        };
        h * root_of_squares((0..y.len()).map(relative)) / (y.len() as f64).sqrt()
    }

    /// An estimate of the largest eigenvalue, from the difference of the last two stages, which are at the
    /// same time: Hairer and Wanner, Solving Ordinary Differential Equations II, IV.2, (2.26).
    fn eigenvalue(&self) -> f64 {
        let apart = distance(&self.end, &self.sixth);
        if apart > 0.0 { distance(&self.k[6], &self.k[5]) / apart } else { 0.0 }
    }

    /// The length of the first step, by DOPRI5's HINIT: 1 % of the time in which `y` would change by itself,
    /// then so that a step of Euler's method has an error that suits.
    fn first_length(&mut self, f: &impl Fn(&[f64], &mut [f64]), y: &[f64], tolerance: f64) -> f64 {
        let scale = |i: usize| tolerance + tolerance * y[i].abs();
        let size = root_of_squares((0..y.len()).map(|i| y[i] / scale(i)));
        let slope = root_of_squares((0..y.len()).map(|i| self.k[0][i] / scale(i)));
        let euler = if size <= 1e-5 || slope <= 1e-5 { 1e-6 } else { 0.01 * size / slope };
        self.end.iter_mut().zip(y).zip(&self.k[0]).for_each(|((end, y), k)| *end = y + euler * k);
        f(&self.end, &mut self.k[1]);
        let bend = root_of_squares((0..y.len()).map(|i| (self.k[1][i] - self.k[0][i]) / scale(i))) / euler;
        let steepest = slope.max(bend);
        let suits =
            if steepest <= 1e-15 { (1e-3 * euler).max(1e-6) } else { libm::pow(0.01 / steepest, EXPONENT) };
        (100.0 * euler).min(suits)
    }
}

/// Counts the steps whose length stability determines.
#[derive(Default)]
struct Stiffness {
    at_limit: usize,
    below: usize,
}

impl Stiffness {
    fn note(&mut self, length_times_eigenvalue: f64) {
        if length_times_eigenvalue > STABLE {
            (self.at_limit, self.below) = (self.at_limit + 1, 0);
        } else {
            self.below += 1;
            if self.below == FREE_STEPS {
                self.at_limit = 0;
            }
        }
    }

    fn found(&self) -> bool {
        self.at_limit >= STIFF_STEPS
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    root_of_squares(a.iter().zip(b).map(|(a, b)| a - b))
}

fn root_of_squares(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|v| v * v).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests;
