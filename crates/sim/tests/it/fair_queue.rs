//! A host's port that serves its subflows in turn: who waits for whom, how long, and what a sender learns of it.

use std::sync::Arc;

use tresse_controllers::ConfiguredController;
use tresse_fabric::{Path, PortConfig};
use tresse_sim::{FlowSpec, World};
use tresse_transport::{Config, Recovery, Reduction, Scheduler};
use tresse_units::{MICROSECOND, MILLISECOND, SECOND, Time};

use crate::common::{
    Acking, Bottleneck, ENDLESS, GIGABIT, HEADER, MSS, Net, PACKET, flow, goodputs, run_until, sample, scheme,
};

const RTT: Time = 200 * MICROSECOND;
/// A full packet at 1 Gbit/s.
const PACKET_TIME: Time = PACKET as u64 * 8 * SECOND / GIGABIT;

/// One host with a link of 1 Gbit/s, on which nothing else queues, and its port.
fn host(fair: bool) -> (World, Path) {
    let net = Net::new(RTT, &[Bottleneck::drop_tail(GIGABIT, 100_000)], 1);
    let [slow, back, fast] = &net.ports[..] else { panic!("a link, its way back, and an access link") };
    // The host's own link is the slow one here, and what follows is fast.
    let ports: [PortConfig; 3] = [*fast, *back, *slow];
    let world = World::new(&ports, 2, 1);
    let path = net.path(0, 0);
    (if fair { world.with_fair_ports(&path.there[..1]) } else { world }, path)
}

fn with_window(
    id: u64,
    scheme: &Arc<ConfiguredController>,
    window: u32,
    bytes: u64,
    path: &Path,
) -> FlowSpec {
    let spec = flow(id, scheme, Acking::Each, bytes, vec![path.clone()]);
    let config = Config { initial_window: window, initial_ssthresh: window, ..spec.config };
    FlowSpec { config, ..spec }
}

/// The time that a message of ten packets takes beside an endless one with a window of `window` packets.
fn short_beside_long(fair: bool, window: u32) -> Time {
    let (mut world, path) = host(fair);
    let reno = scheme("reno", &[]);
    world.start(with_window(0, &reno, window, ENDLESS, &path));
    run_until(&mut world, 10 * MILLISECOND);
    world.start(with_window(1, &reno, 10, 10 * u64::from(MSS), &path));
    let until = world.now() + SECOND;
    let records = run_until(&mut world, until);
    assert_eq!(records.len(), 1, "the short one has finished");
    records[0].end - records[0].start
}

/// Nine of its packets wait for one of the other connection each, the first for the one on the wire too; behind a
/// window in one queue it waits for all of that.
#[test]
fn a_short_message_waits_for_a_packet_of_each_other_connection_not_for_their_windows() {
    for window in [50, 500] {
        let [fair, fifo] = [true, false].map(|fair| short_beside_long(fair, window));
        let alone = RTT / 2 + 10 * PACKET_TIME;
        let in_turn = alone + 11 * PACKET_TIME;
        println!(
            "window {window}: {} us in turn, {} us in one queue",
            fair / MICROSECOND,
            fifo / MICROSECOND
        );
        assert!((alone + 9 * PACKET_TIME..=in_turn).contains(&fair), "{fair} ps, alone {alone}");
        let least = alone + u64::from(window - 20) * PACKET_TIME;
        assert!(fifo >= least, "{fifo} ps, at least {least}");
    }
}

/// Shares do not depend on windows, and the link never idles.
#[test]
fn connections_of_a_host_share_its_link_whatever_their_windows() {
    let (mut world, path) = host(true);
    let reno = scheme("reno", &[]);
    for (id, window) in [20, 40, 400].into_iter().enumerate() {
        world.start(with_window(id as u64, &reno, window, ENDLESS, &path));
    }
    run_until(&mut world, 20 * MILLISECOND);
    let (from, busy) = (world.now(), world.busy(path.there[0]));
    let until = from + 100 * MILLISECOND;
    let rates = goodputs(&mut world, &[0, 1, 2], until);
    let third = GIGABIT as f64 * f64::from(MSS) / f64::from(PACKET) / 3.0;
    for rate in &rates {
        assert!((rate / third - 1.0).abs() < 0.002, "{rates:?}, a third is {third}");
    }
    let share = (world.busy(path.there[0]) - busy) as f64 / (until - from) as f64;
    assert!(share > 0.999, "the link was busy for {share} of the time");
}

