use std::cell::Cell;

use super::{FREE_STEPS, Reason, STABLE, STIFF_STEPS, Step, Stiffness, integrate};

const PLENTY: usize = 1_000_000;

/// A problem with its solution.
struct Problem {
    name: &'static str,
    slope: fn(&[f64], &mut [f64]),
    solution: fn(f64) -> Vec<f64>,
}

/// Every coefficient of the method matters to at least one of them: they are nonlinear, and the last one
/// depends on time, which is its first unknown.
const PROBLEMS: [Problem; 3] = [
    Problem {
        name: "logistic growth",
        slope: |y, dy| dy[0] = y[0] * (1.0 - y[0]),
        solution: |t| vec![1.0 / (1.0 + 9.0 * (-t).exp())],
    },
    Problem {
        name: "a rotation whose speed is its radius squared, here 2",
        slope: |y, dy| {
            let speed = y[0] * y[0] + y[1] * y[1];
            (dy[0], dy[1]) = (-speed * y[1], speed * y[0]);
        },
        solution: |t| vec![2f64.sqrt() * (2.0 * t).cos(), 2f64.sqrt() * (2.0 * t).sin()],
    },
    Problem {
        name: "dy/dt = y cos t",
        slope: |y, dy| (dy[0], dy[1]) = (1.0, y[1] * y[0].cos()),
        solution: |t| vec![t, t.sin().exp()],
    },
];

fn largest_error(y: &[f64], right: &[f64]) -> f64 {
    y.iter().zip(right).map(|(y, r)| (y - r).abs() / r.abs().max(1.0)).fold(0.0, f64::max)
}

/// The error at t = 2 after `count` equal steps, and the largest estimate of the error of a step.
fn with_equal_steps(problem: &Problem, count: u32) -> (f64, f64) {
    let h = 2.0 / f64::from(count);
    let mut y = (problem.solution)(0.0);
    let (mut step, mut estimate) = (Step::new(y.len()), 0f64);
    for _ in 0..count {
        (problem.slope)(&y, &mut step.k[0]);
        step.take(&problem.slope, &y, h);
        estimate = estimate.max(step.error(&y, h, 1.0));
        y.copy_from_slice(&step.end);
    }
    (largest_error(&y, &(problem.solution)(2.0)), estimate)
}

/// Half the step has 1/32 of the error of order 5, and 1/32 of the estimate, which is of one step.
#[test]
fn the_method_has_order_5_and_its_estimate_order_4() {
    for problem in PROBLEMS {
        let (coarse, fine) = (with_equal_steps(&problem, 80), with_equal_steps(&problem, 160));
        let orders = [(coarse.0 / fine.0).log2(), (coarse.1 / fine.1).log2()];
        assert!(orders.iter().all(|order| (4.8..5.25).contains(order)), "{}: {orders:?}", problem.name);
    }
}

#[test]
fn the_tolerance_is_kept_and_used() {
    for problem in PROBLEMS {
        let mut before = None;
        for tolerance in [1e-6, 1e-8, 1e-10, 1e-12] {
            let start = (problem.solution)(0.0);
            let (y, steps) = integrate(problem.slope, start, 2.0, tolerance, PLENTY).unwrap();
            // The tolerance is that of a step, of which there are several.
            let error = largest_error(&y, &(problem.solution)(2.0)) / tolerance;
            assert!((0.1..4.0).contains(&error), "{}: {error} times {tolerance}", problem.name);
            // Two more digits need 100^(1/5) = 2.5 times as many steps.
            if let Some(before) = before.replace(steps) {
                let growth = steps as f64 / before as f64;
                assert!((1.7..2.7).contains(&growth), "{}: {before}, {steps}", problem.name);
            }
        }
    }
}

/// The last stage of a step is the first one of the next: six new ones each, and two to find the first length.
#[test]
fn the_steps_reported_are_those_taken() {
    for problem in PROBLEMS {
        let calls = Cell::new(0);
        let counted = |y: &[f64], dy: &mut [f64]| {
            calls.set(calls.get() + 1);
            (problem.slope)(y, dy);
        };
        let start = (problem.solution)(0.0);
        let (_, steps) = integrate(counted, start.clone(), 4.0, 1e-10, PLENTY).unwrap();
        assert_eq!(calls.get(), 2 + 6 * steps, "{}", problem.name);
        // As many steps as needed are enough; one fewer is not.
        assert!(integrate(problem.slope, start.clone(), 4.0, 1e-10, steps).is_ok());
        let failure = integrate(problem.slope, start, 4.0, 1e-10, steps - 1).unwrap_err();
        assert_eq!(failure.reason, Reason::TooManySteps);
        assert!((3.0..4.0).contains(&failure.time), "{}: {failure:?}", problem.name);
    }
}

