//! Bound schemes: a scheme with one number of subflows on the fabric, which carries flows.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use tresse_controllers as controllers;
use tresse_controllers::Signal;
use tresse_fabric::balancers::Declaration;
use tresse_fabric::{FlagConfig, Topology};
use tresse_path_manager::{self as path_manager, Config as Managers};
use tresse_transport as transport;

use crate::diagnostic::{Diagnostic, Wrong, did_you_mean};
use crate::plan::compatibility::{self, Combination, Culprit};
use crate::plan::network::{self, Routing};
use crate::plan::spraying::{self, Sprayed};
use crate::plan::{presets, utility_weight};
use crate::read::Loaded;
use crate::schema::path_manager::PathManager;
use crate::schema::scheme::{Echo, Scheme};

/// What carries a flow: a scheme with one number of subflows, for packets of one class.
#[derive(Debug, Clone)]
pub struct BoundScheme {
    /// The name of the scheme.
    pub scheme: String,
    /// The subflows that a connection should have; `None` if its path manager decides.
    pub subflows: Option<u32>,
    /// What opens and closes the subflows.
    pub manager: path_manager::ConfiguredManager,
    /// The path manager that decides during a run which subflows there are; `None` if they are opened at the start
    /// and stay.
    pub decides: Option<&'static str>,
    /// Whether it should detect subflows that share a path.
    pub detects: bool,
    /// How many addresses, and so fixed routes, a sender has for a connection to choose from.
    pub paths: u32,
    /// What chooses the paths of its packets.
    pub routing: Arc<Routing>,
    /// The congestion flags, if ports keep any.
    pub flags: Option<FlagConfig>,
    pub controllers: Arc<controllers::ConfiguredController>,
    pub transport: transport::Config,
    /// The class of its packets in the ports of switches.
    pub class: u8,
    /// How its packets are sprayed, if they are.
    pub sprayed: Option<Sprayed>,
}

impl BoundScheme {
    /// A readable name: `xmp-2`, or `opn` if the path manager decides.
    pub fn label(&self) -> String {
        match self.subflows {
            Some(n) => format!("{}-{n}", self.scheme),
            None => self.scheme.clone(),
        }
    }
}

/// A scheme on its fabric, before the number of its subflows is chosen.
#[derive(Debug)]
pub(crate) struct OnFabric {
    pub scheme: Scheme,
    pub transport: transport::Config,
    is_sprayed: bool,
    pub routing: Arc<Routing>,
    balancer: &'static Declaration,
    flags: Option<FlagConfig>,
    path_manager: PathManager,
    /// The numbers of subflows that it should have.
    pub counts: Vec<u32>,
}

impl OnFabric {
    /// Whether `subflows` sets how many there are.
    pub fn takes_subflows(&self) -> bool {
        self.path_manager.takes_subflows()
    }
}

/// Every scheme on its fabric, by name.
///
/// # Errors
/// The first error, with its location in the file.
pub(crate) fn schemes<'a>(
    loaded: &'a Loaded,
    fabric: &Topology,
    own: &Routing,
    common: &transport::Config,
) -> Result<IndexMap<&'a str, OnFabric>, Diagnostic> {
    let experiment = &loaded.experiment;
    let wrong = |path: &[&str], message: String| loaded.error_at(path, &message);
    let mut schemes = IndexMap::new();
    for (name, scheme) in &experiment.schemes {
        let path = |key| ["schemes", name.as_str(), key];
        let scheme = presets::expand(scheme).map_err(|e| loaded.error(e.below_all(["schemes", name])))?;
        let routing = network::routing(&experiment.fabric, &experiment.changes, &scheme, own);
        let (routing, balancer) = routing.map_err(|e| {
            let below = e.keys().strip_prefix(&["fabric", "routing"].map(str::to_owned));
            let own = below.map(|below| Wrong::new(below, &e.message).below_all(path("routing")));
            loaded.error(own.unwrap_or(e))
        })?;
        let flags = network::flags(&experiment.fabric, &routing).map_err(|e| loaded.error(e))?;
        let transport = experiment.transport.of_scheme(scheme.transport.as_ref(), common);
        let transport =
            transport.map_err(|(below, e)| wrong(&[&["schemes", name.as_str()], &*below].concat(), e))?;
        let is_sprayed = experiment.transport.is_sprayed(scheme.transport.as_ref());
        let addresses = fabric.addresses(0).len() as u32;
        let path_manager = scheme.path_manager.clone().unwrap_or_else(|| usual(&routing, addresses));
        let counts = match &scheme.subflows {
            Some(counts) => counts.values().to_vec(),
            None => vec![scheme.path_manager.as_ref().map_or(1, PathManager::usual_subflows)],
        };
        if counts.is_empty() {
            return Err(wrong(&path("subflows"), "at least one number of subflows".into()));
        }
        let routing = Arc::new(routing);
        schemes.insert(
            &**name,
            OnFabric { scheme, transport, is_sprayed, routing, balancer, flags, path_manager, counts },
        );
    }
    Ok(schemes)
}

