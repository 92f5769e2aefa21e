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
mod queued_port;
mod red;
mod shortest;
mod tier;
mod virtual_hosts;
