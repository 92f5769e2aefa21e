//! What files say, and the cases that come of it.

mod axes;
mod balancers;
mod chakra;
mod changes;
mod compatibility;
mod differences;
mod fidelity;
mod flow_file;
mod hosts;
mod messages;
mod owners;
mod paper_networks;
mod patterns;
mod sizes;
mod slices;
mod thresholds;
mod topologies;
mod unmeasured;
