//! Patterns, sizes and tasks.

mod chakra;
mod collective;
mod common;
mod distributions;
mod goal;
mod goal_binary;
mod host_split;
mod ideal;
mod jobs;
mod on_off;
mod open_incast;
mod open_jobs;
mod permutation;
mod poisson;
mod rack_to_rack;
mod random;
mod rounds;
mod sizes;
mod spread;
mod strata;
mod tasks;
