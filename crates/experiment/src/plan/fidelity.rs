//! What a simulation by rounds cannot do.

use tresse_fabric::Balancing;
use tresse_path_manager::Config as Managers;

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
        of_network(self).or_else(|| self.bound_schemes.iter().find_map(of_scheme)).or_else(|| of_flows(self))
    }
}

fn of_network(case: &Case) -> Option<String> {
    let setting = &case.setting;
    if let Some(option) = setting.options.beyond_a_queue() {
        return Some(option.to_owned());
    }
    setting.packets.is_some().then(|| "the recording of packets (`[measure] packets`)".to_owned())
}

fn of_scheme(own: &BoundScheme) -> Option<String> {
    let name = &own.scheme;
    if own.sprayed.is_some() {
        return Some(format!("sprayed packets (scheme `{name}`)"));
    }
    if matches!(&*own.routing, Routing::Nodes { balancing, .. } if *balancing != Balancing::Ecmp) {
        return Some(format!("switches that choose packet by packet (scheme `{name}`)"));
    }
    if own.transport.receive_buffer.is_some_and(|own| own.blocked == tresse_transport::Blocked::Reinject) {
        return Some(format!("reinjection (`blocked`, scheme `{name}`)"));
    }
    if own.transport.receive_buffer.is_some_and(|own| own.rule != tresse_transport::BufferRule::Fixed) {
        return Some(format!("a receive buffer that grows (scheme `{name}`)"));
    }
    let sprays = matches!(own.manager.config(), Managers::Mmptcp(_));
    sprays.then(|| format!("the sprayed subflow of the path manager `mmptcp` (scheme `{name}`)"))
}

fn of_flows(case: &Case) -> Option<String> {
    case.parts.iter().find_map(|part| {
        if part.datagrams.is_some() || part.has_datagrams() {
            return Some("datagrams".to_owned());
        }
        if part.application.is_some() || part.has_applications() {
            return Some("applications that write bit by bit".to_owned());
        }
        part.persistent.then(|| "persistent connections".to_owned())
    })
}
