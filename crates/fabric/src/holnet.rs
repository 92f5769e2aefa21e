//! HOLNET's load balancers: each port of a node towards a destination has a share of the traffic, and the
//! shares move away from congestion (THESIS eq. (2.15)-(2.18), Table 2.1; catalogue S36, S37).
//!
//! While all n ports are equally congested, the laws know no better one and drive the shares apart: eq.
//! (2.17) with every rate falling by 1 is n p - 1. It is then left to the source to slow down.

use tresse_units::{SplitMix, Time};

use crate::flowlet::Flowlets;

/// The common part of HOLNET's two balancers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HolnetConfig {
    /// r_min of Table 2.1, in parts of 1000: below 1000; the thesis has 100.
    pub r_min: u32,
    /// r_max of Table 2.1, in parts of 1000: above 1000, to 1000000; the thesis has 1500.
    pub r_max: u32,
    /// How far shares move in an update, in parts of 1000: z and the length of a step in one, which the
    /// thesis does not distinguish; 1 to 1000. The catalogue has 50 (S37).
    pub kappa: u32,
    /// Shares are updated at the multiples of this, at least 1 ps; the thesis has RTT/4.
    pub period: Time,
    /// A packet takes the port of the flow's last packet unless that was at least this long ago: flowlets, as
    /// in CONGA and LetFlow. Without it, each packet chooses its own port.
    pub flowlet_gap: Option<Time>,
}

/// How shares follow from rates of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Law {
    /// Eq. (2.17).
    Percentage,
    /// Eq. (2.15). Rates, scaled to add up to the arriving traffic, which the sources decide.
    Rate,
}

/// The shares of every node.
#[derive(Debug)]
pub(crate) struct Shares {
    law: Law,
    config: HolnetConfig,
    /// By node and destination: where its shares begin; `NONE` if it has only one path there, or none.
    start: Vec<u32>,
    destinations: u32,
    /// In parts of [`ONE`]; the shares of one node and destination add up to it.
    shares: Vec<u64>,
    flowlets: Flowlets,
    /// The nodes and destinations whose shares are updated.
    pub updated: Vec<[u32; 2]>,
    /// How many updates have moved shares.
    moves: u64,
}

const NONE: u32 = u32::MAX;

/// All of it.
const ONE: u64 = 1 << 32;

/// A node's information about one of its ports.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Congested {
    /// The congestion of the port itself: cg.
    pub local: bool,
    /// The congestion of the path after the next hop, as that hop reported it.
    pub next_hop: bool,
}

impl Shares {
    /// # Panics
    /// If a parameter is out of its range.
    pub fn new(law: Law, config: HolnetConfig) -> Self {
        assert!(config.r_min < 1000, "r_min is below 1");
        assert!((1001..=1_000_000).contains(&config.r_max), "r_max is above 1, to 1000");
        assert!((1..=1000).contains(&config.kappa), "kappa is above 0, to 1");
        assert!(config.period > 0, "updates are some time apart");
        Self {
            law,
            config,
            start: Vec::new(),
            destinations: 0,
            shares: Vec::new(),
            flowlets: Flowlets::default(),
            updated: Vec::new(),
            moves: 0,
        }
    }

    /// Whether the nodes that no hosts are attached to move their shares, too: "load balancing is
    /// done only by the source host side leaf nodes" (THESIS §2.5, item 2) is said about the
    /// percentage balancer.
    pub fn everywhere(&self) -> bool {
        self.law == Law::Rate
    }

    /// Time between updates.
    pub fn period(&self) -> Time {
        self.config.period
    }

    /// Forgets everything.
    pub fn clear(&mut self, nodes: u32, destinations: u32) {
        self.start = vec![NONE; nodes as usize * destinations as usize];
        self.destinations = destinations;
        self.shares.clear();
        self.updated.clear();
    }

    /// Starts the shares of a pair, a node and a destination, in proportion to the rates of its usable ports,
    /// of which there are never more than `most`.
    pub fn begin(&mut self, pair: [u32; 2], rates: impl Iterator<Item = u64>, most: u32) {
        let place = self.place(pair);
        if self.start[place] == NONE {
            self.start[place] = self.shares.len() as u32;
            self.shares.resize(self.shares.len() + most as usize, 0);
        }
        let begin = self.start[place] as usize;
        let mut count = 0;
        for (share, rate) in self.shares[begin..].iter_mut().zip(rates) {
            (*share, count) = (rate, count + 1);
        }
        normalise(&mut self.shares[begin..][..count]);
    }

    /// The shares of the `count` ports of a pair, in parts of 2^32.
    pub fn of(&self, pair: [u32; 2], count: usize) -> &[u64] {
        &self.shares[self.start[self.place(pair)] as usize..][..count]
    }

