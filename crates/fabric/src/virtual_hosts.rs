//! Virtualised hosts: machines (virtual ones or containers) behind virtual switches, with several virtual
//! NICs each on the physical NICs of their host (VMCC §III to §V, fig. 6).
//!
//! The virtual switch of a host is a bridge for each physical NIC, as with Linux's bridges: a virtual NIC is
//! attached to the bridge of the physical NIC that it is mapped to, and everything that it sends leaves the
//! host there. The physical NICs with the same number, on all hosts, lead to one top-of-rack switch; trunks
//! join these switches. So with two NICs there are two disjoint paths between machines whose virtual NICs are
//! mapped alike.
//!
//! A virtual NIC is a node with an address of its machine. Its rate is a cap that is not work-conserving: its
//! port to the bridge has this rate and the buffer behind it, even if everything else is idle.
//!
//! A virtual NIC that may be remapped, to another physical NIC or with its machine to another host, has a
//! link to each bridge that it may come to. All but one of them are down.

use std::sync::Arc;

use tresse_units::{BitsPerSecond, Time, mix};

use crate::entity::ARRIVALS;
use crate::loss::{Loss, Probability};
use crate::network::Network;
use crate::port::{NonEct, PortConfig, Processing};
use crate::threshold::Threshold;
use crate::topology::Topology;

/// Which physical NIC of its host a virtual NIC is mapped to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mapping {
    /// The i-th virtual NIC of each machine to the i-th physical one, beyond the last from the first on.
    Disjoint,
    /// All virtual NICs of a machine to one; the machines take turns.
    Shared,
    /// Every other machine, starting with the first, as with [`Mapping::Disjoint`]; those between them as
    /// with [`Mapping::Shared`], taking turns.
    HalfShared,
    /// By a hash of the virtual NIC's address, as balanced bonds do.
    Hashed,
}

/// Virtualised hosts, all alike. Links are alike in both directions, except for the caps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualHostsConfig {
    /// Physical hosts; at least 1.
    pub hosts: u32,
    /// Physical NICs of each; at least 1.
    pub nics: u32,
    /// Machines on each; at least 1.
    pub machines: u32,
    /// Virtual NICs of each machine; at least 1.
    pub virtual_nics: u32,
    /// By physical host: how its virtual NICs are mapped.
    pub mapping: Vec<Mapping>,
    /// Rates by layer: the cap of a virtual NIC, then physical NICs, then trunks.
    pub rate: [BitsPerSecond; 3],
    /// The cap on what a virtual NIC receives; without it the rate of a physical NIC.
    pub receive: Option<BitsPerSecond>,
    /// One-way delays by layer.
    pub delay: [Time; 3],
    /// Queue sizes of the switches' ports by layer.
    pub limit: [Threshold; 3],
    /// Marking thresholds of the switches' ports by layer.
    pub mark: [Threshold; 3],
    /// The buffer behind a virtual NIC's cap: size and marking threshold.
    pub host: (Threshold, Threshold),
    /// The treatment of packets above the threshold that cannot be marked.
    pub non_ect: NonEct,
    /// How likely a port loses a packet, by layer.
    pub loss: [Probability; 3],
    /// Where virtual NICs may be remapped to: the number of the virtual NIC and that of the bridge.
    pub spare: Vec<[u32; 2]>,
}

/// Why virtualised hosts cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VirtualHostsError {
    /// There are none, or too many.
    #[error("{0} virtual NICs on {1} physical ones: at least one of each, and at most 65536")]
    Size(u64, u64),
    /// The list of mappings has another length.
    #[error("{0} mappings for {1} hosts: expected one for each")]
    Mappings(usize, u32),
    /// There are more ports than fit.
    #[error(
        "{ports} ports, most of them on the trunks between the top-of-rack switches of {nics} NICs: a network \
         has fewer than 2^23; use fewer NICs per host"
    )]
    Ports {
        /// This many.
        ports: u64,
        /// Physical NICs of a host.
        nics: u32,
    },
    /// A remapping that leads nowhere.
    #[error(
        "virtual NIC {0} cannot be remapped to bridge {1}: it is already there, or is remapped twice, or \
         one of them does not exist"
    )]
    Spare(u32, u32),
}

/// Virtualised hosts: the mapping of NICs, and where each port leads.
#[derive(Debug, Clone)]
pub struct VirtualHosts {
    config: VirtualHostsConfig,
    /// By virtual NIC: the bridge that it is attached to at the start.
    bridges: Vec<u32>,
}

const LAYERS: [&str; 3] = ["vnic", "nic", "trunk"];
const MOST: u64 = 1 << 16;

