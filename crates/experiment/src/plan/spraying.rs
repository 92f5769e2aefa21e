//! How the packets of a scheme are sprayed: its balancer, and the number of paths it picks among.

use std::sync::Arc;

use tresse_balancers::{self as balancers, ConfiguredBalancer, MAX_PATHS};
use tresse_controllers::{Controller, Signal};

use crate::diagnostic::{Wrong, did_you_mean};
use crate::plan::network::Routing;
use crate::schema::host_balancer::HostBalancer;
use crate::schema::scheme::Scheme;

/// How packets are sprayed.
#[derive(Debug, Clone)]
pub struct Sprayed {
    /// Picks the path of each packet.
    pub balancer: Arc<ConfiguredBalancer>,
    /// The number of paths.
    pub paths: u32,
}

/// The number of paths of a scheme that does not give one.
const USUAL_PATHS: u32 = 256;

const NOT_SPRAYED: &str = "packets are sprayed only with profile = \"spray\"";

/// How a scheme with these controllers is sprayed; `None` if its transport sprays no packets.
///
/// # Errors
/// What cannot be combined, at the scheme's key.
pub(crate) fn of(
    scheme: &Scheme,
    controller: Controller,
    is_sprayed: bool,
    routing: &Routing,
    subflows: u32,
) -> Result<Option<Sprayed>, Wrong> {
    let signals = controller.signals();
    if !is_sprayed {
        if signals.contains(&Signal::Packets) {
            let message =
                format!("{} needs the fate of every packet: profile = \"spray\"", controller.name());
            return Err(Wrong::key("controller", message));
        }
        if scheme.balancer.is_some() {
            return Err(Wrong::key("balancer", NOT_SPRAYED.to_owned()));
        }
        return match scheme.paths {
            Some(_) => Err(Wrong::key("paths", NOT_SPRAYED.to_owned())),
            None => Ok(None),
        };
    }
    if subflows != 1 {
        let message = "a sprayed connection has one window over all its paths: set their number in `paths`, and 1 subflow";
        return Err(Wrong::key("subflows", message.to_owned()));
    }
    if scheme.path_manager.is_some() {
        let message = "a sprayed connection has no subflows to manage: leave out this key and set `balancer`";
        return Err(Wrong::key("path_manager", message.to_owned()));
    }
    if signals.contains(&Signal::NextHop) {
        let message = format!(
            "{} needs signals from the next hop, which sprayed packets do not carry",
            controller.name()
        );
        return Err(Wrong::key("controller", message));
    }
    let (most, usual) = match routing {
        Routing::Fixed(_) => (routing.most().min(MAX_PATHS), routing.most().min(USUAL_PATHS)),
        Routing::Nodes { .. } => (MAX_PATHS, USUAL_PATHS),
    };
    let paths = scheme.paths.unwrap_or(usual);
    if !(1..=most).contains(&paths) {
        return Err(Wrong::key(
            "paths",
            format!(
                "{paths}: this network has at most {most}{}",
                match routing {
                    Routing::Fixed(_) if most < MAX_PATHS =>
                        " with fixed routes; with `routing = \"ecmp\"` more are possible",
                    _ => "",
                }
            ),
        ));
    }
    let balancer = balancer(scheme.balancer.as_ref())?;
    Ok(Some(Sprayed { balancer: Arc::new(balancer), paths }))
}

fn balancer(key: Option<&HostBalancer>) -> Result<ConfiguredBalancer, Wrong> {
    let name = key.map_or("reps", HostBalancer::name);
    let Some(declared) = balancers::find(name) else {
        let known: Vec<&str> = balancers::all().iter().map(|own| own.name()).collect();
        let hint = did_you_mean(name, known.iter().copied());
        let message = format!("there is no balancer `{name}`{hint} (available: {})", known.join(", "));
        return Err(Wrong::key("balancer", message));
    };
    let settings = key.into_iter().flat_map(HostBalancer::settings);
    ConfiguredBalancer::new(declared, settings).map_err(|e| Wrong::key("balancer", e.to_string()))
}
