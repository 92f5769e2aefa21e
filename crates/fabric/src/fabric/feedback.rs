//! Congestion flags, and what hosts learn about them.

use tresse_units::Time;

use super::{FORWARD, Fabric, LAST_PORT, RouteId};
use crate::flag::{Feedback, FlagConfig};
use crate::path::HopShares;
use crate::port::Port;
use crate::port::is_congested;

/// A host's information about the congestion on the path of one of its flows (THESIS Table 2.1, HOLNET-UTA).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathCongestion {
    /// The host's own port is congested.
    pub local: bool,
    /// Its next hop has reported that the path from there on is congested.
    pub next_hop: bool,
}

impl<P: Copy> Fabric<P> {
    /// Lets every port keep a congestion flag, and the nodes report them to each other: each node reports
    /// whether its path to a destination is congested, and the node before it learns this one propagation
    /// delay later; so every link must have the same delay both ways. The cost of reporting is not modelled
    /// (catalogue S40).
    ///
    /// A port with several classes is congested if one of its queues is. A port whose only limit is a shared buffer
    /// has [`FlagConfig::unlimited`].
    ///
    /// # Panics
    /// If the fraction is not 1 to 1000, or `unlimited` is 0.
    #[must_use]
    pub fn with_flags(mut self, config: FlagConfig) -> Self {
        assert!((1..=1000).contains(&config.fraction), "a fraction of the limit, above 0, to 1");
        assert!(config.unlimited.value() > 0, "a queue that is empty is not congested");
        for port in &mut self.ports {
            port.give_flag(config);
        }
        self.flags = Some(config);
        self.remember();
        self
    }

    /// The information of the host at the start of `route` about the congestion on it. `hash` is the flow's
    /// [`Header::hash`](crate::Header::hash). Without [`Fabric::with_flags`] nothing is congested.
    ///
    /// A node with several paths is congested only if all of them are, because it avoids a congested one; but
    /// under ECMP only the flow's own path counts.
    pub fn heard(&self, route: RouteId, hash: u32) -> PathCongestion {
        let row = &self.routes[route.0 as usize..][..self.stride];
        let feedback = self.flags.map_or(Feedback::OneHop, |f| f.feedback);
        if row[0] > LAST_PORT {
            let forwarding = self.forwarding.as_ref().expect("a forwarded route");
            return forwarding.heard([row[1], row[0] & !FORWARD], hash, self.now, feedback, &self.ports);
        }
        let ports = self.route(route);
        let reach = if feedback == Feedback::OneHop { 1 } else { ports.len() };
        let mut time = Some(self.now);
        let mut beyond = ports.windows(2).take(reach).map(|hop| {
            time = time.and_then(|t| t.checked_sub(self.ports[hop[0] as usize].config().delay));
            time.is_some_and(|t| is_congested(&self.ports, hop[1], t))
        });
        PathCongestion {
            next_hop: beyond.any(|congested| congested),
            local: is_congested(&self.ports, ports[0], self.now),
        }
    }

    /// The ports that packets with this hash take now from the start of `route`; `None` where nodes decide packet by packet.
    pub fn path(&self, route: RouteId, hash: u32) -> Option<Vec<u32>> {
        let row = &self.routes[route.0 as usize..][..self.stride];
        if row[0] > LAST_PORT {
            return self.forwarding.as_ref()?.path(row[1], row[0] & !FORWARD, hash);
        }
        Some(self.route(route).to_vec())
    }

    /// Whether nodes spray packets.
    pub fn sprays(&self) -> bool {
        self.forwarding.as_ref().is_some_and(|own| own.sprays())
    }

    /// The ports that packets take now from the start of a `route` on which nodes divide them evenly, hop by hop: each with its
    /// share of the packets. None if no path leads there, or the route is fixed.
    pub fn even_shares(&self, route: RouteId) -> HopShares {
        let row = &self.routes[route.0 as usize..][..self.stride];
        let forwarding = self.forwarding.as_ref().filter(|_| row[0] > LAST_PORT);
        forwarding.map_or(Vec::new(), |own| own.even_shares(row[1], row[0] & !FORWARD))
    }

    /// The ports by which `node` sends to the host `to` under HOLNET's balancers, each with its share in
    /// parts of 2^32, which add up to 2^32; empty if the node has no choice or another balancer.
    pub fn shares(&self, node: u32, to: u32) -> Vec<(u32, u64)> {
        self.forwarding.as_ref().map_or(Vec::new(), |f| f.shares(node, to))
    }

    /// Carries out the updates of shares before `now`. At an instant, updates come last: they see the queues
    /// after all its events. Nothing happens between two events, and ports know the past, so an update need
    /// not be an event.
    #[cold]
    pub(super) fn update_shares(&mut self, now: Time) {
        let forwarding = self.forwarding.as_mut().expect("nodes that balance");
        let feedback = self.flags.expect("HOLNET's balancers need congestion flags").feedback;
        let period = forwarding.period().expect("a balancer with updates");
        let mut time = self.next_update;
        while time < now && self.ports.iter().filter_map(Port::flag).any(|f| f.matters(time)) {
            forwarding.update_shares(time, feedback, &self.ports);
            time += period;
        }
        // Without congestion nothing moves, and no congestion begins before `now`.
        self.next_update = now.next_multiple_of(period);
    }

    /// Lets the ports remember their flags for as long as anybody may learn of them: one site may be up to a window
    /// ahead of another.
    pub(super) fn remember(&mut self) {
        let links = self.forwarding.as_ref().map_or(self.stride as u64, |f| f.longest().into());
        let delay = self.ports.iter().map(|p| p.config().delay).max().unwrap_or(0);
        let window = self.agenda.window();
        for flag in self.ports.iter_mut().filter_map(Port::flag_mut) {
            flag.memory = links * delay + window;
        }
    }

    /// The queues of a queued port have changed.
    pub(super) fn flag_server(&mut self, number: u32) {
        let port = &mut self.ports[number as usize];
        let queued = port.queued();
        if let (Some(flag), Some(queued)) = (port.flag_mut(), queued) {
            let until = self.queued_ports[queued].congested_until(self.now, flag);
            flag.set(self.now, until);
        }
    }
}
