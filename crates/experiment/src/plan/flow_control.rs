//! Priority flow control on the links of a network: `[fabric] pfc`.

use tresse_fabric::{PfcConfig, PortConfig, QueuedPortConfig, Threshold, Topology, headroom};
use tresse_units::{Queue, Time};

use crate::diagnostic::{Wrong, wrong};
use crate::plan::topologies::virtual_hosts::VIRTUAL_HOSTS;
use crate::schema::bounds::LONGEST;
use crate::schema::fabric::Fabric;
use crate::schema::ports::Pfc;

/// The keys, checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FlowControl {
    xoff: u64,
    xon: u64,
    /// If it is not set, it is derived for each link.
    headroom: Option<u64>,
    reaction: Time,
    /// The largest packet, bytes.
    packet: u32,
}

impl FlowControl {
    /// The flow control of `fabric`, for packets of at most `packet` bytes; `None` if it has none.
    ///
    /// # Errors
    /// What is wrong, or cannot be combined with it, and the key of `[fabric]`.
    pub fn new(fabric: &Fabric, packet: u32) -> Result<Option<Self>, Wrong> {
        let Some(Pfc { xoff, xon, headroom, reaction }) = fabric.pfc else { return Ok(None) };
        let own = |key: &str, message: String| Err(Wrong::new(["fabric", "pfc", key], message));
        if xon > xoff {
            return own("xon", format!("{xon}: a pause ends at or below `xoff`, {xoff}"));
        }
        let reaction = reaction.map_or(0, |own| own.0);
        if reaction > LONGEST {
            return own("reaction", "at most 1000s".to_owned());
        }
        let cannot = |message: &str| Err(wrong("pfc", message));
        if fabric.trim.is_some() {
            return cannot("a port that pauses its senders has no packet to trim: leave out `trim` or `pfc`");
        }
        if !fabric.classes.is_empty() {
            return cannot("a port under flow control has its own two classes: leave out `classes`");
        }
        if fabric.buffer.is_some() {
            return cannot("a switch reserves `xoff` and the headroom for each link: leave out `buffer`");
        }
        if fabric.topology == VIRTUAL_HOSTS.name {
            return cannot("virtual switches are programs in hosts and do not pause: use another topology");
        }
        if fabric.host_limit() != Queue::Unlimited {
            let message = "a host that is paused keeps what its connections send: set host_queue = \"fq\" or \"unlimited\" with `pfc`";
            return Err(wrong("host_queue", message));
        }
        let headroom = headroom.map(|own| own.0);
        Ok(Some(Self { xoff: xoff.0, xon: xon.0, headroom, reaction, packet }))
    }

    /// A port with two classes; in a switch, the one that may be paused has no limit of its own.
    pub fn port(port: QueuedPortConfig, of_switch: bool) -> QueuedPortConfig {
        let mut port = QueuedPortConfig { count: 2, priority: true, ..port };
        if of_switch {
            port.classes[0].limit = Threshold::UNLIMITED;
        }
        port
    }

    /// Every link to a switch; `processing` is the longest time that a host spends on a packet.
    pub fn links(&self, topology: &Topology, ports: &[PortConfig], processing: Time) -> Vec<PfcConfig> {
        let (hosts, twins) = (topology.network.hosts, topology.twins());
        let links = (0..).zip(&topology.network.ends).filter(|(_, [_, to])| *to >= hosts);
        let link = |(port, &[from, _]): (u32, &[u32; 2])| {
            let twin = twins[port as usize];
            let (there, back) = (&ports[port as usize], &ports[twin as usize]);
            let delays = there.delay + back.delay + if from < hosts { processing } else { 0 };
            let usual = || headroom(there.rate, delays, self.reaction, back.rate, self.packet);
            PfcConfig {
                port,
                twin,
                xoff: self.xoff,
                xon: self.xon,
                headroom: self.headroom.unwrap_or_else(usual),
                reaction: self.reaction,
            }
        };
        links.map(link).collect()
    }
}