/// The bound scheme of `name` with `subflows` subflows, for a workload's class of packets.
///
/// # Errors
/// The first error, with its location in the file.
pub(crate) fn bind(
    loaded: &Loaded,
    fabric: &Topology,
    name: &str,
    of: &OnFabric,
    subflows: u32,
    class: u8,
) -> Result<BoundScheme, Diagnostic> {
    let wrong = |path: &[&str], message: String| loaded.error_at(path, &message);
    let path = |key| ["schemes", name, key];
    let OnFabric { scheme, transport, is_sprayed, routing, balancer, flags, path_manager, .. } = of;
    let (controllers, transport) =
        build_scheme(transport, scheme).map_err(|e| loaded.error(e.below_all(["schemes", name])))?;
    let sprayed = spraying::of(scheme, controllers.controller(), *is_sprayed, routing, subflows)
        .map_err(|e| loaded.error(e.below_all(["schemes", name])))?;
    let largest = controllers::MAX_SUBFLOWS as u32;
    let ways = routing.most().min(largest);
    let is_fixed = matches!(**routing, Routing::Fixed(_));
    let addresses = fabric.addresses(0).len() as u32;
    let most = if is_fixed { ways } else { largest };
    let takes_subflows = path_manager.takes_subflows();
    if subflows == 0 || subflows > most {
        let whose = match scheme.subflows {
            Some(_) => String::new(),
            None => format!(" (the default of {})", path_manager.name),
        };
        let message = match is_fixed {
            true if most == 1 => {
                format!("{subflows} subflows{whose}: this fabric has one path: set `subflows = 1`")
            }
            true => format!(
                "{subflows} subflows{whose}: this fabric has 1 to {most} distinct paths; with `routing = \"ecmp\"`, \
                 several subflows may take the same one"
            ),
            false => format!("{subflows} subflows{whose}: a connection has 1 to {most}"),
        };
        return Err(wrong(&path("subflows"), message));
    }
    let manager = path_manager.resolve(subflows).map_err(|e| loaded.error(e.below_all(["schemes", name])))?;
    if subflows > 1 && !takes_subflows {
        let manager = &path_manager.name;
        let message = format!("{manager} decides the number of subflows itself: leave it out");
        return Err(wrong(&path("subflows"), message));
    }
    let together = Combination {
        routing: balancer,
        flags: flags.is_some(),
        addresses,
        address_pairs: routing.address_pairs(addresses).min(largest),
        plb: transport.plb.is_some(),
        ecn: transport.ecn,
        next_hop: controllers.controller().signals().contains(&Signal::NextHop),
        manager: manager.config(),
    };
    compatibility::check(&together).map_err(|incompatible| match incompatible.part {
        Culprit::Plb if scheme.transport.as_ref().is_some_and(|t| t.plb.is_some()) => {
            wrong(&["schemes", name, "transport", "plb"], incompatible.reason)
        }
        Culprit::Plb => wrong(&["transport", "plb"], incompatible.reason),
        Culprit::Ecn => wrong(&path("ecn"), incompatible.reason),
        Culprit::Controller => wrong(&path("controller"), incompatible.reason),
        Culprit::PathManager => wrong(&path("path_manager"), incompatible.reason),
        Culprit::Subflows => wrong(&path("subflows"), incompatible.reason),
    })?;
    Ok(BoundScheme {
        scheme: name.to_owned(),
        subflows: takes_subflows.then_some(subflows),
        paths: match &sprayed {
            Some(sprayed) if is_fixed => sprayed.paths,
            _ if takes_subflows => subflows,
            _ => ways,
        },
        detects: matches!(manager.config(), Managers::PathSharing(_)),
        decides: (!matches!(manager.config(), Managers::Fixed(_))).then_some(manager.declaration().name),
        manager,
        routing: Arc::clone(routing),
        flags: *flags,
        controllers,
        transport,
        class,
        sprayed,
    })
}

