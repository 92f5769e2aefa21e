//! Events, ports, routes and topologies.

mod bisection;
mod fabric;
mod fat_tree;
mod feedback;
mod forward;
mod graph;
mod holnet;
mod large;
mod leaf_spine;
mod port;
mod port_losses;
mod queue;
mod red;
mod server;
mod shortest;
mod tier;
mod virtual_hosts;
