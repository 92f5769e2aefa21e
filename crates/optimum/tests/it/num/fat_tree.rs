//! Thousands of flows on a fat tree.

use tresse_fabric::{FatTree, FatTreeConfig, NonEct, Probability, Spread, Threshold};
use tresse_optimum::problem::{Flow, Problem};
use tresse_optimum::utility::Utility;
use tresse_units::Stream;

use super::common::optimum;

/// 128 hosts, each with `flows` to other hosts over `paths` paths, through distinct core switches.
fn problem(flows: u32, paths: u32, utility: Utility) -> Problem {
    let none = Threshold::packets(100);
    let tree = FatTree::new(FatTreeConfig {
        k: 8,
        rate: [1_000_000_000; 3],
        delay: [20_000_000; 3],
        limit: [none; 3],
        mark: [none; 3],
        host: (none, none),
        non_ect: NonEct::Queue,
        loss: [Probability::ZERO; 3],
    })
    .unwrap();
    let mut problem = Problem::default();
    for (i, port) in tree.topology().configs.iter().enumerate() {
        problem.link(format!("port {i}"), port.rate as f64);
    }
    for from in 0..tree.hosts() {
        let mut draw = Stream::new(1, "fat tree", u64::from(from));
        for i in 0..flows {
            let to = (from + 1 + draw.below(u64::from(tree.hosts()) - 1) as u32) % tree.hosts();
            let addresses = tree.draw_addresses(paths, Spread::Core, |n| draw.below(u64::from(n)) as u32);
            let route = |core| tree.route(from, to, core).iter().map(|&p| p as usize).collect::<Vec<_>>();
            let routes: Vec<_> = addresses.into_iter().map(route).collect();
            problem.flows.push(Flow::new(format!("{from} to {to}, {i}"), utility, routes));
        }
    }
    problem
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the time is printed, nothing depends on it")]
fn two_thousand_flows_of_four_paths() {
    let tcp = Utility::Tcp { mu: 12e3 / 225e-6, beta: 0.5 };
    let bos = Utility::Bos { scale: 4.0 * 12e3 / 225e-6 };
    for utility in [Utility::AlphaFair { alpha: 1.0 }, Utility::AlphaFair { alpha: 4.0 }, tcp, bos] {
        let problem = problem(16, 4, utility);
        let start = std::time::Instant::now();
        let optimum = optimum(&problem);
        println!(
            "{utility:?}: {} flows in {:?}, {} Newton steps, {:?}",
            problem.flows.len(),
            start.elapsed(),
            optimum.newton_steps,
            optimum.residuals
        );
        // Each costs a factorisation of the same sparse matrix.
        assert!(optimum.newton_steps <= 100, "{utility:?}: {} Newton steps", optimum.newton_steps);
        // Every flow can have something, and no host more than its link.
        assert!(optimum.totals.iter().all(|&x| x > 1e6 && x <= 1e9 * (1.0 + 1e-9)));
    }
}

#[test]
fn few_steps_from_the_middle() {
    // Without the conic solver, whose iterations each cost more than one of these.
    let optimum = optimum(&problem(1, 2, Utility::Bos { scale: 4.0 * 12e3 / 225e-6 }));
    assert!(optimum.newton_steps <= 25, "{} Newton steps", optimum.newton_steps);
    assert!(optimum.residuals.worst() < 1e-7, "{:?}", optimum.residuals);
}
