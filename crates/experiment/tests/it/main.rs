//! What files say, and the cases that come of it.

mod balancers;
mod compatibility;
mod flow_file;
mod hosts;
mod messages;
mod patterns;
mod sizes;
mod topologies;