    /// The port of `members` that a packet of the flow `hash` takes now.
    pub fn choose(
        &mut self,
        pair: [u32; 2],
        members: &[u32],
        hash: u32,
        now: Time,
        draws: &mut SplitMix,
    ) -> u32 {
        let shares = &self.shares[self.start[self.place(pair)] as usize..][..members.len()];
        let mut new = || draw(shares, members, draws);
        match self.config.flowlet_gap {
            Some(gap) => self.flowlets.port(pair, hash, (now, gap), members, new),
            None => new(),
        }
    }

    /// One update of the shares of a pair.
    pub fn update(&mut self, pair: [u32; 2], ports: &[Congested]) {
        let begin = self.start[self.place(pair)] as usize;
        let moved = update(self.law, &self.config, &mut self.shares[begin..][..ports.len()], ports);
        self.moves += u64::from(moved);
    }

    /// How many updates have moved shares.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    fn place(&self, [node, destination]: [u32; 2]) -> usize {
        node as usize * self.destinations as usize + destination as usize
    }
}

/// A port at random, each with its share.
fn draw(shares: &[u64], members: &[u32], draws: &mut SplitMix) -> u32 {
    let mut rest = draws.next() >> 32;
    for (&share, &port) in shares.iter().zip(members) {
        if rest < share {
            return port;
        }
        rest -= share;
    }
    unreachable!("shares add up to 2^32")
}

/// Eq. (2.18) by Table 2.1, then eq. (2.17) or (2.15), for one step of kappa; then shares below 0 are 0.
///
/// r^in belongs to the node: r_max if any port towards the destination is congested or has a congested next
/// hop (catalogue S36). While none is, r^in is 1 and nothing moves.
///
/// Whether any share has moved.
fn update(law: Law, config: &HolnetConfig, shares: &mut [u64], ports: &[Congested]) -> bool {
    if !ports.iter().any(|p| p.local || p.next_hop) {
        return false;
    }
    // In millionths.
    let pull = |port: &Congested| {
        let r_out = if port.next_hop { config.r_min } else { 1000 };
        let free = if port.local { 0 } else { i128::from(config.r_max) * i128::from(r_out) };
        free - 1_000_000
    };
    let total: i128 = ports.iter().map(pull).sum();
    let old = shares.to_vec();
    for (share, port) in shares.iter_mut().zip(ports) {
        // With shares that add up to 1, (2.17) is pull - share x (sum of all pulls).
        let change = match law {
            Law::Percentage => pull(port) * i128::from(ONE) - i128::from(*share) * total,
            Law::Rate => pull(port) * i128::from(ONE),
        };
        let moved = i128::from(*share) + i128::from(config.kappa) * change / 1_000_000_000;
        *share = moved.max(0) as u64;
    }
    if shares.iter().all(|&share| share == 0) {
        shares.copy_from_slice(&old); // nowhere to go
        return false;
    }
    normalise(shares);
    *shares != old[..]
}

