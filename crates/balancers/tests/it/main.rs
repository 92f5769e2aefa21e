//! The balancers natively: against independent readings of their sources' rules, the contract, and each rule by itself.
//!
//! `readings` holds the rules as plain Rust, `compare` plays both over random connections, `rules` has cases worked out by
//! hand.

mod breaches;
mod compare;
mod contract;
mod load;
mod readings;
mod rules;
