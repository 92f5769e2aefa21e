//! The sites of a network: the smallest parts of it whose events have to be kept in the order of time.

use std::ops::Range;

use tresse_units::{BitsPerSecond, NEVER, SECOND, Time};

use crate::topology::Topology;

/// In place of a site: the port that the packet enters next.
pub(crate) const NEXT_PORT: u32 = u32::MAX;

/// A district has as many ports, or nodes, as the cache can hold with their events: 2 to this power.
const PORTS_BITS: u32 = 12;
const NODES_BITS: u32 = 8;

/// The sites of a network. A port of a switch is one, if it is known which port a packet enters next when it leaves one, and
/// no port knows of another. Otherwise a node is one: a switch that chooses among its ports when a packet is there, a host
/// with its flows. The addresses of a host are one site, and so are nodes that are joined by a link without delay.
#[derive(Debug, Clone)]
pub struct Sites {
    count: u32,
    /// Those below are ports.
    pub(crate) ports: u32,
    /// A district has 2 to this power sites that are next to each other.
    pub(crate) district_bits: u32,
    window: Time,
    /// By port: the site at its far end, or [`NEXT_PORT`].
    pub(crate) far: Vec<u32>,
    /// By port: its own site.
    pub(crate) own: Vec<u32>,
    /// By host: its site.
    hosts: Vec<u32>,
    /// The sites of hosts and of nothing else.
    only_hosts: Range<u32>,
    /// The most links into a host, and the most that they carry, bit/s; `None` if packets may come to a host at any
    /// rate.
    into_host: Option<(u64, BitsPerSecond)>,
}

impl Sites {
    /// One site, of which nothing is known but its events.
    pub fn one(ports: usize) -> Self {
        Self {
            count: 1,
            ports: 0,
            district_bits: PORTS_BITS,
            window: 1 << 20,
            far: vec![0; ports],
            own: vec![0; ports],
            hosts: Vec::new(),
            only_hosts: 0..0,
            into_host: None,
        }
    }

    /// The sites of a network. With `whole_nodes` the ports of a switch are one site, as they must be where it does not choose
    /// by the packet alone ([`Balancing::is_known_ahead`](crate::Balancing::is_known_ahead)), or where ports share a buffer or
    /// pause each other.
    pub fn new(topology: &Topology, whole_nodes: bool) -> Self {
        let network = &topology.network;
        let (ports, nodes) = (network.ends.len() as u32, network.nodes);
        let mut groups = Groups((0..nodes).collect());
        let mut is_plain: Vec<bool> = (0..nodes).map(|node| node >= network.hosts && !whole_nodes).collect();
        for host in 0..topology.hosts() {
            let first = topology.addresses(host).start;
            topology.addresses(host).for_each(|other| groups.join(first, other));
        }
        for (config, &[from, to]) in topology.configs.iter().zip(&network.ends) {
            if config.delay == 0 {
                groups.join(from, to);
                (is_plain[from as usize], is_plain[to as usize]) = (false, false);
            }
        }
        let group: Vec<u32> = (0..nodes).map(|node| groups.of(node)).collect();
        let district_bits = if whole_nodes { NODES_BITS } else { PORTS_BITS };
        let next_district = |site: u32| site.next_multiple_of(1 << district_bits);
        // Hosts have districts of their own.
        let first = if whole_nodes { 0 } else { next_district(ports) };
        let switches = next_district(first + network.hosts);
        let site = |node: u32| match group[node as usize] {
            host if host < network.hosts => first + host,
            switch => switches + switch - network.hosts,
        };
        let far = |&[_, to]: &[u32; 2]| if is_plain[to as usize] { NEXT_PORT } else { site(to) };
        let own =
            |(port, &[from, _]): (u32, &[u32; 2])| if is_plain[from as usize] { port } else { site(from) };
        let between = topology.configs.iter().zip(&network.ends);
        let between = between.filter(|(_, ends)| group[ends[0] as usize] != group[ends[1] as usize]);
        let window = between.map(|(config, _)| config.delay).min().unwrap_or(NEVER);
        if window == NEVER {
            return Self::one(ports as usize);
        }
        let is_host = |node: u32| node < network.hosts;
        let joins_host = |ends: &[u32; 2]| ends.iter().any(|&node| group[node as usize] < network.hosts);
        let mut at_once = topology.configs.iter().zip(&network.ends).filter(|(config, _)| config.delay == 0);
        let are_apart = !at_once.any(|(_, ends)| joins_host(ends));
        let is_paced = !network.ends.iter().any(|&[from, to]| is_host(from) && is_host(to));
        Self {
            count: switches + nodes - network.hosts,
            ports: first,
            district_bits,
            window: window.min(u32::MAX.into()),
            far: network.ends.iter().map(far).collect(),
            own: (0..).zip(&network.ends).map(own).collect(),
            hosts: (0..topology.hosts()).map(|host| site(topology.addresses(host).start)).collect(),
            only_hosts: first..first + if are_apart { network.hosts } else { 0 },
            into_host: is_paced.then(|| into_host(topology)),
        }
    }

    /// Packets may come to a host faster than its links carry them: where a core wakes up and then takes all that wait.
    #[must_use]
    pub fn with_bursts(self) -> Self {
        Self { into_host: None, ..self }
    }

    /// Whether there are several.
    pub fn are_several(&self) -> bool {
        self.count > 1
    }

    /// One more than the largest number of a site.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// The least time that a packet takes from one site to another, ps.
    pub(crate) fn window(&self) -> Time {
        self.window
    }

    /// Whether all that arrives at hosts in a window is known when it begins: links delay it.
    pub fn know_deliveries(&self) -> bool {
        !self.only_hosts.is_empty()
    }

    /// The sites of hosts, to which no link without delay leads; empty if there is such a link.
    pub(crate) fn only_hosts(&self) -> Range<u32> {
        self.only_hosts.clone()
    }

    /// The site of a host.
    pub fn of_host(&self, host: u32) -> u32 {
        self.hosts.get(host as usize).copied().unwrap_or(0)
    }

    /// Packets of at least `bytes`, but for the last one, that may arrive at a host within a window.
    pub fn within_reach(&self, bytes: u32) -> u32 {
        let Some((links, rate)) = self.into_host else { return u32::MAX };
        let most = u128::from(self.window) * u128::from(rate) / u128::from(8 * SECOND);
        // Each link may be carrying one already.
        (most / u128::from(bytes) + u128::from(links) + 2).min(u32::MAX.into()) as u32
    }
}

/// The most links into a host, and the most that they carry.
fn into_host(topology: &Topology) -> (u64, BitsPerSecond) {
    let mut into = vec![(0, 0); topology.network.nodes as usize];
    for (config, &[_, to]) in topology.configs.iter().zip(&topology.network.ends) {
        let (links, rate) = into[to as usize];
        into[to as usize] = (links + 1, rate + config.rate);
    }
    let sum = |host: u32| {
        topology.addresses(host).map(|node| into[node as usize]).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
    };
    (0..topology.hosts()).map(sum).fold((0, 0), |a, b| (a.0.max(b.0), a.1.max(b.1)))
}

/// Nodes that belong together: each knows another one of its group, or itself if it stands for the group.
struct Groups(Vec<u32>);

impl Groups {
    fn of(&mut self, mut node: u32) -> u32 {
        while self.0[node as usize] != node {
            let next = self.0[node as usize];
            self.0[node as usize] = self.0[next as usize];
            node = next;
        }
        node
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.of(a), self.of(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}
