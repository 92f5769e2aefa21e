//! Rounds against what can be worked out: bytes, a lone message, DCTCP's queue.

mod beside_packets;
mod fair_ports;
mod managers;
mod red;

use std::sync::Arc;

use tresse_controllers::{ConfiguredController, find};
use tresse_fabric::{Fabric, Loss, NonEct, Path, PortConfig, Processing, Threshold};
use tresse_rounds::Rounds;
use tresse_sim::{FlowRecord, FlowSpec, Step, World};
use tresse_transport::{Config, DelayedAck};
use tresse_units::{MICROSECOND, MILLISECOND, NEVER, SECOND, Stream, Time};

const RATE: u64 = 1_000_000_000;
const PACKET: u64 = 1500;
const MSS: u64 = 1460;
const DELAY: Time = 50 * MICROSECOND;

fn port(rate: u64, delay: Time, limit: Threshold, mark: Threshold) -> PortConfig {
    PortConfig {
        rate,
        delay,
        limit,
        drop_until: None,
        mark,
        non_ect: NonEct::Queue,
        red: None,
        loss: Loss::NONE,
        processing: Processing::new(0, 0, 0),
    }
}

/// Access links ten times as fast, a bottleneck of [`RATE`] with this queue and K, packets, and the way back.
fn net(senders: u32, limit: u64, mark: Option<u64>) -> Rounds {
    let mark = mark.map_or(Threshold::UNLIMITED, Threshold::packets);
    let fast = port(10 * RATE, DELAY, Threshold::UNLIMITED, Threshold::UNLIMITED);
    let mut ports = vec![port(RATE, DELAY, Threshold::packets(limit), mark), fast];
    ports.extend((0..senders).map(|_| fast));
    Rounds::new(Fabric::new(&ports, 2, 1), PACKET as u32, 1)
}

fn flow(id: u64, controller: &str, bytes: u64) -> FlowSpec {
    let scheme = ConfiguredController::new(find(controller).expect("built in"), []).expect("defaults");
    let config = Config { ecn: controller == "dctcp", rto_min: 10 * MILLISECOND, ..Config::default() };
    let path = Path { there: vec![2 + id as u32, 0], back: vec![1] };
    FlowSpec::on_paths(id, config, Arc::new(scheme), bytes, vec![path])
}

/// Until all have finished.
fn records(rounds: &mut Rounds) -> Vec<FlowRecord> {
    let mut records = Vec::new();
    while let Step::Finished(record) = rounds.advance(NEVER, u64::MAX / 2) {
        records.push(record);
    }
    records
}

/// Also where a queue of eight packets loses many.
#[test]
fn every_byte_arrives_once() {
    for limit in [8, 10_000] {
        let mut rounds = net(8, limit, None);
        let mut stream = Stream::new(1, "sizes", limit);
        let sizes: Vec<u64> = (0..8).map(|_| 1 + stream.below(3_000_000)).collect();
        (0..8).for_each(|id| rounds.start(flow(id, "reno", sizes[id as usize])));
        let ended = records(&mut rounds);
        assert_eq!(ended.len(), 8);
        for record in &ended {
            assert!(record.complete);
            assert_eq!(record.bytes, sizes[record.id as usize]);
            // What was lost was sent again, and nothing else.
            assert_eq!(record.counters.sent, record.bytes.div_ceil(MSS), "{record:?}");
        }
        assert_eq!(rounds.delivered_bytes(), sizes.iter().sum::<u64>());
        let lost: u64 = ended.iter().map(|record| record.counters.retransmissions).sum();
        assert_eq!(lost > 0, limit == 8, "{lost} were lost with a queue of {limit}");
        // The link's own count agrees with that of the packets, less what it lost.
        let carried = rounds.links()[0].1.bytes;
        let sent: u64 = ended.iter().map(|r| r.bytes + 40 * r.bytes.div_ceil(MSS)).sum();
        assert!(carried.abs_diff(sent) * 50 < sent, "{carried} bytes through the link, {sent} sent");
    }
}

