//! Optima with a closed formula.

use tresse_optimum::kkt::Residuals;
use tresse_optimum::problem::{Bounded, Flow, Pooling, Problem};
use tresse_optimum::utility::{MAX_ALPHA, Utility};

use super::common::{alpha, near, optimum, problem};

const ALPHAS: [f64; 7] = [0.25, 0.5, 1.0, 2.0, 4.0, 16.0, MAX_ALPHA];

#[test]
fn one_link_is_shared_as_the_alpha_th_root_of_the_weights() {
    let weights = [1.0, 2.0, 7.0, 0.1];
    for a in ALPHAS {
        let mut p = problem(&[100e6], [(); 4].map(|()| (alpha(a), vec![vec![0]])));
        p.flows.iter_mut().zip(weights).for_each(|(f, w)| f.weight = w);
        let o = optimum(&p);
        let whole: f64 = weights.iter().map(|w| w.powf(1.0 / a)).sum();
        for (x, w) in o.totals.iter().zip(weights) {
            near(*x, 100e6 * w.powf(1.0 / a) / whole, 1e-8);
        }
        // The price is the marginal utility of all, in the user's units.
        near(o.prices[0], o.totals[0].powf(-a), 1e-6);
        assert_eq!(o.binding, [0]);
    }
}

#[test]
fn parking_lot() {
    // One flow over n links of capacity 1, one on each: n y^-a = x^-a.
    for n in [2, 5, 12] {
        for a in ALPHAS {
            let mut p = problem(&vec![1.0; n], [(alpha(a), vec![(0..n).collect()])]);
            for l in 0..n {
                p.flows.push(Flow::new(format!("short {l}"), alpha(a), [vec![l]]));
            }
            let o = optimum(&p);
            let long = 1.0 / (1.0 + (n as f64).powf(1.0 / a));
            near(o.totals[0], long, 1e-7);
            o.totals[1..].iter().for_each(|&x| near(x, 1.0 - long, 1e-7));
        }
    }
}

#[test]
fn throughput_alone_starves_the_long_flow() {
    let p = problem(&[1.0; 2], [vec![0, 1], vec![0], vec![1]].map(|path| (alpha(0.0), vec![path])));
    let o = optimum(&p);
    assert!(o.totals[0] < 1e-6, "{:?}", o.totals);
    near(o.utility, 2.0, 1e-6);
}

#[test]
fn pooled_paths_are_one_resource_and_separate_ones_are_not() {
    // 30 and 100, the second one shared with a single-path flow.
    let mut p = problem(&[30.0, 100.0], [(alpha(1.0), vec![vec![0], vec![1]]), (alpha(1.0), vec![vec![1]])]);
    let o = optimum(&p);
    near(o.rates[0][0], 30.0, 1e-8);
    near(o.rates[0][1], 35.0, 1e-8);
    near(o.totals[1], 65.0, 1e-8);
    p.flows[0].pooling = Pooling::Separate;
    near(optimum(&p).rates[0][1], 50.0, 1e-8);
    p.flows[0].paths[1].coefficient = 0.25;
    near(optimum(&p).rates[0][1], 20.0, 1e-8);
}

#[test]
fn a_scaled_rate_counts_for_more() {
    // γ on one path of two: log(30 γ1 + γ2 y) + log(100 - y).
    let mut p = problem(&[30.0, 100.0], [(alpha(1.0), vec![vec![0], vec![1]]), (alpha(1.0), vec![vec![1]])]);
    p.flows[0].paths[0].coefficient = 1.5;
    p.flows[0].paths[1].coefficient = 1.1;
    // 1.1 (100 - y) = 45 + 1.1 y.
    near(optimum(&p).rates[0][1], (110.0 - 45.0) / 2.2, 1e-8);
    // With equal γ, the logarithm turns it into a constant (catalogue A6.3).
    p.flows[0].paths[0].coefficient = 1.1;
    near(optimum(&p).rates[0][1], 35.0, 1e-8);
}