/// The path manager of a scheme that names none: a fixed number of subflows, distinguished by what the routing
/// looks at, or by the links of hosts that have several.
fn usual(routing: &Routing, addresses: u32) -> PathManager {
    let by = match routing {
        Routing::Nodes { .. } if addresses == 1 => "port",
        Routing::Fixed(_) | Routing::Nodes { .. } => "address",
    };
    PathManager { name: "fixed".to_owned(), parameters: BTreeMap::from([("by".to_owned(), by.into())]) }
}

type Built = (Arc<controllers::ConfiguredController>, transport::Config);

/// The controllers of a scheme, and `base` with its ECN.
fn build_scheme(base: &transport::Config, scheme: &Scheme) -> Result<Built, Wrong> {
    let Some(controller) = controllers::find(&scheme.controller) else {
        let known: Vec<&str> = controllers::all().iter().map(controllers::Controller::name).collect();
        let hint = did_you_mean(&scheme.controller, known.iter().copied());
        let message = format!(
            "there is no controller `{name}`{hint} (available: {}; load your own with \
             `--controller {name}.c`)",
            known.join(", "),
            name = scheme.controller,
        );
        return Err(Wrong::key("controller", message));
    };
    let weight = utility_weight::of(controller, scheme).map_err(|e| Wrong::key("utility", e))?;
    let weight = weight.map(|w| ("weight", w));
    let settings = scheme.parameters.iter().map(|(k, &v)| (k.as_str(), v)).chain(weight);
    let built = controllers::ConfiguredController::new(controller, settings)
        .map_err(|e| Wrong::key("parameters", e.to_string()))?;
    check_rates(&built).map_err(|e| Wrong::key("parameters", e))?;
    let ecn = scheme.ecn.unwrap_or(controller.needs_ecn());
    if controller.needs_ecn() && !ecn {
        return Err(Wrong::key("ecn", format!("{} needs ECN", controller.name())));
    }
    if scheme.echo.is_some() && !ecn {
        let message = format!(
            "{} needs no ECN, so its packets are not ECN-capable and no mark is echoed\n\nhint: ecn = true, or leave \
             `echo` out",
            controller.name()
        );
        return Err(Wrong::key("echo", message));
    }
    let echo = scheme.echo.unwrap_or(Echo::Dctcp);
    if controller.needs_exact_ce() && echo == Echo::Rfc3168 {
        return Err(Wrong::key(
            "echo",
            format!("{} needs every mark counted: echo = \"dctcp\" or \"two-bit\"", controller.name()),
        ));
    }
    let config = transport::Config {
        ecn,
        echo: match echo {
            Echo::Rfc3168 => transport::Echo::Rfc3168,
            Echo::Dctcp => transport::Echo::Dctcp,
            Echo::TwoBit => transport::Echo::TwoBit,
        },
        ..*base
    };
    Ok((Arc::new(built), config))
}

/// THESIS (2.11): θ is at most Θ. 0 means that the bound is not set.
fn check_rates(scheme: &controllers::ConfiguredController) -> Result<(), String> {
    let declared = scheme.controller().parameters();
    let value = |name: &str| declared.iter().zip(scheme.values()).find(|(p, v)| p.name == name && **v > 0);
    match (value("min_rate"), value("max_rate")) {
        (Some((p, min)), Some((_, max))) if min > max => {
            Err(format!("min_rate = {min} {} is above max_rate = {max} {0}", p.unit))
        }
        _ => Ok(()),
    }
}
