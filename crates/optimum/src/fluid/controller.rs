//! The fluid model of each controller.

use tresse_controllers::ConfiguredController;

use super::{Connection, Law, Path, RateBounds};
use crate::claims::{Objective, Subflows, claim, claim_of};

/// The fluid model of a flow: connections whose paths, in order, are `paths`. There is one connection, or one
/// for each path if the controller does not look at its siblings. So the rates by path of a [`State`] are
/// those of the flow's paths in their order. `min_window_pkts` is as in [`Connection`].
///
/// `None` if there is no model for the controller's law, for a parameter's value, or for subflows with
/// different weights.
///
/// [`State`]: super::State
pub fn connections(
    controllers: &ConfiguredController,
    subflows: Subflows,
    paths: Vec<Path>,
    min_window_pkts: f64,
) -> Option<Vec<Connection>> {
    let scheme = scheme(controllers, subflows)?;
    let connection = |paths| Connection { scheme, paths, min_window_pkts, balancer: None };
    Some(if controllers.controller().coupled() {
        vec![connection(paths)]
    } else {
        paths.into_iter().map(|path| connection(vec![path])).collect()
    })
}

fn scheme(controllers: &ConfiguredController, subflows: Subflows) -> Option<Law> {
    use Law::*;
    let controller = controllers.controller();
    let declared = controller.parameters();
    let parameter =
        |name: &str| declared.iter().position(|p| p.name == name).map(|i| controllers.values()[i]);
    let value = |name: &str| parameter(name).map_or(f64::NAN, |v| v as f64);
    let thousandths = |name: &str| value(name) / 1000.0;
    let is_set = |name: &str| parameter(name) == Some(1);
    let g = || libm::exp2(-value("g_shift"));
    let claimed = |objective: &dyn Fn(Objective) -> Option<Law>| {
        claim(controllers, subflows).and_then(|c| c.objective).and_then(objective)
    };
    let bounds = |objective: &Objective| RateBounds {
        min_bps: objective.limits.0,
        max_bps: objective.limits.1,
        r_max: parameter("r_max").map_or(RateBounds::NONE.r_max, |v| v as f64 / 1000.0),
        r_min: parameter("r_min").map_or(RateBounds::NONE.r_min, |v| v as f64 / 1000.0),
    };
    match controller.name() {
        "reno" | "newreno" | "uncoupled" => Some(Reno),
        "lia" => Some(Lia),
        "olia" => Some(Olia),
        "balia" => Some(Balia),
        "semicoupled" | "emptcp" | "eutcp1" => Some(Eutcp { gamma: 1.0 }),
        "eutcp" if is_set("exact") => {
            Some(HolnetUta { weight: 1.0, gamma: thousandths("gamma"), bounds: RateBounds::NONE })
        }
        "eutcp" => Some(Eutcp { gamma: thousandths("gamma") }),
        "ewtcp" | "wutcp" | "wmptcp" => {
            claimed(&|objective| Some(Weighted { weight: common(&objective.coefficients)? }))
        }
        // H-MPTCP's weights are given in the same way as WMPTCP's (weights.h).
        "hmptcp" => {
            let weights = claim_of("wmptcp", &parameter, subflows)?.objective?.coefficients;
            Some(Hmptcp { weight: common(&weights)? })
        }
        "xmp" if !is_set("slides_delta") => Some(Xmp { beta: value("beta") }),
        // A BOS is an XMP without siblings.
        "bos" => Some(Xmp { beta: value("beta") }),
        "halving" => Some(Xmp { beta: 2.0 }),
        "dctcp" => Some(Dctcp { g: g() }),
        "dcm" | "dcmptcp" => Some(Vmcc { g: g() }),
        "vmcc" if !is_set("as_printed") => Some(Vmcc { g: g() }),
        "holnet_cc" | "holnet_cc_ecn" | "holnet_cc_cos" | "holnet_cc_cos_ecn" => claimed(&|objective| {
            let (alpha, weight) = (thousandths("alpha"), objective.weight);
            // gamma = g X^(1 - alpha)/T, X in bit/s.
            let gain = thousandths("gamma") * libm::pow(value("reference") * 1000.0, 1.0 - alpha);
            Some(HolnetCc { alpha, weight, gain, bounds: bounds(&objective) })
        }),
        "holnet_mcc" | "holnet_mcc_ecn" | "holnet_mcc_cos" | "holnet_mcc_cos_ecn" => claimed(&|objective| {
            let elastic = objective.limits == (0.0, f64::INFINITY);
            elastic.then_some(HolnetMcc)
        }),
        "holnet_uta" | "holnet_uta_ecn" => claimed(&|objective| {
            let weight = objective.weight;
            Some(HolnetUta { weight, gamma: 1.0, bounds: bounds(&objective) })
        }),
        _ => None,
    }
}

/// The common value of all.
fn common(values: &[f64]) -> Option<f64> {
    values.iter().all(|v| *v == values[0]).then(|| values[0])
}