/// Prothero and Robinson: y follows cos t, from which it would return within 1 µs. Accuracy would allow steps
/// of 0.01.
#[test]
fn a_stiff_problem_is_refused_as_stiff() {
    let slope = |y: &[f64], dy: &mut [f64]| (dy[0], dy[1]) = (1.0, -1e6 * (y[1] - y[0].cos()) - y[0].sin());
    let failure = integrate(slope, vec![0.0, 1.0], 1.0, 1e-10, 10_000).unwrap_err();
    assert_eq!(failure.reason, Reason::Stiff);
    // At the limit of stability a step is 3.3 µs.
    assert!((0.02..0.06).contains(&failure.time), "{failure:?}");
}

/// It is not stiff where the steps have to be as short for accuracy.
#[test]
fn many_oscillations_are_not_stiff() {
    let slope = |y: &[f64], dy: &mut [f64]| (dy[0], dy[1]) = (-1e6 * y[1], 1e6 * y[0]);
    for tolerance in [1e-3, 1e-10] {
        let failure = integrate(slope, vec![1.0, 0.0], 1.0, tolerance, 10_000).unwrap_err();
        assert_eq!(failure.reason, Reason::TooManySteps, "{tolerance}");
    }
}

#[test]
fn what_was_stiff_need_not_stay_so() {
    let mut stiffness = Stiffness::default();
    (0..STIFF_STEPS).for_each(|_| stiffness.note(1.1 * STABLE));
    assert!(stiffness.found());
    (1..FREE_STEPS).for_each(|_| stiffness.note(0.9 * STABLE));
    assert!(stiffness.found());
    stiffness.note(0.9 * STABLE);
    assert!(!stiffness.found());
}

/// HNW II.0: a body between earth and moon returns to where it was. It passes so close to the moon that many
/// steps are rejected. The program DOPRI5 takes 240 steps with 1e-7, and ends 9.2e-6 from the start.
#[test]
fn arenstorfs_orbit_is_closed() {
    const MOON: f64 = 0.012277471;
    const EARTH: f64 = 1.0 - MOON;
    let slope = |y: &[f64], dy: &mut [f64]| {
        let to = |x: f64| ((y[0] - x) * (y[0] - x) + y[1] * y[1]).powf(1.5);
        let (earth, moon) = (EARTH / to(-MOON), MOON / to(EARTH));
        (dy[0], dy[1]) = (y[2], y[3]);
        dy[2] = y[0] + 2.0 * y[3] - earth * (y[0] + MOON) - moon * (y[0] - EARTH);
        dy[3] = y[1] - 2.0 * y[2] - (earth + moon) * y[1];
    };
    let start = vec![0.994, 0.0, 0.0, -2.0015851063790825];
    let period = 17.06521656015796;
    let (end, steps) = integrate(slope, start.clone(), period, 1e-7, PLENTY).unwrap();
    let off = (end[0] - start[0]).hypot(end[1] - start[1]);
    assert!((1e-6..2e-5).contains(&off), "{off}");
    assert!((220..260).contains(&steps), "{steps}");
}

#[test]
fn a_solution_that_ends_is_not_followed_beyond_its_end() {
    // y = 1/(1 - t).
    let failure = integrate(|y, dy| dy[0] = y[0] * y[0], vec![1.0], 2.0, 1e-10, PLENTY).unwrap_err();
    assert_eq!(failure.reason, Reason::StepSize);
    assert!((failure.time - 1.0).abs() < 1e-6, "{failure:?}");
    // y = sqrt(1 - t), whose derivative is not a number afterwards.
    let root = |y: &[f64], dy: &mut [f64]| (dy[0], dy[1]) = (1.0, -0.5 / (1.0 - y[0]).sqrt());
    let failure = integrate(root, vec![0.0, 1.0], 2.0, 1e-10, PLENTY).unwrap_err();
    assert_eq!(failure.reason, Reason::StepSize);
    assert!((failure.time - 1.0).abs() < 1e-6, "{failure:?}");
}
