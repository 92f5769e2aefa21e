//! Connections that are stopped, applications that write slowly, datagrams, subflows that begin later.

use tresse_path_manager::By;
use tresse_sim::{FlowSpec, Manager, Step, World};
use tresse_units::{MICROSECOND, MILLISECOND, NEVER, SECOND};

use crate::common::{Acking, Bottleneck, Net, flow, scheme};

const RATE: u64 = 1_000_000_000;

fn net() -> Net {
    Net::new(100 * MICROSECOND, &[Bottleneck::drop_tail(RATE, 100); 2], 1)
}

/// Reno from the one sender over these links.
fn spec(id: u64, bytes: u64, links: &[u32]) -> FlowSpec {
    let paths = links.iter().map(|&l| net().path(0, l)).collect();
    flow(id, &scheme("reno", &[]), Acking::Each, bytes, paths)
}

fn world() -> World {
    net().world()
}

#[test]
fn a_stopped_connection_tells_what_it_delivered_and_frees_its_slot() {
    let mut world = world();
    world.start(spec(7, 1 << 40, &[0]));
    assert_eq!(world.advance(100 * MILLISECOND, u64::MAX), Step::Reached);
    let record = world.stop(7);
    assert!(!record.complete && record.end == 100 * MILLISECOND && world.live() == 0);
    // A full link for almost the whole time, and never more than that.
    let share = record.bytes as f64 * 8.0 / (0.1 * RATE as f64);
    assert!((0.85..0.98).contains(&share), "{share}");
    assert_eq!(world.advance(NEVER, u64::MAX), Step::Reached);
    let packets = world.packets();
    assert_eq!(packets.sent, packets.delivered + packets.dropped, "what was under way has left the fabric");
    // The slot is used again, and the old name is forgotten.
    world.start(spec(8, 1460, &[0]));
    assert!(world.ends(7).is_none() && world.ends(8).is_some());
    let Step::Finished(record) = world.advance(NEVER, u64::MAX) else { panic!("it is alone") };
    assert!(record.complete && record.bytes == 1460);
}

#[test]
fn an_application_that_writes_slowly_is_what_limits() {
    let mut world = world();
    world.start_unwritten(spec(1, 1 << 40, &[0]));
    let mut at_a_quarter = 0;
    for ms in 1..=100 {
        // 12.5 kB a millisecond: 100 Mbit/s.
        world.write(1, ms * 12_500);
        world.advance(ms * MILLISECOND, u64::MAX);
        let sent = world.sender(1).expect("it lives").sent();
        assert!(u64::from(sent) * 1460 <= ms * 12_500, "more than was written");
        at_a_quarter = if ms == 25 { sent } else { at_a_quarter };
    }
    let record = world.stop(1);
    assert!(record.bytes > 1_200_000 && record.bytes <= 1_250_000, "{}", record.bytes);
    assert!(at_a_quarter > 200);
    assert_eq!(record.counters.timeouts, 0);
}

#[test]
fn what_is_written_whole_is_sent_whole() {
    let mut world = world();
    // Three segments, the last of one byte.
    world.start_unwritten(spec(1, 2 * 1460 + 1, &[0]));
    assert_eq!(world.advance(SECOND, u64::MAX), Step::Reached);
    world.write(1, 2 * 1460 + 1);
    assert!(matches!(world.advance(NEVER, u64::MAX), Step::Finished(r) if r.bytes == 2921));
}

#[test]
fn datagrams_take_their_rate_whatever_happens() {
    let mut world = world();
    world.start_datagrams(spec(1, 1, &[0]));
    assert_eq!(world.live(), 1);
    for i in 0..1000 {
        // 1460 + 40 bytes every 12 us: the whole link.
        world.advance(i * 12 * MICROSECOND, u64::MAX);
        world.send_datagram(1, 1460);
    }
    world.advance(SECOND, u64::MAX);
    let record = world.stop(1);
    assert_eq!((record.bytes, record.counters.sent, world.live()), (1_460_000, 1000, 0));
    // Twice the link's rate: the queue fills, and half of what comes later is lost.
    world.start_datagrams(spec(2, 1, &[0]));
    for i in 0..2000 {
        world.advance(SECOND + i * 6 * MICROSECOND, u64::MAX);
        world.send_datagram(2, 1460);
    }
    world.advance(2 * SECOND, u64::MAX);
    let record = world.stop(2);
    let arrived = record.bytes / 1460;
    assert!((1095..=1105).contains(&arrived), "{arrived}: 1000 in the time, and a queue of 100");
}

#[test]
fn subflows_begin_when_they_are_to() {
    let mut world = world();
    let starts = vec![0, 20 * MILLISECOND];
    world.start(FlowSpec { manager: Manager::timed(2, By::Address, starts), ..spec(1, 1 << 40, &[0, 1]) });
    world.advance(20 * MILLISECOND - 1, u64::MAX);
    assert_eq!(world.sender(1).expect("it lives").subflows(), 1);
    world.advance(60 * MILLISECOND, u64::MAX);
    let (sender, receiver) = world.ends(1).expect("it lives");
    assert!(sender.subflows() == 2 && sender.is_open(1));
    assert!(receiver.arrived(1) > 1_000_000, "{}", receiver.arrived(1));
}
