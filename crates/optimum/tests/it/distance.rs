//! The distance from an optimum, and searches for an equilibrium that are limited.

use tresse_controllers::{ConfiguredController, find};
use tresse_optimum::claims::{Subflows, claim};
use tresse_optimum::distance::Distance;
use tresse_optimum::fluid::{self, Fluid, Link, Network, Path, Signal};
use tresse_optimum::problem::{Flow, Problem};
use tresse_optimum::solve::{Optimum, solve};
use tresse_optimum::utility::Utility;

use crate::networks::{dctcp, xmp};

/// Two flows on a link of 90 Mbit/s, the second with twice the weight; `weight` is common to both.
fn shared(utility: Utility, weight: f64) -> (Problem, Optimum) {
    let mut problem = Problem::default();
    let link = problem.link("shared", 90e6);
    for own in [1.0, 2.0] {
        problem.flows.push(Flow { weight: own * weight, ..Flow::new("flow", utility, [vec![link]]) });
    }
    let optimum = solve(&problem).expect("it has an optimum");
    (problem, optimum)
}

const UTILITIES: [Utility; 5] = [
    Utility::AlphaFair { alpha: 0.5 },
    Utility::AlphaFair { alpha: 1.0 },
    Utility::AlphaFair { alpha: 2.0 },
    Utility::Tcp { mu: 1.2e6, beta: 0.5 },
    Utility::Bos { scale: 4.8e6 },
];

#[test]
fn a_common_factor_is_its_own_distance() {
    for utility in UTILITIES {
        // With any factor of the utility.
        for weight in [1e-6, 1.0, 1e6] {
            let (problem, optimum) = shared(utility, weight);
            for factor in [0.25, 0.9, 1.0, 1.5] {
                let rates: Vec<_> = optimum.rates.iter().map(|r| vec![r[0] * factor]).collect();
                let d = Distance::of(&problem, &optimum, &rates);
                assert!((d.utility - (1.0 - factor)).abs() < 1e-7, "{utility:?} {factor}: {d:?}");
                let apart = (1.0 - factor).abs() / factor.max(1.0);
                assert!((d.mean - apart).abs() < 1e-12 && (d.largest - apart).abs() < 1e-12, "{d:?}");
            }
        }
    }
}

/// By hand: log utilities with weights 1 and 2 give 30 and 60; 45 and 45 have 45^3 against 30 60^2.
#[test]
fn equal_shares_instead_of_weighted_ones() {
    let (problem, optimum) = shared(Utility::AlphaFair { alpha: 1.0 }, 1.0);
    let d = Distance::of(&problem, &optimum, &[vec![45e6], vec![45e6]]);
    assert!((d.mean - (15.0 / 45.0 + 15.0 / 60.0) / 2.0).abs() < 1e-6, "{d:?}");
    assert!((d.largest - 1.0 / 3.0).abs() < 1e-6, "{d:?}");
    let worth = libm::cbrt(45.0 * 45.0 * 45.0 / (30.0 * 60.0 * 60.0));
    assert!((d.utility - (1.0 - worth)).abs() < 1e-6, "{d:?}");
}

#[test]
fn nothing_is_as_far_as_can_be() {
    let (problem, optimum) = shared(Utility::AlphaFair { alpha: 1.0 }, 1.0);
    let d = Distance::of(&problem, &optimum, &[vec![0.0], vec![0.0]]);
    assert_eq!((d.mean, d.largest, d.utility), (1.0, 1.0, 1.0));
}

#[test]
fn totals_are_divided_as_at_the_optimum() {
    let mut problem = Problem::default();
    let links = [problem.link("narrow", 10e6), problem.link("wide", 30e6)];
    problem.flows.push(Flow::new("flow", Utility::AlphaFair { alpha: 1.0 }, links.map(|l| vec![l])));
    let optimum = solve(&problem).expect("it has an optimum");
    let halved = Distance::of(&problem, &optimum, &[vec![5e6, 15e6]]);
    let d = Distance::of_totals(&problem, &optimum, &[20e6]);
    assert!(
        (d.utility - halved.utility).abs() < 1e-6 && (d.mean - halved.mean).abs() < 1e-6,
        "{d:?} {halved:?}"
    );
}

/// `name` over two links of 50 Mbit/s.
fn network(name: &str) -> Network {
    let scheme = ConfiguredController::new(find(name).expect("built in"), []).expect("defaults");
    let subflows = Subflows { rtts: &[0.01, 0.01], packet: 12_000.0 };
    let path = |l| Path { links: vec![l], rtt_ps: 10_000_000_000, loss: 0.0 };
    Network {
        packet_bytes: 1500,
        signal: Signal::PerRound,
        links: vec![Link::Capacity(50_000_000); 2],
        connections: fluid::connections(&scheme, subflows, vec![path(0), path(1)], 0.0).expect("a model"),
    }
}