impl VirtualHosts {
    /// Virtualised hosts.
    ///
    /// # Errors
    /// If there are none or too many of something, or a mapping leads nowhere.
    pub fn new(config: VirtualHostsConfig) -> Result<Self, VirtualHostsError> {
        let c = &config;
        let per_host = u64::from(c.machines).saturating_mul(c.virtual_nics.into());
        let virtual_nics = per_host.saturating_mul(c.hosts.into());
        let nics = u64::from(c.hosts) * u64::from(c.nics);
        if !(1..=MOST).contains(&virtual_nics) || !(1..=MOST).contains(&nics) {
            return Err(VirtualHostsError::Size(virtual_nics, nics));
        }
        let trunks = u64::from(c.nics) * u64::from(c.nics - 1);
        let ports = 2 * (virtual_nics + nics + c.spare.len() as u64) + trunks;
        if ports >= u64::from(ARRIVALS) {
            return Err(VirtualHostsError::Ports { ports, nics: c.nics });
        }
        if c.mapping.len() != c.hosts as usize {
            return Err(VirtualHostsError::Mappings(c.mapping.len(), c.hosts));
        }
        let bridges = (0..virtual_nics as u32)
            .map(|v| {
                let (machine, i) = (v / c.virtual_nics, v % c.virtual_nics);
                let host = machine / c.machines;
                let on_host = machine % c.machines;
                let nic = match c.mapping[host as usize] {
                    Mapping::HalfShared if on_host % 2 == 1 => on_host / 2 % c.nics,
                    Mapping::Disjoint | Mapping::HalfShared => i % c.nics,
                    Mapping::Shared => on_host % c.nics,
                    Mapping::Hashed => (mix(v.into()) % u64::from(c.nics)) as u32,
                };
                host * c.nics + nic
            })
            .collect();
        let this = Self { bridges, config };
        for (i, &[virtual_nic, bridge]) in this.config.spare.iter().enumerate() {
            let exists = virtual_nic < this.virtual_nics() && bridge < this.bridge_count();
            if !exists
                || this.bridges[virtual_nic as usize] == bridge
                || this.config.spare[..i].contains(&[virtual_nic, bridge])
            {
                return Err(VirtualHostsError::Spare(virtual_nic, bridge));
            }
        }
        Ok(this)
    }

    /// The longest route, ports: over a trunk.
    pub const LONGEST_ROUTE: usize = 5;

    /// Pairs of a virtual NIC of one machine and one of another.
    pub fn pairs(&self) -> u32 {
        self.config.virtual_nics.saturating_mul(self.config.virtual_nics)
    }

    /// The route between the virtual NICs of a pair, as they are mapped at the start. The first pairs have
    /// the same number at both ends; in the next ones the receiver's number is one ahead, and so on. After
    /// the last pair they begin again.
    pub fn route(&self, from: u32, to: u32, pair: u32) -> Vec<u32> {
        let [from, to] = self.pair(from, to, pair);
        self.between(from, to)
    }

    /// The way back of [`VirtualHosts::route`].
    pub fn route_back(&self, from: u32, to: u32, pair: u32) -> Vec<u32> {
        let [from, to] = self.pair(from, to, pair);
        self.between(to, from)
    }

    fn pair(&self, from: u32, to: u32, pair: u32) -> [u32; 2] {
        let count = self.config.virtual_nics;
        let (i, ahead) = (pair % count, pair / count % count);
        [from * count + i, to * count + (i + ahead) % count]
    }

    /// Ports, in the order of [`VirtualHosts::topology`].
    fn between(&self, from: u32, to: u32) -> Vec<u32> {
        let [count, bridges, nics] = [self.virtual_nics(), self.bridge_count(), self.config.nics];
        let [up, down] = [from, to].map(|v| self.bridge(v));
        if up == down {
            return vec![from, count + to];
        }
        let mut route = vec![from, 2 * count + up];
        if let Some(trunk) = self.trunks().position(|t| t == (up % nics, down % nics)) {
            route.push(2 * (count + bridges) + trunk as u32);
        }
        route.extend([2 * count + bridges + down, count + to]);
        route
    }

    /// The bridge, and so the physical NIC, that a virtual NIC is mapped to at the start. The NIC `n` of host
    /// `h` has the number h x (NICs of a host) + n.
    pub fn bridge(&self, virtual_nic: u32) -> u32 {
        self.bridges[virtual_nic as usize]
    }

