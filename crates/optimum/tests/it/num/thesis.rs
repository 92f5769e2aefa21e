//! The theory columns of the thesis, to the digits that it prints.

use tresse_controllers::center_of_utility::{Shape, weight};
use tresse_optimum::preferred::preferred_first;
use tresse_optimum::problem::{Pooling, Problem};
use tresse_optimum::utility::Utility;

use super::common::{alpha, optimum, problem};

/// Rounded to whole units.
fn whole(rates: &[f64]) -> Vec<i64> {
    rates.iter().map(|x| x.round() as i64).collect()
}

fn tenths(rate: f64) -> i64 {
    (10.0 * rate).round() as i64
}

/// Figures 3.2 and 4.2: S to D over a private link and over one that is shared with a TCP. Mbit/s.
fn shared(private: f64, utility: Utility) -> Problem {
    problem(&[private, 1024.0], [(utility, vec![vec![0], vec![1]]), (utility, vec![vec![1]])])
}

/// The same with weights: WUTCP, WMPTCP.
fn weighted(private: f64, omega: f64) -> Problem {
    let mut p = shared(private, alpha(1.0));
    p.flows[0].pooling = Pooling::Separate;
    p.flows[0].paths.iter_mut().for_each(|path| path.coefficient = omega);
    p
}

/// x11, x12 and x2.
fn rates(p: &Problem) -> Vec<f64> {
    let o = optimum(p);
    vec![o.rates[0][0], o.rates[0][1], o.totals[1]]
}

/// Reno's utility for comparison: one packet per RTT, RTT 200 us; and with a packet that is small compared
/// with the rates.
fn tcp_like() -> [Utility; 3] {
    [alpha(1.0), Utility::Tcp { mu: 60.0, beta: 0.5 }, Utility::Tcp { mu: 0.01, beta: 0.5 }]
}

#[test]
fn figure_2_3_case_1() {
    let shape = Shape::AlphaFair { alpha: 0.5 };
    let (a, b) = (shape.center(400e6).unwrap(), shape.center(100e6).unwrap());
    assert_eq!(a / b, 4.0);
    let w = weight(a, b, 0.5);
    assert_eq!(w, 2.0);
    let mut p = problem(&[100.0], [(); 2].map(|()| (alpha(0.5), vec![vec![0]])));
    p.flows[0].weight = w;
    assert_eq!(whole(&optimum(&p).totals), [80, 20]);
}

#[test]
fn figure_2_3_case_2() {
    let elastic = Shape::Log1p.center(100e6).unwrap();
    let adaptive = Shape::CubeRoot { inflection: 20e6 }.center(100e6).unwrap();
    assert_eq!((100.0 * adaptive / elastic).round(), 559.0);
    let w = weight(adaptive, elastic, 0.75);
    assert_eq!((100.0 * w).round(), 363.0);
    let mut p = problem(&[100.0], [(); 2].map(|()| (alpha(0.75), vec![vec![0]])));
    p.flows[1].weight = w;
    p.flows[1].min_rate = 20.0;
    let o = optimum(&p);
    assert_eq!(o.totals.iter().map(|&x| tenths(x)).collect::<Vec<_>>(), [152, 848]);
    // "The minimum rate does not play a role."
    assert!(o.limit_prices[1][0].abs() < 1e-6 * o.prices[0]);
}

#[test]
fn figure_2_4() {
    let p = problem(&[60.0, 100.0], [(alpha(1.0), vec![vec![0], vec![1]]), (alpha(1.0), vec![vec![1]])]);
    assert_eq!(whole(&rates(&p)), [60, 20, 80]);
}

#[test]
fn figures_3_3_and_3_4() {
    for utility in tcp_like() {
        assert_eq!(whole(&rates(&shared(1024.0, utility))), [1024, 0, 1024], "{utility:?}");
        assert_eq!(whole(&rates(&shared(8.0, utility))), [8, 508, 516], "{utility:?}");
    }
}

#[test]
fn figure_3_5() {
    for omega in [0.5f64.sqrt(), 0.5, 0.25] {
        let x = rates(&weighted(1024.0, omega));
        let theory = [1024.0, 1024.0 * omega / (1.0 + omega), 1024.0 / (1.0 + omega)];
        x.iter().zip(theory).for_each(|(&x, t)| super::common::near(x, t, 1e-8));
    }
}

