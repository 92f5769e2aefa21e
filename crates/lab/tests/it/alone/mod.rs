//! A flow alone on an empty network, with a window that never limits it.

use std::sync::Arc;

use tresse_controllers::{ConfiguredController, find};
use tresse_fabric::{LeafSpine, NonEct, Path, Probability, ShortestPaths, Threshold, Topology};
use tresse_sim::{FlowSpec, World};
use tresse_transport::{Config, DelayedAck};
use tresse_units::{MICROSECOND, SECOND};

/// Payload of a full segment, bytes.
pub const MSS: u32 = 1460;
/// Headers, bytes.
pub const HEADER: u32 = 40;
/// 1 Gbit/s.
pub const GIGABIT: u64 = 1_000_000_000;
/// No queue has an end, and nothing is marked.
pub const UNLIMITED: Threshold = Threshold::UNLIMITED;

/// Two leaves of two hosts, with delays of 10 us to the hosts and of 5 us to the spines.
pub fn leaf_spine(spines: u32, rate: [u64; 2]) -> Topology {
    let config = LeafSpine {
        leaves: 2,
        spines,
        hosts_per_leaf: 2,
        rate,
        delay: [10 * MICROSECOND, 5 * MICROSECOND],
        limit: [UNLIMITED; 2],
        mark: [UNLIMITED; 2],
        host: (UNLIMITED, UNLIMITED),
        non_ect: NonEct::Queue,
        loss: [Probability::ZERO; 2],
    };
    config.topology().expect("valid")
}

/// The world with a connection that has just started, on the only shortest path between two hosts.
pub fn alone(topology: &Topology, from: u32, to: u32, bytes: u64) -> World {
    let config = Config {
        initial_window: 1 << 19,
        rto_min: SECOND,
        rto_initial: 100 * SECOND,
        rto_max: 100 * SECOND,
        delayed_ack: DelayedAck { every: 1, timer: SECOND, quick: 0, quick_again: false },
        ..Config::default()
    };
    let paths = ShortestPaths::new(topology);
    assert_eq!(paths.count(from, to), 1);
    let route = paths.path(from, to, 0);
    let scheme =
        Arc::new(ConfiguredController::new(find("reno").expect("built in"), []).expect("no settings"));
    let mut world = World::new(&topology.ports(1), paths.longest(), 1);
    let path = Path { there: route.there, back: route.back };
    world.start(FlowSpec::on_paths(1, config, scheme, bytes, vec![path]));
    world
}