#[test]
fn a_search_that_may_take_few_steps_ends_where_a_long_one_does() {
    let rest = |steps| {
        let mut fluid = Fluid::new(network("xmp")).expect("a network in range");
        fluid.equilibrium_within(steps).expect("it settles")
    };
    let (quick, long) = (rest(20), rest(100_000));
    assert!(quick.time_s < long.time_s);
    for (a, b) in quick.rates_bps.iter().flatten().zip(long.rates_bps.iter().flatten()) {
        assert!((a / b - 1.0).abs() < 1e-5 && (a / 50e6 - 1.0).abs() < 1e-3, "{a} {b}");
    }
}

#[test]
fn controllers_without_siblings_run_path_by_path() {
    assert_eq!(network("xmp").connections.len(), 1);
    assert_eq!(network("lia").connections.len(), 1);
    for name in ["bos", "dctcp", "reno", "holnet_cc"] {
        let connections = network(name).connections;
        assert_eq!(connections.len(), 2, "{name}");
        assert_eq!((connections[0].paths[0].links[0], connections[1].paths[0].links[0]), (0, 1), "{name}");
    }
}

/// holnet_cc.c and holnet_uta.c hold theta and Theta for each subflow separately, and so do the fluid model
/// and the claimed problem. A competitor has one path over the second link.
#[test]
fn bounds_of_controllers_without_siblings_hold_for_each_subflow() {
    for name in ["holnet_cc_cos", "holnet_uta"] {
        for (min, max, first) in [(0, 0, [60.0, 50.0]), (55_000, 0, [60.0, 55.0]), (0, 20_000, [20.0, 20.0])]
        {
            let mut problem = Problem::default();
            let links = [60u64, 100].map(|mbps| {
                problem.link("", mbps as f64 * 1e6);
                Link::Capacity(mbps * 1_000_000)
            });
            let mut connections = Vec::new();
            for (set, ways) in [([min, max], &[0, 1][..]), ([0, 0], &[1])] {
                let set = [("min_rate", set[0]), ("max_rate", set[1])];
                let scheme = ConfiguredController::new(find(name).expect("built in"), set).expect("in range");
                let subflows = Subflows { rtts: &vec![0.01; ways.len()], packet: 12_000.0 };
                let objective = claim(&scheme, subflows).and_then(|c| c.objective).expect("a utility");
                problem.flows.push(objective.flow(name, ways.iter().map(|&l| vec![l])));
                let path = |&l: &usize| Path { links: vec![l], rtt_ps: 10_000_000_000, loss: 0.0 };
                let paths = ways.iter().map(path).collect();
                connections.extend(fluid::connections(&scheme, subflows, paths, 0.0).expect("a model"));
            }
            let optimum = solve(&problem).expect("it has an optimum");
            let network =
                Network { packet_bytes: 1500, signal: Signal::PerRound, links: links.into(), connections };
            let state = Fluid::new(network).expect("in range").equilibrium().expect("it settles");
            for (l, expected) in first.into_iter().enumerate() {
                for (rate, what) in [(state.rates_bps[l][0], "fluid"), (optimum.rates[0][l], "optimum")] {
                    assert!((rate / 1e6 / expected - 1.0).abs() < 0.02, "{name} {min} {max} {what}: {rate}");
                }
            }
        }
    }
}

/// A controller whose law is not modelled, or not with such a value, has no fluid model.
#[test]
fn no_model_is_better_than_another_ones() {
    let model = |name: &str, set: &[(&str, u64)]| {
        let scheme =
            ConfiguredController::new(find(name).expect("built in"), set.iter().copied()).expect("in range");
        let subflows = Subflows { rtts: &[0.01], packet: 12_000.0 };
        let path = Path { links: vec![0], rtt_ps: 10_000_000_000, loss: 0.0 };
        fluid::connections(&scheme, subflows, vec![path], 0.0)
    };
    for (name, set) in
        [("cubic", &[][..]), ("amp", &[]), ("xmp", &[("slides_delta", 1)]), ("vmcc", &[("as_printed", 1)])]
    {
        assert!(model(name, set).is_none(), "{name} {set:?}");
    }
    let scheme = model("xmp", &[("beta", 6)]).expect("a model")[0].scheme;
    assert_eq!(scheme, xmp(6.0));
    let scheme = model("dctcp", &[("g_shift", 3)]).expect("a model")[0].scheme;
    assert_eq!(scheme, dctcp(0.125));
}
