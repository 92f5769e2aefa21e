//! Load balancers: which of several equal ports a packet takes.

use tresse_units::{SplitMix, Time, mix};

use crate::holnet::{HolnetConfig, Law, Shares};
use crate::port::Port;
use crate::queued_port::QueuedPort;

/// The queues that a balancer can read.
pub(crate) struct Queues<'a> {
    pub ports: &'a [Port],
    pub queued_ports: &'a [QueuedPort],
    pub now: Time,
}

impl Queues<'_> {
    /// Bytes that a port has yet to send.
    #[inline]
    fn backlog(&self, port: u32) -> u64 {
        let port = &self.ports[port as usize];
        port.queued().map_or_else(|| port.backlog(self.now), |s| self.queued_ports[s].backlog(self.now))
    }
}

/// How a switch chooses among ports that lead to a destination on paths of the same length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Balancing {
    /// By a hash of the flow, salted by switch so that one choice does not decide the next (RFC 2992's hash;
    /// switches use the salt against polarisation).
    Ecmp,
    /// Each packet at random (random packet spraying: Dixit et al., INFOCOM 2013).
    Spray,
    /// Each packet to the shortest of `samples` random queues and the `memory` that were shortest last
    /// time (DRILL(d, m): Ghorbani et al., SIGCOMM 2017). Length is in bytes.
    Drill {
        /// d, at least 1.
        samples: u32,
        /// m.
        memory: u32,
    },
    /// Each packet at random, or each flowlet, by shares that a leaf moves away from congestion: HOLNET's
    /// percentage balancer, one for each destination (THESIS eq. (2.16)-(2.18); catalogue S37). Switches
    /// without hosts keep to shares in proportion to the rates. Needs [`Fabric::with_flags`].
    ///
    /// [`Fabric::with_flags`]: crate::Fabric::with_flags
    HolnetPercentage(HolnetConfig),
    /// The same at every switch, with shares that follow HOLNET's law for rates (THESIS eq. (2.15);
    /// catalogue S36).
    HolnetRate(HolnetConfig),
}

impl Balancing {
    /// Whether a switch chooses by the packet alone, so that its choice is known before the packet is there.
    pub fn is_known_ahead(self) -> bool {
        self == Self::Ecmp
    }
}

/// The memory of the switches' balancers.
#[derive(Debug)]
pub(crate) struct Chooser {
    pub balancing: Balancing,
    /// By node.
    salts: Vec<u32>,
    /// By node.
    draws: Vec<SplitMix>,
    /// DRILL: by group, the ports that were shortest, best first; groups may have fewer than `memory`.
    best: Vec<u32>,
    /// DRILL: ports under comparison, with their lengths.
    candidates: Vec<(u64, u32)>,
    /// HOLNET.
    pub shares: Option<Shares>,
}

/// Where a packet is: at a node, on its way to a destination, to which the ports of a group lead.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub node: u32,
    pub destination: u32,
    pub group: u32,
}

/// Purposes of random draws.
const SALT: u64 = 1;
const CHOICE: u64 = 2;

const NONE: u32 = u32::MAX;

impl Chooser {
    pub fn new(balancing: Balancing, nodes: u32, seed: u64) -> Self {
        let shares = match balancing {
            Balancing::HolnetPercentage(config) => Some(Shares::new(Law::Percentage, config)),
            Balancing::HolnetRate(config) => Some(Shares::new(Law::Rate, config)),
            _ => None,
        };
        Self {
            balancing,
            salts: (0..nodes).map(|n| SplitMix::named(seed, SALT, n.into()).next() as u32).collect(),
            draws: (0..nodes).map(|n| SplitMix::named(seed, CHOICE, n.into())).collect(),
            best: Vec::new(),
            candidates: Vec::new(),
            shares,
        }
    }

    /// There are `groups` groups now, and nothing is known about them.
    pub fn reset(&mut self, groups: usize) {
        if let Balancing::Drill { memory, .. } = self.balancing {
            self.best.clear();
            self.best.resize(groups * memory as usize, NONE);
        }
    }

    /// The ports of `members` that a flow may take from `node`: only one, if its choice is known.
    pub fn known<'a>(&self, node: u32, members: &'a [u32], hash: u32) -> &'a [u32] {
        match self.balancing {
            Balancing::Ecmp => &members[self.hashed(node, hash, members.len() as u32) as usize..][..1],
            _ => members,
        }
    }

    /// ECMP's choice among `count` ports.
    #[inline]
    fn hashed(&self, node: u32, hash: u32, count: u32) -> u32 {
        let name = u64::from(self.salts[node as usize]) << 32 | u64::from(hash);
        scale((mix(name) >> 32) as u32, count)
    }

    /// The port that a packet takes, of at least two `members` of the group.
    #[inline]
    pub fn choose(&mut self, at: Place, members: &[u32], hash: u32, queues: &Queues) -> u32 {
        let Place { node, group, .. } = at;
        let count = members.len() as u32;
        let place = match self.balancing {
            Balancing::Ecmp => self.hashed(node, hash, count),
            Balancing::Spray => below(&mut self.draws[node as usize], count),
            Balancing::Drill { samples, memory } => {
                return self.drill(node, group, members, (samples, memory), queues);
            }
            Balancing::HolnetPercentage(_) | Balancing::HolnetRate(_) => {
                let shares = self.shares.as_mut().expect("HOLNET's balancers have shares");
                let draws = &mut self.draws[node as usize];
                return shares.choose([node, at.destination], members, hash, queues.now, draws);
            }
        };
        members[place as usize]
    }

    /// DRILL's rule: the shortest of d samples and of m remembered ports; then remembers the m shortest.
    fn drill(
        &mut self,
        node: u32,
        group: u32,
        members: &[u32],
        (samples, memory): (u32, u32),
        queues: &Queues,
    ) -> u32 {
        let Self { draws, best, candidates, .. } = self;
        let draws = &mut draws[node as usize];
        candidates.clear();
        let mut add = |port: u32| {
            if !candidates.iter().any(|c: &(u64, u32)| c.1 == port) {
                candidates.push((queues.backlog(port), port));
            }
        };
        for _ in 0..samples {
            add(members[below(draws, members.len() as u32) as usize]);
        }
        let best = &mut best[(group * memory) as usize..][..memory as usize];
        for &port in best.iter().filter(|p| members.contains(p)) {
            add(port);
        }
        // Stable: among equals, the one that was drawn first.
        candidates.sort_by_key(|c| c.0);
        for (place, candidate) in best.iter_mut().zip(candidates.iter()) {
            *place = candidate.1;
        }
        candidates[0].1
    }
}

/// A number below `n`; each is drawn with the same probability within n / 2^32.
#[inline]
fn below(draws: &mut SplitMix, n: u32) -> u32 {
    scale(draws.next() as u32, n)
}

/// A hash of 32 bits as a number below `n`.
#[inline]
fn scale(hash: u32, n: u32) -> u32 {
    ((u64::from(hash) * u64::from(n)) >> 32) as u32
}
