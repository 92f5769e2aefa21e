//! The reports of nodes to each other about congestion, and the shares that follow from them.

use std::collections::BTreeMap;
use std::ops::Range;

use tresse_units::Time;

use super::Forwarding;
use crate::fabric::PathCongestion;
use crate::flag::Feedback;
use crate::holnet::Congested;
use crate::path::HopShares;
use crate::port::Port;
use crate::port::is_congested;

/// Where a path leads whose congestion a node reports.
#[derive(Debug, Clone, Copy)]
enum To {
    /// To a host, for the flow with this hash.
    Host { host: u32, hash: u32 },
    /// To all hosts of one destination, not beyond its switch: no load balancer chooses the last links.
    Destination(u32),
}

impl To {
    fn destination(self, forwarding: &Forwarding) -> u32 {
        match self {
            Self::Host { host, .. } => forwarding.destination[host as usize],
            Self::Destination(number) => number,
        }
    }
}

impl Forwarding {
    /// The ports by which `node` may send packets there: only one of them, if the choice is known.
    fn ports_to(&self, node: u32, to: To) -> &[u32] {
        if matches!(to, To::Host { host, .. } if host == node) {
            return &[];
        }
        let destination = to.destination(self);
        if node == self.anchors[destination as usize] {
            return match to {
                To::Host { host, .. } => &self.last_hop[host as usize..][..1],
                _ => &[],
            };
        }
        let place = node as usize * self.anchors.len() + destination as usize;
        let group = self.table[place];
        let Some(g) = self.groups.get(group as usize) else { return &[] };
        let members = g.usable(&self.members);
        match to {
            To::Host { hash, .. } => self.chooser.known(node, members, hash),
            To::Destination(_) => members,
        }
    }

    /// Whether `node` reports at `time` that its path to `to` is congested. A node with several paths avoids
    /// a congested one, so all must be congested. For a flow that stays on one path (ECMP) only that one
    /// counts: the thesis's signal is "per-flow-based".
    fn says(&self, node: u32, to: To, time: Time, feedback: Feedback, ports: &[Port]) -> bool {
        let taken = self.ports_to(node, to);
        !taken.is_empty()
            && taken.iter().all(|&port| {
                is_congested(ports, port, time)
                    || feedback == Feedback::Backward && self.hears(port, to, time, feedback, ports)
            })
    }

    /// Whether the node of `port` has learned by `time` that the next hop's path to `to` is congested. The
    /// report of the next hop takes the link's propagation delay.
    fn hears(&self, port: u32, to: To, time: Time, feedback: Feedback, ports: &[Port]) -> bool {
        let said = time.checked_sub(ports[port as usize].config().delay);
        said.is_some_and(|said| self.says(self.far_end(port), to, said, feedback, ports))
    }

    /// The ports from `from` to the host `to` for a flow with this hash; `None` where a node decides packet by packet, or no
    /// path leads there.
    pub fn path(&self, from: u32, to: u32, hash: u32) -> Option<Vec<u32>> {
        let (mut node, mut ports) = (from, Vec::new());
        while node != to {
            let &[port] = self.ports_to(node, To::Host { host: to, hash }) else { return None };
            ports.push(port);
            node = self.far_end(port);
        }
        Some(ports)
    }

    /// The ports from `from` to the host `to` if every node divides packets evenly among those on shortest paths, hop by hop:
    /// each with its share of the packets; none if no path leads there.
    pub fn even_shares(&self, from: u32, to: u32) -> HopShares {
        let (mut nodes, mut hops) = (BTreeMap::from([(from, 1.0)]), Vec::new());
        while !nodes.contains_key(&to) {
            let (mut hop, mut next) = (Vec::new(), BTreeMap::new());
            for (node, share) in nodes {
                let ports = self.ports_to_host(node, to);
                let each = share / ports.len() as f64;
                for &port in ports {
                    hop.push((port, each));
                    *next.entry(self.far_end(port)).or_insert(0.0) += each;
                }
            }
            if hop.is_empty() {
                return Vec::new();
            }
            hops.push(hop);
            nodes = next;
        }
        hops
    }

    /// The information of the host `from` about the path of its flow `hash` to the host `to`.
    pub fn heard(
        &self,
        [from, to]: [u32; 2],
        hash: u32,
        now: Time,
        feedback: Feedback,
        ports: &[Port],
    ) -> PathCongestion {
        let to = To::Host { host: to, hash };
        let taken = self.ports_to(from, to);
        PathCongestion {
            local: !taken.is_empty() && taken.iter().all(|&port| is_congested(ports, port, now)),
            next_hop: !taken.is_empty() && taken.iter().all(|&p| self.hears(p, to, now, feedback, ports)),
        }
    }
}

