//! Events, ports, routes and topologies.

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
mod queue;
mod queued_port;
mod red;
mod shortest;
mod tier;
mod ties;
mod trimming;
mod virtual_hosts;