#[test]
fn limits_hold_and_have_prices() {
    let mut p = problem(&[90.0], [(); 3].map(|()| (alpha(1.0), vec![vec![0]])));
    p.flows[0].min_rate = 50.0;
    p.flows[1].max_rate = 10.0;
    let o = optimum(&p);
    [50.0, 10.0, 30.0].iter().zip(&o.totals).for_each(|(&x, &y)| near(y, x, 1e-8));
    near(o.prices[0], 1.0 / 30.0, 1e-7);
    near(o.limit_prices[0][0], 1.0 / 50.0 - 1.0 / 30.0, 1e-7);
    near(o.limit_prices[1][0], 1.0 / 10.0 - 1.0 / 30.0, 1e-7);
    // The hard class: exactly one rate, over any of its paths.
    p.links.push(p.links[0].clone());
    p.flows[0] = Flow::new("hard", alpha(1.0), [vec![0], vec![1]]);
    (p.flows[0].min_rate, p.flows[0].max_rate) = (100.0, 100.0);
    let o = optimum(&p);
    near(o.totals[0], 100.0, 1e-8);
    near(o.totals[2], 70.0, 1e-6);
}

#[test]
fn limits_of_each_path_hold_for_each() {
    // A flow over both links, and one more on each.
    let mut p = problem(
        &[90.0, 60.0],
        [vec![vec![1], vec![0]], vec![vec![0]], vec![vec![1]]].map(|paths| (alpha(1.0), paths)),
    );
    p.flows[0].pooling = Pooling::Separate;
    p.flows[0].bounded = Bounded::EachPath;
    let mut rates = |min: f64, max: f64| {
        (p.flows[0].min_rate, p.flows[0].max_rate) = (min, max);
        let o = optimum(&p);
        ([o.rates[0][0], o.rates[0][1]], [o.limit_prices[0][0], o.limit_prices[0][1]])
    };
    let (x, price) = rates(0.0, 20.0);
    x.iter().for_each(|&x| near(x, 20.0, 1e-8));
    near(price[0], 1.0 / 20.0 - 1.0 / 40.0, 1e-7);
    near(price[1], 1.0 / 20.0 - 1.0 / 70.0, 1e-7);
    // Only the path over the narrow link would have less.
    let (x, price) = rates(40.0, f64::INFINITY);
    near(x[0], 40.0, 1e-8);
    near(x[1], 45.0, 1e-8);
    near(price[0], 1.0 / 40.0 - 1.0 / 20.0, 1e-7);
    assert!(price[1].abs() < 1e-9, "{price:?}");
    let (x, _) = rates(35.0, 35.0);
    x.iter().for_each(|&x| near(x, 35.0, 1e-8));
}

#[test]
fn least_rates_that_just_fit() {
    let mut p = problem(&[90.0], [(alpha(1.0), vec![vec![0]]), (Utility::Bos { scale: 1.0 }, vec![vec![0]])]);
    (p.flows[0].min_rate, p.flows[1].min_rate) = (60.0, 30.0);
    let o = optimum(&p);
    near(o.totals[0], 60.0, 1e-6);
    near(o.totals[1], 30.0, 1e-6);
}

#[test]
fn tcp_and_bos_meet_at_one_price() {
    // log(1 + k/x) = p and 1/(1 + y/s) = p.
    let (tcp, bos) = (Utility::Tcp { mu: 3.0, beta: 0.5 }, Utility::Bos { scale: 8.0 });
    let o = optimum(&problem(&[100.0], [(tcp, vec![vec![0]]), (bos, vec![vec![0]])]));
    let p = o.prices[0];
    near(o.totals[0], 6.0 / (p.exp() - 1.0), 1e-7);
    near(o.totals[1], 8.0 * (1.0 / p - 1.0), 1e-7);
    near(o.totals[0] + o.totals[1], 100.0, 1e-9);
    // A path's own utility acts like a separate flow's.
    let mut together = problem(&[100.0], [(tcp, vec![vec![0], vec![0]])]);
    together.flows[0].pooling = Pooling::Separate;
    together.flows[0].paths[1].utility = Some(bos);
    let rates = &optimum(&together).rates[0];
    near(rates[0], o.totals[0], 1e-8);
    near(rates[1], o.totals[1], 1e-8);
}