/// HOLNET's balancers.
impl Forwarding {
    /// Time between two updates of shares, if there are any.
    pub fn period(&self) -> Option<Time> {
        self.chooser.shares.as_ref().map(|shares| shares.period())
    }

    /// Finds the nodes and destinations whose shares are updated; nothing is known about them yet.
    pub(super) fn find_balancers(&mut self) {
        let Some(shares) = &mut self.chooser.shares else { return };
        let (nodes, destinations) = (self.network.nodes, self.anchors.len() as u32);
        shares.clear(nodes, destinations);
        let mut balances = vec![shares.everywhere(); nodes as usize];
        for &leaf in &self.anchors {
            balances[leaf as usize] = true;
        }
        let switches = self.network.hosts..nodes;
        // More than 2^32 pairs are possible.
        let place = |node: u32, to: u32| node as usize * destinations as usize + to as usize;
        shares.updated = switches
            .filter(|&node| balances[node as usize])
            .flat_map(|node| (0..destinations).map(move |destination| [node, destination]))
            .filter(|&[node, destination]| {
                let group = self.table[place(node, destination)];
                self.groups.get(group as usize).is_some_and(|g| g.length > 1)
            })
            .collect();
    }

    /// Restarts the shares of these nodes; if `port` is given, only those of the paths over it.
    pub(super) fn begin_shares(&mut self, nodes: Range<u32>, port: Option<u32>) {
        let Some(shares) = &mut self.chooser.shares else { return };
        let destinations = self.anchors.len() as u32;
        for (node, destination) in nodes.flat_map(|n| (0..destinations).map(move |d| (n, d))) {
            let group = self.table[node as usize * destinations as usize + destination as usize];
            let Some(group) = self.groups.get(group as usize).filter(|g| g.length > 1) else { continue };
            let members = &self.members[group.start as usize..][..group.length as usize];
            if port.is_none_or(|port| members.contains(&port)) {
                let rates = group.usable(&self.members).iter().map(|&p| self.rates[p as usize]);
                shares.begin([node, destination], rates, group.length);
            }
        }
    }

    /// Updates all shares, with what is known at `time`. A leaf learns of the path to another leaf: the last
    /// links, to the hosts there, are the same whatever path it takes.
    pub fn update_shares(&mut self, time: Time, feedback: Feedback, ports: &[Port]) {
        let Some(mut shares) = self.chooser.shares.take() else { return };
        let mut known = Vec::new();
        let updated = std::mem::take(&mut shares.updated);
        for &[node, destination] in &updated {
            let to = To::Destination(destination);
            known.clear();
            known.extend(self.ports_to(node, to).iter().map(|&port| Congested {
                local: is_congested(ports, port, time),
                next_hop: self.hears(port, to, time, feedback, ports),
            }));
            shares.update([node, destination], &known);
        }
        shares.updated = updated;
        self.chooser.shares = Some(shares);
    }

    /// How many updates have moved shares; `None` if the balancer has none.
    pub fn share_moves(&self) -> Option<u64> {
        self.chooser.shares.as_ref().map(|shares| shares.moves())
    }

    /// The share of each port, the mean over the destinations for which its node has a choice, in parts of 2^32; `None`
    /// where a node balances nothing. Empty if the balancer has no shares.
    pub fn mean_shares(&self) -> Vec<Option<u64>> {
        let Some(shares) = &self.chooser.shares else { return Vec::new() };
        let mut sums = vec![(0, 0); self.rates.len()];
        for &[node, destination] in &shares.updated {
            let ports = self.ports_to(node, To::Destination(destination));
            for (&port, share) in ports.iter().zip(shares.of([node, destination], ports.len())) {
                let (sum, destinations) = &mut sums[port as usize];
                (*sum, *destinations) = (*sum + share, *destinations + 1);
            }
        }
        sums.into_iter().map(|(sum, destinations)| sum.checked_div(destinations)).collect()
    }

    /// The ports by which `node` sends to the host `to`, with their shares in parts of 2^32; empty if it has
    /// no choice.
    pub fn shares(&self, node: u32, to: u32) -> Vec<(u32, u64)> {
        let destination = self.destination[to as usize];
        let ports = self.ports_to(node, To::Destination(destination));
        match &self.chooser.shares {
            Some(shares) if ports.len() > 1 => {
                let shares = shares.of([node, destination], ports.len());
                ports.iter().copied().zip(shares.iter().copied()).collect()
            }
            _ => Vec::new(),
        }
    }
}