/// The initial window leaves at once, and its last packet waits for the others at the bottleneck.
#[test]
fn a_lone_message_takes_its_time() {
    for packets in [1, 2, 5, 10] {
        let mut rounds = net(1, 1000, None);
        rounds.start(flow(0, "reno", packets * MSS));
        let took = records(&mut rounds)[0].end;
        let one = PACKET * 8 * SECOND / RATE;
        let ideal = 2 * DELAY + one / 10 + packets * one;
        assert!(took.abs_diff(ideal) <= one / 2, "{packets} packets: {took} ps, not {ideal}");
    }
}

/// The mean queue lies within the swing of DCTCP about K (SIGCOMM 2010, §3.3), as that of packets does
/// (crates/sim/tests/it/dctcp_queue.rs).
#[test]
fn the_mean_queue_of_dctcp_lies_about_k() {
    for (flows, k) in [(1, 20), (2, 20), (4, 40), (8, 40)] {
        let mut rounds = net(flows, 10 * k + 1000, Some(k));
        for id in 0..flows.into() {
            assert_eq!(rounds.advance(id * 3_100_007_000, u64::MAX / 2), Step::Reached);
            rounds.start(flow(id, "dctcp", 1 << 40));
        }
        let (mut sum, mut samples) = (0, 0);
        let begun = 100 * MILLISECOND;
        for sample in 0..4000 {
            rounds.advance(begun + sample * 50 * MICROSECOND, u64::MAX / 2);
            sum += rounds.waiting(0);
            samples += 1;
        }
        let queue = sum as f64 / f64::from(samples);
        let bdp = (4 * DELAY) as f64 / (PACKET * 8 * SECOND / RATE) as f64;
        let swing = 0.5 * (2.0 * f64::from(flows) * (bdp + k as f64)).sqrt();
        assert!((queue - k as f64).abs() < swing, "{flows} flows, K = {k}: {queue:.2}, swing {swing:.2}");
        let (_, counters, _) = rounds.links()[0];
        let used = counters.bytes as f64 * 8.0 / (RATE as f64 * rounds.now() as f64 / SECOND as f64);
        assert!(used > 0.98, "{flows} flows, K = {k}: {used:.3} of the link");
    }
}

/// A window of one packet, an ACK for two, and a receiver that waits longer than the sender: each packet but the first
/// needs the sender's timer or the receiver's. With an ACK for each packet, none does.
#[test]
fn the_ack_of_a_lone_packet_waits() {
    let took = |every, timer, quick| {
        let mut rounds = net(1, 1000, None);
        let mut spec = flow(0, "reno", 20 * MSS);
        spec.config.receive_window = 1;
        spec.config.delayed_ack = DelayedAck { every, timer, quick, ..spec.config.delayed_ack };
        rounds.start(spec);
        let record = records(&mut rounds).remove(0);
        assert_eq!(record.counters.sent, 20);
        assert_eq!(record.counters.retransmissions, record.counters.timeouts);
        (record.end, record.counters.timeouts)
    };
    let (at_once, none) = took(1, 40 * MILLISECOND, 0);
    assert_eq!(none, 0);
    assert!(at_once < 10 * MILLISECOND, "{at_once}");
    // The receiver's timer is the first, 19 times.
    let (late, none) = took(2, 5 * MILLISECOND, 0);
    assert_eq!(none, 0);
    assert!(late.abs_diff(at_once + 19 * 5 * MILLISECOND) < MILLISECOND, "{late}");
    // The sender's is the first, which knows round trips of quick ACKs only, until it has learned how long one may take.
    let (_, timeouts) = took(2, 40 * MILLISECOND, 4);
    assert!((1..10).contains(&timeouts), "{timeouts}");
}

#[test]
fn it_repeats() {
    let run = || {
        let mut rounds = net(6, 20, None);
        (0..6).for_each(|id| rounds.start(flow(id, "cubic", 1_000_000 + id)));
        format!("{:?}", records(&mut rounds))
    };
    assert_eq!(run(), run());
}

