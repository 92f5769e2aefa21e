//! Events, ports, routes and topologies.

use proptest::prelude::ProptestConfig;

mod agenda;
mod arrivals;
mod bisection;
mod capacity;
mod drop_until;
mod fabric;
mod fat_tree;
mod feedback;
mod forward;
mod graph;
mod holnet;
mod large;
mod leaf_spine;
mod pfc;
mod planes;
mod port;
mod port_losses;
mod processing;
mod queued_port;
mod red;
mod shortest;
mod tier;
mod ties;
mod trimming;
mod virtual_hosts;

/// So many random cases in `make test-all`, else a quarter of them.
fn cases(all: u32) -> ProptestConfig {
    let part = if std::env::var_os("TRESSE_TEST_ALL").is_some() { 1 } else { 4 };
    ProptestConfig::with_cases(all / part)
}
