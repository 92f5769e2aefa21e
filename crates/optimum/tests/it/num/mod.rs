//! The network-utility optimum.

mod claims;
mod closed_forms;
mod common;
mod fat_tree;
mod infeasible;
mod max_min;
mod random_networks;
mod thesis;
