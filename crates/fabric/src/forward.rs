//! How switches pass on a packet without a fixed path: the ports on the shortest paths to its
//! destination, and which of them it takes.
//!
//! Hosts that are attached to one switch by one link are one destination until the last hop, so the tables
//! stay small: they have one row per node and one column per switch with hosts.

mod feedback;

use tresse_units::BitsPerSecond;

use crate::balance::{Balancing, Chooser, Place, Queues};
use crate::network::Network;

/// A node's decision about a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// It is for this node.
    Here,
    /// It leaves by this port.
    Port(u32),
    /// No port leads to its destination.
    Nowhere,
}

/// The forwarding tables of every node.
#[derive(Debug)]
pub(crate) struct Forwarding {
    network: Network,
    /// By host: the number of its destination.
    destination: Vec<u32>,
    /// By host: the port of the destination's node that leads to it; `NONE` if the node is the host.
    last_hop: Vec<u32>,
    /// By destination: its node.
    anchors: Vec<u32>,
    /// By node and destination: the number of a group; `NONE` where there is no path.
    table: Vec<u32>,
    groups: Vec<Group>,
    /// The ports of the groups; in each group those with a living link come first.
    members: Vec<u32>,
    /// By port: its link is down.
    dead: Vec<bool>,
    /// By port, bit/s.
    rates: Vec<BitsPerSecond>,
    chooser: Chooser,
    /// Links of the longest path.
    longest: u32,
}

/// Ports of a node that lead to one destination on paths of the same length.
#[derive(Debug, Clone, Copy)]
struct Group {
    node: u32,
    start: u32,
    length: u32,
    living: u32,
}

const NONE: u32 = u32::MAX;

impl Forwarding {
    /// Tables for `network`, with every link up.
    pub fn new(network: Network, rates: Vec<BitsPerSecond>, balancing: Balancing, seed: u64) -> Self {
        let dead = vec![false; network.ends.len()];
        let chooser = Chooser::new(balancing, network.nodes, seed);
        let mut forwarding = Self {
            network,
            destination: Vec::new(),
            last_hop: Vec::new(),
            anchors: Vec::new(),
            table: Vec::new(),
            groups: Vec::new(),
            members: Vec::new(),
            dead,
            rates,
            chooser,
            longest: 0,
        };
        forwarding.find_destinations();
        forwarding.reroute();
        forwarding
    }

    /// The node at the far end of a port's link.
    #[inline]
    pub fn far_end(&self, port: u32) -> u32 {
        self.network.ends[port as usize][1]
    }

    /// The ports by which `node` may pass on a packet for the host `to`; none if none leads there.
    pub fn ports_to_host(&self, node: u32, to: u32) -> &[u32] {
        let destination = self.destination[to as usize];
        if node == self.anchors[destination as usize] {
            let last = std::slice::from_ref(&self.last_hop[to as usize]);
            return if last[0] == NONE { &[] } else { last };
        }
        let place = node as usize * self.anchors.len() + destination as usize;
        self.groups.get(self.table[place] as usize).map_or(&[], |group| group.usable(&self.members))
    }

    /// Whether each packet takes a random one of a node's ports.
    pub fn sprays(&self) -> bool {
        self.chooser.balancing == Balancing::Spray
    }

    /// The fastest of them.
    pub fn fastest_port(&self, node: u32, to: u32) -> Option<u32> {
        let ports = self.ports_to_host(node, to).iter().copied();
        ports.min_by_key(|&port| std::cmp::Reverse(self.rates[port as usize]))
    }

    /// Whether a port's link ends at a host.
    #[inline]
    pub fn leads_to_host(&self, port: u32) -> bool {
        self.far_end(port) < self.network.hosts
    }

    /// The decision of `node` about a packet of a flow with this hash for the host `to`.
    #[inline]
    pub fn next(&mut self, node: u32, to: u32, hash: u32, queues: &Queues) -> Next {
        if node == to {
            return Next::Here;
        }
        let destination = self.destination[to as usize];
        if node == self.anchors[destination as usize] {
            return Next::Port(self.last_hop[to as usize]);
        }
        let place = node as usize * self.anchors.len() + destination as usize;
        let group = self.table[place];
        let Some(g) = self.groups.get(group as usize) else { return Next::Nowhere };
        let members = g.usable(&self.members);
        Next::Port(match *members {
            [only] => only,
            _ => self.chooser.choose(Place { node, destination, group }, members, hash, queues),
        })
    }

    /// The port by which the node at the far end of `port` will pass on a packet for the host `to`, if that
    /// is known before the packet is there and the packet is not for that node.
    #[inline]
    pub fn foresee(&self, port: u32, to: u32, hash: u32) -> Option<u32> {
        let node = self.far_end(port);
        if node == to {
            return None;
        }
        let destination = self.destination[to as usize];
        if node == self.anchors[destination as usize] {
            return Some(self.last_hop[to as usize]);
        }
        let place = node as usize * self.anchors.len() + destination as usize;
        let members = self.groups.get(self.table[place] as usize)?.usable(&self.members);
        match *self.chooser.known(node, members, hash) {
            [only] => Some(only),
            _ => None,
        }
    }

    /// How nodes choose among several ports.
    pub fn balancing(&self) -> Balancing {
        self.chooser.balancing
    }

