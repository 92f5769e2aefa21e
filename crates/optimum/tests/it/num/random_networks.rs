//! Random networks: the optimality conditions, and bounds and symmetries that are independent of them.

use tresse_optimum::kkt::Residuals;
use tresse_optimum::problem::{Bounded, Flow, Pooling, Problem};
use tresse_optimum::solve::{Optimum, OptimumError, solve, total_utility};
use tresse_optimum::utility::Utility;
use tresse_units::Stream;

use super::common::near;

/// Utilities by name; the last one mixes flows whose marginals differ by many powers of ten.
const KINDS: [(&str, &[Utility]); 11] = [
    ("throughput", &[Utility::AlphaFair { alpha: 0.0 }]),
    ("alpha 0.5", &[Utility::AlphaFair { alpha: 0.5 }]),
    ("alpha 1", &[Utility::AlphaFair { alpha: 1.0 }]),
    ("alpha 2", &[Utility::AlphaFair { alpha: 2.0 }]),
    ("alpha 5", &[Utility::AlphaFair { alpha: 5.0 }]),
    ("alpha 16", &[Utility::AlphaFair { alpha: 16.0 }]),
    ("alpha 32", &[Utility::AlphaFair { alpha: 32.0 }]),
    ("tcp", &[Utility::Tcp { mu: 1e6, beta: 0.5 }, Utility::Tcp { mu: 3e7, beta: 0.5 }]),
    ("bos", &[Utility::Bos { scale: 2e6 }, Utility::Bos { scale: 8e7 }]),
    (
        "dimensionless",
        &[
            Utility::Tcp { mu: 1e7, beta: 0.5 },
            Utility::Bos { scale: 1e7 },
            Utility::TcpSlowStart { rho: 1.0, beta: 0.5 },
        ],
    ),
    (
        "mixed",
        &[
            Utility::Tcp { mu: 1e7, beta: 0.5 },
            Utility::Bos { scale: 1e7 },
            Utility::AlphaFair { alpha: 0.5 },
            Utility::AlphaFair { alpha: 1.0 },
            Utility::AlphaFair { alpha: 2.0 },
        ],
    ),
];

/// 3 to 14 links of 10 Mbit/s to 1 Gbit/s, up to 25 flows of 1 to 4 paths of 1 to 4 links; weights,
/// coefficients, limits of totals and of each path, pooled and not.
fn network(seed: u64, utilities: &[Utility]) -> Problem {
    let mut draw = Stream::new(seed, "network", utilities.len() as u64);
    let mut bounded = Stream::new(seed, "bounded", 0);
    let mut below = |n: u64| draw.below(n);
    let mut p = Problem::default();
    let links = 3 + below(12) as usize;
    for l in 0..links {
        p.link(format!("{l}"), 1e7 * 10f64.powf(below(2001) as f64 / 1000.0));
    }
    for f in 0..1 + below(25) {
        let mut paths = Vec::new();
        for _ in 0..1 + below(4) {
            let mut path: Vec<usize> = (0..1 + below(4)).map(|_| below(links as u64) as usize).collect();
            path.sort_unstable();
            path.dedup();
            paths.push(path);
        }
        let mut flow = Flow::new(format!("{f}"), utilities[below(utilities.len() as u64) as usize], paths);
        flow.weight = 0.1 + below(100) as f64 / 10.0;
        if below(2) == 0 {
            flow.pooling = Pooling::Separate;
        }
        flow.paths.iter_mut().for_each(|path| path.coefficient = 0.5 + below(10) as f64 / 10.0);
        if below(4) == 0 {
            flow.max_rate = 1e6 * (1 + below(100)) as f64;
        }
        if below(4) == 0 {
            flow.min_rate = flow.max_rate.min(1e5 * (1 + below(5)) as f64);
        }
        if below(10) == 0 {
            (flow.min_rate, flow.max_rate) = (2e5, 2e5);
        }
        if bounded.below(2) == 0 {
            flow.bounded = Bounded::EachPath;
        }
        p.flows.push(flow);
    }
    p
}

