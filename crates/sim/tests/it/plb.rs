//! PLB on a fabric: flows that ECMP has put on one link part.

use tresse_fabric::{Balancing, Fabric, Loss, Network, NonEct, PortConfig, Processing, Threshold};
use tresse_sim::{FlowRecord, Manager, Paths, World};
use tresse_transport::Plb;
use tresse_units::{MICROSECOND, SECOND, Time};

use crate::common::{Acking, MSS, flow, run_until, scheme};

const BYTES: u64 = 20_000_000;

/// Two DCTCP flows on one link have some of their packets marked, but seldom half of them, nor any in twelve
/// rounds on end: Linux's thresholds are for many flows.
const PLB: Plb =
    Plb { cong_thresh: 26, rehash_rounds: 2, idle_rehash_rounds: 3, suspend: 60 * SECOND, seed: 1 };

/// Two hosts under each of two leaves, two spines, every link 1 Gbit/s; switches mark above 20 packets.
fn world() -> World {
    let (leaf, spine) = (|l: u32| 4 + l, |s: u32| 6 + s);
    let mut ends: Vec<[u32; 2]> = (0..4).flat_map(|h| [[h, leaf(h / 2)], [leaf(h / 2), h]]).collect();
    for l in 0..2 {
        ends.extend((0..2).flat_map(|s| [[leaf(l), spine(s)], [spine(s), leaf(l)]]));
    }
    let port = PortConfig {
        rate: 1_000_000_000,
        delay: 10 * MICROSECOND,
        limit: Threshold::packets(1000),
        mark: Threshold::packets(20),
        non_ect: NonEct::Queue,
        drop_until: None,
        processing: Processing::NONE,
        red: None,
        loss: Loss::NONE,
    };
    let network = Network { hosts: 4, nodes: 8, ends };
    // A host's own queue tells nothing of the path.
    let nic = PortConfig { limit: Threshold::UNLIMITED, mark: Threshold::UNLIMITED, ..port };
    let ports: Vec<_> = network.ends.iter().map(|e| if e[0] < 4 { nic } else { port }).collect();
    World::on(Fabric::new(&ports, 1, 1).with_forwarding(network, Balancing::Ecmp, 1))
}

/// Two flows, from hosts 0 and 1 to hosts 2 and 3; `stream` is the second one's hash.
fn run(stream: u64, plb: Option<Plb>) -> Vec<FlowRecord> {
    let mut world = world();
    for id in 0..2 {
        let mut spec = flow(id, &scheme("dctcp", &[]), Acking::Each, BYTES, Vec::new());
        let [from, to] = [id as u32, 2 + id as u32];
        let stream = if id == 0 { 0 } else { stream };
        spec.paths = Paths::Forwarded { from: vec![from], to: vec![to], paths: 2, stream };
        spec.manager = Manager::fixed(1);
        spec.config.plb = plb;
        world.start(spec);
    }
    run_until(&mut world, 10 * SECOND)
}

fn last_end(records: &[FlowRecord]) -> Time {
    assert_eq!(records.len(), 2);
    records.iter().map(|r| r.end).max().expect("two flows")
}

#[test]
fn flows_on_one_link_part() {
    let alone = BYTES.div_ceil(MSS.into()) * 1500 * 8 * 1000; // ps at 1 Gbit/s
    let (mut collided, mut parted) = (0, 0);
    for stream in 1..=12 {
        let without = last_end(&run(stream, None));
        let with = last_end(&run(stream, Some(PLB)));
        if without < alone * 12 / 10 {
            // They had a link each: nothing is congested, and nothing is to be changed.
            assert_eq!(with, without, "stream {stream}");
            continue;
        }
        assert!(without > alone * 19 / 10, "stream {stream}: they share a link to the end");
        collided += 1;
        parted += u32::from(with < alone * 15 / 10);
    }
    assert!(collided >= 3, "about half of the hashes collide: {collided}");
    // A rehash of one of the two parts them half the time, and there are several in 160 ms; both may
    // change at once.
    assert!(parted * 4 >= collided * 3, "{parted} of {collided}");
}