#[test]
fn derivatives_are_those_of_the_utility() {
    let utilities = [
        alpha(0.0),
        alpha(0.5),
        alpha(1.0),
        alpha(3.0),
        Utility::Tcp { mu: 3.0, beta: 0.5 },
        Utility::TcpSlowStart { rho: 1.0, beta: 0.5 },
        Utility::Bos { scale: 8.0 },
    ];
    for u in utilities {
        for x in [0.3, 2.0, 40.0] {
            let h = 1e-5 * x;
            near((u.value(x + h) - u.value(x - h)) / (2.0 * h), u.marginal(x), 1e-7);
            let curvature = (u.marginal(x - h) - u.marginal(x + h)) / (2.0 * h);
            assert!((curvature - u.curvature(x)).abs() < 1e-7 * (u.curvature(x) + 1e-3), "{u:?} {x}");
            if let Some(back) = u.rate_at(u.marginal(x)) {
                near(back, x, 1e-9);
            }
        }
    }
    assert_eq!(Utility::Bos { scale: 8.0 }.rate_at(1.5), Some(0.0));
}

#[test]
fn nobody_on_a_link() {
    let o = optimum(&problem(&[100.0], []));
    assert_eq!((o.totals.len(), o.prices, o.loads, o.binding.len()), (0, vec![0.0], vec![0.0], 0));
    let o = optimum(&problem(&[100.0, 50.0], [(alpha(1.0), vec![vec![1]])]));
    assert_eq!((o.prices[0], o.loads[0], &o.binding[..]), (0.0, 0.0, &[1][..]));
}

#[test]
fn what_is_no_optimum_is_told() {
    let p = problem(&[100.0], [(); 2].map(|()| (alpha(1.0), vec![vec![0]])));
    let residuals = |a: f64, b: f64, price: f64| {
        Residuals::of(&p, &[vec![a], vec![b]], &[price], &[vec![0.0], vec![0.0]])
    };
    assert!(residuals(50.0, 50.0, 0.02).worst() < 1e-12);
    assert!(residuals(49.0, 51.0, 0.02).stationarity > 1e-3);
    assert!(residuals(51.0, 50.0, 0.02).feasibility > 1e-3);
    assert!(residuals(49.0, 49.0, 1.0 / 49.0).complementarity > 1e-3);
    assert!(residuals(50.0, 50.0, 0.03).complementarity > 1e-3);
    assert!(residuals(f64::NAN, 50.0, 0.02).worst() > 1.0);
    assert!(residuals(0.0, 100.0, 0.01).worst() > 1.0);
    // In any unit of utility; and for a link that no path takes.
    for unit in [1e-9, 1e9] {
        let mut p = p.clone();
        p.link("unused", 1.0);
        p.flows.iter_mut().for_each(|f| f.weight = unit);
        let of = |price: f64, unused: f64| {
            let prices = [price * unit, unused * unit];
            Residuals::of(&p, &[vec![50.0], vec![50.0]], &prices, &[vec![0.0], vec![0.0]])
        };
        assert!(of(0.02, 0.0).worst() < 1e-12);
        assert!(of(-0.02, 0.0).stationarity > 0.5);
        assert!(of(0.02, -1e-6).stationarity > 0.5 && of(0.02, 1e-6).complementarity > 0.5);
    }
}

#[test]
fn nonsense_is_refused() {
    let good = problem(&[100.0], [(alpha(1.0), vec![vec![0]])]);
    let refused = |change: fn(&mut Problem), part: &str| {
        let mut p = good.clone();
        change(&mut p);
        let message = p.check().unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    };
    refused(|p| p.links[0].capacity = 0.0, "link `link 0`: the capacity 0");
    refused(|p| p.flows[0].paths.clear(), "no path");
    refused(|p| p.flows[0].paths[0].links.clear(), "no link");
    refused(|p| p.flows[0].paths[0].links[0] = 1, "link 1, but there are 1");
    refused(|p| p.flows[0].paths[0].links.push(0), "twice");
    refused(|p| p.flows[0].paths[0].coefficient = -1.0, "coefficient -1");
    refused(|p| p.flows[0].paths[0].utility = Some(p.flows[0].utility), "pooled");
    refused(|p| p.flows[0].weight = f64::NAN, "weight NaN");
    refused(|p| p.flows[0].min_rate = -1.0, "minimum rate -1");
    refused(|p| (p.flows[0].min_rate, p.flows[0].max_rate) = (2.0, 1.0), "maximum rate 1");
    refused(|p| p.flows[0].utility = alpha(33.0), "alpha = 33");
    refused(|p| p.flows[0].utility = Utility::Tcp { mu: 0.0, beta: 0.5 }, "mu = 0");
}
