//! The engine, its observers and the tables that they leave, by small experiments.

mod alone;
mod caveats;
mod convergence;
mod ideal;
mod jobs;
mod link_events;
mod measurements;
mod memory;
mod network;
mod optimum;
mod packets;
mod pages;
mod path_memory;
mod pfc;
mod port_options;
mod presets;
mod queues;
mod reading;
mod recovery;
mod rounds;
mod samples;
mod shared;
mod slices;
mod stopping_rule;
mod telemetry;
mod threads;
mod topologies;
mod variants;
mod virtual_hosts;
mod workloads;

/// Each of how many built-in experiments is taken where all of them take long; `make test-all` takes all.
pub fn sample() -> usize {
    if std::env::var_os("TRESSE_TEST_ALL").is_some() { 1 } else { 5 }
}
