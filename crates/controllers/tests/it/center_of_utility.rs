//! Centers of utility: closed forms against sums, tables against shapes, and rejected input.

use tresse_controllers::center_of_utility::{Class, Points, Shape, WeightError, weight};

/// Equal to `tolerance` relative.
#[track_caller]
fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance * expected.abs(), "{value}, not {expected}");
}

/// (2.3) by the midpoint rule over the utility itself: Σ x ΔU / U(R).
fn by_sum(shape: &Shape, saturated: f64) -> f64 {
    let n = 400_000;
    // Steps are finer near 0, where log(1 + x) bends most.
    let at = |i: i32| saturated * (f64::from(i) / f64::from(n)).powi(3);
    let moment: f64 =
        (0..n).map(|i| (shape.value(at(i + 1)) - shape.value(at(i))) * (at(i) + at(i + 1)) / 2.0).sum();
    moment / shape.value(saturated)
}

#[test]
fn closed_forms_are_the_integral() {
    let shapes = [
        Shape::Log1p,
        Shape::AlphaFair { alpha: 0.0 },
        Shape::AlphaFair { alpha: 0.5 },
        Shape::AlphaFair { alpha: 0.75 },
        Shape::CubeRoot { inflection: 20.0 },
        Shape::CubeRoot { inflection: 0.0 },
        Shape::CubeRoot { inflection: 100.0 },
    ];
    for shape in shapes {
        near(shape.center(100.0).unwrap(), by_sum(&shape, 100.0), 1e-5);
        assert_eq!(shape.value(0.0), 0.0);
        near(shape.normalised(100.0, 100.0), 1.0, 1e-15);
    }
    assert_eq!(Shape::Step { rate: 64e3 }.center(100e6), Ok(64e3));
    assert_eq!(Shape::Step { rate: 64e3 }.value(63e3), 0.0);
}

#[test]
fn a_table_of_a_shape_has_its_center() {
    let shape = Shape::CubeRoot { inflection: 20e6 };
    let table: Vec<_> = (0..=2000).map(|i| f64::from(i) * 5e4).map(|x| (x, 3.0 + shape.value(x))).collect();
    let points = Shape::Points(Points::new(table.clone(), 20e6).unwrap());
    near(points.center(100e6).unwrap(), shape.center(100e6).unwrap(), 1e-4);
    near(points.center(70e6).unwrap(), shape.center(70e6).unwrap(), 1e-4);
    // Not at a point: a part of a line counts too.
    near(points.center(70.02e6).unwrap(), shape.center(70.02e6).unwrap(), 1e-4);
    // It is not concave below the inflection.
    let refused = Points::new(table, 10e6).unwrap_err();
    assert!(matches!(refused, WeightError::Convex { min_rate: 10e6, .. }), "{refused}");
    // By hand: half of the utility on 0 to 1, half on 1 to 3.
    let points = Shape::Points(Points::new(vec![(0.0, 0.0), (1.0, 1.0), (3.0, 2.0)], 0.0).unwrap());
    assert_eq!(points.center(3.0), Ok(0.5 * 0.5 + 0.5 * 2.0));
    near(points.center(2.0).unwrap(), (0.5 + 0.5 * 1.5) / 1.5, 1e-15);
}

#[test]
fn weights_and_classes() {
    assert_eq!(weight(30.0, 10.0, 1.0), 3.0);
    near(weight(5e6, 50e3, 0.5), 10.0, 1e-15);
    assert_eq!(Class::Elastic.limits(), (0.0, f64::INFINITY));
    assert_eq!(Class::Adaptive { min_rate: 2.0 }.limits(), (2.0, f64::INFINITY));
    assert_eq!(Class::Hard { rate: 2.0 }.limits(), (2.0, 2.0));
}

#[test]
fn nonsense_is_refused() {
    let message = |points: &[(f64, f64)], least| Points::new(points.to_vec(), least).unwrap_err().to_string();
    assert!(message(&[(0.0, 0.0)], 0.0).contains("at least two points"));
    assert!(message(&[(1.0, 0.0), (2.0, 1.0)], 0.0).contains("first point is at rate 1"));
    assert!(message(&[(0.0, 0.0), (2.0, 1.0), (2.0, 2.0)], 0.0).starts_with("point 3, (2, 2): the rate"));
    assert!(message(&[(0.0, 0.0), (2.0, 1.0), (3.0, 1.0)], 0.0).starts_with("point 3, (3, 1): the utility"));
    assert!(message(&[(0.0, 0.0), (2.0, f64::NAN)], 0.0).starts_with("point 2"));
    let s_shaped = [(0.0, 0.0), (1.0, 1.0), (2.0, 5.0), (3.0, 6.0)];
    assert_eq!(
        message(&s_shaped, 0.0),
        "the utility is not concave above the minimum rate 0: its slope grows at rate 1. A minimum \
         rate of 1 or more excludes the part below"
    );
    assert!(Points::new(s_shaped.to_vec(), 1.0).is_ok());
    let points = Shape::Points(Points::new(s_shaped.to_vec(), 1.0).unwrap());
    assert_eq!(points.center(4.0), Err(WeightError::Short { last: 3.0, saturated: 4.0 }));
    for (shape, saturated) in [
        (Shape::AlphaFair { alpha: 1.0 }, 1.0),
        (Shape::Log1p, 0.0),
        (Shape::Log1p, f64::INFINITY),
        (Shape::CubeRoot { inflection: 2.0 }, 1.0),
        (Shape::Step { rate: 2.0 }, 1.0),
    ] {
        assert!(matches!(shape.center(saturated), Err(WeightError::Range { .. })), "{shape:?}");
    }
}
