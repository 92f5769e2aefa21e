//! The fluid model of each controller: its own declaration (`FOLLOWS` in its C file) in numbers.

use tresse_controllers::ConfiguredController;
use tresse_controllers::law::{Answers, CutKind, Follows, GrowthKind, LawKind};

use super::law::{Answer, Cut, Growth};
use super::{Connection, Law, Path, RateBounds};
use crate::claims::{Objective, Subflows, claim};

/// The fluid model of a flow: connections whose paths, in order, are `paths`. There is one connection, or one
/// for each path if the controller does not look at its siblings. So the rates by path of a [`State`] are
/// those of the flow's paths in their order. `min_window_pkts` is as in [`Connection`].
///
/// `None` if the controller declares no law, or none for its parameters' values; or for subflows with different
/// weights or cuts.
///
/// [`State`]: super::State
pub fn connections(
    controllers: &ConfiguredController,
    subflows: Subflows,
    paths: Vec<Path>,
    min_window_pkts: f64,
) -> Option<Vec<Connection>> {
    let scheme = law(controllers, subflows)?;
    let connection = |paths| Connection { scheme, paths, min_window_pkts, balancer: None };
    Some(if controllers.controller().coupled() {
        vec![connection(paths)]
    } else {
        paths.into_iter().map(|path| connection(vec![path])).collect()
    })
}

fn law(controllers: &ConfiguredController, subflows: Subflows) -> Option<Law> {
    let declared = controllers.follows()?;
    match declared.kind {
        LawKind::Unknown => None,
        LawKind::Window => window(controllers, &declared, subflows),
        kind => {
            let objective = claim(controllers, subflows)?.objective?;
            sliding(controllers, kind, &declared, &objective)
        }
    }
}

fn window(controllers: &ConfiguredController, declared: &Follows, subflows: Subflows) -> Option<Law> {
    let number = |quantity| controllers.number(quantity);
    let weight = || common(&controllers.numbers(&declared.weights, subflows.rtts.len()));
    let growth = match declared.growth {
        GrowthKind::Separate => Growth::Separate { weight: weight()? },
        GrowthKind::Linked => Growth::Linked,
        GrowthKind::Opportunistic => Growth::Opportunistic,
        GrowthKind::Balanced => Growth::Balanced,
        GrowthKind::Shared => Growth::Shared,
        GrowthKind::Larger => Growth::Larger { weight: weight()? },
        GrowthKind::ByShortest => Growth::ByShortest,
        GrowthKind::ByWindow => Growth::ByWindow,
    };
    let cut = match declared.cutting {
        CutKind::Part => Cut::Part {
            factor: number(&declared.cut).unwrap_or(1.0)
                * common(&controllers.numbers(&declared.cuts, subflows.rtts.len()))?,
            divisor: number(&declared.divisor).unwrap_or(2.0),
        },
        CutKind::Balanced => Cut::Balanced,
        CutKind::Marked => Cut::Marked { g: number(&declared.gain)? },
    };
    let answer = match declared.answers {
        Answers::Signals => Answer::Signals,
        Answers::Rounds => Answer::Rounds,
    };
    Some(Law::Window { growth, cut, answer })
}

/// HOLNET's sliding modes, for the utility that is maximised.
fn sliding(
    controllers: &ConfiguredController,
    kind: LawKind,
    declared: &Follows,
    objective: &Objective,
) -> Option<Law> {
    let number = |quantity| controllers.number(quantity);
    let bounds = RateBounds {
        min_bps: objective.limits.0,
        max_bps: objective.limits.1,
        r_max: number(&declared.r_max).unwrap_or(RateBounds::NONE.r_max),
        r_min: number(&declared.r_min).unwrap_or(RateBounds::NONE.r_min),
    };
    let weight = objective.weight;
    match kind {
        LawKind::SlidingAlphaFair => {
            let maximises = controllers.maximises()?;
            let alpha = number(&maximises.alpha)?;
            // gamma = g X^(1 - alpha)/T, X in bit/s.
            let gain = number(&declared.gain)? * libm::pow(number(&maximises.reference)?, 1.0 - alpha);
            Some(Law::HolnetCc { alpha, weight, gain, bounds })
        }
        LawKind::SlidingLog => {
            let elastic = objective.limits == (0.0, f64::INFINITY);
            elastic.then_some(Law::HolnetMcc)
        }
        LawKind::SlidingTcp => {
            Some(Law::HolnetUta { weight, gamma: common(&objective.coefficients)?, bounds })
        }
        LawKind::Window | LawKind::Unknown => None,
    }
}

/// The common value of all.
fn common(values: &[f64]) -> Option<f64> {
    values.iter().all(|v| *v == values[0]).then(|| values[0])
}
