//! Messages about utilities, and about problems and models without a solution.

use tresse_experiment::plan::Case;
use tresse_experiment::plan::bound_scheme::BoundScheme;
use tresse_optimum::claims::{Objective, Standing};
use tresse_optimum::fluid::FluidError;
use tresse_optimum::problem::Pooling;
use tresse_optimum::solve::OptimumError;
use tresse_optimum::utility::Utility;

use super::round::Round;

/// A utility in words.
pub(super) fn utility(objective: &Objective, standing: Standing) -> String {
    let utility = match (objective.utility, objective.pooling) {
        (Utility::AlphaFair { alpha: 1.0 }, _) => "log".to_owned(),
        (Utility::AlphaFair { alpha }, _) => format!("alpha-fair with alpha = {alpha}"),
        (Utility::Tcp { .. }, _) => "Reno's, THESIS (2.22)".to_owned(),
        (Utility::TcpSlowStart { .. }, _) => "Reno's in slow start, THESIS (2.21)".to_owned(),
        (Utility::Bos { .. }, Pooling::Pooled) => "XMP's, XMP (6)".to_owned(),
        (Utility::Bos { .. }, Pooling::Separate) => "BOS's, XMP (4)".to_owned(),
    };
    let pooling = match objective.pooling {
        Pooling::Pooled => "of the flow's whole rate",
        Pooling::Separate => "of each path's rate",
    };
    let stands_in = if standing == Standing::None { ", used instead" } else { "" };
    format!("{utility}, {pooling}{stands_in}")
}

/// Why there is no optimum for a whole round.
pub(super) fn no_lasting_links(case: &Case) -> Option<String> {
    let why = "links change while flows run (samples.parquet of a run has the optimum over time)";
    (!case.setting.changes.is_empty()).then(|| why.to_owned())
}

/// Why the flows of a round have no optimum.
pub(super) fn no_optimum(round: &Round, error: &OptimumError) -> String {
    match error {
        OptimumError::Infeasible(clash) => format!("{}: {}", all_named(round), clash.with_rates(&mbps)),
        error => format!("{}: {error}", all_named(round)),
    }
}

/// Why the flows of a round have no fluid equilibrium.
pub(super) fn no_fluid(round: &Round, error: &FluidError) -> String {
    match error {
        FluidError::Connection { expected, .. } => {
            format!("{}: the fluid model needs {expected}", all_named(round))
        }
        error => format!("{}: {error}", all_named(round)),
    }
}

fn all_named(round: &Round) -> String {
    round.schemes().iter().map(|s| named(s.bound_scheme)).collect::<Vec<_>>().join(", ")
}

/// A scheme with the parameters that differ from their defaults, one of which is the reason.
fn named(bound_scheme: &BoundScheme) -> String {
    let declared = bound_scheme.controllers.controller().parameters();
    let set = declared.iter().zip(bound_scheme.controllers.values()).filter(|(p, v)| **v != p.range.default);
    let set: Vec<String> = set
        .map(|(p, v)| match p.unit.strip_prefix("1/") {
            Some(parts) => format!("{} = {v}/{parts}", p.name),
            None => format!("{} = {v} {}", p.name, p.unit).trim_end().to_owned(),
        })
        .collect();
    let with = if set.is_empty() { String::new() } else { format!(" with {}", set.join(", ")) };
    format!("scheme `{}`{with}", bound_scheme.scheme)
}

/// A rate on the wire, for messages.
fn mbps(bps: f64) -> String {
    let text = format!("{:.3}", bps / 1e6);
    format!("{} Mbit/s", text.trim_end_matches('0').trim_end_matches('.'))
}
