//! OPN's model against tables computed independently from its equations, and against itself.

use tresse_optimum::opn::{MAX_SUBFLOWS, Model, Reading, Rule};

const N_STAR: &str = include_str!("../data/opn_nstar_table.csv");
const THROUGHPUT: &str = include_str!("../data/opn_fig6_T.csv");

fn rows(table: &str) -> Vec<Vec<Option<f64>>> {
    table.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().ok()).collect()).collect()
}

/// Equal to the six digits that the tables print.
fn assert_printed(ours: f64, printed: f64, what: &str) {
    assert!((ours - printed).abs() <= 6e-6 * printed.abs(), "{what}: {ours} is not the table's {printed}");
}

#[test]
fn throughput_is_that_of_the_table_for_figure_6() {
    let model = Model::new(Reading::Power);
    let rows = rows(THROUGHPUT);
    assert_eq!(rows.len(), 10);
    for row in rows {
        let loss = row[0].unwrap();
        for n in 1..=MAX_SUBFLOWS {
            let printed = row[n as usize].unwrap();
            assert_printed(model.throughput(n, loss), printed, &format!("T({n}) at {loss}"));
        }
    }
}

#[test]
fn n_star_is_that_of_the_table_for_figure_7() {
    let rows = rows(N_STAR);
    assert_eq!(rows.len(), 99);
    for row in rows {
        let loss = row[0].unwrap();
        for (reading, first) in [(Reading::Power, 1), (Reading::Product, 4)] {
            let model = Model::new(reading);
            let what = format!("{reading:?} at {loss}");
            let eq11 = model.optimal_subflows(Rule::Eq11, loss);
            assert_eq!(eq11.is_some(), row[first].is_some(), "{what}");
            if let Some(eq11) = eq11 {
                assert_printed(eq11.raw, row[first].unwrap(), &what);
                assert_eq!(f64::from(eq11.subflows), row[first + 1].unwrap(), "{what}");
            }
            let eq7 = model.optimal_subflows(Rule::Eq7, loss).unwrap();
            assert_eq!(f64::from(eq7.subflows), row[first + 2].unwrap(), "{what}");
        }
    }
}

#[test]
fn the_simplified_optimum_maximises_what_it_simplifies() {
    let model = Model::new(Reading::Power);
    for (loss, expected) in [(0.1, 29657.0), (0.2, 161.8), (0.3, 21.9), (0.5, 3.48)] {
        let raw = model.optimal_subflows(Rule::Simplified, loss).unwrap().raw;
        assert!((raw - expected).abs() < 6e-3 * expected, "{raw} at {loss}");
        let q = libm::pow(loss, (2.0 / loss).sqrt());
        let simplified = |n: f64| n * libm::pow(1.0 - q, n);
        assert!(simplified(raw) > simplified(raw * 1.01) && simplified(raw) > simplified(raw * 0.99));
    }
}

#[test]
fn equation_11_overshoots_the_optimum_by_up_to_37_percent() {
    let model = Model::new(Reading::Power);
    let mut worst: f64 = 0.0;
    for step in 1..=50 {
        let loss = f64::from(step) / 100.0;
        let raw = |rule| model.optimal_subflows(rule, loss).unwrap().raw;
        worst = worst.max(raw(Rule::Eq11) / raw(Rule::Simplified));
    }
    // |W0(-1)|, its limit for rare losses.
    assert!((worst - 1.374_557).abs() < 1e-5, "{worst}");
}

#[test]
fn the_model_holds_together() {
    let model = Model::new(Reading::Power);
    for n in 1..=MAX_SUBFLOWS {
        for loss in [0.001, 0.03, 0.3, 0.7] {
            let timeout = model.timeout_probability(n, loss);
            assert!((0.0..=1.0).contains(&timeout));
            let windows = f64::from(n) * model.window(n, loss);
            // Eq. (6): (1/p) packets in d CW / (n^2 i) RTTs.
            let eq6 = (1.0 / loss) * f64::from(n * n) / (0.5 * windows) * (1.0 - timeout);
            let throughput = model.throughput(n, loss);
            assert!((throughput - eq6).abs() < 1e-12 * windows, "{throughput} {eq6}");
        }
    }
}