/// Every feasible network out of 40, with its optimum.
fn each(mut judge: impl FnMut(&str, u64, Problem, Optimum)) {
    for (kind, utilities) in KINDS {
        for seed in 0..40 {
            let p = network(seed, utilities);
            match solve(&p) {
                Ok(o) => judge(kind, seed, p, o),
                Err(OptimumError::Infeasible(_)) => {}
                Err(e) => panic!("{kind} {seed}: {e}"),
            }
        }
    }
}

#[test]
fn the_conditions_of_optimality_hold() {
    let mut worst = std::collections::BTreeMap::<String, (u32, f64)>::new();
    each(|kind, _, p, o| {
        let (count, residual) = worst.entry(kind.into()).or_default();
        *count += 1;
        // For the problem in its own units: the solver judges itself in scaled ones.
        let residuals = Residuals::of(&p, &o.rates, &o.prices, &o.limit_prices);
        *residual = residual.max(residuals.worst());
    });
    for (kind, (count, residual)) in &worst {
        println!("{kind}: {count} networks, {residual:.1e}");
    }
    assert!(worst.values().all(|&(count, residual)| count > 30 && residual < 1e-6));
}

#[test]
fn only_what_is_full_has_a_price() {
    let (mut priced, mut loose) = (0, 0);
    each(|kind, seed, p, o| {
        for (l, &price) in o.prices.iter().enumerate().filter(|(_, price)| **price != 0.0) {
            let link = (o.loads[l], p.links[l].capacity);
            assert!(o.binding.contains(&l) && price > 0.0, "{kind} {seed}: {price} on link {l}, {link:?}");
            assert!((link.0 / link.1 - 1.0).abs() < 2e-3, "{kind} {seed}: {link:?}");
            loose += u32::from((link.0 / link.1 - 1.0).abs() > 2e-6);
            priced += 1;
        }
        for ((flow, rates), prices) in p.flows.iter().zip(&o.rates).zip(&o.limit_prices) {
            let rate = |j: usize| if prices.len() == 1 { rates.iter().sum() } else { rates[j] };
            for (j, &price) in prices.iter().enumerate().filter(|(_, price)| **price != 0.0) {
                let bound = if price > 0.0 { flow.max_rate } else { flow.min_rate };
                assert!((rate(j) / bound - 1.0).abs() < 2e-3, "{kind} {seed}: {price} at {rates:?}");
            }
        }
    });
    assert!(priced > 1000 && loose < priced / 100, "{priced} {loose}");
}

/// The dual function at the optimum's prices, computed with inverse marginals: no rates at all can have a
/// larger total utility. Pooled flows without limits and with curvature only.
#[test]
fn no_rates_are_better_than_the_dual_bound() {
    let mut compared = 0;
    for (kind, utilities) in &KINDS[1..9] {
        for seed in 0..20 {
            let mut p = network(seed, utilities);
            for flow in &mut p.flows {
                flow.pooling = Pooling::Pooled;
                (flow.min_rate, flow.max_rate) = (0.0, f64::INFINITY);
            }
            let o = solve(&p).unwrap();
            let mut bound: f64 = p.links.iter().zip(&o.prices).map(|(l, price)| l.capacity * price).sum();
            let mut size = bound;
            for flow in &p.flows {
                let price = |path: &tresse_optimum::problem::Path| {
                    path.links.iter().map(|&l| o.prices[l]).sum::<f64>() / path.coefficient
                };
                let best = flow.paths.iter().map(price).fold(f64::INFINITY, f64::min);
                let rate = flow.utility.rate_at(best / flow.weight).unwrap();
                let gain = flow.weight * flow.utility.value(rate) - best * rate;
                bound += gain;
                size += gain.abs();
            }
            assert!((bound - o.utility).abs() < 1e-8 * size, "{kind} {seed}: {bound} {}", o.utility);
            compared += 1;
        }
    }
    assert_eq!(compared, 160);
}