/// Two hosts with ports of 10 Gbit/s, through a switch; a link takes 2 us. Ports 0 and 1 leave the hosts, 2 and 3 the
/// switch, to hosts 0 and 1.
fn two_hosts() -> (Vec<PortConfig>, [Path; 2]) {
    let port = port(10 * RATE, 2 * MICROSECOND, Threshold::UNLIMITED, Threshold::UNLIMITED);
    let paths = [[[0, 3], [1, 2]], [[1, 2], [0, 3]]];
    (vec![port; 4], paths.map(|[there, back]| Path { there: there.to_vec(), back: back.to_vec() }))
}

/// A message with a window of `packets`, on this path.
fn with_window(id: u64, packets: u32, path: Path, bytes: u64) -> FlowSpec {
    let scheme = ConfiguredController::new(find("reno").expect("built in"), []).expect("defaults");
    let config = Config { receive_window: packets, initial_window: packets, ..Config::default() };
    FlowSpec::on_paths(id, config, Arc::new(scheme), bytes, vec![path])
}

/// Two hosts send to each other through one queue each. The ACKs of a window wait until the other host's window is out, so
/// that a window of time T is followed by half a round trip of silence (Zhang, Shenker, Clark, SIGCOMM 1991).
#[test]
fn acks_behind_the_other_directions_data_leave_links_idle() {
    for (packets, both) in [(20, true), (60, true), (60, false)] {
        let (ports, paths) = two_hosts();
        let mut rounds = Rounds::new(Fabric::new(&ports, 2, 1), PACKET as u32, 1);
        let mut packet_by_packet = World::on(Fabric::new(&ports, 2, 1));
        let senders = if both { 2 } else { 1 };
        for (id, path) in (0..).zip(paths).take(senders) {
            rounds.start(with_window(id, packets, path.clone(), 20_000_000));
            packet_by_packet.start(with_window(id, packets, path, 20_000_000));
        }
        let took = records(&mut rounds).iter().map(|record| record.end).max().expect("all end");
        let mut real = 0;
        while let Step::Finished(record) = packet_by_packet.advance(NEVER, u64::MAX / 2) {
            real = real.max(record.end);
        }
        let ratio = took as f64 / real as f64;
        assert!((ratio - 1.0).abs() < 0.06, "{packets} packets, both {both}: {ratio:.3} of packets");
        let window = f64::from(packets) * (PACKET * 8 * SECOND / (10 * RATE)) as f64;
        let silence = if both { (4 * MICROSECOND) as f64 / window } else { 0.0 };
        let bytes = 20_000_000.0 * PACKET as f64 / MSS as f64;
        let ideal = bytes * 8.0 / (10 * RATE) as f64 * SECOND as f64 * (1.0 + silence);
        assert!((took as f64 / ideal - 1.0).abs() < 0.1, "{packets}, {both}: {took} ps, not {ideal}");
    }
}

/// What leaves hosts arrives in the links beyond, whoever shares a host's port.
#[test]
fn links_beyond_a_host_carry_what_it_sends() {
    for (packets, in_turn) in [(2, false), (10, false), (40, false), (10, true), (40, true)] {
        let (ports, [path, _]) = two_hosts();
        let mut rounds = Rounds::new(Fabric::new(&ports, 2, 1), PACKET as u32, 1);
        rounds = if in_turn { rounds.with_fair_ports(&[0, 1]) } else { rounds };
        (0..4).for_each(|id| rounds.start(with_window(id, packets, path.clone(), 300_000 * (id + 1))));
        assert_eq!(records(&mut rounds).len(), 4);
        let carried = rounds.links()[3].1.bytes;
        let sent: u64 = (1..=4u64).map(|n| 300_000 * n + 40 * (300_000 * n).div_ceil(MSS)).sum();
        assert!(carried.abs_diff(sent) * 200 < sent, "{packets}, {in_turn}: {carried} bytes of {sent}");
    }
}
