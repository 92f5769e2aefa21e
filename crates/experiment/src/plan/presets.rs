//! HOLNET's design space (THESIS Table 2.2): eight named combinations of a controller and a load balancer.

use crate::diagnostic::{Wrong, did_you_mean};
use crate::schema::routing::RoutingKey;
use crate::schema::scheme::{Detection, Scheme};

/// A row of Table 2.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// Its name in `preset`.
    pub name: &'static str,
    /// Its controller; with congestion signalled by ECN, `_ecn` is added.
    pub controller: &'static str,
    /// Whether the network balances load.
    pub balances: bool,
    /// Whether flows have bounds: rates that they need, or can use.
    pub classes: bool,
}

impl Preset {
    /// Whether its flows have several subflows.
    fn several(&self) -> bool {
        self.controller.starts_with("holnet_mcc")
    }
}

const fn preset(name: &'static str, controller: &'static str, balances: bool, classes: bool) -> Preset {
    Preset { name, controller, balances, classes }
}

/// The rows, in the order of the table.
pub const ALL: [Preset; 8] = [
    preset("holnet-cc", "holnet_cc", false, false),
    preset("holnet-mcc", "holnet_mcc", false, false),
    preset("holnet-cc-cos", "holnet_cc_cos", false, true),
    preset("holnet-mcc-cos", "holnet_mcc_cos", false, true),
    preset("holnet-cc-lb", "holnet_cc", true, false),
    preset("holnet-mcc-lb", "holnet_mcc", true, false),
    preset("holnet-cc-cos-lb", "holnet_cc_cos", true, true),
    preset("holnet-mcc-cos-lb", "holnet_mcc_cos", true, true),
];

/// The load balancer of the presets with one.
const BALANCER: &str = "holnet-percentage";

/// `scheme` with its preset expanded.
///
/// # Errors
/// The wrong key, and why.
pub fn expand(scheme: &Scheme) -> Result<Scheme, Wrong> {
    let Some(name) = &scheme.preset else {
        return match scheme.detection {
            Some(_) => Err(Wrong::key("detection", "only for schemes with a `preset`")),
            None if scheme.controller.is_empty() => {
                Err(Wrong::key("controller", "a scheme has either a `controller` or a `preset`"))
            }
            None => Ok(scheme.clone()),
        };
    };
    let Some(preset) = ALL.iter().find(|p| p.name == name) else {
        let known = ALL.map(|p| p.name);
        let hint = did_you_mean(name, known);
        return Err(Wrong::key(
            "preset",
            format!("there is no preset `{name}`{hint} (available: {})", known.join(", ")),
        ));
    };
    if !scheme.controller.is_empty() {
        return Err(Wrong::key(
            "controller",
            format!("the preset `{name}` has its own: leave out one of them"),
        ));
    }
    if preset.balances && scheme.routing.is_some() {
        return Err(Wrong::key("routing", format!("the preset `{name}` has its own: leave out one of them")));
    }
    let alone = match &scheme.subflows {
        Some(counts) => counts.values().contains(&1),
        None => scheme.path_manager.is_none(),
    };
    if preset.several() && alone {
        let message = format!(
            "`{name}` couples several subflows, but there is only one: use subflows = 2, or `{}`",
            name.replace("-mcc", "-cc")
        );
        return Err(Wrong::key("subflows", message));
    }
    let bounds = ["min_rate", "max_rate"];
    if preset.classes && bounds.iter().all(|b| scheme.parameters.get(*b).is_none_or(|&v| v == 0)) {
        let message = format!(
            "`{name}` is for flows with a minimum or maximum rate: set parameters.min_rate, parameters.max_rate or \
             both; without them, use `{}`",
            name.replace("-cos", "")
        );
        return Err(Wrong::key("parameters", message));
    }
    let ecn = if scheme.detection == Some(Detection::Ecn) { "_ecn" } else { "" };
    let balancer = || RoutingKey { name: BALANCER.to_owned(), parameters: Default::default() };
    Ok(Scheme {
        controller: format!("{}{ecn}", preset.controller),
        routing: if preset.balances { Some(balancer()) } else { scheme.routing.clone() },
        ..scheme.clone()
    })
}