/// TCP small queues: 1 ms at the pacing rate, here that of the link, and never more than the limit. A window that its
/// host holds back does not grow (`tcp_is_cwnd_limited`).
#[test]
fn what_waits_in_a_host_is_limited_and_so_is_the_window() {
    // At 1 Gbit/s, 1 ms is 83 packets, 120 % of it 100 (Reno is in congestion avoidance from the start).
    for (limit, most) in [(8, 8), (1000, 103)] {
        let (mut world, path) = host(true);
        let spec = with_window(0, &scheme("reno", &[]), 30, ENDLESS, &path);
        let config = Config { port_limit: limit * u64::from(PACKET), ..spec.config };
        world.start(FlowSpec { config, ..spec });
        let mut longest = 0;
        sample(&mut world, 5 * SECOND, 7_310_003, |world| {
            longest = longest.max(world.waiting(path.there[0]))
        });
        let cwnd = world.sender(0).and_then(|sender| sender.controller(0)).expect("it is open").cwnd;
        let bdp = (RTT / PACKET_TIME) as u32;
        println!("limit {limit}: at most {longest} packets waited, window {cwnd}, BDP {bdp}");
        assert!((most * 9 / 10..=most).contains(&longest), "limit {limit}: {longest} packets waited");
        assert!(cwnd <= 30.max(bdp + most as u32 + 3), "limit {limit}: a window of {cwnd}");
    }
}

/// Pacing, RACK and probes of many connections that are held back: no timer is set for the past, and all end.
#[test]
fn paced_subflows_that_are_held_back_end() {
    let xmp = scheme("xmp", &[]);
    for port_limit in [1, 3_000, 60_000] {
        let (mut world, path) = host(true);
        for id in 0..40 {
            let paths = vec![path.clone(); 1 + id as usize % 3];
            let spec = flow(id, &xmp, Acking::Delayed, 1 + 20_000 * (id % 7), paths);
            let config = Config {
                initial_window: 10,
                pacing: true,
                tso: 45,
                recovery: Recovery::Rack,
                reduction: Reduction::Prr,
                scheduler: [Scheduler::LowestRtt, Scheduler::Linux][id as usize % 2],
                stale_after: 4,
                port_limit,
                ..spec.config
            };
            world.start(FlowSpec { config, ..spec });
            let until = world.now() + 30 * MICROSECOND;
            run_until(&mut world, until);
        }
        run_until(&mut world, 10 * SECOND);
        assert_eq!(world.live(), 0, "port_limit {port_limit}");
    }
}

/// ACKs that a host sends do not wait behind the data that it sends.
#[test]
fn acks_do_not_wait_in_turn() {
    let reno = scheme("reno", &[]);
    let [alone, beside] = [false, true].map(|busy| {
        let (mut world, path) = host(true);
        if busy {
            world.start(with_window(0, &reno, 200, ENDLESS, &path));
            run_until(&mut world, 10 * MILLISECOND);
        }
        // It receives what its own port ACKs.
        let reverse = Path { there: vec![path.back[0]], back: path.there.clone() };
        world.start(with_window(1, &reno, 1, 20 * u64::from(MSS), &reverse));
        let until = world.now() + SECOND;
        let records = run_until(&mut world, until);
        records[0].end - records[0].start
    });
    // Each of about five rounds may meet the packet on the wire.
    assert!(beside <= alone + 20 * (PACKET_TIME + u64::from(HEADER)), "{beside} ps, alone {alone}");
}
