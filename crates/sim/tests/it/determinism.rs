//! The same scenario gives the same results, bit by bit, however it is looked at, and takes no more
//! memory for more bytes.

use std::sync::Arc;

use tresse_controllers::ConfiguredController;
use tresse_fabric::PortCounters;
use tresse_sim::{FlowRecord, Packets, Step, World};
use tresse_units::{MICROSECOND, SECOND, Stream};

use crate::common::{Acking, Bottleneck, GIGABIT, Net, flow, run_until, scheme};

/// Everything that a run measures.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    records: Vec<FlowRecord>,
    packets: Packets,
    ports: Vec<PortCounters>,
    hops: u64,
    delivered: u64,
    end: u64,
}

/// Senders with one or two subflows each over two links that mark and drop.
struct Scenario {
    net: Net,
    schemes: [Arc<ConfiguredController>; 4],
}

const SENDERS: u32 = 8;

impl Scenario {
    fn new() -> Self {
        let links = [GIGABIT, 2 * GIGABIT].map(|rate| Bottleneck { rate, limit: 30, mark: Some(10) });
        let net = Net::new(150 * MICROSECOND, &links, SENDERS);
        Self { net, schemes: ["xmp", "dctcp", "lia", "reno"].map(|name| scheme(name, &[])) }
    }

    /// Starts a round of flows, about `bytes` each.
    fn start(&self, world: &mut World, round: u64, bytes: u64) {
        for sender in 0..SENDERS {
            let id = round << 32 | u64::from(sender);
            let mut random = Stream::new(1, "flow", id);
            let paths = (0..=sender % 2).map(|link| self.net.path(sender, link)).collect();
            let scheme = &self.schemes[random.below(4) as usize];
            world.start(flow(id, scheme, Acking::Delayed, bytes + random.below(bytes), paths));
        }
    }

    /// Rounds, each started when the one before has finished and its last packets are gone.
    fn run(&self, rounds: u64, bytes: u64, mut advance: impl FnMut(&mut World) -> Step) -> Outcome {
        let mut world = self.net.world();
        let mut records = Vec::new();
        for round in 0..rounds {
            self.start(&mut world, round, bytes);
            while world.live() > 0 {
                if let Step::Finished(record) = advance(&mut world) {
                    records.push(record);
                }
            }
        }
        Outcome {
            records,
            packets: world.packets(),
            ports: world.ports().map(|p| p.counters()).collect(),
            hops: world.hops(),
            delivered: world.delivered_bytes(),
            end: world.now(),
        }
    }
}

fn straight(world: &mut World) -> Step {
    world.advance(10_000 * SECOND, u64::MAX)
}

#[test]
fn a_run_repeats_bit_by_bit() {
    let scenario = Scenario::new();
    let first = scenario.run(3, 300_000, straight);
    assert_eq!(first.records.len(), 3 * SENDERS as usize);
    assert!(
        first.packets.dropped > 0 && first.ports[0].marks > 0,
        "nothing was dropped or marked: {first:?}"
    );
    assert_eq!(first, scenario.run(3, 300_000, straight));
    // A new scenario shares nothing with the first one, not even its schemes.
    assert_eq!(first, Scenario::new().run(3, 300_000, straight));
}

/// Stops for samples and budgets are no part of the model.
#[test]
fn looking_changes_nothing() {
    let scenario = Scenario::new();
    let undisturbed = scenario.run(3, 300_000, straight);
    let mut random = Stream::new(1, "stops", 0);
    let stopped = scenario.run(3, 300_000, |world| {
        let until = world.now() + random.below(30 * MICROSECOND);
        world.advance(until, 1 + random.below(20))
    });
    assert_eq!(undisturbed, stopped);
}

/// What the world holds. It does not count its own memory, so its debug text is counted: the names
/// of its parts are the names there.
#[derive(Debug, PartialEq, Eq)]
struct Held {
    connections: usize,
    packets: usize,
    /// Places for segments in the senders' scoreboards.
    segments: usize,
    route_places: usize,
    timer_places: usize,
}

impl Held {
    fn by(world: &World) -> Self {
        let text = format!("{world:?}");
        let lists = |name: &str| -> Vec<usize> {
            let found = text.match_indices(name).map(|(from, _)| {
                let to = from + text[from..].find(']').expect("a list ends");
                text[from..to].split(',').count()
            });
            let found: Vec<usize> = found.collect();
            assert!(!found.is_empty(), "no {name} in the world's debug text");
            found
        };
        Self {
            connections: text.matches("Tcp(Sender {").count(),
            packets: text.matches("Packet {").count(),
            segments: lists(" ring: [").iter().sum(),
            route_places: lists(" routes: [")[0],
            timer_places: lists(" place: [")[0],
        }
    }
}

/// Runs rounds of flows.
fn held_after(rounds: u64, bytes: u64) -> Held {
    let scenario = Scenario::new();
    let mut world = scenario.net.world();
    for round in 0..rounds {
        scenario.start(&mut world, round, bytes);
        while world.live() > 0 {
            straight(&mut world);
        }
        // The ACKs that are still under way let go of their slots.
        let until = world.now() + SECOND;
        run_until(&mut world, until);
        assert_eq!(world.in_flight(), 0);
    }
    Held::by(&world)
}

/// The most packets that there should be at a time. The two bottlenecks hold 30 packets that wait and one
/// on the wire each, and 150 us at 1 and 2 Gbit/s are 13 and 25 packets; slow start may send twice as
/// many before it learns of a drop; and there is an ACK for each.
const ROOM: usize = 2 * 2 * ((30 + 1 + 13) + (30 + 1 + 25));

/// Slots of connections, packets, routes and timers are used again.
#[test]
fn memory_does_not_grow_with_the_number_of_flows() {
    let (few, many) = (held_after(2, 100_000), held_after(40, 100_000));
    println!("{few:?}, {many:?}, room for {ROOM} packets");
    assert_eq!(few.connections, SENDERS as usize);
    assert!(few.packets <= ROOM && many.packets <= ROOM, "{few:?}, {many:?}");
    // Packets and segments are held as the last flows needed them, not as there were flows.
    assert!(many.segments <= 2 * few.segments, "{few:?}, {many:?}");
    assert_eq!(Held { packets: 0, segments: 0, ..few }, Held { packets: 0, segments: 0, ..many });
}

/// A transfer that is ten times as long holds no more than the buffers and the wires do.
#[test]
fn memory_does_not_grow_with_the_bytes_carried() {
    let (short, long) = (held_after(1, 1_000_000), held_after(1, 10_000_000));
    println!("{short:?}, {long:?}, room for {ROOM} packets");
    assert!(short.packets <= ROOM && long.packets <= ROOM, "{short:?}, {long:?}");
    // A scoreboard's ring doubles when it is full, so a window that is a little larger may double it.
    assert!(long.segments <= 2 * short.segments, "{short:?}, {long:?}");
    assert_eq!(Held { packets: 0, segments: 0, ..short }, Held { packets: 0, segments: 0, ..long });
}