    /// The ports of the link between a virtual NIC and a bridge, to it and from it, if there is one.
    pub fn link(&self, virtual_nic: u32, bridge: u32) -> Option<[u32; 2]> {
        let count = self.virtual_nics();
        if self.bridges.get(virtual_nic as usize) == Some(&bridge) {
            return Some([virtual_nic, count + virtual_nic]);
        }
        let i = self.config.spare.iter().position(|s| *s == [virtual_nic, bridge])?;
        let first = self.first_spare() + 2 * i as u32;
        Some([first, first + 1])
    }

    /// The ports of links that are down at the start.
    pub fn down(&self) -> std::ops::Range<u32> {
        let first = self.first_spare();
        first..first + 2 * self.config.spare.len() as u32
    }

    /// The network. Its hosts are the machines, their addresses the virtual NICs, racks the physical hosts.
    pub fn topology(&self) -> Topology {
        let c = &self.config;
        let (first_bridge, first_switch) = (self.virtual_nics(), self.virtual_nics() + self.bridge_count());
        let (mut ends, mut layers) = (Vec::new(), Vec::new());
        let mut add = |layer: u8, from: u32, to: u32| {
            ends.push([from, to]);
            layers.push(layer);
        };
        for (v, bridge) in (0..).zip(&self.bridges) {
            add(0, v, first_bridge + bridge);
        }
        for (v, bridge) in (0..).zip(&self.bridges) {
            add(0, first_bridge + bridge, v);
        }
        for b in 0..self.bridge_count() {
            add(1, first_bridge + b, first_switch + b % c.nics);
        }
        for b in 0..self.bridge_count() {
            add(1, first_switch + b % c.nics, first_bridge + b);
        }
        for (from, to) in self.trunks() {
            add(2, first_switch + from, first_switch + to);
        }
        for &[v, bridge] in &c.spare {
            add(0, v, first_bridge + bridge);
            add(0, first_bridge + bridge, v);
        }
        let configs = ends.iter().zip(&layers).map(|(&[from, to], &layer)| self.port(from, to, layer.into()));
        let machines = c.hosts * c.machines;
        Topology {
            configs: configs.collect(),
            streams: (0..ends.len() as u32).collect(),
            layers,
            layer_names: LAYERS.map(Arc::from).to_vec(),
            node_names: self.node_names(),
            racks: (0..machines).map(|m| m / c.machines).collect(),
            pods: vec![0; machines as usize],
            network: Network { hosts: self.virtual_nics(), nodes: first_switch + c.nics, ends },
        }
    }

    fn port(&self, from: u32, to: u32, layer: usize) -> PortConfig {
        let c = &self.config;
        let sends = from < self.virtual_nics();
        let receives = to < self.virtual_nics();
        let (limit, mark) = if sends { c.host } else { (c.limit[layer], c.mark[layer]) };
        PortConfig {
            rate: if receives { c.receive.unwrap_or(c.rate[1]) } else { c.rate[layer] },
            delay: c.delay[layer],
            limit,
            mark,
            non_ect: c.non_ect,
            drop_until: None,
            processing: Processing::NONE,
            red: None,
            // The seed of a run is not known yet: see `Topology::ports`.
            loss: Loss::new(c.loss[layer], 0, 0),
        }
    }

    /// `vnic HOST.MACHINE.NUMBER`, `bridge HOST.NIC`, `switch NIC`.
    fn node_names(&self) -> Vec<String> {
        let c = &self.config;
        let virtual_nic = |v: u32| {
            let (machine, i) = (v / c.virtual_nics, v % c.virtual_nics);
            format!("vnic {}.{}.{i}", machine / c.machines, machine % c.machines)
        };
        let bridge = |b: u32| format!("bridge {}.{}", b / c.nics, b % c.nics);
        let virtual_nics = (0..self.virtual_nics()).map(virtual_nic);
        let switches = (0..c.nics).map(|s| format!("switch {s}"));
        virtual_nics.chain((0..self.bridge_count()).map(bridge)).chain(switches).collect()
    }

    /// Both directions between every two top-of-rack switches.
    fn trunks(&self) -> impl Iterator<Item = (u32, u32)> {
        let nics = self.config.nics;
        (0..nics).flat_map(move |from| (0..nics).filter(move |&to| to != from).map(move |to| (from, to)))
    }

    /// Whether a host has one physical NIC only, so that all its virtual NICs share it, however they are mapped.
    pub(crate) fn single(&self) -> bool {
        self.config.nics == 1
    }

    fn virtual_nics(&self) -> u32 {
        self.bridges.len() as u32
    }

    fn bridge_count(&self) -> u32 {
        self.config.hosts * self.config.nics
    }

    fn first_spare(&self) -> u32 {
        2 * (self.virtual_nics() + self.bridge_count()) + self.trunks().count() as u32
    }
}
