//! The claims of controllers, and that each is a solvable problem.

use tresse_controllers::{ConfiguredController, agent, all, find};
use tresse_optimum::claims::{Claim, Price, Standing, Subflows, claim, price};
use tresse_optimum::problem::{Pooling, Problem};
use tresse_optimum::solve::solve;
use tresse_optimum::utility::Utility;

use super::common::near;

const SUBFLOWS: Subflows = Subflows { rtts: &[200e-6, 400e-6], packet: 12_000.0 };

fn of(name: &str, set: &[(&str, u64)]) -> Claim {
    let scheme = ConfiguredController::new(find(name).unwrap(), set.iter().copied()).unwrap();
    claim(&scheme, SUBFLOWS).unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn every_built_in_controller_declares_what_it_maximises_and_its_law() {
    for controller in all() {
        let scheme = ConfiguredController::new(controller, []).unwrap();
        let claim =
            claim(&scheme, SUBFLOWS).unwrap_or_else(|| panic!("{} has no MAXIMISES", controller.name()));
        assert!(controller.declares_law(), "{} has no FOLLOWS", controller.name());
        assert!(claim.standing == Standing::None || claim.objective.is_some(), "{}", controller.name());
        assert!(!claim.source.is_empty());
    }
    let agent = ConfiguredController::new(agent(), []).unwrap();
    assert_eq!(claim(&agent, SUBFLOWS), None);
    assert_eq!(price(&agent, false), Price::Losses);
}

#[test]
fn the_claimed_problems_can_be_solved() {
    // Next to a Reno flow on the second of two links.
    for controller in all() {
        let scheme = ConfiguredController::new(controller, []).unwrap();
        let Some(objective) = claim(&scheme, SUBFLOWS).unwrap().objective else { continue };
        let mut p = Problem::default();
        let links = [p.link("private", 100e6), p.link("shared", 1e9)];
        p.flows.push(objective.flow("it", [vec![links[0]], vec![links[1]]]));
        let reno = ConfiguredController::new(find("reno").unwrap(), []).unwrap();
        let reno = claim(&reno, Subflows { rtts: &[200e-6], ..SUBFLOWS }).unwrap().objective.unwrap();
        p.flows.push(reno.flow("reno", [vec![links[1]]]));
        let o = solve(&p).unwrap_or_else(|e| panic!("{}: {e}", controller.name()));
        near(o.rates[0][0], 100e6, 1e-6);
        near(o.loads[1], 1e9, 1e-6);
    }
}

#[test]
fn parameters_and_rtts_count() {
    let xmp = ConfiguredController::new(find("xmp").unwrap(), [("beta", 6)]).unwrap();
    let objective = claim(&xmp, SUBFLOWS).unwrap().objective.unwrap();
    // XMP (6): s = β/T, T the minimum RTT; in bit/s.
    assert_eq!(objective.utility, Utility::Bos { scale: 6.0 * 12_000.0 / 200e-6 });
    assert_eq!(objective.pooling, Pooling::Pooled);

    assert_eq!(of("xmp", &[]).standing, Standing::Claimed);
    assert_eq!(of("xmp", &[("slides_delta", 1)]).standing, Standing::None);

    let bos = of("bos", &[]).objective.unwrap();
    assert_eq!(bos.pooling, Pooling::Separate);
    assert_eq!(bos.by_path[1], Utility::Bos { scale: 4.0 * 12_000.0 / 400e-6 });
    assert_eq!(
        of("halving", &[]).objective.unwrap().by_path[0],
        Utility::Bos { scale: 2.0 * 12_000.0 / 200e-6 }
    );

    let eutcp = of("eutcp", &[("gamma", 1100)]);
    assert_eq!((eutcp.standing, eutcp.objective.unwrap().coefficients), (Standing::Claimed, vec![1.1, 1.1]));
    assert_eq!(of("eutcp", &[("gamma", 1100), ("exact", 1)]).standing, Standing::Proved);

    let omega = |name: &str, set: &[(&str, u64)]| of(name, set).objective.unwrap().coefficients;
    assert_eq!(omega("ewtcp", &[("rule", 3)]), [0.25, 0.25]);
    assert_eq!(omega("wutcp", &[("rule", 2), ("omega", 0)]), [0.5, 0.5]);
    assert_eq!(omega("wutcp", &[("rule", 2), ("omega", 700)]), [0.7, 0.7]);
    assert_eq!(omega("wmptcp", &[("omega_0", 750), ("omega_1", 250)]), [0.75, 0.25]);
    assert_eq!(
        of("wutcp", &[]).objective.unwrap().by_path[1],
        Utility::Tcp { mu: 12_000.0 / 400e-6, beta: 0.5 }
    );

    let cos = of("holnet_cc_cos", &[("alpha", 750), ("weight", 3630), ("min_rate", 20_000), ("max_rate", 0)]);
    let cos = cos.objective.unwrap();
    assert_eq!((cos.utility, cos.limits), (Utility::AlphaFair { alpha: 0.75 }, (20e6, f64::INFINITY)));
    near(cos.weight / of("holnet_cc", &[("alpha", 750)]).objective.unwrap().weight, 3.63, 1e-12);
    for name in ["lia", "olia", "balia", "dctcp", "cubic", "dcm", "vmcc", "amp", "hmptcp"] {
        assert_eq!(of(name, &[]).standing, Standing::None, "{name}");
    }
}
