//! What a simulation by rounds cannot do.

use tresse_controllers::Signal;
use tresse_fabric::{Balancing, NonEct};

use crate::plan::Case;
use crate::plan::bound_scheme::BoundScheme;
use crate::plan::network::Routing;
use crate::schema::fidelity::Fidelity;

/// Why a case cannot run as its `fidelity` says, if it cannot.
pub(crate) fn refusal(case: &Case) -> Option<String> {
    if case.setting.fidelity == Fidelity::Packets {
        return None;
    }
    let what = case.beyond_rounds()?;
    Some(format!("\"rounds\" cannot simulate {what}: leave it out, or use \"packets\""))
}

impl Case {
    /// What of it a simulation by rounds does not have, in words; `None` if it has everything.
    pub fn beyond_rounds(&self) -> Option<String> {
        of_network(self)
            .or_else(|| of_drops(self))
            .or_else(|| self.bound_schemes.iter().find_map(of_scheme))
            .or_else(|| of_flows(self))
    }
}

fn of_network(case: &Case) -> Option<String> {
    let setting = &case.setting;
    if let Some(option) = setting.options.beyond_a_queue() {
        return Some(option.to_owned());
    }
    setting.packets.is_some().then(|| "the recording of packets (`[measure] packets`)".to_owned())
}

/// A fluid is not thinned by what RED drops before a queue is full.
fn of_drops(case: &Case) -> Option<String> {
    let drops =
        case.setting.fabric.configs.iter().any(|port| port.red.is_some() && port.non_ect == NonEct::Drop);
    let unmarked = case.bound_schemes.iter().find(|own| drops && !own.transport.ecn)?;
    Some(format!("RED that drops packets (scheme `{}`)", unmarked.scheme))
}

fn of_scheme(own: &BoundScheme) -> Option<String> {
    let name = &own.scheme;
    if let Some(what) = of_spraying(own) {
        return Some(format!("{what} (scheme `{name}`)"));
    }
    if let Routing::Nodes { balancing, .. } = &*own.routing {
        match balancing {
            Balancing::Ecmp => {}
            // It takes overtaken packets for lost ones by packets: goodputs were a third larger by rounds.
            Balancing::Spray if own.sprayed.is_none() => {
                return Some(format!(
                    "TCP over switches that spray, where packets overtake each other (scheme `{name}`)"
                ));
            }
            Balancing::Spray => {}
            _ => {
                return Some(format!(
                    "switches that choose packet by packet by more than chance (scheme `{name}`)"
                ));
            }
        }
    }
    if own.transport.plb.is_some() {
        return Some(format!("other paths during a run (`plb`, scheme `{name}`)"));
    }
    if own.transport.receive_buffer.is_some_and(|own| own.blocked == tresse_transport::Blocked::Reinject) {
        return Some(format!("reinjection (`blocked`, scheme `{name}`)"));
    }
    if own.transport.receive_buffer.is_some_and(|own| own.rule != tresse_transport::BufferRule::Fixed) {
        return Some(format!("a receive buffer that grows (scheme `{name}`)"));
    }
    None
}

fn of_spraying(own: &BoundScheme) -> Option<String> {
    let sprayed = own.sprayed.as_ref()?;
    let balancer = sprayed.balancer.balancer().name();
    if balancer != "oblivious" {
        return Some(format!("the balancer `{balancer}`, which spreads packets unevenly"));
    }
    let controller = own.controllers.controller();
    controller
        .signals()
        .contains(&Signal::Telemetry)
        .then(|| format!("the telemetry of `{}`", controller.name()))
}

fn of_flows(case: &Case) -> Option<String> {
    case.parts.iter().find_map(|part| {
        if part.datagrams.is_some() || part.has_datagrams() {
            return Some("datagrams".to_owned());
        }
        let writes = part.application.is_some() || part.has_applications();
        writes.then(|| "applications that write bit by bit".to_owned())
    })
}
