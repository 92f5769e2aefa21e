//! Congestion flags, and when hosts learn about them.

use proptest::prelude::*;
use tresse_fabric::{
    Balancing, Ecn, Fabric, Feedback, FlagConfig, Header, Loss, Network, NonEct, PathCongestion, PortConfig,
    Processing, QueuedPortConfig, RouteId, Threshold,
};
use tresse_units::{MICROSECOND, Time};

const GIGABIT: u64 = 1_000_000_000;

fn port(rate: u64, delay: Time, limit: Threshold) -> PortConfig {
    PortConfig {
        rate,
        delay,
        limit,
        mark: Threshold::UNLIMITED,
        non_ect: NonEct::Queue,
        drop_until: None,
        processing: Processing::NONE,
        red: None,
        loss: Loss::NONE,
    }
}

fn flags(feedback: Feedback) -> FlagConfig {
    FlagConfig { fraction: 800, unlimited: Threshold::UNLIMITED, feedback }
}

fn header(hash: u32) -> Header {
    Header { hash, ..Header::new(1500, Ecn::Ect) }
}

fn advance(fabric: &mut Fabric<u32>, to: Time) {
    while fabric.advance(to, &()).is_some() {}
    fabric.set_now(to);
}

fn heard(local: bool, next_hop: bool) -> PathCongestion {
    PathCongestion { local, next_hop }
}

proptest! {
    /// A flag is up while the queue is at least 80 % of its limit, or without a limit at least `unlimited`
    /// long, compared with the queue itself. The next hop's flag is heard one propagation delay later, to the
    /// picosecond. Steps of a seventh of a packet's time.
    #[test]
    fn a_flag_is_the_queue_and_is_heard_one_hop_later(
        sends in prop::collection::vec((0u64..12, 64u32..1500), 20..300),
        bytes in any::<bool>(),
        queued in any::<bool>(),
        hop in 0usize..40,
        limit in 1u64..12,
        unlimited in any::<bool>(),
    ) {
        let step = 12 * MICROSECOND / 7;
        let limit_of = if bytes { Threshold::bytes(1500 * limit) } else { Threshold::packets(limit) };
        let flagged = (if bytes { 1500 * limit * 8 } else { limit * 8 }).div_ceil(10);
        let flagged_of = if bytes { Threshold::bytes(flagged) } else { Threshold::packets(flagged) };
        let limit_of = if unlimited { Threshold::UNLIMITED } else { limit_of };
        let flags = FlagConfig { unlimited: flagged_of, ..flags(Feedback::OneHop) };
        let config = port(GIGABIT, MICROSECOND, limit_of);
        let ports = [port(GIGABIT, hop as u64 * step, Threshold::packets(5)), config];
        let queued_ports: &[_] = if queued { &[(1, QueuedPortConfig::plain(&config))] } else { &[] };
        let mut fabric: Fabric<u32> =
            Fabric::new(&ports, 2, 1).with_queued_ports(queued_ports, &[]).with_flags(flags);
        let (both, second) = (fabric.add_route(&[0, 1]), fabric.add_route(&[1]));
        let mut past: Vec<bool> = Vec::new();
        // The bits that are not on the wire yet, by hand; a packet that is dropped adds none.
        let mut busy_until = 0;
        for (gap, size) in sends {
            for left in (0..=gap).rev() {
                let now = past.len() as u64 * step;
                advance(&mut fabric, now);
                if left == 0 && fabric.send(second, Header::new(size, Ecn::Ect), 0) {
                    busy_until = busy_until.max(now) + u64::from(size) * 8000;
                }
                let full = if bytes {
                    let backlog = busy_until.saturating_sub(now).div_ceil(8000);
                    backlog >= flagged
                } else {
                    fabric.waiting(1) >= flagged
                };
                prop_assert_eq!(fabric.heard(second, 0), heard(full, false));
                past.push(full);
                let told = past.len().checked_sub(hop + 1).is_some_and(|then| past[then]);
                prop_assert_eq!(fabric.heard(both, 0), heard(false, told), "at step {}", past.len());
            }
        }
    }
}

/// Sends 9 packets into one of a route's ports, whose limit is 10: it is congested from `at` on for as long
/// as it takes to send the first one.
fn congest(fabric: &mut Fabric<u32>, port: u32, at: Time) {
    let alone = fabric.add_route(&[port]);
    advance(fabric, at);
    for n in 0..9 {
        assert!(fabric.send(alone, header(0), n));
    }
}

/// From when until when, in microseconds, `route` reports that its next hop is congested, sampled every
/// microsecond.
fn told(fabric: &mut Fabric<u32>, route: RouteId, hash: u32) -> Option<(Time, Time)> {
    let begin = fabric.now() / MICROSECOND;
    let told = |t: &Time| {
        advance(fabric, t * MICROSECOND);
        fabric.heard(route, hash).next_hop
    };
    let times: Vec<Time> = (begin..begin + 400).filter(told).collect();
    let (first, last) = (*times.first()?, *times.last()?);
    assert_eq!(times.len() as u64, last - first + 1, "told once, without a break");
    Some((first, last + 1))
}

/// Along a fixed route, what is beyond the next hop is heard backward only, after the sum of the delays.
#[test]
fn feedback_comes_back_hop_by_hop() {
    let delays = [3, 20, 7, 40];
    let ports = delays.map(|d| port(GIGABIT, d * MICROSECOND, Threshold::packets(10)));
    let heard = |congested: u32, feedback| {
        let mut fabric: Fabric<u32> = Fabric::new(&ports, 4, 1).with_flags(flags(feedback));
        let route = fabric.add_route(&[0, 1, 2, 3]);
        congest(&mut fabric, congested, 100 * MICROSECOND);
        told(&mut fabric, route, 0)
    };
    // 8 packets wait for the 12 us in which the first is sent.
    for feedback in [Feedback::OneHop, Feedback::Backward] {
        assert_eq!(heard(0, feedback), None, "the own port is no next hop");
        assert_eq!(heard(1, feedback), Some((103, 115)));
    }
    assert_eq!(heard(2, Feedback::Backward), Some((123, 135)));
    assert_eq!(heard(3, Feedback::Backward), Some((130, 142)));
    assert_eq!((heard(2, Feedback::OneHop), heard(3, Feedback::OneHop)), (None, None));
}

