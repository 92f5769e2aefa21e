//! The tables of n* against OPN's model, which computes them.

use proptest::prelude::*;
use tresse_optimum::opn::{Model, Reading, Rule};
use tresse_path_manager::LossRate;
use tresse_path_manager::nstar::{CAP, NStar, STEPS};

/// The model's number at a step of the grid. No loss is the limit of a small loss; if a rule is undefined,
/// every window is lost, and one subflow is best.
fn of_model(reading: Reading, rule: Rule, step: usize) -> usize {
    let loss = if step == 0 { 1e-12 } else { step as f64 / STEPS as f64 };
    Model::new(reading).optimal_subflows(rule, loss).map_or(1, |n| n.subflows as usize)
}

#[test]
fn the_tables_are_the_models() {
    let rules = [
        (NStar::Eq11, Reading::Power, Rule::Eq11),
        (NStar::Eq7, Reading::Power, Rule::Eq7),
        (NStar::Product, Reading::Product, Rule::Eq11),
    ];
    for (n_star, reading, rule) in rules {
        let ours: Vec<_> =
            (0..=STEPS as u64).map(|step| n_star.subflows(LossRate::new(step, STEPS as u64))).collect();
        let model: Vec<_> = (0..=STEPS).map(|step| of_model(reading, rule, step)).collect();
        assert_eq!(ours, model, "{n_star:?}");
    }
}

/// Catalogue A6.1, Table 1 and Table 2: numbers that were computed independently of this project's code.
#[test]
fn the_tables_are_the_catalogues() {
    let at = |n_star: &NStar, percent| n_star.subflows(LossRate::new(percent, 100));
    let power = [(1, 32, 32), (5, 32, 32), (10, 32, 32), (20, 32, 32), (30, 30, 22), (50, 4, 4)];
    for (percent, eq11, eq7) in power {
        assert_eq!((at(&NStar::Eq11, percent), at(&NStar::Eq7, percent)), (eq11, eq7), "{percent} %");
    }
    for (percent, product) in [(1, 9), (5, 3), (10, 2), (20, 1), (30, 1), (50, 1)] {
        assert_eq!(at(&NStar::Product, percent), product, "{percent} %");
    }
    // (11) falls below OPN's 20 paths at 0.34, (7) at 0.31.
    assert_eq!((at(&NStar::Eq11, 33), at(&NStar::Eq11, 34)), (20, 18));
    assert_eq!((at(&NStar::Eq7, 30), at(&NStar::Eq7, 31)), (22, 19));
}

#[test]
fn a_measured_table_goes_on_with_its_last_number() {
    let measured = NStar::Empirical(vec![20, 12, 4]);
    let at = |lost| measured.subflows(LossRate::new(lost, 1000));
    assert_eq!([at(0), at(4), at(5), at(14), at(15), at(1000)], [20, 20, 12, 12, 4, 4]);
}

proptest! {
    #[test]
    fn the_grids_step_is_the_nearest(sent in 1u64..1_000_000_000, share in 0.0..1.2) {
        let lost = (share * sent as f64) as u64;
        let loss = (lost as f64 / sent as f64).min(1.0);
        let step = LossRate::new(lost, sent).step();
        let nearest = (loss * STEPS as f64).round() as usize;
        // At the middle between two steps the float may fall to either side.
        let middle = ((loss * STEPS as f64).fract() - 0.5).abs() < 1e-9;
        prop_assert!(step == nearest || middle, "{lost}/{sent}: {step}, not {nearest}");
    }

    #[test]
    fn more_losses_never_mean_more_subflows(sent in 1u64..10_000, lost in 0u64..10_000, more in 0u64..100) {
        for n_star in [NStar::Eq11, NStar::Eq7, NStar::Product] {
            let few = n_star.subflows(LossRate::new(lost, sent));
            let many = n_star.subflows(LossRate::new(lost + more, sent));
            prop_assert!((1..=CAP).contains(&few) && many <= few);
        }
    }
}