/// Makes shares add up to [`ONE`]. The rounding error goes to the largest.
fn normalise(shares: &mut [u64]) {
    let total: u128 = shares.iter().map(|&s| u128::from(s)).sum();
    for share in shares.iter_mut() {
        *share = (u128::from(*share) * u128::from(ONE) / total) as u64;
    }
    let rest = ONE - shares.iter().sum::<u64>();
    if let Some(largest) = shares.iter_mut().rev().max_by_key(|share| **share) {
        *largest += rest;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Eq. (2.15) and (2.17) as they are printed, Table 2.1 row by row. `None` if hardly anything is left.
    fn by_the_paper(
        law: Law,
        config: &HolnetConfig,
        shares: &[f64],
        ports: &[Congested],
    ) -> Option<Vec<f64>> {
        let (r_min, r_max) = (f64::from(config.r_min) / 1e3, f64::from(config.r_max) / 1e3);
        let kappa = f64::from(config.kappa) / 1e3;
        let rows: Vec<(f64, f64)> = ports
            .iter()
            .map(|p| match (p.next_hop, p.local) {
                (true, true) => (r_max, r_min),
                (true, false) => (r_max, r_min),
                (false, true) => (r_max, 1.0),
                (false, false) => (1.0, 1.0),
            })
            .collect();
        let r_in = rows.iter().map(|row| row.0).fold(1.0, f64::max);
        let not_cg = |l: usize| if ports[l].local { 0.0 } else { 1.0 };
        let x_dot: Vec<f64> = (0..ports.len()).map(|l| -1.0 + not_cg(l) * r_in * rows[l].1).collect();
        let others = |of: &[f64], l: usize| (0..of.len()).filter(|&j| j != l).map(|j| of[j]).sum::<f64>();
        let moved = (0..ports.len()).map(|l| {
            let change = match law {
                Law::Percentage => x_dot[l] * others(shares, l) - shares[l] * others(&x_dot, l),
                Law::Rate => x_dot[l],
            };
            (shares[l] + kappa * change).max(0.0)
        });
        let moved: Vec<f64> = moved.collect();
        let total: f64 = moved.iter().sum();
        (total > 1e-3).then(|| moved.iter().map(|share| share / total).collect())
    }

    proptest! {
        /// Over random congestion, and from random rates, step by step.
        #[test]
        fn shares_follow_the_papers_equations(
            rates in prop::collection::vec(1u64..400_000_000_000, 2..9),
            steps in prop::collection::vec(any::<u32>(), 1..60),
            (r_min, r_max, kappa) in (0u32..1000, 1001u32..5000, 1u32..300),
            rate_law in any::<bool>(),
        ) {
            let law = if rate_law { Law::Rate } else { Law::Percentage };
            let config = HolnetConfig { r_min, r_max, kappa, period: 1, flowlet_gap: None };
            let mut shares = Shares::new(law, config);
            shares.clear(1, 1);
            shares.begin([0, 0], rates.iter().copied(), rates.len() as u32);
            let read = |shares: &Shares| -> Vec<f64> {
                shares.of([0, 0], rates.len()).iter().map(|&share| share as f64 / ONE as f64).collect()
            };
            let all: u64 = rates.iter().sum();
            for (share, &rate) in read(&shares).iter().zip(&rates) {
                prop_assert!((share - rate as f64 / all as f64).abs() < 1e-8);
            }
            for step in steps {
                let bit = |n: usize| step >> n & 1 == 1;
                let ports: Vec<Congested> = (0..rates.len())
                    .map(|l| Congested { local: bit(l) && bit(l + 8), next_hop: bit(l + 16) && bit(l + 24) })
                    .collect();
                let expected = by_the_paper(law, &config, &read(&shares), &ports);
                shares.update([0, 0], &ports);
                prop_assert_eq!(shares.of([0, 0], rates.len()).iter().sum::<u64>(), ONE);
                for (share, expected) in read(&shares).iter().zip(expected.iter().flatten()) {
                    prop_assert!((share - expected).abs() < 2e-6, "{share} instead of {expected}");
                }
            }
        }
    }

    /// Catalogue S36 on two of four ports: one is congested itself, another has a congested next hop.
    #[test]
    fn one_update_by_hand() {
        let config = HolnetConfig { r_min: 100, r_max: 1500, kappa: 50, period: 1, flowlet_gap: None };
        let free = Congested { local: false, next_hop: false };
        let ports = [Congested { local: true, ..free }, Congested { next_hop: true, ..free }, free, free];
        let mut shares = Shares::new(Law::Percentage, config);
        shares.clear(1, 1);
        shares.begin([0, 0], [1, 1, 1, 1].into_iter(), 4);
        shares.update([0, 0], &[free; 4]);
        assert_eq!(shares.of([0, 0], 4), [ONE / 4; 4], "nothing is congested, nothing moves");
        shares.update([0, 0], &ports);
        // -1, -0.85, 0.5, 0.5 less a quarter of their sum, -0.2125, each times 0.05.
        let expected = [0.25 - 0.039_375, 0.25 - 0.031_875, 0.25 + 0.035_625, 0.25 + 0.035_625];
        for (share, expected) in shares.of([0, 0], 4).iter().zip(expected) {
            assert!((*share as f64 / ONE as f64 - expected).abs() < 1e-9, "{share} instead of {expected}");
        }
    }

    /// With every port congested p grows by kappa (n p - 1): 0.6 by 0.05 x 0.2; until the other paths have
    /// nothing left. Equal shares stay.
    #[test]
    fn congestion_everywhere_drives_shares_apart() {
        let config = HolnetConfig { r_min: 100, r_max: 1500, kappa: 50, period: 1, flowlet_gap: None };
        let mut shares = Shares::new(Law::Percentage, config);
        shares.clear(1, 2);
        shares.begin([0, 0], [3, 2].into_iter(), 2);
        shares.begin([0, 1], [1, 1].into_iter(), 2);
        let all = [Congested { local: true, next_hop: true }; 2];
        shares.update([0, 0], &all);
        assert!((shares.of([0, 0], 2)[0] as f64 / ONE as f64 - 0.61).abs() < 1e-9);
        for _ in 0..100 {
            shares.update([0, 0], &all);
            shares.update([0, 1], &all);
        }
        assert_eq!(shares.of([0, 0], 2), [ONE, 0]);
        assert_eq!(shares.of([0, 1], 2), [ONE / 2; 2]);
    }
}