#[test]
fn rates_a_little_aside_are_worse() {
    each(|kind, seed, p, o| {
        // Into the interior: a thousandth less of everything, and then one flow up as far as possible.
        let mut draw = Stream::new(seed, "aside", 0);
        let shrunk: Vec<Vec<f64>> = o.rates.iter().map(|r| r.iter().map(|x| x * 0.999).collect()).collect();
        let f = draw.below(p.flows.len() as u64) as usize;
        let path = draw.below(p.flows[f].paths.len() as u64) as usize;
        let room = |&l: &usize| p.links[l].capacity - 0.999 * o.loads[l];
        let more = p.flows[f].paths[path].links.iter().map(room).fold(f64::INFINITY, f64::min);
        let mut aside = shrunk;
        aside[f][path] += more.max(0.0);
        let fits = p.flows.iter().zip(&aside).all(|(flow, rates)| {
            let bounded = match flow.bounded {
                Bounded::Total => vec![rates.iter().sum()],
                Bounded::EachPath => rates.clone(),
            };
            bounded.iter().all(|rate| (flow.min_rate..=flow.max_rate).contains(rate))
        });
        if fits {
            let (there, here) = (total_utility(&p, &aside), o.utility);
            assert!(there <= here + 1e-9 * here.abs(), "{kind} {seed}: {there} > {here}");
        }
    });
}

#[test]
fn order_and_unit_change_nothing() {
    for (kind, utilities) in &KINDS[..9] {
        for seed in 0..10 {
            let p = network(seed, utilities);
            let Ok(o) = solve(&p) else { continue };
            let mut turned = p.clone();
            turned.flows.reverse();
            for flow in &mut turned.flows {
                flow.paths.reverse();
                flow.paths.iter_mut().for_each(|path| path.links.reverse());
            }
            // Another unit of rate: Mbit/s. The α-fair utilities change by a factor, or by a constant.
            let mut small = p.clone();
            small.links.iter_mut().for_each(|l| l.capacity /= 1e6);
            for flow in &mut small.flows {
                flow.min_rate /= 1e6;
                flow.max_rate /= 1e6;
                flow.utility = match flow.utility {
                    Utility::Tcp { mu, beta } => Utility::Tcp { mu: mu / 1e6, beta },
                    Utility::Bos { scale } => Utility::Bos { scale: scale / 1e6 },
                    other => other,
                };
            }
            let (turned, small) = (solve(&turned).unwrap(), solve(&small).unwrap());
            // Flows are as good as before, even if the last bits take other paths; a linear utility may have
            // several optima.
            near(turned.utility, o.utility, 1e-9);
            if !kind.starts_with("throughput") {
                let last = o.totals.len() - 1;
                for (f, flow) in p.flows.iter().enumerate().filter(|(_, f)| f.pooling == Pooling::Separate) {
                    for (j, &x) in o.rates[f].iter().enumerate() {
                        let turned = turned.rates[last - f][flow.paths.len() - 1 - j];
                        assert!((turned - x).abs() < 1e-5 * x + 1.0, "{kind} {seed}: {turned} {x}");
                        let small = 1e6 * small.rates[f][j];
                        assert!((small - x).abs() < 1e-5 * x + 1.0, "{kind} {seed}: {small} {x}");
                    }
                }
            }
        }
    }
}

#[test]
fn flows_that_are_one_have_the_same_rates_as_one_by_one() {
    // The merged flow of n members is n log(X/n): n times the weight, up to a constant.
    for seed in 0..10 {
        let mut p = network(seed, &[Utility::AlphaFair { alpha: 1.0 }]);
        p.flows.iter_mut().for_each(|f| (f.min_rate, f.max_rate) = (0.0, f64::INFINITY));
        let mut many = p.clone();
        many.flows.extend(p.flows.iter().cloned());
        many.flows.extend(p.flows.iter().cloned());
        p.flows.iter_mut().for_each(|f| f.weight *= 3.0);
        let (one, many) = (solve(&p).unwrap(), solve(&many).unwrap());
        for (i, total) in many.totals.iter().enumerate() {
            near(3.0 * total, one.totals[i % p.flows.len()], 1e-6);
        }
    }
}
