//! The optimum, the fluid models and the analytical ones.

mod balancer;
mod distance;
mod full_links;
mod networks;
mod num;
mod opn;
mod over_time;
mod packet_walk;
mod random_ports;
mod rest;
mod walk;
