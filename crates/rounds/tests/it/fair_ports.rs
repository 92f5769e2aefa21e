//! Hosts that serve subflows in turn (`host_queue = "fq"`), by rounds beside packets: two hosts and the link between them.

use std::sync::Arc;

use tresse_controllers::{ConfiguredController, find};
use tresse_fabric::{Fabric, Path};
use tresse_rounds::Rounds;
use tresse_sim::{FlowSpec, World};
use tresse_transport::Config;
use tresse_units::{MICROSECOND, MILLISECOND, Time};

use crate::beside_packets::{Both, ports};

/// By packets, then by rounds: the ports 0 and 1 are those of the hosts 0 and 1, of 1 Gbit/s.
fn networks(fair: bool) -> [Box<dyn Both>; 2] {
    let fabric = ports(0)[..2].to_vec();
    let fair: &[u32] = if fair { &[0, 1] } else { &[] };
    let world = World::on(Fabric::new(&fabric, 1, 1));
    let world = if fair.is_empty() { world } else { world.with_fair_ports(fair) };
    let rounds = Rounds::new(Fabric::new(&fabric, 1, 1), 1500, 1).with_fair_ports(fair);
    [Box::new(world), Box::new(rounds)]
}

fn flow(id: u64, from: u32, bytes: u64) -> FlowSpec {
    let controller = find("dctcp").expect("built in");
    let config = Config { ecn: true, initial_window: 10, port_limit: 100_000, ..Config::default() };
    let scheme = ConfiguredController::new(controller, []).expect("defaults");
    let path = Path { there: vec![from], back: vec![1 - from] };
    FlowSpec::on_paths(id, config, Arc::new(scheme), bytes, vec![path])
}

/// Of each flow, which begins at a time, leaves a host and has so many bytes: how long it takes, ps, by packets and by
/// rounds.
fn took(fair: bool, flows: &[(Time, u32, u64)]) -> [Vec<f64>; 2] {
    networks(fair).map(|mut network| {
        let mut records = Vec::new();
        for (&(start, from, bytes), id) in flows.iter().zip(0..) {
            records.extend(network.until(start));
            network.begin(flow(id, from, bytes));
        }
        records.extend(network.until(1000 * MILLISECOND));
        assert_eq!(records.len(), flows.len(), "all arrive");
        records.sort_by_key(|record| record.id);
        records.iter().map(|record| (record.end - record.start) as f64).collect()
    })
}

fn assert_near(within: f64, fair: bool, flows: &[(Time, u32, u64)]) {
    let [packets, rounds] = took(fair, flows);
    for (packets, (rounds, flow)) in packets.iter().zip(rounds.iter().zip(flows)) {
        let error = rounds / packets - 1.0;
        assert!(error.abs() < within, "{flow:?}: {packets} by packets, {rounds} by rounds");
    }
}

/// Flows of different sizes that come and go share the port evenly.
#[test]
fn flows_have_even_shares() {
    let flows: Vec<_> = [8_000_000, 2_000_000, 500_000, 4_000_000]
        .iter()
        .zip(0..)
        .map(|(&bytes, i)| (i * 3 * MILLISECOND, 0, bytes))
        .collect();
    assert_near(0.05, true, &flows);
    // Many that begin at once: none is faster than its share.
    let many: Vec<_> = (0..40).map(|_| (0, 0, 250_000)).collect();
    assert_near(0.05, true, &many);
}

/// A short message waits for its turns, not for the queue of a long flow.
#[test]
fn a_short_message_overtakes() {
    let flows = [(0, 0, 20_000_000), (20 * MILLISECOND, 0, 15_000), (30 * MILLISECOND, 0, 60_000)];
    let [packets, rounds] = took(true, &flows);
    for i in [1, 2] {
        let late = (rounds[i] - packets[i]).abs();
        assert!(late < 50.0 * MICROSECOND as f64, "{packets:?} by packets, {rounds:?} by rounds");
    }
    let queued = took(false, &flows);
    assert!(queued[0][1] > 2.0 * packets[1], "{queued:?} where all wait in one queue");
}

/// ACKs do not wait for the data of the host that sends them.
#[test]
fn both_ways_at_once_a_link_is_full() {
    let both = [(0, 0, 5_000_000), (0, 1, 5_000_000)];
    assert_near(0.03, true, &both);
    let ideal = 5_000_000.0 * 1500.0 / 1460.0 * 8000.0;
    let [packets, rounds] = took(true, &both);
    assert!(
        packets.iter().chain(&rounds).all(|took| *took < 1.07 * ideal),
        "{packets:?} {rounds:?}, {ideal}"
    );
}