#[test]
fn figure_3_5_holds_where_beta_x_is_much_larger_than_mu() {
    // "Approximately ω times": if 2 packets per RTT are 1/100 of the link, Reno's own utility is within 1 %;
    // if they are a tenth, it is not.
    let ratio = |k: f64| {
        let mut p = weighted(1024.0, 0.5);
        for flow in &mut p.flows {
            flow.utility = Utility::Tcp { mu: k / 2.0, beta: 0.5 };
        }
        let x = rates(&p);
        x[1] / x[2]
    };
    assert!((ratio(10.24) - 0.5).abs() < 0.005, "{}", ratio(10.24));
    assert!((ratio(102.4) - 0.5).abs() > 0.01, "{}", ratio(102.4));
}

#[test]
fn figures_4_3_and_4_4() {
    // EMPTCP, then WMPTCP with 1/2 each; x1 is x11 + x12.
    for (private, equal, by_weight, x1) in
        [(1024.0, [1024, 0, 1024], [1024, 341, 683], 1365), (8.0, [8, 508, 516], [8, 341, 683], 349)]
    {
        assert_eq!(whole(&rates(&shared(private, alpha(1.0)))), equal);
        let x = rates(&weighted(private, 0.5));
        assert_eq!(whole(&x), by_weight);
        assert_eq!((x[0] + x[1]).round() as i64, x1);
    }
    let o = optimum(&shared(8.0, alpha(1.0)));
    assert_eq!(whole(&o.totals), [516, 516]);
}

/// Table 4.1: Adam's cellular and WiFi links, Ken's WiFi; both want 100 at most.
fn table_4_1(cellular: f64, adam: Vec<Vec<usize>>) -> Problem {
    let mut p = problem(&[cellular, 100.0], [(alpha(1.0), adam), (alpha(1.0), vec![vec![1]])]);
    p.flows.iter_mut().for_each(|f| f.max_rate = 100.0);
    p
}

/// What Adam pays for his cellular rate, in tenths of a dollar: 100 units are $10.
fn dollar_tenths(cellular: f64) -> i64 {
    tenths(0.1 * cellular)
}

#[test]
fn table_4_1_best_case_tcp() {
    // Cellular, WiFi, Ken, with Adam's single TCP on the better of his two paths.
    let best = |cellular| {
        let on = |l| (l, optimum(&table_4_1(cellular, vec![vec![l]])).totals);
        let (l, x) = [1, 0].map(on).into_iter().max_by(|(_, a), (_, b)| a[0].total_cmp(&b[0])).unwrap();
        if l == 0 { [x[0], 0.0, x[1]] } else { [0.0, x[0], x[1]] }
    };
    let [first, second] = [100.0, 5.0].map(best);
    assert_eq!((whole(&first), dollar_tenths(first[0])), (vec![100, 0, 100], 100));
    assert_eq!((whole(&second), dollar_tenths(second[0])), (vec![0, 50, 50], 0));
}

#[test]
fn table_4_1_equal() {
    for (cellular, printed, dollars) in [(100.0, [1000, 0, 1000], 100), (5.0, [50, 475, 525], 5)] {
        let x = rates(&table_4_1(cellular, vec![vec![0], vec![1]]));
        assert_eq!(x.iter().map(|&x| tenths(x)).collect::<Vec<_>>(), printed);
        assert_eq!(tenths(x[0] + x[1]), printed[0] + printed[1]);
        assert_eq!(dollar_tenths(x[0]), dollars);
    }
}

#[test]
fn table_4_1_weighted_is_a_rule() {
    // Cellular, WiFi, Adam's total, Ken; and $5.7, $0.5.
    for (cellular, printed, dollars) in [(100.0, [57, 43, 100, 57], 57), (5.0, [5, 43, 48, 57], 5)] {
        let r = preferred_first(100.0, 0.75, cellular, 100.0);
        assert_eq!(whole(&[r.second, r.preferred, r.second + r.preferred, r.single]), printed);
        assert_eq!(dollar_tenths(r.second), dollars);
    }
}

#[test]
fn table_4_1_weighted_as_an_optimum_is_another_row() {
    let of = |cellular| {
        let mut p = table_4_1(cellular, vec![vec![0], vec![1]]);
        p.flows[0].pooling = Pooling::Separate;
        (p.flows[0].paths[0].coefficient, p.flows[0].paths[1].coefficient) = (0.25, 0.75);
        rates(&p)
    };
    // Cellular, WiFi, Ken.
    of(100.0).iter().zip([62.5, 37.5, 62.5]).for_each(|(&x, t)| super::common::near(x, t, 1e-7));
    assert_ne!(dollar_tenths(of(100.0)[0]), 57, "$6.25");
    // With the narrow cellular link the limit does not bind, and the rule is the optimum.
    assert_eq!(whole(&of(5.0)), [5, 43, 57]);
}