/// Two leaves with two hosts each, two spines. Ports: host up 0-3, leaf down 4-7, leaf up 8-11 (by leaf, then
/// spine), spine down 12-15 (by spine, then leaf).
fn leaf_spine() -> (Network, Vec<PortConfig>) {
    let (leaf, spine) = ([4, 5], [6, 7]);
    let mut ends: Vec<[u32; 2]> = (0..4).map(|h| [h, leaf[h as usize / 2]]).collect();
    ends.extend((0..4).map(|h| [leaf[h as usize / 2], h]));
    ends.extend(leaf.iter().flat_map(|&l| spine.map(|s| [l, s])));
    ends.extend(spine.iter().flat_map(|&s| leaf.map(|l| [s, l])));
    let delay = |n: usize| if n < 8 { 10 } else { 30 };
    let ports = (0..16).map(|n| port(GIGABIT, delay(n) * MICROSECOND, Threshold::packets(10)));
    (Network { hosts: 4, nodes: 8, ends }, ports.collect())
}

/// What host 0 learns about its path to host 2, or to its neighbour, with these ports congested.
fn told_in_a_leaf_spine(
    balancing: Balancing,
    feedback: Feedback,
    congested: &[u32],
    (to, hash): (u32, u32),
) -> Option<(Time, Time)> {
    let (network, ports) = leaf_spine();
    let mut fabric: Fabric<u32> =
        Fabric::new(&ports, 4, 1).with_flags(flags(feedback)).with_forwarding(network, balancing, 1);
    let route = fabric.add_forwarded(0, to);
    for &port in congested {
        congest(&mut fabric, port, 100 * MICROSECOND);
    }
    told(&mut fabric, route, hash)
}

/// A leaf that may take any spine is congested if both paths are; the flag of the far leaf's port to the host
/// takes three hops back, and only with backward reports; the ports to other hosts and from them do not
/// matter.
#[test]
fn a_node_with_several_ways_is_congested_if_all_are() {
    let told = |feedback, congested: &[u32], to| {
        told_in_a_leaf_spine(Balancing::Spray, feedback, congested, (to, 0))
    };
    for feedback in [Feedback::OneHop, Feedback::Backward] {
        assert_eq!(told(feedback, &[8], 2), None);
        assert_eq!(told(feedback, &[8, 9], 2), Some((110, 122)));
        assert_eq!(told(feedback, &[8, 9], 1), None, "the neighbour is not behind the spines");
        assert_eq!(told(feedback, &[5], 1), Some((110, 122)), "the last hop is the leaf's next port");
        assert_eq!(told(feedback, &[7, 1, 4, 10, 11, 12, 14], 2), None, "not on the path");
        assert_eq!(told(feedback, &[0], 2), None, "the host's own port");
    }
    assert_eq!(told(Feedback::Backward, &[13, 15], 2), Some((140, 152)));
    assert_eq!(told(Feedback::Backward, &[13], 2), None);
    assert_eq!(told(Feedback::Backward, &[6], 2), Some((170, 182)));
    assert_eq!(told(Feedback::OneHop, &[13, 15], 2), None);
    assert_eq!(told(Feedback::OneHop, &[6], 2), None);
    // One path is congested at the leaf, the other at the spine, which is heard 30 us later.
    assert_eq!(told(Feedback::Backward, &[8, 15], 2), None);
}

/// Under ECMP a flow has one path, and its host hears only about this one.
#[test]
fn under_ecmp_a_flow_hears_of_its_own_way() {
    for hash in 0..20 {
        let told = |congested: &[u32]| {
            told_in_a_leaf_spine(Balancing::Ecmp, Feedback::Backward, congested, (2, hash))
        };
        let (first, second) = (told(&[8]), told(&[9]));
        assert_ne!(first, second);
        assert_eq!(first.or(second), Some((110, 122)));
        // Where its packets go.
        let (network, ports) = leaf_spine();
        let mut fabric: Fabric<u32> = Fabric::new(&ports, 4, 1).with_forwarding(network, Balancing::Ecmp, 1);
        let route = fabric.add_forwarded(0, 2);
        assert!(fabric.send(route, header(hash), 0));
        advance(&mut fabric, 1000 * MICROSECOND);
        assert_eq!(first.is_some(), fabric.ports()[8].counters().bytes > 0);
        let spine = if first.is_some() { 13 } else { 15 };
        assert_eq!(told(&[spine]), Some((140, 152)));
    }
}

/// The queue of a link that fails is gone, and its congestion with it.
#[test]
fn a_link_that_fails_is_not_congested() {
    let ports = [10, 20].map(|d| port(GIGABIT, d * MICROSECOND, Threshold::packets(10)));
    let mut fabric: Fabric<u32> = Fabric::new(&ports, 2, 1)
        .with_queued_ports(&[(1, QueuedPortConfig::plain(&ports[1]))], &[])
        .with_flags(flags(Feedback::OneHop));
    let route = fabric.add_route(&[0, 1]);
    congest(&mut fabric, 1, 100 * MICROSECOND);
    advance(&mut fabric, 105 * MICROSECOND);
    fabric.set_link(1, false);
    assert_eq!(told(&mut fabric, route, 0), Some((110, 115)));
}
