//! How a fabric is put together: its ports, its sites, nodes that choose, and queued ports.

use std::collections::VecDeque;
use std::sync::Arc;

use tresse_units::NEVER;

use super::ahead::{FORESEEN, Foreseen};
use super::late::Late;
use super::{Fabric, Kind, NOT_QUEUED};
use crate::agenda::Agenda;
use crate::balance::Balancing;
use crate::entity::ARRIVALS;
use crate::forward::Forwarding;
use crate::network::Network;
use crate::packet::Packets;
use crate::port::{Port, PortConfig};
use crate::queued_port::{Pool, PoolConfig, QueuedPort, QueuedPortConfig};
use crate::sites::Sites;
use crate::ties::Ties;

/// Ports, of which those next to each other share equal configurations.
fn with_shared_configs(configs: &[PortConfig]) -> Vec<Port> {
    const NEAR: usize = 8;
    let mut near: VecDeque<Arc<PortConfig>> = VecDeque::new();
    let port = |config: &PortConfig| {
        let shared = near.iter().find(|shared| ***shared == *config).map(Arc::clone);
        Port::new(shared.unwrap_or_else(|| {
            near.truncate(NEAR - 1);
            near.push_front(Arc::new(*config));
            Arc::clone(&near[0])
        }))
    };
    configs.iter().map(port).collect()
}

/// An agenda for the events of these ports.
pub(super) fn agenda<'a>(ports: impl Iterator<Item = &'a PortConfig>, sites: &Sites, ties: Ties) -> Agenda {
    Agenda::new(sites, ports.map(PortConfig::longest_stay).max().unwrap_or(0), ties)
}

impl<P: Copy> Fabric<P> {
    /// A fabric of these ports, with routes of at most `longest_route` ports. `seed` decides the order of
    /// packets that arrive at the same instant.
    pub fn new(ports: &[PortConfig], longest_route: usize, seed: u64) -> Self {
        assert!(ports.len() < ARRIVALS as usize, "fewer than 2^23 ports");
        let sites = Sites::one(ports.len());
        Self {
            now: 0,
            ports: with_shared_configs(ports),
            packets: Packets::for_ports(ports.len()),
            agenda: agenda(ports.iter(), &sites, Ties::new(seed)),
            sites: Arc::new(sites),
            latest: 0,
            routes: Vec::new(),
            stride: longest_route.max(1) + 1,
            free_routes: Vec::new(),
            hops: 0,
            forwarding: None,
            queued_ports: Vec::new(),
            queued_of: Vec::new(),
            late: Late::default(),
            foreseen: [Foreseen::NONE; FORESEEN],
            pools: Vec::new(),
            flags: None,
            next_update: NEVER,
            spilt: Vec::new(),
            part: None,
            telemetry: None,
            pfc: None,
            kind: Kind::Fixed,
        }
    }

    /// Lets time advance site by site. To be called before the first packet is sent.
    #[must_use]
    pub fn with_sites(mut self, sites: Arc<Sites>) -> Self {
        assert_eq!(sites.far.len(), self.ports.len(), "the sites of these ports");
        self.agenda = agenda(self.ports.iter().map(Port::config), &sites, self.agenda.ties());
        self.sites = sites;
        self.remember();
        self
    }

    /// Lets the nodes of `network`, whose ports these are, choose the ports of packets on routes of
    /// [`Fabric::add_forwarded`]. `seed` names the switches' random streams.
    #[must_use]
    pub fn with_forwarding(mut self, network: Network, balancing: Balancing, seed: u64) -> Self {
        assert_eq!(network.ends.len(), self.ports.len(), "a network has two ends for each port");
        assert!(self.sites.ports == 0 || balancing.is_known_ahead(), "a switch that chooses is one site");
        let rates = self.ports.iter().map(|p| p.config().rate).collect();
        let forwarding = Forwarding::new(network, rates, balancing, seed);
        self.next_update = forwarding.period().unwrap_or(NEVER);
        self.forwarding = Some(Box::new(forwarding));
        if self.kind == Kind::Fixed {
            self.kind = Kind::Plain;
        }
        self.remember();
        self
    }

    /// Makes ports queued ones: those with several classes, in a shared buffer of `pools`, and those whose
    /// link may change.
    #[must_use]
    pub fn with_queued_ports(
        mut self,
        queued_ports: &[(u32, QueuedPortConfig)],
        pools: &[PoolConfig],
    ) -> Self {
        assert!(self.sites.ports == 0 || pools.is_empty(), "ports that share a buffer are of one site");
        self.pools = pools.iter().map(|&p| Pool::new(p)).collect();
        if !queued_ports.is_empty() {
            self.queued_of = vec![NOT_QUEUED; self.ports.len()];
            self.kind = Kind::Queued;
        }
        for (port, config) in queued_ports {
            self.queued_of[*port as usize] = self.queued_ports.len() as u32;
            let port = &mut self.ports[*port as usize];
            assert!(port.config().drop_until.is_none(), "a queued port drops one by one");
            assert!(config.pool.is_none_or(|p| (p as usize) < pools.len()), "a queued port's pool exists");
            port.give_to(self.queued_ports.len() as u32);
            self.queued_ports.push(QueuedPort::new(port.config(), config));
        }
        self
    }
}