    /// Links of the longest path from a node to a host.
    pub fn longest(&self) -> u32 {
        self.longest
    }

    /// The link of a port goes down or comes back. The port's own node avoids a dead one from now on;
    /// the others learn of it by [`Self::reroute`].
    pub fn set_link(&mut self, port: u32, up: bool) {
        self.dead[port as usize] = !up;
        let node = self.network.ends[port as usize][0];
        for group in self.groups.iter_mut().filter(|g| g.node == node) {
            group.sort(&mut self.members, &self.dead);
        }
        self.begin_shares(node..node + 1, None);
    }

    /// The rate of a port has changed: HOLNET's shares over it restart, in proportion to the rates.
    pub fn set_rate(&mut self, port: u32, rate: BitsPerSecond) {
        self.rates[port as usize] = rate;
        let node = self.network.ends[port as usize][0];
        self.begin_shares(node..node + 1, Some(port));
    }

    /// Recomputes the shortest paths over the links that are up, as a routing protocol does some time after a
    /// link has changed.
    pub fn reroute(&mut self) {
        let (incoming, outgoing) = (self.network.incoming(), self.network.outgoing());
        self.table = vec![NONE; self.network.nodes as usize * self.anchors.len()];
        self.groups.clear();
        self.members.clear();
        self.longest = 0;
        for destination in 0..self.anchors.len() {
            let distance = self.distances(self.anchors[destination], &incoming);
            self.add_groups(destination, &distance, &outgoing);
            let farthest = distance.into_iter().filter(|&d| d != NONE).max();
            self.longest = self.longest.max(farthest.unwrap_or(0) + 1);
        }
        self.chooser.reset(self.groups.len());
        self.find_balancers();
        self.begin_shares(0..self.network.nodes, None);
    }

    /// Hosts with one link to and from one switch share it as their destination.
    fn find_destinations(&mut self) {
        let network = &self.network;
        let incoming = network.incoming();
        let mut number = vec![NONE; network.nodes as usize];
        for host in 0..network.hosts {
            let (anchor, last) = match incoming[host as usize][..] {
                [port] if network.ends[port as usize][0] >= network.hosts => {
                    (network.ends[port as usize][0], port)
                }
                _ => (host, NONE),
            };
            let number = &mut number[anchor as usize];
            if *number == NONE {
                *number = self.anchors.len() as u32;
                self.anchors.push(anchor);
            }
            self.destination.push(*number);
            self.last_hop.push(last);
        }
    }

    /// By node: links to `anchor`, over switches and living links; `NONE` if there is no path.
    fn distances(&self, anchor: u32, incoming: &[Vec<u32>]) -> Vec<u32> {
        let mut distance = vec![NONE; self.network.nodes as usize];
        distance[anchor as usize] = 0;
        let mut nearest = vec![anchor];
        for step in 1.. {
            let mut next = Vec::new();
            for &node in &nearest {
                for &port in &incoming[node as usize] {
                    let from = self.network.ends[port as usize][0];
                    if !self.dead[port as usize] && distance[from as usize] == NONE {
                        distance[from as usize] = step;
                        // A host passes nothing on.
                        if from >= self.network.hosts {
                            next.push(from);
                        }
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            nearest = next;
        }
        distance
    }

    /// The groups towards one destination. A node's destinations over the same ports share a group.
    fn add_groups(&mut self, destination: usize, distance: &[u32], outgoing: &[Vec<u32>]) {
        let network = &self.network;
        let mut ports = Vec::new();
        for (node, own) in distance.iter().copied().enumerate() {
            let nearer = |&port: &u32| {
                let [_, to] = network.ends[port as usize];
                let next = distance[to as usize];
                let passes = to >= network.hosts || next == 0;
                own != NONE && next != NONE && next + 1 == own && passes && !self.dead[port as usize]
            };
            ports.clear();
            ports.extend(outgoing[node].iter().copied().filter(nearer));
            if ports.is_empty() {
                continue;
            }
            let row = &self.table[node * self.anchors.len()..][..destination];
            let same = row.iter().copied().filter(|&g| g != NONE).find(|&g| {
                let g = self.groups[g as usize];
                self.members[g.start as usize..][..g.length as usize] == ports[..]
            });
            let group = same.unwrap_or_else(|| {
                let (start, length) = (self.members.len() as u32, ports.len() as u32);
                self.members.extend(&ports);
                self.groups.push(Group { node: node as u32, start, length, living: length });
                self.groups.len() as u32 - 1
            });
            self.table[node * self.anchors.len() + destination] = group;
        }
    }
}

impl Group {
    /// A switch knows its own links: the living ones; with none alive packets are lost on any of them.
    #[inline]
    fn usable<'a>(&self, members: &'a [u32]) -> &'a [u32] {
        let count = if self.living == 0 { self.length } else { self.living };
        &members[self.start as usize..][..count as usize]
    }

    /// Living ports first; among them by number.
    fn sort(&mut self, members: &mut [u32], dead: &[bool]) {
        let members = &mut members[self.start as usize..][..self.length as usize];
        members.sort_unstable_by_key(|&p| (dead[p as usize], p));
        self.living = members.iter().filter(|&&p| !dead[p as usize]).count() as u32;
    }
}
